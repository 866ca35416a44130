package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

const (
	maxWalkDepth  = 64      // folders below a source
	maxIgnoreFile = 1 << 20 // bytes of a .gitignore that are read
)

// found is one file of a source: where to read it and what its stamp is, or why
// it is not read.
type found struct {
	rel     string // below the source; empty for a source that is one file
	inRoot  string // real path below the walk's root
	stamp   stamp
	claimed bool
	diag    *profile.Diagnostic
	other   bool // not Markdown
}

// walker lists the files of one source.
type walker struct {
	src     Source
	all     bool // other files than Markdown too
	root    *os.Root
	real    string          // real path of the root
	visited map[string]bool // real paths of folders
	out     []found
	looks   []look // all that the walk depends on …
	untold  bool   // … unless it depends on more
}

// walk lists the files of a source on disk, in the order of their paths. The
// caller closes the root. A source that does not exist has no root.
func walk(src Source, all bool) (*walker, error) {
	w := &walker{src: src, all: all, visited: map[string]bool{}}
	w.looks = append(w.looks, lookAt(src.Path))
	info, err := os.Stat(src.Path)
	if errors.Is(err, fs.ErrNotExist) {
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
		w.leaves("", "")
		return w, nil
	}
	if !info.IsDir() {
		other := all && filepath.Ext(src.Path) != ".md"
		w.out = append(w.out, found{inRoot: inRoot, stamp: stampOf(info), claimed: true, other: other})
		return w, nil
	}
	patterns, ignored := w.above(inRoot)
	if !ignored {
		w.dir("", inRoot, patterns, w.src.Claimed && !w.holdsProfileFolders(inRoot), 0)
	}
	return w, nil
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

// above reads the .gitignore files from the root down to the source, and says
// whether they ignore the source itself.
func (w *walker) above(inRoot string) (patterns []gitignore.Pattern, ignored bool) {
	if inRoot == "." {
		return nil, false
	}
	segs := split(inRoot)
	for i := range segs {
		patterns = append(patterns, w.ignores("", filepath.Join(segs[:i]...))...)
		if gitignore.NewMatcher(patterns).Match(segs[:i+1], true) {
			return nil, true
		}
	}
	return patterns, false
}

func (w *walker) holdsProfileFolders(inRoot string) bool {
	entries, err := fs.ReadDir(w.root.FS(), filepath.ToSlash(inRoot))
	return err == nil && slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		return e.IsDir() && (dialect.IsProfileFolder(e.Name()) || e.Name() == ".opencode" || e.Name() == "rig")
	})
}

func (w *walker) dir(rel, inRoot string, patterns []gitignore.Pattern, claimed bool, depth int) {
	if w.visited[inRoot] || depth > maxWalkDepth {
		return
	}
	w.visited[inRoot] = true
	w.look(inRoot)
	f, err := w.root.Open(inRoot)
	var entries []fs.DirEntry
	if err == nil {
		entries, err = f.ReadDir(-1)
		f.Close()
	}
	if err != nil {
		w.unreadable(rel, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".gitignore" }) {
		patterns = slices.Concat(patterns, w.ignores(rel, inRoot))
	}
	match := gitignore.NewMatcher(patterns)
	var below []string
	if len(patterns) > 0 && inRoot != "." {
		below = split(inRoot)
	}
	for _, e := range entries {
		if hidden(e.Name()) {
			continue
		}
		if len(patterns) > 0 && match.Match(append(slices.Clip(below), e.Name()), e.IsDir()) {
			continue
		}
		w.entry(e, filepath.Join(rel, e.Name()), filepath.Join(inRoot, e.Name()), patterns, claimed, depth)
	}
}

func (w *walker) entry(e fs.DirEntry, rel, inRoot string, patterns []gitignore.Pattern, claimed bool, depth int) {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
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
		w.dir(rel, inRoot, patterns, claimed, depth+1)
	case !info.Mode().IsRegular():
	case strings.HasSuffix(rel, ".md"):
		f := found{rel: rel, inRoot: inRoot, stamp: stampOf(info), claimed: claimed}
		w.out = append(w.out, f)
		w.looks = append(w.looks, look{filepath.Join(w.real, inRoot), f.stamp})
	case w.all:
		w.out = append(w.out, found{rel: rel, other: true})
	}
}

// follow gives what a link leads to, if that is inside the root.
func (w *walker) follow(rel, inRoot string) (string, fs.FileInfo, bool) {
	real, err := filepath.EvalSymlinks(filepath.Join(w.real, inRoot))
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
	if err != nil {
		w.unreadable(rel, err)
		return "", nil, false
	}
	return target, info, true
}

func (w *walker) leaves(rel, message string) {
	if message == "" {
		message = "the folder is a link that leads out of its workspace and is not followed"
	}
	w.diagnose(rel, profile.CodeLeaves, message, "copy what it leads to")
}

func (w *walker) unreadable(rel string, err error) {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	w.diagnose(rel, profile.CodeIO, fmt.Sprintf("cannot be read: %v", err), "")
}

func (w *walker) diagnose(rel, code, message, hint string) {
	w.untold = true
	d := profile.Diagnose(code, source.Origin{File: w.src.shown(rel)}, "", message, hint)
	w.out = append(w.out, found{rel: rel, diag: &d})
}

// ignores reads the patterns of a folder's .gitignore.
func (w *walker) ignores(rel, inRoot string) []gitignore.Pattern {
	w.look(filepath.Join(inRoot, ".gitignore"))
	f, err := openRegular(w.root, filepath.Join(inRoot, ".gitignore"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxIgnoreFile))
		f.Close()
	}
	if err != nil {
		w.diagnose(filepath.Join(rel, ".gitignore"), profile.CodeIgnoreBad, fmt.Sprintf("cannot be read: %v", err), "")
		return nil
	}
	var domain []string
	if inRoot != "." && inRoot != "" {
		domain = split(inRoot)
	}
	var out []gitignore.Pattern
	for line := range bytes.Lines(data) {
		text := strings.TrimRight(string(line), "\r\n")
		if strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "#") {
			out = append(out, gitignore.ParsePattern(text, domain))
		}
	}
	return out
}

func split(p string) []string { return strings.Split(filepath.ToSlash(p), "/") }

// hidden says whether a name is not read: it starts with a dot, and is not a
// folder in which some tool keeps its agents.
func hidden(name string) bool {
	switch name {
	case ".opencode", ".claude", ".gemini", ".codex", ".github":
		return false
	}
	return strings.HasPrefix(name, ".")
}
