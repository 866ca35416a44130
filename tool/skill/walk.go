package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Bounds of a look at the places.
const (
	maxDepth   = 5      // folders below a place that are gone into
	maxFolders = 20_000 // that are looked at in all
	maxSkills  = 10_000
)

// stamp tells one state of a file or folder from another; the zero stamp is that of
// one that is not there.
type stamp struct {
	size, mtime, ctime int64
	inode              uint64
}

// look is a path as a walk found it.
type look struct {
	path  string
	stamp stamp
	// over says, of a path that is not there, what of a library's overs is there
	// above it, counted from 1; 0: nobody knows.
	over int
}

func lookAt(path string) look {
	var st unix.Stat_t
	for {
		err := unix.Stat(path, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return look{path: path}
		}
		return look{path: path, stamp: stamp{st.Size, st.Mtim.Nano(), st.Ctim.Nano(), st.Ino}}
	}
}

// found is a SKILL.md that a walk came to.
type found struct {
	place Place
	name  string // of its folder
	shown string // the file, as diagnostics name it
	dir   string // its folder, absolute, with links followed
	file  string // its name in the folder
	root  string // what it is read through; empty: nothing holds it
	own   bool
	stamp stamp
}

// walker looks through places.
type walker struct {
	workspace string // absolute, with links followed
	looks     []look
	found     []found
	ds        []profile.Diagnostic
	folders   int
	cut       bool // a bound was reached
	deep      bool // look into skills too, for what lies in them
	seen      map[string]bool
}

// folder is one on the walk: below the root of its place, on disk, and as it is shown.
type folder struct {
	rel, real, shown string
	depth            int
	inside           string // the skill that it lies in, as it is shown; empty: none
}

func (f folder) into(name, real string) folder {
	return folder{path.Join(f.rel, name), real, filepath.Join(f.shown, name), f.depth + 1, f.inside}
}

func (w *walker) place(p Place) {
	dir, patterns := p.fixed()
	l := lookAt(dir)
	w.looks = append(w.looks, l)
	if l.stamp == (stamp{}) {
		if p.Named && len(patterns) == 0 {
			w.report(p, profile.CodeSkillPlace, p.Shown, "there is no such folder of skills", "")
		}
		return
	}
	fsys, rel, closer, err := p.open(dir)
	if err != nil {
		w.report(p, profile.CodeIO, p.Shown, fmt.Sprintf("cannot be read: %v", bare(err)), "")
		return
	}
	defer closer()
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		_, err = fs.Stat(fsys, rel) // refuses what leads out
	}
	if err != nil {
		w.refused(p, p.Shown, err)
		return
	}
	shown := p.Shown
	for range patterns {
		shown = filepath.Dir(shown)
	}
	before := len(w.found)
	w.matching(p, fsys, folder{rel: rel, real: real, shown: shown}, patterns)
	if p.Named && len(w.found) == before {
		w.report(p, profile.CodeSkillPlace, p.Shown, "there is no skill in it", "a skill is a folder with a "+File)
	}
}

// open gives what a place is read through.
func (p Place) open(dir string) (fsys fs.FS, rel string, closer func(), err error) {
	if p.Root == "" {
		return os.DirFS(dir), ".", func() {}, nil
	}
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return nil, "", nil, err
	}
	if rel, err = filepath.Rel(p.Root, dir); err != nil {
		return nil, "", nil, errors.Join(err, root.Close())
	}
	return root.FS(), filepath.ToSlash(rel), func() { root.Close() }, nil
}

// matching goes to the folders that the patterns match.
func (w *walker) matching(p Place, fsys fs.FS, f folder, patterns []string) {
	if len(patterns) == 0 {
		w.dir(p, fsys, f)
		return
	}
	for _, e := range w.list(p, fsys, f) {
		if ok, err := path.Match(patterns[0], e.Name()); err != nil || !ok || hidden(e.Name()) && !strings.HasPrefix(patterns[0], ".") {
			continue
		}
		if next, ok := w.enter(p, fsys, f, e); ok {
			next.depth = 0
			w.matching(p, fsys, next, patterns[1:])
		}
	}
}

// dir looks at a folder: it is a skill, or may hold some.
func (w *walker) dir(p Place, fsys fs.FS, f folder) {
	if w.folders++; w.folders > maxFolders || len(w.found) >= maxSkills {
		if !w.cut {
			w.report(p, profile.CodeSkillPlace, f.shown, fmt.Sprintf("more than %d folders or %d skills: the rest is not looked at", maxFolders, maxSkills), "name fewer folders")
		}
		w.cut = true
		return
	}
	if w.seen[f.real] {
		return // by another way
	}
	w.seen[f.real] = true
	if f.depth > 0 || p.Named {
		if f.inside != "" && w.inside(fsys, f) {
			w.note(p, f)
		} else if f.inside == "" && w.skill(p, fsys, f, File) {
			if !w.deep {
				return
			}
			f.inside = f.shown
		}
	}
	for _, e := range w.list(p, fsys, f) {
		switch {
		case strings.EqualFold(e.Name(), File) && e.Name() != File && f.inside == "":
			if w.skill(p, fsys, f, e.Name()) {
				w.report(p, profile.CodeSkillFile, filepath.Join(f.shown, e.Name()), "other systems do not find a skill by this name", "rename it to "+File)
			}
		case hidden(e.Name()) || e.Name() == "node_modules":
		default:
			if next, ok := w.enter(p, fsys, f, e); ok {
				w.dir(p, fsys, next)
			}
		}
	}
}

