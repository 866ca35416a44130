// Package runner makes rigs run: it notices what changes in the folders of their knots,
// queues a job for each, has an agent work on it, and adds the answer to the tie-off.
//
// All that has to survive stands in the ledger, and each step is taken so that a process
// may die after it: a change is found again by comparing the folder with the ledger, a
// run by its session, an answer that was being written by its marker. Several processes
// may run the same rig.
package runner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/commit"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/strand"
)

// Bounds, where Options name none.
const (
	MaxParallel = 4
	MaxHops     = 8
)

// How often what could have been missed is looked for.
const (
	sweepEvery = time.Minute
	pollEvery  = time.Second
	keep       = 30 * 24 * time.Hour // jobs that are done
)

// Options say what a Runner runs.
type Options struct {
	Dir    string // of the workspace, absolute, without links
	Tenant string
	Policy rig.Policy
	Ledger ledger.Store
	// Worker is the id of this process among the workers of the store, where it beats.
	Worker string
	Agents Agents
	// MaxParallel is how many jobs are at work at once in this process; 0: MaxParallel.
	MaxParallel int
	// MaxHops is how many jobs may stand before one, each having caused the next; 0:
	// MaxHops.
	MaxHops int
	// PerDay is what the jobs of a rig may cost on a day of the machine, in USD: none begins
	// beyond. 0: no limit.
	PerDay float64
	// Pending bounds the changed files that wait to be still; beyond it folders are looked
	// at as a whole. 0: strand.MaxPending.
	Pending int
	Git     commit.Options // how git is called
	Records Records        // nil: no files are written for other programs
	Log     *slog.Logger   // nil: discarded
}

// Runner runs the rigs of a workspace.
type Runner struct {
	o       Options
	slots   chan struct{}
	watcher *strand.Watcher

	mu   sync.Mutex
	rigs map[string]*running // by name
	work sync.WaitGroup
}

// New returns a runner, which does nothing until it runs.
func New(o Options) *Runner {
	if o.MaxParallel <= 0 {
		o.MaxParallel = MaxParallel
	}
	if o.MaxHops <= 0 {
		o.MaxHops = MaxHops
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Runner{o: o, slots: make(chan struct{}, o.MaxParallel), rigs: map[string]*running{}}
	r.watcher = strand.NewWatcher(strand.Handler{Settled: r.settled, Rescan: r.rescan, Trouble: r.trouble}, o.Pending)
	return r
}

// Run runs the rigs that there are, and those that appear, until ctx ends. Jobs that are
// at work then are left to the process that takes them up next. The error says that
// nothing is noticed at once; what changes is still found, every minute.
func (r *Runner) Run(ctx context.Context) error {
	defer r.work.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	watched := make(chan error, 1)
	r.work.Go(func() { watched <- r.watcher.Run(ctx) })
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	var unwatched error
	for {
		r.find(ctx)
		select {
		case <-ctx.Done():
			return unwatched
		case err := <-watched:
			if watched = nil; err != nil {
				unwatched = err
				r.o.Log.Error("changes are noticed every minute only", "error", err)
			}
		case <-sweep.C:
		}
	}
}

// find looks which rigs there are, begins those that are new and has the others look
// at their files again.
func (r *Runner) find(ctx context.Context) {
	names, err := rig.Find(r.o.Dir)
	if err != nil {
		r.o.Log.Error("the rigs of the workspace cannot be listed", "error", err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		if known := r.rigs[name]; known != nil {
			known.sweep()
			continue
		}
		one := newRunning(r, name)
		r.rigs[name] = one
		r.work.Go(func() { one.run(ctx) })
	}
}

// watch has the folders of all rigs watched.
func (r *Runner) watch() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var dirs []*strand.Dir
	for _, one := range r.rigs {
		dirs = append(dirs, one.watched()...)
	}
	r.watcher.Set(dirs...)
}

// of are the rigs that look at a folder.
func (r *Runner) of(d *strand.Dir) (all []*running) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.rigs {
		if one.has(d) {
			all = append(all, one)
		}
	}
	return all
}

func (r *Runner) settled(d *strand.Dir, paths []string) {
	for _, one := range r.of(d) {
		one.look(d, paths)
	}
}

func (r *Runner) rescan(d *strand.Dir) {
	for _, one := range r.of(d) {
		one.look(d, nil)
	}
}

func (r *Runner) trouble(d *strand.Dir, err error) {
	r.o.Log.Warn("a folder is not watched", "folder", d.Path(), "error", err)
}

// shown is a path as the ledger has it: relative to the workspace, with slashes, or
// absolute where it is outside.
func (r *Runner) shown(path string) string {
	rel, err := filepath.Rel(r.o.Dir, path)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

// retried calls f until it succeeds or ctx ends: what the ledger says has to be stored.
func (r *Runner) retried(ctx context.Context, what string, f func(context.Context) error) error {
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := f(ctx)
		if err == nil || errors.Is(err, ledger.ErrLost) || errors.Is(err, ledger.ErrNoJob) {
			return err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: %w", what, ctx.Err())
		}
		r.o.Log.Error("the ledger of a rig cannot be written; it is tried again", "what", what, "error", err)
		if !pause(ctx, wait) {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// pause waits, and says whether ctx let it.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
