package catalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/rosterrun/roster/profile"
)

const (
	ignoreFile = ".gitignore"
	// maxIgnoreFile and maxIgnoreLines bound what counts of a .gitignore: each
	// name in a folder is held against every pattern.
	maxIgnoreFile  = 1 << 20 // bytes
	maxIgnoreLines = 5000
)

// ignoring is the patterns of the .gitignore files down to a folder. Nil ignores
// nothing.
type ignoring struct {
	patterns []gitignore.Pattern
	matcher  gitignore.Matcher
}

func (i *ignoring) and(more []gitignore.Pattern) *ignoring {
	switch {
	case len(more) == 0:
		return i
	case i != nil:
		more = slices.Concat(i.patterns, more)
	}
	return &ignoring{more, gitignore.NewMatcher(more)}
}

// match says whether something in a folder is ignored.
func (i *ignoring) match(dir folder, e fs.DirEntry) bool {
	if i == nil {
		return false
	}
	return i.matcher.Match(append(segments(dir.inRoot), e.Name()), e.IsDir())
}

// segments gives a path below the root in its parts.
func segments(inRoot string) []string {
	if inRoot == "." || inRoot == "" {
		return nil
	}
	return strings.Split(filepath.ToSlash(inRoot), "/")
}

// above reads the .gitignore files from the root down to the source, and says
// whether they ignore the source itself.
func (w *walker) above(inRoot string) (all *ignoring, ignored bool) {
	segs := segments(inRoot)
	for i := range segs {
		all = all.and(w.ignores(filepath.Join(segs[:i]...), nil))
		if all != nil && all.matcher.Match(segs[:i+1], true) {
			return nil, true
		}
	}
	return all, false
}

// within adds the patterns of a folder's own .gitignore.
func (w *walker) within(f folder, entries []fs.DirEntry) *ignoring {
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile }) {
		return f.ignoring
	}
	return f.ignoring.and(w.ignores(f.inRoot, func(code, message, hint string) {
		w.diagnose(filepath.Join(f.rel, ignoreFile), code, message, hint)
	}))
}

// ignores reads the patterns of a folder's .gitignore. say gets what is wrong
// with it; it may be nil.
func (w *walker) ignores(inRoot string, say func(code, message, hint string)) []gitignore.Pattern {
	w.look(filepath.Join(inRoot, ignoreFile))
	f, err := openRegular(w.root, filepath.Join(inRoot, ignoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, maxIgnoreFile+1))
		f.Close()
	}
	if say == nil {
		say = func(string, string, string) {}
	}
	if err != nil {
		w.untold = true
		say(profile.CodeIgnoreBad, fmt.Sprintf("cannot be read: %v", bare(err)), "")
		return nil
	}
	patterns, last, cut := parseIgnores(data, segments(inRoot))
	if cut {
		say(profile.CodeIgnoreCut, fmt.Sprintf("the file is over %d bytes or %d patterns; what follows line %d does not count", maxIgnoreFile, maxIgnoreLines, last), "shorten it")
	}
	return patterns
}

// parseIgnores gives the patterns of a .gitignore and, when it is too long, the
// last line that counts.
func parseIgnores(data []byte, domain []string) (out []gitignore.Pattern, last int, cut bool) {
	tooLong := len(data) > maxIgnoreFile
	for raw := range bytes.Lines(data) {
		if tooLong && !bytes.HasSuffix(raw, []byte("\n")) {
			return out, last, true
		}
		text := strings.TrimRight(string(raw), "\r\n")
		if strings.TrimSpace(text) != "" && !strings.HasPrefix(text, "#") {
			if len(out) == maxIgnoreLines {
				return out, last, true
			}
			out = append(out, gitignore.ParsePattern(text, domain))
		}
		last++
	}
	return out, last, tooLong
}
