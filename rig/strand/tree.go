package strand

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fsnotify/fsnotify"
)

// tree is what the operating system watches: the folders of some Dirs and all that
// are in them, and the nearest folder above one that is not there.
type tree struct {
	notify  *fsnotify.Watcher
	folders map[string]*folder // by their paths
	order   []*folder          // those, each before the ones in it
	watched map[string]bool    // those in folders, absolute
	above   map[string]bool    // those above missing ones
	trouble func(*Dir, error)
	touch   func(d *Dir, path string)
	rescan  func(*Dir)
	// stale is set when a folder was moved: what watches it, and what is in it, may
	// give its old name, and everything is to be watched anew.
	stale bool
}

// folder is one that Dirs are of.
type folder struct {
	path string
	dirs []*Dir
	is   fs.FileInfo // when it was begun to be watched; nil: it was not there
}

func newTree() *tree {
	return &tree{folders: map[string]*folder{}, watched: map[string]bool{}, above: map[string]bool{}}
}

// set has folders watched, and no others. gone are the Dirs that are no more.
func (t *tree) set(dirs []*Dir) (gone []*Dir) {
	before := t.folders
	t.folders = map[string]*folder{}
	known := map[*Dir]bool{}
	for _, f := range before {
		for _, d := range f.dirs {
			known[d] = true
		}
	}
	var added []*Dir
	for _, d := range dirs {
		f := t.folders[d.path]
		if f == nil {
			f = &folder{path: d.path}
			if old := before[d.path]; old != nil {
				f.is = old.is
			}
			t.folders[d.path] = f
		}
		f.dirs = append(f.dirs, d)
		if !known[d] {
			added = append(added, d)
		}
		delete(known, d)
	}
	for d := range known {
		gone = append(gone, d)
	}
	t.order = slices.SortedFunc(maps.Values(t.folders), func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	for path := range before {
		if t.folders[path] == nil {
			t.end(path)
		}
	}
	for _, f := range t.order {
		t.check(f)
	}
	for _, d := range added { // what it does not ignore may not have been watched for others
		t.grow(t.folders[d.path], d.path, false)
		t.rescan(d)
	}
	t.tidy()
	return gone
}

// check looks whether a folder is still the one that is watched.
func (t *tree) check(f *folder) {
	now, err := os.Lstat(f.path)
	if f.is != nil && err == nil && os.SameFile(f.is, now) && t.watched[f.path] {
		return
	}
	if f.is != nil {
		t.drop(f.path)
	}
	t.follow(f)
}

// anew watches everything with a new watcher, after changes were missed or folders
// were moved.
func (t *tree) anew(notify *fsnotify.Watcher) {
	t.notify, t.stale = notify, false
	clear(t.watched)
	clear(t.above)
	for _, f := range t.order {
		t.follow(f)
		t.ask(f)
	}
}

// ask asks for a look at a whole folder.
func (t *tree) ask(f *folder) {
	for _, d := range f.dirs {
		t.rescan(d)
	}
}

// follow watches a folder that is there, or else what is nearest above it. What is
// made while that is found out is found by looking again.
func (t *tree) follow(f *folder) {
	was := f.is
	for range 10 {
		f.is = nil
		if info, err := os.Lstat(f.path); err == nil && info.IsDir() {
			f.is = info
			t.grow(f, f.path, false)
			break
		}
		at := nearest(f.path)
		if t.above[at] {
			break
		}
		if err := t.notify.Add(at); err != nil {
			t.fail(f, at, err)
			break
		}
		t.above[at] = true
	}
	if was != nil || f.is != nil {
		t.ask(f)
	}
}

// nearest is the nearest folder above a path that is there.
func nearest(path string) string {
	for {
		path = filepath.Dir(path)
		if info, err := os.Stat(path); err == nil && info.IsDir() || path == filepath.Dir(path) {
			return path
		}
	}
}

func (t *tree) fail(f *folder, path string, err error) {
	for _, d := range f.dirs {
		t.trouble(d, &UnwatchedError{path, err})
	}
}

// tidy ends the watch of folders above that no missing one needs any more.
func (t *tree) tidy() {
	needed := map[string]bool{}
	for _, f := range t.order {
		if f.is == nil {
			needed[nearest(f.path)] = true
		}
	}
	for path := range t.above {
		if !needed[path] {
			delete(t.above, path)
			if !t.watched[path] {
				_ = t.notify.Remove(path) // it may be gone
			}
		}
	}
}

// grow watches a folder below or at f, and all that are in it; touch says that the
// files in them have come with it. A folder is watched before it is listed, so that
// nothing falls between.
func (t *tree) grow(f *folder, at string, touch bool) {
	failed := false
	for stack := []string{at}; len(stack) > 0; {
		dir := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if err := t.add(dir); err != nil {
			if _, lost := os.Lstat(dir); lost == nil && !failed { // else it is gone again
				failed = true
				t.fail(f, dir, err)
			}
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // gone, or shut: a scan says so
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			switch {
			case e.IsDir() && t.wanted(f, path):
				stack = append(stack, path)
			case !e.IsDir() && touch:
				t.touched(f, path)
			}
		}
	}
}

// add watches one folder.
func (t *tree) add(dir string) error {
	if t.watched[dir] {
		return nil
	}
	if len(t.watched) >= MaxWatched {
		return errTooMany
	}
	if err := t.notify.Add(dir); err != nil {
		return err
	}
	t.watched[dir] = true
	return nil
}

// wanted says whether any Dir looks into a folder.
func (t *tree) wanted(f *folder, path string) bool {
	rel := f.rel(path)
	if hidden(rel) {
		return false
	}
	for _, d := range f.dirs {
		if !d.ignores(rel, true) {
			return true
		}
	}
	return false
}

// rel is a path below the folder, with slashes.
func (f *folder) rel(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(path[len(f.path):], string(filepath.Separator)))
}

