package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/strand"
	"github.com/rosterrun/roster/session"
)

// StrandError says that a knot cannot be asked to work on a file, or not without one.
type StrandError struct {
	Knot string // LOOM/NAME
	Path string // empty: none was named
	Why  string
	Err  error // may be nil
}

func (e *StrandError) Error() string {
	if e.Path == "" {
		return e.Knot + " " + e.Why
	}
	return fmt.Sprintf("%s cannot work on %s: %s", e.Knot, e.Path, e.Why)
}

func (e *StrandError) Unwrap() error { return e.Err }

// Waiting says why a job does not go on that somebody waits for. It is still queued.
type Waiting struct {
	Knot string // LOOM/NAME
	Code string // of its newest attempt; may be empty
	Why  string
	// Begun says that an agent has worked on it.
	Begun bool
}

func (e *Waiting) Error() string { return fmt.Sprintf("%s waits: %s", e.Knot, e.Why) }

// Wish is what somebody asks a knot for.
type Wish struct {
	Knot string // LOOM/NAME, or a name that only one knot has
	// Path is that of a file, absolute or relative to the workspace; empty: none is named.
	// It has to be a strand of the knot's folder, or lie elsewhere in the workspace and be
	// one there.
	Path string
	// Own takes files of the knot's folder only: those that it may work on anyway.
	Own bool
	// Idem makes the same job of the same wish, for as long as the ledger has it.
	Idem string
}

// Ask queues the job that somebody asks for. Errors are a *rig.NotFoundError, a
// *StrandError, a *session.Conflict for an Idem that was used for another wish, and
// *Waiting where nothing was queued, for the knot rests.
func (r *Runner) Ask(ctx context.Context, rigName string, w Wish) (ledger.Job, error) {
	n, err := r.alone(ctx, rigName)
	if err != nil {
		return ledger.Job{}, err
	}
	k, err := n.rig.Knot(w.Knot)
	if err != nil {
		return ledger.Job{}, err
	}
	a := &asked{n: n, knot: k, wish: w, job: ledger.Job{ID: newID(), Knot: k.ID(), Event: string(rig.Asked), Queued: time.Now()}}
	if err := a.place(); err != nil {
		return ledger.Job{}, err
	}
	if w.Idem != "" {
		a.job.ID = n.idOf(w.Idem)
		if was, err := a.before(ctx); !errors.Is(err, ledger.ErrNoJob) {
			return was, err
		}
	}
	if why, err := n.rests(ctx, k, time.Now()); err != nil {
		return ledger.Job{}, err
	} else if why != "" {
		return ledger.Job{}, &Waiting{Knot: k.ID(), Why: why}
	}
	if err := a.show(ctx); err != nil {
		return ledger.Job{}, err
	}
	if err := r.o.Ledger.Queue(ctx, n.key, []ledger.Job{a.job}); err != nil {
		return ledger.Job{}, err
	}
	return a.before(ctx) // somebody may have sent the same just now
}

// idOf is the id of the job that is asked for with an Idem.
func (n *running) idOf(idem string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(n.key.Tenant+"\n"+n.key.Name+"\n"+idem)).String()
}

// asked is a job that somebody asks for.
type asked struct {
	n    *running
	knot *rig.Knot
	wish Wish
	job  ledger.Job
	dir  *strand.Dir // nil: no file is named
	name string      // of the file, below it
}

// before is the job as it was queued before.
func (a *asked) before(ctx context.Context) (ledger.Job, error) {
	was, err := a.n.r.o.Ledger.Job(ctx, a.n.key, a.job.ID)
	if err == nil && (was.Knot != a.job.Knot || was.Path != a.job.Path) {
		return ledger.Job{}, &session.Conflict{Idem: a.wish.Idem}
	}
	return was, err
}

// alone is a rig as its files are now, whose folders are not watched.
func (r *Runner) alone(ctx context.Context, name string) (*running, error) {
	loaded, err := rig.Load(ctx, r.o.Dir, name, r.o.Policy)
	if err != nil {
		return nil, err
	}
	n := newRunning(r, name)
	n.rig = loaded
	return n, nil
}

// place finds the folder of the file that is named: the knot's own or, for what is not in
// it, the workspace.
func (a *asked) place() error {
	k, path := a.knot, a.wish.Path
	if path == "" {
		if k.Input.V.Dir != "" {
			return &StrandError{Knot: k.ID(), Why: "works on files: name one, such as one of " + k.Input.V.Dir}
		}
		return nil
	}
	full := filepath.Join(a.n.r.o.Dir, path)
	if filepath.IsAbs(path) {
		full = filepath.Clean(path)
		if dir, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil && !a.wish.Own { // folders are known without links
			full = filepath.Join(dir, filepath.Base(full))
		}
	}
	in := false
	if k.Input.V.Dir != "" {
		var err error
		if a.dir, err = strand.Open(a.n.folder(k)); err != nil {
			return err
		}
		a.name, in = a.n.below(a.dir, full)
	}
	if !in && a.wish.Own {
		return &StrandError{Knot: k.ID(), Path: path, Why: "it lies outside of the knot's folder"}
	}
	if !in {
		var err error
		if a.dir, err = strand.Open(a.n.r.o.Dir, strand.Options{PathOnly: k.Bundling.V == rig.PathOnly}); err != nil {
			return err
		}
		if a.name, in = a.n.below(a.dir, full); !in {
			return &StrandError{Knot: k.ID(), Path: path, Why: "it lies outside of the workspace"}
		}
	}
	a.job.Path = a.n.shown(a.dir, a.name)
	return nil
}

