package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/ignore"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// maxWalkDepth is how many folders below a source are read.
const maxWalkDepth = 64

// found is one file of a source: where to read it and what its stamp is, or why
// it is not read.
type found struct {
	rel     string // below the source; empty for a source that is one file
	inRoot  string // real path below the walk's root
	stamp   stamp
	parts   []part // the other files of a directory profile
	claimed bool
	diag    *profile.Diagnostic
	other   bool // of a kind that holds no profiles
}

// walker lists the files of one source.
type walker struct {
	src     Source
	all     bool // also the files that hold no profiles
	root    *os.Root
	real    string          // real path of the root
	visited map[string]bool // real paths of folders
	shared  sharing
	began   time.Time
	before  map[string]listing // of a search, by the path below the root
	listed  map[string]listing // what it leaves for the next
	out     []found
	looks   []look // all that the walk depends on …
	untold  bool   // … unless it depends on more
}

// folder is a folder on the walk.
type folder struct {
	rel, inRoot string
	ignoring    *ignore.Set
	claimed     bool // its Markdown files are
	profile     bool // it is a directory profile
	depth       int
}

// into is a folder in this one.
func (f folder) into(name, inRoot string) folder {
	f.rel, f.inRoot, f.profile = filepath.Join(f.rel, name), inRoot, false
	f.depth++
	return f
}

// walk lists the files of a source on disk, in the order of their paths. The
// caller closes the root. before is what the last walk of the source listed. A source that does not exist has no root.
func walk(src Source, all bool, before map[string]listing) (*walker, error) {
	w := &walker{src: src, all: all, visited: map[string]bool{}, began: time.Now(), before: before, listed: map[string]listing{}}
	w.note(lookFor(src.Path))
	info, err := os.Stat(src.Path)
	if isAbsent(err) || err == nil && src.standard && !info.IsDir() {
		return w, nil
	}
	if err != nil {
		return w, err
	}
	top := src.Root
	if top == "" {
		top = src.Path
		if !info.IsDir() {
			top = filepath.Dir(src.Path)
		}
	}
	if w.real, err = realPath(top); err != nil {
		return w, err
	}
	if w.root, err = os.OpenRoot(w.real); err != nil {
		return w, err
	}
	start, err := realPath(src.Path)
	if err != nil {
		return w, err
	}
	inRoot, ok := w.below(start)
	if !ok {
		w.leaves("", "the folder is a link that leads out of its workspace and is not followed")
		return w, nil
	}
	if !info.IsDir() {
		w.single(inRoot, info)
		return w, nil
	}
	if ignoring, ignored := w.above(inRoot); !ignored {
		w.start(folder{inRoot: inRoot, ignoring: ignoring, claimed: src.Claimed && !w.holdsProfileFolders(inRoot)})
	}
	return w, nil
}

// start goes through the source's folder in the way of the source.
func (w *walker) start(f folder) {
	switch {
	case w.src.search:
		w.search(f)
	case len(w.src.only) > 0:
		for _, pattern := range w.src.only {
			w.matching(f, strings.Split(pattern, "/"))
		}
	default:
		w.dir(f)
	}
	w.dropParts()
}

// single is a source that is one file.
func (w *walker) single(inRoot string, info fs.FileInfo) {
	if !info.Mode().IsRegular() {
		w.unreadable("", irregularError(info.Mode()))
		return
	}
	f := found{inRoot: inRoot, stamp: stampOf(info), claimed: isMarkdown(inRoot) || !isCandidate(inRoot), other: w.all && !isCandidate(inRoot)}
	dir := folder{inRoot: filepath.Dir(inRoot)}
	if main, _, _ := dialect.DirectoryParts(); filepath.Base(inRoot) == main {
		if entries, err := w.list(dir); err == nil && w.isProfile(entries) {
			f.parts = w.partsOf(dir)
		}
	}
	w.out = append(w.out, f)
}

func (w *walker) close() {
	if w.root != nil {
		w.root.Close()
	}
}

func realPath(p string) (string, error) {
	abs, err := filepath.Abs(p)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// below gives a real path's part below the root, if it is there.
func (w *walker) below(real string) (string, bool) {
	rel, err := filepath.Rel(w.real, real)
	return rel, err == nil && filepath.IsLocal(rel)
}

func (w *walker) holdsProfileFolders(inRoot string) bool {
	entries, err := fs.ReadDir(w.root.FS(), filepath.ToSlash(inRoot))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.IsDir() && (dialect.IsProfileFolder(e.Name()) || isToolFolder(e.Name()) || e.Name() == "rig")
	})
}

