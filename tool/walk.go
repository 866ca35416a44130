package tool

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

const (
	maxDepth       = 128       // directories below the one that is searched
	maxEntries     = 1_000_000 // looked at in one search
	maxIgnoreBytes = 1 << 20   // of one .gitignore
)

// search walks a directory and finds the files that a call may know of. It
// does not follow symbolic links to directories, and leaves .git out.
type search struct {
	*workspace
	ctx    context.Context
	permit *permission.Engine
	root   *target
	dir    *pinned.Dir
	match  func(rel string) bool // rel is relative to root
	all    bool                  // also what .gitignore leaves out
	links  bool                  // also links to files

	found      []foundFile
	entries    int
	denied     int      // files left out because reading them is not allowed
	unreadable []string // what could not be looked at
	cut        bool     // a bound was reached
}

type foundFile struct {
	rel, subject string
	stat         pinned.Stat
}

// run fills found, the newest file first, then by name.
func (s *search) run() error {
	patterns, domain, err := s.inherited()
	if err != nil {
		return err
	}
	if err := s.walk(s.dir, "", domain, patterns, 0); err != nil {
		return err
	}
	slices.SortFunc(s.found, func(a, b foundFile) int {
		return cmp.Or(cmp.Compare(b.stat.ModTime, a.stat.ModTime), strings.Compare(a.subject, b.subject))
	})
	slices.Sort(s.unreadable)
	return nil
}

// inherited gathers the ignore patterns that hold above the root, unless they
// ignore the root itself: who names an ignored directory means it. domain is
// the root's own path as the patterns see it.
func (s *search) inherited() (patterns []gitignore.Pattern, domain []string, err error) {
	if s.root.outside || s.root.subject == "." {
		return s.excludes(), nil, nil
	}
	domain = strings.Split(s.root.subject, "/")
	if s.all {
		return nil, domain, nil
	}
	patterns = s.excludes()
	for depth := range domain {
		p, err := s.open(strings.Join(append([]string{"."}, domain[:depth]...), "/"))
		if err != nil {
			return nil, nil, err
		}
		if dir, err := p.OpenDir(); err == nil {
			patterns = append(patterns, ignorePatterns(dir, ".gitignore", domain[:depth])...)
			dir.Close()
		}
		p.Close()
		if gitignore.NewMatcher(patterns).Match(domain[:depth+1], true) {
			return nil, domain, nil
		}
	}
	return patterns, domain, nil
}

// excludes reads the repository's own list of what to ignore.
func (s *search) excludes() []gitignore.Pattern {
	if s.all {
		return nil
	}
	p, err := s.open(".")
	if err != nil {
		return nil
	}
	defer p.Close()
	dir, err := p.OpenDir()
	if err != nil {
		return nil
	}
	defer dir.Close()
	return ignorePatterns(dir, ".git/info/exclude", nil)
}

func ignorePatterns(dir *pinned.Dir, name string, domain []string) []gitignore.Pattern {
	f, err := dir.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	var patterns []gitignore.Pattern
	lines := bufio.NewScanner(io.LimitReader(f, maxIgnoreBytes))
	for lines.Scan() {
		line := strings.TrimSuffix(lines.Text(), "\r")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, gitignore.ParsePattern(line, domain))
		}
	}
	return patterns
}

// walk looks at one directory. rel is its path below the root, names its path
// as the patterns see it.
func (s *search) walk(dir *pinned.Dir, rel string, names []string, patterns []gitignore.Pattern, depth int) error {
	entries, err := dir.Names()
	if err != nil {
		s.unreadable = append(s.unreadable, s.subjectOf(rel))
		return nil
	}
	if !s.all {
		patterns = append(slices.Clip(patterns), ignorePatterns(dir, ".gitignore", names)...)
	}
	ignored := gitignore.NewMatcher(patterns)
	names = append(slices.Clip(names), "")
	for _, name := range entries {
		if s.entries++; s.entries > maxEntries {
			s.cut = true
			return nil
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		st, err := dir.Lstat(name)
		if err != nil {
			continue // gone since
		}
		names[len(names)-1] = name
		if name == ".git" || ignored.Match(names, st.Mode.IsDir()) {
			continue
		}
		sub := path.Join(rel, name)
		if !st.Mode.IsDir() {
			s.file(sub, st)
			continue
		}
		if err := s.enter(dir, sub, names, patterns, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) enter(parent *pinned.Dir, rel string, names []string, patterns []gitignore.Pattern, depth int) error {
	switch {
	case s.state != "" && permission.Within(s.root.Path+"/"+rel, s.state):
		return nil
	case depth > maxDepth:
		s.cut = true
		return nil
	}
	dir, err := parent.Sub(path.Base(rel))
	if err != nil {
		s.unreadable = append(s.unreadable, s.subjectOf(rel))
		return nil
	}
	defer dir.Close()
	return s.walk(dir, rel, names, patterns, depth)
}

// file takes a file if it matches and may be read.
func (s *search) file(rel string, st pinned.Stat) {
	if !s.match(rel) {
		return
	}
	judged, outside := s.subject(path.Join(s.root.Path, rel))
	f := foundFile{rel: rel, subject: judged, stat: st}
	switch {
	case st.Mode.IsRegular():
	case st.Mode&fs.ModeSymlink != 0 && s.links:
		to, err := s.open(path.Join(s.root.Path, rel))
		if err != nil {
			var state *StateDirError
			if errors.As(err, &state) {
				s.denied++
			}
			return
		}
		defer to.Close()
		if st, err = to.Lstat(); err != nil || !st.Mode.IsRegular() {
			return
		}
		judged, outside, f.stat = to.subject, to.outside, st
	default:
		return
	}
	if s.permit.Decide(reads("read", judged, outside)...).Effect != permission.Allow {
		s.denied++
		return
	}
	s.found = append(s.found, f)
}

// subjectOf names what is found as rules see it, also in the workspace when a
// folder around that is searched.
func (s *search) subjectOf(rel string) string {
	subject, _ := s.subject(path.Join(s.root.Path, rel))
	return subject
}

// notes says what is not among the results, one line for each reason.
func (s *search) notes() string {
	var b strings.Builder
	if s.denied > 0 {
		fmt.Fprintf(&b, "[%s left out: the permission rules do not allow to read]\n", count(s.denied, "file"))
	}
	if n := len(s.unreadable); n > 0 {
		fmt.Fprintf(&b, "[%s could not be read, such as %s]\n", count(n, "file or directory", "files or directories"), s.unreadable[0])
	}
	if s.cut {
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