// touched tells the Dirs of a folder of a path.
func (t *tree) touched(f *folder, path string) {
	rel := f.rel(path)
	for _, d := range f.dirs {
		if d.Skips(rel) == "" {
			t.touch(d, rel)
		}
	}
}

// end ends the watch of a folder that no Dir is of any more. Those that it is in
// watch on.
func (t *tree) end(path string) {
	t.drop(path)
	for _, f := range t.order {
		if within(f.path, path) && t.watched[f.path] {
			t.grow(f, f.path, false)
			t.ask(f) // for what was not watched in between
		}
	}
}

// drop ends the watch of a folder and of all that are in it.
func (t *tree) drop(path string) {
	for dir := range t.watched {
		if within(path, dir) {
			t.forget(dir)
		}
	}
}

// forget ends the watch of one folder.
func (t *tree) forget(dir string) {
	delete(t.watched, dir)
	if !t.above[dir] {
		_ = t.notify.Remove(dir) // it may be gone
	}
}

// within says whether a path is a folder or in it.
func within(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(dir, string(filepath.Separator)))
}

// event takes what the operating system says.
func (t *tree) event(e fsnotify.Event) {
	const names = fsnotify.Create | fsnotify.Remove | fsnotify.Rename
	if e.Name == "" || e.Op&(names|fsnotify.Write) == 0 {
		return
	}
	was := t.watched[e.Name]
	if e.Op&names != 0 {
		t.named(e)
	}
	for _, f := range t.order {
		if f.path != e.Name && within(f.path, e.Name) && f.is != nil {
			t.inside(f, e, was)
		}
	}
}

// named looks at folders that have come, or gone, with a name.
func (t *tree) named(e fsnotify.Event) {
	delete(t.above, e.Name)
	switch {
	case !t.watched[e.Name]:
	case e.Has(fsnotify.Remove): // it was empty
		t.forget(e.Name)
	default: // it is elsewhere, or another
		t.drop(e.Name)
		t.stale = t.stale || e.Has(fsnotify.Rename)
	}
	missing := false
	for _, f := range t.order {
		if within(e.Name, f.path) {
			t.check(f)
			missing = true
		}
	}
	if missing {
		t.tidy()
	}
}

// inside takes what happened to a path below a folder that is there. was: it was a
// folder.
func (t *tree) inside(f *folder, e fsnotify.Event, was bool) {
	if e.Op&^fsnotify.Write == 0 {
		t.touched(f, e.Name)
		return
	}
	info, err := os.Lstat(e.Name)
	isDir := err == nil && info.IsDir()
	if isDir && t.wanted(f, e.Name) {
		t.grow(f, e.Name, true)
	}
	if gone := e.Has(fsnotify.Remove | fsnotify.Rename); gone && !was || !gone && !isDir {
		t.touched(f, e.Name) // a file that is gone is said to be, whatever has its name now
	}
}