// show makes the file what the job is about.
func (a *asked) show(ctx context.Context) error {
	if a.dir == nil {
		return nil
	}
	k, j := a.knot, &a.job
	file, err := a.dir.Read(ctx, a.name)
	if errors.Is(err, fs.ErrNotExist) {
		return &StrandError{k.ID(), a.wish.Path, "there is no such file", err}
	}
	if err != nil {
		return &StrandError{k.ID(), a.wish.Path, err.Error(), err}
	}
	if file.Skipped != "" {
		return &StrandError{Knot: k.ID(), Path: a.wish.Path, Why: fmt.Sprintf("it is no strand (%s)", file.Skipped)}
	}
	j.Digest, j.Content = file.Digest, file.Data
	one := bundled{Event: rig.Asked, Path: j.Path, Content: file.Data}
	switch k.Bundling.V {
	case rig.Diff:
		one.Diff = a.n.difference(j.Path, file.Data)
		j.Content = bundle(one)
	case rig.Batch:
		j.Content = bundle(one)
	}
	return nil
}

// Finish waits until a job has ended, whoever works on it, and returns it with its
// section. Meanwhile it works on the jobs of that knot itself, one after the other, as far
// as no other process does. A job that cannot go on until something is mended, or for a
// long time, is a *Waiting. Where ctx ends first, the job stays as it is for the next
// process.
func (r *Runner) Finish(ctx context.Context, rigName, id string) (ledger.Job, error) {
	key := ledger.Rig{Tenant: r.o.Tenant, Name: rigName}
	for {
		j, err := r.o.Ledger.Job(ctx, key, id)
		if err != nil || j.State == ledger.Done || j.State == ledger.Dead {
			return j, err
		}
		n, err := r.alone(ctx, rigName)
		if err != nil {
			return j, err
		}
		if err := n.waits(ctx, &j); err != nil {
			return j, err
		}
		did, err := n.doNext(ctx, j.Knot)
		if err != nil {
			return j, err
		}
		if did {
			n.writeState(ctx)
		}
		if !did && !pause(ctx, askEvery) || ctx.Err() != nil {
			return j, ctx.Err()
		}
	}
}

// askEvery is how often a job is looked at that another process may be working on.
const askEvery = 200 * time.Millisecond

// Waits says why a job does not go on until something is mended, or for a long time;
// empty: it does, or has ended.
func (r *Runner) Waits(ctx context.Context, rigName string, j *ledger.Job) (string, error) {
	n, err := r.alone(ctx, rigName)
	if err == nil {
		err = n.waits(ctx, j)
	}
	var w *Waiting
	var gone *rig.NotFoundError
	switch {
	case errors.As(err, &w):
		return w.Why, nil
	case errors.As(err, &gone):
		return err.Error(), nil
	}
	return "", err
}

// waits says why a job does not go on; nil: it does.
func (n *running) waits(ctx context.Context, j *ledger.Job) error {
	if j.State != ledger.Queued {
		return nil
	}
	k, err := n.rig.Knot(j.Knot)
	if err != nil {
		return err
	}
	w := &Waiting{Knot: j.Knot, Code: j.Code, Why: j.Error, Begun: j.Attempt > 0}
	if j.Error != "" && (!w.Begun || j.Code == notWritten) {
		return w
	}
	if w.Why, err = n.rests(ctx, k, time.Now()); err != nil || w.Why == "" {
		return err
	}
	return w
}

// doNext works on the next job of a knot; did: there was one to claim.
func (n *running) doNext(ctx context.Context, knot string) (did bool, err error) {
	k, err := n.rig.Knot(knot)
	if err != nil { // another process may know it yet
		return false, nil
	}
	now := time.Now()
	if why, err := n.spent(ctx, now); err != nil || why != "" {
		return false, err
	}
	if free, err := n.mayBegin(ctx, k, now); err != nil || !free {
		return false, err
	}
	j, err := n.r.o.Ledger.ClaimJob(ctx, n.key, n.r.o.Worker, ledger.Limits{Knots: map[string]int{k.ID(): k.Concurrency.V}})
	if errors.Is(err, ledger.ErrNoWork) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n.do(ctx, &j)
	return true, nil
}
