package tool

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rosterrun/roster/internal/ignore"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

// maxWorkers is how many goroutines one search has at most: files are read from
// memory or a disk, and neither gets faster by more.
const maxWorkers = 8

func workers() int { return min(runtime.GOMAXPROCS(0), maxWorkers) }

// folder is a directory to look at. rel is its path below the root.
type folder struct {
	rel     string
	ignored *ignore.Set
	depth   int
}

// crew is the goroutines that walk a tree, and the folders that they have yet
// to look at.
type crew struct {
	*search
	ctx     context.Context
	entries atomic.Int64

	mu   sync.Mutex
	wake *sync.Cond
	todo []folder
	busy int
	err  error // ends the walk
}

func (s *search) walk(ctx context.Context, from folder) error {
	c := &crew{search: s, ctx: ctx, todo: []folder{from}}
	c.wake = sync.NewCond(&c.mu)
	each := make([]gathered, workers())
	var wg sync.WaitGroup
	for i := range each {
		each[i].found.keep = s.found.keep
		wg.Go(func() { c.work(&each[i]) })
	}
	wg.Wait()
	for i := range each {
		s.gathered.merge(&each[i])
	}
	return c.err
}

func (c *crew) work(g *gathered) {
	w := &walker{crew: c, gathered: g, buf: make([]byte, 32<<10)}
	for {
		f, ok := c.take()
		if !ok {
			break
		}
		w.sub = w.sub[:0]
		err := w.visit(f)
		c.done(w.sub, err)
	}
	g.found.order()
}

// take waits for a folder; none is left when nobody is at one.
func (c *crew) take() (folder, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.todo) == 0 && c.busy > 0 && c.err == nil {
		c.wake.Wait()
	}
	last := len(c.todo) - 1
	if last < 0 || c.err != nil {
		return folder{}, false
	}
	f := c.todo[last]
	c.todo[last] = folder{}
	c.todo = c.todo[:last]
	c.busy++
	return f, true
}

func (c *crew) done(sub []folder, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	c.todo = append(c.todo, sub...)
	if err != nil && c.err == nil {
		c.err = err
	}
	if len(c.todo) > 1 || c.busy == 0 || c.err != nil {
		c.wake.Broadcast()
	}
}

// walker is one of the crew.
type walker struct {
	*crew
	*gathered
	buf   []byte
	names []pinned.Entry
	sub   []folder
}

// visit looks at the entries of a folder.
func (w *walker) visit(f folder) error {
	dir, err := w.dir.SubHandle(f.rel)
	if err == nil {
		defer dir.Close()
		err = w.list(dir)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) { // gone since
			w.unlisted(f.rel)
		}
		return w.ctx.Err()
	}
	ignored := f.ignored
	for _, e := range w.names {
		if e.Name != ignoreFile || w.all {
			continue
		}
		if file, err := dir.Open(ignoreFile); err == nil {
			ignored = readPatterns(ignored, file, w.domain(f.rel))
		}
	}
	for i, e := range w.names {
		if i%256 == 0 && w.ctx.Err() != nil {
			break
		}
		w.entry(dir, f, ignored, e)
	}
	return w.ctx.Err()
}

// list fills in names. Those over the bound of the search are left out.
func (w *walker) list(dir pinned.Handle) error {
	w.names = w.names[:0]
	if w.entries.Load() > maxEntries {
		w.gathered.cut = true
		return nil
	}
	err := dir.List(w.buf, func(e pinned.Entry) bool {
		if int(w.entries.Load())+len(w.names) >= maxEntries {
			w.gathered.cut = true
			return false
		}
		w.names = append(w.names, e)
		return len(w.names)%4096 > 0 || w.ctx.Err() == nil
	})
	w.entries.Add(int64(len(w.names)))
	return err
}

// domain is the path of a folder as ignore patterns see it.
func (w *walker) domain(rel string) string {
	if w.root.outside {
		return rel
	}
	return strings.TrimSuffix(w.prefix+rel, "/")
}

func (w *walker) entry(dir pinned.Handle, in folder, ignored *ignore.Set, e pinned.Entry) {
	if e.Name == ".git" {
		return
	}
	var st pinned.Stat
	var err error
	known := e.Kind != fs.ModeIrregular
	if !known {
		if st, err = dir.Lstat(e.Name); errors.Is(err, fs.ErrNotExist) {
			return
		}
		e.Kind = st.Mode.Type() // of what cannot be looked at: that of a file, so that it is said
	}
	full := w.prefix + in.rel + "/" + e.Name
	if in.rel == "" {
		full = w.prefix + e.Name
	}
	rel := full[len(w.prefix):]
	judged := full
	if w.root.outside {
		judged = rel
	}
	switch {
	case e.Kind == fs.ModeDir:
		if !ignored.Match(judged, true) {
			w.enter(folder{rel, ignored, in.depth + 1})
		}
		return
	case e.Kind != 0 && (e.Kind != fs.ModeSymlink || !w.links),
		w.match != nil && !w.match(rel),
		ignored.Match(judged, false):
		return
	}
	if known {
		st, err = dir.Lstat(e.Name)
	}
	subject, outside := full, w.root.outside
	if w.around {
		subject, outside = w.subjectOf(rel)
	}
	w.file(w.gathered, foundFile{rel: rel, subject: subject}, outside, st, err)
}

func (w *walker) enter(f folder) {
	switch {
	case w.closed && permission.Within(path.Join(w.root.Path, f.rel), w.workspace.state):
	case f.depth > maxDepth:
		w.gathered.cut = true
	default:
		w.sub = append(w.sub, f)
	}
}

// unlisted notes a directory that could not be listed.
func (w *walker) unlisted(rel string) {
	subject, outside := w.subjectOf(rel)
	if !w.allows(w.permit, subject, outside) {
		subject = ""
	}
	w.unread(subject)
}
