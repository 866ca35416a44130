package history

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/session"
)

// Log is what a stream's log says of files: the changes in their order, and which
// of them were taken back.
type Log struct {
	ctx    context.Context
	blobs  session.Blobs
	tenant string
	cache  map[string][]byte
	cached int
	paths  map[string][]*record // by root and path, the oldest first
	undone []int64              // events that took something back
	began  int64                // the event that the root's last loop began with
	// Lost are the calls of which it is not known what they have changed.
	Lost []session.FilesChanged
	Any  bool // some call could change any file
}

// record is one change of a path.
type record struct {
	seq           int64
	root, path    string
	before, after *session.FileState
	blobs         []string
	shared        []string
	late          bool
	active        bool
	undo          bool
	took          []*record // what an undo has taken back
}

const maxCache = 64 << 20

// NewLog is that of a log without events.
func NewLog(ctx context.Context, blobs session.Blobs, tenant string) *Log {
	return &Log{ctx: ctx, blobs: blobs, tenant: tenant, cache: map[string][]byte{}, paths: map[string][]*record{}}
}

// Add takes in the next event of the log. What was brought from elsewhere, with
// all before it, was no change of files here.
func (l *Log) Add(e *session.Event) error {
	body, err := e.Decode()
	if err != nil {
		return err
	}
	switch b := body.(type) {
	case *session.LoopStart:
		if e.Depth == 0 {
			l.began = e.Seq
		}
	case *session.Imported:
		l.paths, l.undone, l.Lost, l.Any = map[string][]*record{}, nil, nil, false
	case *session.FilesChanged:
		if b.Lost != "" {
			l.Lost = append(l.Lost, *b)
			return nil
		}
		l.Any = l.Any || b.Any
		_, err = l.changed(e, b, false)
	case *session.FilesUndone:
		err = l.takenBack(e, b)
	}
	return err
}

// changed takes in changes, which may be those of an undo.
func (l *Log) changed(e *session.Event, b *session.FilesChanged, undo bool) (list []*record, err error) {
	files := b.Files
	if b.List != "" {
		data, err := l.blobs.Blob(l.ctx, l.tenant, b.List)
		if err == nil {
			err = json.Unmarshal(data, &files)
		}
		if err != nil {
			return nil, fmt.Errorf("event %d: its list of files: %w", e.Seq, err)
		}
	}
	for _, f := range files {
		if !local(f.Path) {
			continue // no program of ours has written that
		}
		r := &record{seq: e.Seq, root: b.Root, path: f.Path, before: f.Before, after: f.After, blobs: b.Blobs,
			shared: b.Beside, late: b.Late, active: true, undo: undo}
		list = append(list, r)
		key := r.key()
		l.paths[key] = append(l.paths[key], r)
	}
	return list, nil
}

func (r *record) key() string { return r.root + "\x00" + r.path }

// takenBack takes in an undo: of each path that it did not leave alone, the
// changes that it took back count no more; those that they had taken back do.
func (l *Log) takenBack(e *session.Event, b *session.FilesUndone) error {
	left := map[string]bool{}
	for _, f := range b.Left {
		left[f.Root+"\x00"+f.Path] = true
	}
	own := map[string]*record{}
	redo := false
	for key, list := range l.paths {
		if left[key] {
			continue
		}
		for _, r := range list {
			if !r.active || !slices.Contains(b.Of, r.seq) {
				continue
			}
			r.active = false
			for _, t := range r.took {
				t.active = true
			}
			if redo = redo || r.undo; r.undo {
				continue
			}
			if own[key] == nil {
				own[key] = &record{seq: e.Seq, root: r.root, path: r.path, active: true, undo: true}
			}
			own[key].took = append(own[key].took, r)
		}
	}
	if redo {
		return nil // what it has brought back counts again, in the place of this
	}
	for i := range b.Changed {
		list, err := l.changed(e, &b.Changed[i], true)
		if err != nil {
			return err
		}
		for _, r := range list {
			if o := own[r.key()]; o != nil {
				r.took = o.took
				delete(own, r.key())
			}
		}
	}
	for key, r := range own {
		l.paths[key] = append(l.paths[key], r)
	}
	l.undone = append(l.undone, e.Seq)
	return nil
}

// Options say what to take back.
type Options struct {
	Redo   bool // the last undo, in the place of what the session has changed
	Last   bool // only what was changed since the last prompt was taken up
	Shared bool // also what another session may have changed
}

// Plan is what an undo comes to: a step for each path.
type Plan struct {
	Of    []int64
	Steps []Step
}

// The outcomes of a step.
const (
	Restored = "restored" // to what was there before
	Merged   = "merged"   // the same, and what was changed since is kept
	Already  = "already"  // it is so
	Left     = "left"     // it stays as it is
)

