package catalog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/ignore"
	"github.com/rosterrun/roster/profile"
)

const ignoreFile = ".gitignore"

// ignored says whether the rules down to a folder leave something in it out.
func (f folder) ignored(e fs.DirEntry) bool {
	return f.ignoring.Match(slashed(filepath.Join(f.inRoot, e.Name())), e.IsDir())
}

// slashed is a path below the root as .gitignore files write it.
func slashed(inRoot string) string {
	if inRoot == "." {
		return ""
	}
	return filepath.ToSlash(inRoot)
}

// above reads the .gitignore files from the root down to the source, and says
// whether they ignore the source itself.
func (w *walker) above(inRoot string) (all *ignore.Set, ignored bool) {
	dir := ""
	for name := range strings.SplitSeq(slashed(inRoot), "/") {
		if name == "" {
			break // the source is the root
		}
		all = w.ignores(all, dir, nil)
		dir = strings.TrimPrefix(dir+"/"+name, "/")
		if all.Match(dir, true) {
			return nil, true
		}
	}
	return all, false
}

// within adds the patterns of a folder's own .gitignore.
func (w *walker) within(f folder, entries []fs.DirEntry) *ignore.Set {
	if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile }) {
		return f.ignoring
	}
	return w.ignores(f.ignoring, f.inRoot, func(code, message, hint string) {
		w.diagnose(filepath.Join(f.rel, ignoreFile), code, message, hint)
	})
}

// ignores adds the patterns of a folder's .gitignore. say gets what is wrong with
// it; it may be nil.
func (w *walker) ignores(to *ignore.Set, inRoot string, say func(code, message, hint string)) *ignore.Set {
	w.look(filepath.Join(inRoot, ignoreFile))
	f, err := openRegular(w.root, filepath.Join(inRoot, ignoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return to
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, ignore.MaxBytes+1))
		f.Close()
	}
	if say == nil {
		say = func(string, string, string) {}
	}
	if err != nil {
		w.untold = true
		say(profile.CodeIgnoreBad, fmt.Sprintf("cannot be read: %v", bare(err)), "")
		return to
	}
	to, last, cut := to.And(data, slashed(inRoot))
	if cut {
		say(profile.CodeIgnoreCut, fmt.Sprintf("the file is over %d bytes or %d patterns; what follows line %d does not count", ignore.MaxBytes, ignore.MaxPatterns, last), "shorten it")
	}
	return to
}