// enter follows an entry that is a folder, or a link to one.
func (w *walker) enter(p Place, fsys fs.FS, f folder, e fs.DirEntry) (folder, bool) {
	real := filepath.Join(f.real, e.Name())
	next := f.into(e.Name(), real)
	if e.Type()&fs.ModeSymlink != 0 {
		info, err := fs.Stat(fsys, next.rel)
		if err == nil && info.IsDir() {
			next.real, err = filepath.EvalSymlinks(real)
		} else if err == nil || errors.Is(err, fs.ErrNotExist) {
			return next, false
		}
		if err != nil {
			w.refused(p, next.shown, err)
			return next, false
		}
	} else if !e.IsDir() {
		return next, false
	}
	if next.depth > maxDepth {
		w.report(p, profile.CodeDeepFolder, next.shown, fmt.Sprintf("the folder is more than %d levels below the skills and is not looked at", maxDepth), "move it up")
		return next, false
	}
	return next, true
}

// list gives what is in a folder, by name.
func (w *walker) list(p Place, fsys fs.FS, f folder) []fs.DirEntry {
	w.looks = append(w.looks, lookAt(f.real))
	entries, err := fs.ReadDir(fsys, f.rel)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.refused(p, f.shown, err)
	}
	return entries
}

// skill notes the file that makes a folder a skill.
func (w *walker) skill(p Place, fsys fs.FS, f folder, name string) bool {
	rel := path.Join(f.rel, name)
	info, err := fs.Stat(fsys, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	shown := filepath.Join(f.shown, name)
	switch {
	case err != nil:
		w.refused(p, shown, err)
		return true
	case !info.Mode().IsRegular():
		w.report(p, profile.CodeIO, shown, "cannot be read: it is not a regular file", "")
		return true
	}
	l := lookAt(filepath.Join(f.real, name))
	w.looks = append(w.looks, l)
	x := found{place: p, name: filepath.Base(f.shown), shown: shown, dir: f.real, file: name, stamp: l.stamp, root: p.Root}
	if x.name == "." {
		x.name = filepath.Base(f.real)
	}
	x.own = p.Own && !within(w.workspace, f.real)
	if p.Own && !x.own { // the user's link leads to a file of the workspace
		x.root = w.workspace
	}
	w.found = append(w.found, x)
	return true
}

// inside says whether a folder in a skill has a file that would make it one.
func (w *walker) inside(fsys fs.FS, f folder) bool {
	info, err := fs.Stat(fsys, path.Join(f.rel, File))
	return err == nil && info.Mode().IsRegular()
}

func (w *walker) note(p Place, f folder) {
	w.report(p, profile.CodeSkillInside, filepath.Join(f.shown, File), fmt.Sprintf("it lies in the skill %s and is one of its files, and no skill by itself", f.inside),
		"move its folder beside that one to make it a skill")
}

func (w *walker) refused(p Place, shown string, err error) {
	if strings.Contains(err.Error(), "escapes") {
		w.report(p, profile.CodeLeaves, shown, "the link leads out of its workspace and is not followed", "copy what it leads to")
		return
	}
	w.report(p, profile.CodeIO, shown, fmt.Sprintf("cannot be read: %v", bare(err)), "")
}

func (w *walker) report(p Place, code, shown, message, hint string) {
	d := profile.Diagnose(code, source.Origin{File: shown}, "", message, hint)
	if !slices.Contains(w.ds, d) {
		w.ds = append(w.ds, d)
	}
}

// bare is an error without the path, which a diagnostic has already.
func bare(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

func hidden(name string) bool { return strings.HasPrefix(name, ".") }

// within says whether a path is a folder or lies in it.
func within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// readFile reads a regular file, through a root if that is named, with at most one
// byte more than a file may have. It does not wait for the other end of a pipe.
func readFile(root, path string) ([]byte, error) {
	f, err := openFile(root, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, nil)
}

const openFlags = os.O_RDONLY | unix.O_NONBLOCK

func openFile(root, path string) (*os.File, error) {
	if root == "" {
		return os.OpenFile(path, openFlags, 0)
	}
	r, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return nil, err
	}
	return r.OpenFile(rel, openFlags, 0)
}

// readAll reads into buf, which it may replace.
func readAll(f *os.File, buf []byte) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	size := int(min(info.Size(), profile.MaxFile) + 1)
	buf = slices.Grow(buf[:0], size)[:size]
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		err = nil
	}
	return buf[:n], err
}