// list gives what is in a folder, by name. One that has gone is empty.
func (w *walker) list(f folder) ([]fs.DirEntry, error) {
	w.look(f.inRoot)
	dir, err := w.root.Open(f.inRoot)
	if isAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if isAbsent(err) { // gone since it was opened
		err = nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

func (w *walker) dir(f folder) {
	if w.visited[f.inRoot] {
		return
	}
	w.visited[f.inRoot] = true
	if f.depth > maxWalkDepth {
		w.diagnose(f.rel, profile.CodeDeepFolder, fmt.Sprintf("the folder is more than %d levels deep and is not read", maxWalkDepth), "move it up")
		return
	}
	entries, err := w.list(f)
	if err != nil {
		w.unreadable(f.rel, err)
	}
	f.ignoring = w.within(f, entries)
	f.profile = w.isProfile(entries)
	for _, e := range entries {
		if !hidden(e.Name()) && !f.ignored(e) {
			w.entry(f, e)
		}
	}
}

// matching goes to what the segments of a pattern match below a folder.
func (w *walker) matching(f folder, pattern []string) {
	entries, err := w.list(f)
	if err != nil {
		w.unreadable(f.rel, err)
	}
	f.ignoring = w.within(f, entries)
	for _, e := range entries {
		ok, err := path.Match(pattern[0], e.Name())
		switch {
		case err != nil || !ok || f.ignored(e):
		case len(pattern) == 1:
			w.entry(f, e)
		case e.IsDir():
			w.matching(f.into(e.Name(), filepath.Join(f.inRoot, e.Name())), pattern[1:])
		}
	}
}

// entry is one thing in a folder.
func (w *walker) entry(dir folder, e fs.DirEntry) {
	rel, inRoot := filepath.Join(dir.rel, e.Name()), filepath.Join(dir.inRoot, e.Name())
	info, err := e.Info()
	if isAbsent(err) {
		return // gone since the folder was read
	}
	if err == nil && e.Type()&fs.ModeSymlink != 0 {
		var ok bool
		w.untold = true
		if inRoot, info, ok = w.follow(rel, inRoot); !ok {
			return
		}
	}
	switch {
	case err != nil:
		w.unreadable(rel, err)
	case info.IsDir():
		w.dir(dir.into(e.Name(), inRoot))
	case !info.Mode().IsRegular():
		if isMarkdown(rel) || dir.profile && isCandidate(rel) {
			w.unreadable(rel, irregularError(info.Mode()))
		}
	case isCandidate(rel):
		w.file(dir, found{rel: rel, inRoot: inRoot, stamp: stampOf(info), claimed: dir.claimed && isMarkdown(rel)})
	case w.all:
		w.out = append(w.out, found{rel: rel, inRoot: inRoot, other: true})
	}
}

// file notes a file that may hold profiles.
func (w *walker) file(dir folder, f found) {
	if main, _, _ := dialect.DirectoryParts(); dir.profile && filepath.Base(f.rel) == main {
		f.parts = w.partsOf(dir)
	}
	w.out = append(w.out, f)
	w.note(look{path: w.path(f.inRoot), stamp: f.stamp})
}

// follow gives what a link leads to, if that is inside the root.
func (w *walker) follow(rel, inRoot string) (string, fs.FileInfo, bool) {
	real, err := filepath.EvalSymlinks(w.path(inRoot))
	if errors.Is(err, fs.ErrNotExist) {
		w.leaves(rel, "the link leads to nothing")
		return "", nil, false
	}
	if err != nil {
		w.unreadable(rel, err)
		return "", nil, false
	}
	target, ok := w.below(real)
	if !ok {
		w.leaves(rel, "the link leads out of its source and is not followed")
		return "", nil, false
	}
	info, err := w.root.Lstat(target)
	if isAbsent(err) {
		return "", nil, false // gone since it was followed
	}
	if err != nil {
		w.unreadable(rel, err)
		return "", nil, false
	}
	return target, info, true
}

func (w *walker) leaves(rel, message string) {
	w.untold = true
	w.diagnose(rel, profile.CodeLeaves, message, "copy what it leads to")
}

func (w *walker) unreadable(rel string, err error) {
	w.untold = true
	w.diagnose(rel, profile.CodeIO, fmt.Sprintf("cannot be read: %v", bare(err)), "")
}

func (w *walker) diagnose(rel, code, message, hint string) {
	d := profile.Diagnose(code, source.Origin{File: w.src.shown(rel)}, "", message, hint)
	w.out = append(w.out, found{rel: rel, diag: &d})
}

// bare is an error without the path, which a diagnostic has already.
func bare(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	if le := (*os.LinkError)(nil); errors.As(err, &le) {
		return le.Err
	}
	return err
}

// irregularError says what is in the place of a file.
type irregularError fs.FileMode

func (e irregularError) Error() string {
	kind := "a device"
	switch mode := fs.FileMode(e); {
	case mode.IsDir():
		kind = "a folder"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return "it is " + kind + ", not a regular file"
}

func isMarkdown(name string) bool { return strings.HasSuffix(name, ".md") }

// isCandidate says whether a file of this name may hold profiles.
func isCandidate(name string) bool {
	switch filepath.Ext(name) {
	case ".md", ".toml", ".json", ".yaml", ".yml":
		return true
	}
	return dialect.Shared(name)
}

// hidden says whether a name is not read: it starts with a dot, and is not a
// folder in which some tool keeps its agents.
func hidden(name string) bool { return strings.HasPrefix(name, ".") && !isToolFolder(name) }

func isToolFolder(name string) bool {
	switch name {
	case ".opencode", ".claude", ".gemini", ".codex", ".github":
		return true
	}
	return false
}