// Step is what an undo does with one path.
type Step struct {
	Root    string `json:"root"`
	Path    string `json:"path"`
	Outcome string `json:"outcome"`
	Why     string `json:"why,omitempty"`  // it is left alone, or what to look at
	Diff    string `json:"diff,omitempty"` // of now to then

	now, then *state
}

// Plan finds what to do. It changes nothing.
func (l *Log) Plan(o Options) (*Plan, error) {
	p := &Plan{}
	last := int64(0)
	if o.Redo {
		for _, seq := range l.undone {
			if l.holds(seq) {
				last = seq
			}
		}
	}
	m := &maker{Options: o, log: l, roots: map[string]int{}, made: map[string]bool{}}
	defer m.close()
	for _, key := range slices.Sorted(maps.Keys(l.paths)) {
		var mine []*record
		for _, r := range l.paths[key] {
			if r.active && r.undo == o.Redo && (!o.Redo || r.seq == last) && (!o.Last || r.seq > l.began) {
				mine = append(mine, r)
			}
		}
		if len(mine) == 0 {
			continue
		}
		s, err := m.step(mine)
		if err != nil {
			return nil, err
		}
		p.Steps = append(p.Steps, s)
		for _, r := range mine {
			p.Of = append(p.Of, r.seq)
		}
	}
	slices.Sort(p.Of)
	p.Of = slices.Compact(p.Of)
	return p, nil
}

// holds says whether something of an undo still counts.
func (l *Log) holds(seq int64) bool {
	for _, list := range l.paths {
		for _, r := range list {
			if r.seq == seq && r.undo && r.active {
				return true
			}
		}
	}
	return false
}

// Becomes names what stands at the path now, and what will.
func (s *Step) Becomes() string {
	name := func(x *state) string {
		if x == nil {
			return "nothing"
		}
		return fmt.Sprintf("%s %o %q %s %d", x.Kind, x.Mode, x.Target, x.Digest, x.Size)
	}
	return name(s.now) + ", " + name(s.then)
}

// maker makes the steps of a plan, in the order of their paths.
type maker struct {
	Options
	log   *Log
	roots map[string]int  // open directories
	made  map[string]bool // what becomes a directory and is none yet
}

func (m *maker) close() {
	for _, fd := range m.roots {
		unix.Close(fd)
	}
}

// current looks at what stands at a path, or will when the steps before it are
// done.
func (m *maker) current(root, p string) (*state, error) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if m.made[root+"\x00"+dir] {
			return nil, nil
		}
	}
	fd, ok := m.roots[root]
	if !ok {
		var err error
		if fd, err = openRoot(root); err != nil {
			return nil, err
		}
		m.roots[root] = fd
	}
	return current(fd, p)
}

// step walks the changes of a path backwards.
func (m *maker) step(list []*record) (Step, error) {
	first := list[0]
	s := Step{Root: first.root, Path: first.path}
	leave := func(why string) (Step, error) {
		s.Outcome, s.Why = Left, why
		return s, nil
	}
	var err error
	if s.now, err = m.current(s.Root, s.Path); err != nil {
		return leave(err.Error())
	}
	w := walk{log: m.log, at: s.now}
	for _, r := range slices.Backward(list) {
		if len(r.shared) > 0 && !m.Shared && !same(w.at, r.before) {
			return leave("a command of " + strings.Join(r.shared, ", ") + " ran at the same time, and it may be its change")
		}
		if why, err := w.back(r); err != nil {
			return s, err
		} else if why != "" {
			return leave(why)
		}
		if r.late {
			s.Why = "found after the process that ran the call had died: a person's change may be among it"
		}
	}
	s.then = w.at
	if s.then != nil && s.then.Kind == session.KindDir && (s.now == nil || s.now.Kind != session.KindDir) {
		m.made[first.key()] = true
	}
	switch {
	case sameState(s.now, s.then):
		s.Outcome = Already
	case w.merged:
		s.Outcome, s.Diff = Merged, difference(s.Path, s.now, s.then)
	default:
		s.Outcome, s.Diff = Restored, difference(s.Path, s.now, s.then)
	}
	return s, nil
}

// walk goes from what stands at a path back to what stood there before.
type walk struct {
	log    *Log
	at     *state
	merged bool
}

// back takes one change back. why says that it cannot be.
func (w *walk) back(r *record) (why string, err error) {
	switch {
	case same(w.at, r.after):
		w.at, why, err = w.log.load(r, r.before)
		return why, err
	case same(w.at, r.before):
		return "", nil
	case w.at == nil:
		return "it was removed since", nil
	case r.before == nil:
		return "it was changed since it was created", nil
	case r.after == nil:
		return "something else was put there since", nil
	case w.at.Kind != session.KindFile || r.before.Kind != session.KindFile || r.after.Kind != session.KindFile:
		return "it is something else now", nil
	case r.after.Unkept != "" || w.at.Unkept != "":
		return "it cannot be told whether it was changed since: " + cmp.Or(r.after.Unkept, w.at.Unkept), nil
	}
	return w.merge(r)
}

