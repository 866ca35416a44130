package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/rosterrun/roster/internal/ignore"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

const (
	maxDepth   = 128       // directories below the one that is searched
	maxEntries = 1_000_000 // looked at in one search
)

// search walks a directory and finds the files that a call may know of. It
// does not follow symbolic links to directories, and leaves .git out.
type search struct {
	*workspace
	permit *permission.Engine
	root   *target
	dir    *pinned.Dir
	match  func(rel string) bool // rel is relative to root; nil: all
	all    bool                  // also what .gitignore leaves out
	links  bool                  // also links to files

	prefix string // what subjects have before the path below root; see around
	around bool   // the workspace is below root, so subjects differ from paths
	closed bool   // roster's own state is below root

	gathered
}

// run fills in what the search gathers.
func (s *search) run(ctx context.Context) error {
	top := strings.TrimSuffix(s.root.Path, "/") + "/"
	switch {
	case s.root.outside:
		s.prefix, s.around = top, permission.Within(s.workspace.root, permission.Fold(s.root.Path))
	case s.root.subject != ".":
		s.prefix = s.root.subject + "/"
	}
	s.closed = s.workspace.state != "" && permission.Within(s.workspace.state, strings.TrimSuffix(permission.Fold(top), "/"))
	patterns, err := s.inherited()
	if err != nil {
		return err
	}
	return s.walk(ctx, folder{ignored: patterns})
}

// inherited gathers the ignore patterns that hold above the root, unless they
// ignore the root itself: who names an ignored directory means it.
func (s *search) inherited() (*ignore.Set, error) {
	if s.all {
		return nil, nil
	}
	patterns, err := s.patternsOf(nil, "", ".git/info/exclude")
	if err != nil || s.root.outside || s.root.subject == "." {
		return patterns, err
	}
	for at := 0; ; {
		if patterns, err = s.patternsOf(patterns, s.root.subject[:max(at-1, 0)], ignoreFile); err != nil {
			return nil, err
		}
		next := strings.IndexByte(s.root.subject[at:], '/')
		if next < 0 {
			break
		}
		at += next + 1
		if patterns.Match(s.root.subject[:at-1], true) {
			return nil, nil
		}
	}
	if patterns.Match(s.root.subject, true) {
		return nil, nil
	}
	return patterns, nil
}

const ignoreFile = ".gitignore"

// patternsOf adds the patterns of a file in a directory of the workspace.
func (s *search) patternsOf(to *ignore.Set, dir, name string) (*ignore.Set, error) {
	p, err := s.open(path.Join(".", dir))
	if err != nil {
		return nil, err
	}
	defer p.Close()
	d, err := p.OpenDir()
	if err != nil {
		return to, nil
	}
	defer d.Close()
	f, _, err := d.OpenHandle(name)
	if err != nil {
		return to, nil
	}
	return readPatterns(to, f, dir), nil
}

// readPatterns adds the patterns of an open file, and closes it. Patterns over
// the bounds do not count: then more is found, never less.
func readPatterns(to *ignore.Set, f pinned.Handle, dir string) *ignore.Set {
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, ignore.MaxBytes+1))
	if err != nil {
		return to
	}
	to, _, _ = to.And(text, dir)
	return to
}

// subjectOf names what is found as rules see it, also in the workspace when a
// folder around that is searched.
func (s *search) subjectOf(rel string) (subject string, outside bool) {
	if s.around || rel == "" {
		return s.subject(path.Join(s.root.Path, rel))
	}
	return s.prefix + rel, s.root.outside
}

// allows says whether the file may be read.
func (g *gathered) allows(permit *permission.Engine, subject string, outside bool) bool {
	g.queries[0] = permission.Query{Tool: "read", Subject: subject}
	n := 1
	if outside {
		g.queries[n] = permission.Query{Tool: permission.ExternalDirectory, Subject: subject}
		n++
	}
	return permit.Decide(g.queries[:n]...).Effect == permission.Allow
}

// file takes a file that matches, if it may be read. st and err are what is known
// of it.
func (s *search) file(g *gathered, f foundFile, outside bool, st pinned.Stat, err error) {
	switch {
	case errors.Is(err, fs.ErrNotExist): // gone since
	case err == nil && st.Mode&fs.ModeSymlink != 0 && s.links:
		s.link(g, f)
	case err == nil && !st.Mode.IsRegular():
	case !g.allows(s.permit, f.subject, outside):
		g.denied++
	case err != nil:
		g.unread(f.subject)
	default:
		f.modTime = st.ModTime
		g.found.add(f)
	}
}

// link takes a link to a file, judged as that.
func (s *search) link(g *gathered, f foundFile) {
	to, err := s.open(path.Join(s.root.Path, f.rel))
	if state := (*StateDirError)(nil); errors.As(err, &state) {
		g.denied++
		return
	} else if errors.Is(err, fs.ErrPermission) {
		g.unread("") // who may know of it cannot be told
		return
	} else if err != nil {
		return // it leads nowhere
	}
	defer to.Close()
	st, err := to.Lstat()
	switch {
	case err != nil || !st.Mode.IsRegular():
	case !g.allows(s.permit, to.subject, to.outside):
		g.denied++
	default:
		f.modTime = st.ModTime
		g.found.add(f)
	}
}

// notes says what is not among the results, one line for each reason.
func (g *gathered) notes() string {
	var b strings.Builder
	if g.denied > 0 {
		fmt.Fprintf(&b, "[%s left out: the permission rules do not allow to read]\n", count(g.denied, "file"))
	}
	if g.unreadable > 0 {
		fmt.Fprintf(&b, "[%s could not be read", count(g.unreadable, "file or directory", "files or directories"))
		if g.example != "" {
			fmt.Fprintf(&b, ", such as %s", named(g.example))
		}
		b.WriteString("]\n")
	}
	if g.cut {
		fmt.Fprintf(&b, "[the search stopped after %d entries or %d levels: search in a smaller directory]\n", maxEntries, maxDepth)
	}
	return b.String()
}

// count writes a number with its noun.
func count(n int, one string, many ...string) string {
	switch {
	case n == 1:
		return "1 " + one
	case len(many) > 0:
		return fmt.Sprintf("%d %s", n, many[0])
	}
	return fmt.Sprintf("%d %ss", n, one)
}
