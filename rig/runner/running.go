package runner

import (
	"context"
	"hash/maphash"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/strand"
)

// running is a rig that runs.
type running struct {
	r   *Runner
	key ledger.Rig

	mu      sync.Mutex
	rig     *rig.Rig
	source  *strand.Dir            // the rig's own files
	inputs  map[*strand.Dir]*input // its knots' folders
	blocked map[string]time.Time   // knots whose jobs cannot begin, until then
	reasons map[string]string      // why they could not, as it was said last
	missing map[string]time.Time   // files that are not there, by knot and path, since when
	looks   []look
	reload  bool

	// Of the goroutine that looks: what the folder of a knot was when the knot knew it all.
	clean map[string]clean
	seed  maphash.Seed

	calls calls // of its runs

	wake chan struct{} // there is something to look at, or to load
	jobs chan struct{} // there may be a job to claim

	changed    chan struct{}     // the rig stands otherwise than its state says
	unrecorded map[string]string // why files for other programs are not written; empty: they are
}

// input is a folder, and the knots that see it alike.
type input struct {
	dir   *strand.Dir
	as    string // by what they see it alike
	knots []*rig.Knot
	// Of knots that take all changes of a quiet period in one run: what waits for its end.
	batch   bool
	waiting map[string]bool
	quiet   *time.Timer
}

// look is what is to be looked at of a folder: these paths, or all of it.
type look struct {
	dir   *strand.Dir
	paths []string
}

func newRunning(r *Runner, name string) *running {
	return &running{
		r: r, key: ledger.Rig{Tenant: r.o.Tenant, Name: name}, reload: true,
		inputs: map[*strand.Dir]*input{}, blocked: map[string]time.Time{}, reasons: map[string]string{}, missing: map[string]time.Time{}, clean: map[string]clean{}, seed: maphash.MakeSeed(),
		wake: make(chan struct{}, 1), jobs: make(chan struct{}, 1), changed: make(chan struct{}, 1), unrecorded: map[string]string{},
	}
}

// run looks at what has changed, one thing after the other, until ctx ends. Claims go
// beside it.
func (n *running) run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	defer n.stopTimers()
	work.Go(func() { n.claim(ctx) })
	work.Go(func() { n.keepTime(ctx) })
	work.Go(func() { n.keepState(ctx) })
	n.signal(n.wake)
	for {
		select {
		case <-ctx.Done():
			return
		case <-n.wake:
		}
		for ctx.Err() == nil {
			if n.stale() {
				n.load(ctx)
				continue
			}
			l, ok := n.next()
			if !ok {
				break
			}
			n.examine(ctx, l)
		}
	}
}

// stopTimers ends the waits for folders to be quiet: what changed is found at the next start.
func (n *running) stopTimers() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, in := range n.inputs {
		if in.quiet != nil {
			in.quiet.Stop()
		}
	}
}

func (n *running) signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// stale says, once, that the rig's files are to be read again.
func (n *running) stale() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.reload
	n.reload = false
	return was
}

// next is what to look at next; ok: there is something.
func (n *running) next() (l look, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.looks) == 0 {
		return l, false
	}
	l, n.looks = n.looks[0], n.looks[1:]
	return l, true
}

// look notes that paths of a folder are to be looked at; none: the whole folder.
func (n *running) look(d *strand.Dir, paths []string) {
	n.mu.Lock()
	switch {
	case d == n.source:
		n.reload = n.reload || paths == nil || slices.ContainsFunc(paths, ofKnot)
	case n.inputs[d] == nil: // its knots are gone
	case paths == nil && slices.ContainsFunc(n.looks, func(l look) bool { return l.dir == d && l.paths == nil }):
	case paths != nil && n.inputs[d].batch:
		n.gather(n.inputs[d], paths)
	default:
		n.await(look{d, paths})
	}
	n.mu.Unlock()
	n.signal(n.wake)
}

// await has something looked at: with what waits last where that is of the same folder,
// for many files are looked at in little more time than one. n.mu is held.
func (n *running) await(l look) {
	last := len(n.looks) - 1
	if last < 0 || l.paths == nil || n.looks[last].dir != l.dir || n.looks[last].paths == nil {
		n.looks = append(n.looks, l)
		return
	}
	n.looks[last].paths = slices.Concat(n.looks[last].paths, l.paths)
}

// gather has paths looked at together with those that change soon after them. n.mu is
// held.
func (n *running) gather(in *input, paths []string) {
	if in.waiting == nil {
		in.waiting = map[string]bool{}
	}
	for _, p := range paths {
		in.waiting[p] = true
	}
	if in.quiet != nil {
		in.quiet.Stop()
	}
	in.quiet = time.AfterFunc(in.dir.Options().Debounce, func() {
		n.mu.Lock()
		if len(in.waiting) > 0 && n.inputs[in.dir] == in {
			n.looks = append(n.looks, look{in.dir, slices.Sorted(maps.Keys(in.waiting))})
			in.waiting = nil
		}
		n.mu.Unlock()
		n.signal(n.wake)
	})
}

