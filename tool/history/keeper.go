package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/session"
)

// Keeper keeps what files hold while calls are at work. It is safe for concurrent
// use. The zero Keeper keeps nothing.
type Keeper struct {
	dir  string   // below the state directory
	skip []string // directories below a root that are none of it

	mu    sync.Mutex
	roots map[string]*tree
}

// NewKeeper keeps in a directory, which is made when it is needed. What is below
// the directories of skip is not looked at.
func NewKeeper(dir string, skip ...string) *Keeper {
	k := &Keeper{dir: dir, roots: map[string]*tree{}}
	for _, s := range skip {
		if real, err := filepath.EvalSymlinks(s); err == nil {
			s = real
		}
		k.skip = append(k.skip, s)
	}
	return k
}

// Close gives the slots free. No call may be open.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, t := range k.roots {
		if t.slot != nil {
			errs = append(errs, t.slot.close())
		}
	}
	k.roots = map[string]*tree{}
	return errors.Join(errs...)
}

// Call is a call that may change files below Root: those of Paths, which are
// below it and relative to it, or where that is nil any.
type Call struct {
	Stream, Session, ID string
	Root                string // real
	Paths               []string
}

// key names the record of a call.
func (c *Call) key() string { return short(c.Stream + "\x00" + c.Session + "\x00" + c.ID) }

// tree is what is known of a root. mu is held while it is looked at.
type tree struct {
	mu    sync.Mutex
	root  string
	skip  []string
	slot  *slot
	known *node
	open  []*Window
}

// Window is the time from before a call until after it.
type Window struct {
	call   Call
	tree   *tree
	start  time.Time
	before *node
	taken  map[string]*node // what other calls of the session have changed meanwhile, by path
	beside []string         // sessions that could change the same
}