// merge takes a change of a file back that was changed since.
func (w *walk) merge(r *record) (why string, err error) {
	before, why, err := w.log.load(r, r.before)
	if err != nil || why != "" {
		return why, err
	}
	after, why, err := w.log.load(r, r.after)
	if err != nil || why != "" {
		return why, err
	}
	to := *w.at
	if to.Mode == after.Mode {
		to.Mode = before.Mode
	}
	switch {
	case to.Digest == after.Digest:
		to.data, to.Digest, to.Size = before.data, before.Digest, before.Size
	case before.Digest == after.Digest:
	default:
		data, ok := merge(after.data, w.at.data, before.data)
		if !ok {
			return "the same lines were changed since", nil
		}
		to.data, to.Digest, to.Size = data, digestOf(data), int64(len(data))
	}
	w.at, w.merged = &to, true
	return "", nil
}

// same says whether a path is what the log says, as far as it is known.
func same(s *state, f *session.FileState) bool {
	if s == nil || f == nil {
		return s == nil && f == nil
	}
	return s.Kind == f.Kind && s.Mode == f.Mode && s.Target == f.Target && s.Digest == f.Digest && (s.Kind != session.KindFile || s.Digest != "")
}

func sameState(a, b *state) bool {
	if a == nil || b == nil {
		return a == b
	}
	return same(a, &b.FileState)
}

// load reads what the log has of a state.
func (l *Log) load(r *record, f *session.FileState) (s *state, why string, err error) {
	if f == nil {
		return nil, "", nil
	}
	s = &state{FileState: *f}
	if f.Kind != session.KindFile {
		return s, "", nil
	}
	if f.Digest == "" || f.Unkept != "" {
		return nil, "what it held is not kept: " + cmp.Or(f.Unkept, "nothing says why"), nil
	}
	if f.Size == 0 {
		s.data = []byte{}
	} else {
		blob, err := l.blob(r.blobs, f.Blob)
		if err != nil {
			return nil, "", fmt.Errorf("%s, event %d: %w", r.path, r.seq, err)
		}
		if f.Offset < 0 || f.Size < 0 || f.Offset > int64(len(blob)) || f.Size > int64(len(blob))-f.Offset {
			return nil, "what it held is not where it should be", nil
		}
		s.data = slices.Clone(blob[f.Offset : f.Offset+f.Size])
	}
	if digestOf(s.data) != f.Digest {
		return nil, "what was kept of it is not what it held", nil
	}
	return s, "", nil
}

func (l *Log) blob(list []string, i int) ([]byte, error) {
	if i < 0 || i >= len(list) {
		return nil, session.ErrNoBlob
	}
	d := list[i]
	if b, ok := l.cache[d]; ok {
		return b, nil
	}
	b, err := l.blobs.Blob(l.ctx, l.tenant, d)
	if err != nil {
		return nil, err
	}
	if l.cached += len(b); l.cached > maxCache {
		clear(l.cache)
		l.cached = len(b)
	}
	l.cache[d] = b
	return b, nil
}

// Changes says whether applying the plan would change a file.
func (p *Plan) Changes() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Outcome == Restored || s.Outcome == Merged })
}

// Paths lists what the plan would change, by root.
func (p *Plan) Paths() map[string][]string {
	all := map[string][]string{}
	for _, s := range p.Steps {
		if s.Outcome != Restored && s.Outcome != Merged {
			continue
		}
		all[s.Root] = append(all[s.Root], s.Path)
		for dir := path.Dir(s.Path); dir != "."; dir = path.Dir(dir) { // which may be made
			if !slices.Contains(all[s.Root], dir) {
				all[s.Root] = append(all[s.Root], dir)
			}
		}
	}
	return all
}

// Apply does what the plan says: what is to be gone first, what is deepest before
// what holds it, then the rest, directories before what is in them. A path that
// was changed since the plan was made is left alone.
func (p *Plan) Apply() {
	run := func(s *Step) {
		if s.Outcome != Restored && s.Outcome != Merged {
			return
		}
		fd, err := openRoot(s.Root)
		if err == nil {
			err = put(fd, s.Path, s.now, s.then)
			unix.Close(fd)
		}
		if err != nil {
			s.Outcome, s.Why = Left, err.Error()
		}
	}
	for i := range slices.Backward(p.Steps) {
		if p.Steps[i].then == nil {
			run(&p.Steps[i])
		}
	}
	for i := range p.Steps {
		if p.Steps[i].then != nil {
			run(&p.Steps[i])
		}
	}
}

// LeftAlone lists the paths that stay as they are.
func (p *Plan) LeftAlone() (list []session.FilePath) {
	for _, s := range p.Steps {
		if s.Outcome == Left {
			list = append(list, session.FilePath{Root: s.Root, Path: s.Path})
		}
	}
	return list
}