// ofKnot says whether a path below a rig may be the file of a knot, or a loom.
func ofKnot(p string) bool {
	loom, file, in := strings.Cut(p, "/")
	return rig.IsLoom(loom) && (!in || path.Ext(file) == ".md" && !strings.Contains(file, "/"))
}

// sweep looks at everything again.
func (n *running) sweep() {
	n.mu.Lock()
	n.reload = true
	dirs := make([]*strand.Dir, 0, len(n.inputs))
	for d := range n.inputs {
		dirs = append(dirs, d)
	}
	n.mu.Unlock()
	for _, d := range dirs {
		n.look(d, nil)
	}
	n.signal(n.wake)
}

func (n *running) has(d *strand.Dir) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return d == n.source || n.inputs[d] != nil
}

func (n *running) watched() []*strand.Dir {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []*strand.Dir
	if n.source != nil {
		all = append(all, n.source)
	}
	for d := range n.inputs {
		all = append(all, d)
	}
	return all
}

// load reads the rig's files, and has the folders of its knots watched. A rig that is
// gone has no knots.
func (n *running) load(ctx context.Context) {
	log := n.r.o.Log.With("rig", n.key.Name)
	loaded, err := rig.Load(ctx, n.r.o.Dir, n.key.Name, n.r.o.Policy)
	if err != nil {
		if ctx.Err() != nil {
			return
		}
		log.Warn("the rig cannot be read", "error", err)
		loaded = &rig.Rig{Name: n.key.Name}
	}
	n.mu.Lock()
	for _, d := range loaded.Diagnostics() {
		if n.rig == nil || !slices.Contains(n.rig.Diagnostics(), d) {
			log.Warn("a problem in a rig", "file", d.File, "line", d.Line, "code", d.Code, "problem", d.Message)
		}
	}
	if n.source == nil {
		if n.source, err = strand.Open(filepath.Join(n.r.o.Dir, n.key.Name), strand.Options{PathOnly: true}); err != nil {
			log.Error("the rig's own files are not watched", "error", err)
		}
	}
	n.rig = loaded
	fresh := n.arrange(loaded, func(k *rig.Knot, err error) {
		log.Error("the folder of a knot cannot be watched", "knot", k.ID(), "error", err)
	})
	for _, d := range fresh {
		n.looks = append(n.looks, look{dir: d})
	}
	n.mu.Unlock()
	n.r.watch()
	n.signal(n.wake)
	n.signal(n.jobs)
	n.signal(n.changed)
}

// arrange puts the knots to their folders, and returns the folders to look at: those
// that are new, or whose knots are others. Folders that stay are the same values, for the
// watcher knows them.
func (n *running) arrange(loaded *rig.Rig, failed func(*rig.Knot, error)) (fresh []*strand.Dir) {
	before := map[string]*input{}
	for _, in := range n.inputs {
		before[in.as] = in
	}
	now := map[string]*input{}
	for _, k := range loaded.Knots() {
		if k.Input.V.Dir == "" {
			continue
		}
		dir, o := n.folder(k)
		as := strings.Join(append([]string{dir, o.Debounce.String(), string(k.Bundling.V)}, o.Ignore...), "\n")
		in := now[as]
		if in == nil {
			in = &input{as: as, batch: k.Bundling.V == rig.Batch}
			if old := before[as]; old != nil {
				in.dir = old.dir
				if len(old.waiting) > 0 {
					n.looks = append(n.looks, look{in.dir, slices.Sorted(maps.Keys(old.waiting))})
				}
			} else if opened, err := strand.Open(dir, o); err != nil {
				failed(k, err)
				continue
			} else {
				in.dir = opened
			}
			now[as] = in
		}
		in.knots = append(in.knots, k)
	}
	n.inputs = map[*strand.Dir]*input{}
	for as, in := range now {
		n.inputs[in.dir] = in
		if old := before[as]; old == nil || !slices.EqualFunc(old.knots, in.knots, func(a, b *rig.Knot) bool { return a.ID() == b.ID() && a.Digest == b.Digest }) {
			fresh = append(fresh, in.dir)
		}
	}
	return fresh
}

// folder is the absolute path of the folder that a knot watches, and how it sees it.
func (n *running) folder(k *rig.Knot) (string, strand.Options) {
	dir := filepath.FromSlash(k.Input.V.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(n.r.o.Dir, dir)
	}
	return dir, strand.Options{Ignore: k.Ignore.V, Debounce: k.Debounce.V, PathOnly: k.Bundling.V == rig.PathOnly}
}

// knots are those that see a folder now.
func (n *running) knots(d *strand.Dir) []*rig.Knot {
	n.mu.Lock()
	defer n.mu.Unlock()
	if in := n.inputs[d]; in != nil {
		return in.knots
	}
	return nil
}

// now is the rig as its files say.
func (n *running) now() *rig.Rig {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.rig == nil {
		return &rig.Rig{Name: n.key.Name}
	}
	return n.rig
}
