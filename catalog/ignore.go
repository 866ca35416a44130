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

// ignoring is the rules of the .gitignore files down to a folder, in their
// order; the last that matches decides. Nil ignores nothing.
type ignoring struct{ rules []rule }

// rule is one pattern. A walk does not go into what is ignored, so a rule is
// held against the thing itself and not against the folders above it; most are
// settled by the end of its name.
type rule struct {
	pattern gitignore.Pattern
	domain  []string
	path    bool   // it is held against the whole path, not the name alone
	below   bool   // it is about all that is in a folder
	whole   bool   // the name must be tail
	tail    string // … or end in it
}

func newRule(text string, domain []string) rule {
	text = strings.ReplaceAll(text, "[!", "[^") // the spelling that the library knows
	if name, ok := strings.CutPrefix(text, "**/"); ok && !strings.Contains(strings.TrimSuffix(name, "/"), "/") {
		text = name // at any depth, as a name is anyway
	}
	r := rule{pattern: gitignore.ParsePattern(text, domain), domain: domain}
	text = strings.TrimPrefix(text, "!")
	if !strings.HasSuffix(text, `\ `) {
		text = strings.TrimRight(text, " ")
	}
	text = strings.TrimSuffix(text, "/")
	r.path, r.below = strings.Contains(text, "/"), strings.HasSuffix(text, "/**")
	last := text[strings.LastIndexByte(text, '/')+1:]
	special := strings.LastIndexAny(last, `*?[]\`)
	r.whole, r.tail = special < 0, last[special+1:]
	return r
}

// match gives what the rule says of a thing in a folder; segs is its path below
// the root.
func (r rule) match(segs []string, isDir bool) gitignore.MatchResult {
	name := segs[len(segs)-1]
	if r.whole && name != r.tail || !strings.HasSuffix(name, r.tail) || len(segs) <= len(r.domain) {
		return gitignore.NoMatch
	}
	if !r.path {
		return r.pattern.Match(append(slices.Clip(r.domain), name), isDir)
	}
	result := r.pattern.Match(segs, isDir)
	if inside := r.pattern.Match(segs[:len(segs)-1], true) != gitignore.NoMatch; inside != r.below {
		return gitignore.NoMatch // it is about the folder, or only about what is in it
	}
	return result
}

func (i *ignoring) and(more []rule) *ignoring {
	switch {
	case len(more) == 0:
		return i
	case i != nil:
		more = slices.Concat(i.rules, more)
	}
	return &ignoring{more}
}

// match says whether something in a folder is ignored.
func (i *ignoring) match(dir folder, e fs.DirEntry) bool {
	return i != nil && i.matchPath(append(segments(dir.inRoot), e.Name()), e.IsDir())
}

func (i *ignoring) matchPath(segs []string, isDir bool) bool {
	for _, r := range slices.Backward(i.rules) {
		if result := r.match(segs, isDir); result != gitignore.NoMatch {
			return result == gitignore.Exclude
		}
	}
	return false
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
		if all != nil && all.matchPath(segs[:i+1], true) {
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
func (w *walker) ignores(inRoot string, say func(code, message, hint string)) []rule {
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
func parseIgnores(data []byte, domain []string) (out []rule, last int, cut bool) {
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
			out = append(out, newRule(text, domain))
		}
		last++
	}
	return out, last, tooLong
}