func (k *Keeper) tree(root string) (*tree, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t := k.roots[root]
	if t == nil {
		t = &tree{root: root, skip: k.skip}
		k.roots[root] = t
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slot == nil {
		s, err := openSlot(k.dir, root)
		if err != nil {
			return nil, err
		}
		if err := s.take(root); err != nil {
			s.lock.Close()
			return nil, err
		}
		t.slot, t.known = s, s.saved
	}
	return t, nil
}

// Begin keeps what a call may change, before it runs.
func (k *Keeper) Begin(ctx context.Context, c Call) (*Window, error) {
	t, err := k.tree(c.Root)
	if err != nil {
		return nil, fmt.Errorf("files cannot be kept: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.open) == 0 && t.slot.pack.size > maxPack/2 && t.slot.sweep() == 0 {
		if err := t.slot.pack.clear(); err != nil {
			return nil, err
		}
		t.known = nil
	}
	w := &Window{call: c, tree: t}
	if w.before, err = t.look(ctx, c.Paths); err != nil {
		return nil, err
	}
	if c.Paths == nil {
		t.known = w.before
		err = t.slot.note(c.key(), t.root, w.before)
		t.meet(w)
	} else {
		err = saveTree(t.slot.record(c.key()), t.root, c.Paths, w.before)
	}
	if err == nil {
		w.start, err = t.slot.began(c.key())
	}
	if err != nil {
		return nil, fmt.Errorf("files cannot be kept: %w", err)
	}
	t.open = append(t.open, w)
	return w, nil
}

// meet notes which sessions can change any file at the same time.
func (t *tree) meet(w *Window) {
	for _, o := range t.open {
		if o.call.Paths != nil || o.call.Session == w.call.Session {
			continue
		}
		w.besides(o.call.Session)
		o.besides(w.call.Session)
	}
}

func (w *Window) besides(session string) {
	if !slices.Contains(w.beside, session) {
		w.beside = append(w.beside, session)
	}
}

// look looks at the files that a call may change: all, or those of paths.
func (t *tree) look(ctx context.Context, paths []string) (*node, error) {
	s := newScan(ctx, t.root, t.slot.pack, t.skip)
	if paths == nil {
		return s.run(t.known)
	}
	return s.some(paths)
}

// some makes a tree of some paths, with what leads to them.
func (s *scan) some(paths []string) (*node, error) {
	fd, err := unix.Open(s.root, dirFlags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: s.root, Err: err}
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, &os.PathError{Op: "stat", Path: s.root, Err: err}
	}
	top := newNode("", &st)
	for _, p := range paths {
		s.lead(fd, top, strings.Split(p, "/"))
	}
	return top, nil
}

// lead adds what stands at a path below a directory, if there is something.
func (s *scan) lead(fd int, in *node, names []string) {
	var st unix.Stat_t
	if unix.Fstatat(fd, names[0], &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return
	}
	n := in.child(names[0])
	if n == nil {
		if st.Mode&unix.S_IFMT == unix.S_IFDIR {
			n = newNode(names[0], &st)
		} else if n = s.entry(fd, names[0], &st, nil); n == nil {
			return
		}
		i, _ := slices.BinarySearchFunc(in.children, n.name, func(c *node, name string) int { return strings.Compare(c.name, name) })
		in.children = slices.Insert(in.children, i, n)
	}
	if n.kind != kindDir || len(names) == 1 {
		return
	}
	sub, err := unix.Openat(fd, n.name, dirFlags, 0)
	if err != nil {
		return
	}
	defer unix.Close(sub)
	s.lead(sub, n, names[1:])
}

// End says what the call has changed, and writes the contents that this needs
// into blobs; nil: nothing. Either that or Leave is called, once.
func (w *Window) End(ctx context.Context, blobs session.Blobs, tenant string) (*session.FilesChanged, error) {
	t := w.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = slices.DeleteFunc(t.open, func(o *Window) bool { return o == w })
	after, err := t.look(ctx, w.call.Paths)
	if err != nil {
		return nil, err
	}
	if w.call.Paths == nil {
		t.known = after
	}
	if t.slot.busy(w.start) {
		w.besides("another process")
	}
	list := w.own(differences("", w.before, after, nil))
	t.tell(w, list)
	out := &session.FilesChanged{Call: w.call.ID, Root: t.root, Any: w.call.Paths == nil}
	if out.Any {
		out.Beside = w.beside
	}
	err = write(ctx, out, list, blobs, tenant, t.slot.pack, t.slot.pack)
	if err == nil {
		err = os.Remove(t.slot.record(w.call.key())) // from here on the log has it
	}
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return out, nil
}

// Leave leaves it to Left to say what the call has changed.
func (w *Window) Leave() {
	w.tree.mu.Lock()
	defer w.tree.mu.Unlock()
	w.tree.open = slices.DeleteFunc(w.tree.open, func(o *Window) bool { return o == w })
}

// own leaves out what other calls have changed, and begins where they ended.
func (w *Window) own(list []change) []change {
	if len(w.taken) == 0 {
		return list
	}
	var mine []change
	for _, c := range list {
		if n, ok := w.taken[c.path]; ok {
			if c.before = n; n.same(c.after) {
				continue
			}
		}
		mine = append(mine, c)
	}
	return mine
}

// tell has other calls leave out what this one has changed: all of it where that
// is certain, or where they are of the same session, which then has it once.
func (t *tree) tell(w *Window, list []change) {
	for _, o := range t.open {
		if o.call.Paths != nil || w.call.Paths == nil && o.call.Session != w.call.Session {
			continue
		}
		if o.taken == nil {
			o.taken = map[string]*node{}
		}
		for _, c := range list {
			o.taken[c.path] = c.after
		}
	}
}

// Left says what a call has changed whose worker is gone, as far as it can be told
// from what is there now; nil: it was never begun here, or has changed nothing. The
// call's root and paths are those that it began with.
func (k *Keeper) Left(ctx context.Context, c Call, blobs session.Blobs, tenant string) (*session.FilesChanged, error) {
	found, err := filepath.Glob(filepath.Join(k.dir, "*", "*", "open", c.key()))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	defer func() {
		for _, path := range found {
			_ = os.Remove(path) // it was taken up, or cannot be
		}
	}()
	path := found[0]
	root, paths, before, err := loadTree(path)
	if err != nil {
		return nil, err
	}
	t, err := k.tree(root)
	if err != nil {
		return nil, err
	}
	old, err := openPack(filepath.Join(filepath.Dir(filepath.Dir(path)), "pack"))
	if err != nil {
		return nil, err
	}
	defer old.file.Close()
	t.mu.Lock()
	defer t.mu.Unlock()
	after, err := t.look(ctx, paths)
	if err != nil {
		return nil, err
	}
	if paths == nil {
		t.known = after
	}
	list := differences("", before, after, nil)
	out := &session.FilesChanged{Call: c.ID, Root: root, Any: paths == nil, Late: true}
	if err := write(ctx, out, list, blobs, tenant, old, t.slot.pack); err != nil || len(list) == 0 {
		return nil, err
	}
	return out, nil
}
