package catalog

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

const (
	// maxSearchDepth is how many folders below a workspace directory profiles
	// are searched for.
	maxSearchDepth = 4
	// maxSearched bounds the folders of a search; each is looked at again on
	// every look at the catalog.
	maxSearched = 20_000
	// maxParts bounds the files of one directory profile that a pattern names.
	maxParts = 256
)

// part is a further file of a directory profile.
type part struct {
	key    string // its path from the profile's folder, with slashes
	inRoot string // real path below the walk's root
	stamp  stamp
}

// sharing is what a walk knows about the further files of directory profiles:
// many profiles may have the same one.
type sharing struct {
	parts map[string]*part    // by the path below the root at which it is expected; nil: none there
	names map[string][]string // of folders, by the same
	used  map[string]bool     // real paths below the root
}

// isProfile says whether a folder is a directory profile.
func (w *walker) isProfile(entries []fs.DirEntry) bool {
	main, required, _ := dialect.DirectoryParts()
	return holds(entries, main) && !slices.ContainsFunc(required, func(name string) bool { return !holds(entries, name) })
}

func holds(entries []fs.DirEntry, name string) bool {
	_, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
	return ok
}

// partsOf finds the further files of the directory profile in a folder. One that
// is shared with other profiles counts only inside the root.
func (w *walker) partsOf(dir folder) (out []part) {
	_, required, optional := dialect.DirectoryParts()
	for _, key := range slices.Concat(required, optional) {
		at := filepath.Join(dir.inRoot, filepath.FromSlash(key))
		switch {
		case !filepath.IsLocal(at):
		case strings.ContainsAny(key, "*?["):
			for _, name := range w.matches(dir, key) {
				out = w.addPart(out, dir, path.Join(path.Dir(key), name))
			}
		default:
			out = w.addPart(out, dir, key)
		}
	}
	return out
}

func (w *walker) addPart(to []part, dir folder, key string) []part {
	at := filepath.Join(dir.inRoot, filepath.FromSlash(key))
	p, known := w.shared.parts[at]
	if !known {
		p = w.partAt(filepath.Join(dir.rel, filepath.FromSlash(key)), at)
		if w.shared.parts == nil {
			w.shared.parts, w.shared.used = map[string]*part{}, map[string]bool{}
		}
		w.shared.parts[at] = p
	}
	if p == nil {
		return to
	}
	w.shared.used[p.inRoot] = true
	return append(to, part{key, p.inRoot, p.stamp})
}

// partAt looks at one further file.
func (w *walker) partAt(rel, at string) *part {
	w.look(at)
	if _, err := os.Lstat(w.path(at)); isAbsent(err) {
		return nil
	} else if err != nil {
		w.unreadable(rel, err)
		return nil
	}
	inRoot, info, ok := w.follow(rel, at)
	if !ok {
		return nil
	}
	if inRoot != at {
		w.untold = true
	}
	if !info.Mode().IsRegular() {
		w.unreadable(rel, irregularError(info.Mode()))
		return nil
	}
	return &part{inRoot: inRoot, stamp: stampOf(info)}
}

// isAbsent says that there is nothing at a path, perhaps because a file is where
// a folder would be.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// matches lists what the last segment of a pattern matches in its folder.
func (w *walker) matches(dir folder, pattern string) []string {
	at := filepath.Join(dir.inRoot, filepath.FromSlash(pattern))
	if names, known := w.shared.names[at]; known {
		return names
	}
	rel := filepath.Join(dir.rel, filepath.FromSlash(path.Dir(pattern)))
	var names []string
	for _, e := range w.partFolder(rel, filepath.Dir(at)) {
		if ok, err := path.Match(path.Base(pattern), e.Name()); ok && err == nil && !hidden(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxParts {
		w.diagnose(filepath.Join(rel, names[maxParts]), profile.CodeSearchCut, fmt.Sprintf("the folder has more than %d such files; this one and those after it are not read", maxParts), "")
		names = names[:maxParts]
	}
	if w.shared.names == nil {
		w.shared.names = map[string][]string{}
	}
	w.shared.names[at] = names
	return names
}

// partFolder lists a folder that may hold further files.
func (w *walker) partFolder(rel, inRoot string) []fs.DirEntry {
	w.look(inRoot)
	info, err := os.Lstat(w.path(inRoot))
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		var ok bool
		w.untold = true
		if inRoot, info, ok = w.follow(rel, inRoot); !ok {
			return nil
		}
	}
	if isAbsent(err) || err == nil && !info.IsDir() {
		return nil
	}
	var entries []fs.DirEntry
	if err == nil {
		entries, err = w.list(folder{rel: rel, inRoot: inRoot})
	}
	if err != nil {
		w.unreadable(rel, err)
	}
	return entries
}

// dropParts removes from the list what is a part of a directory profile.
func (w *walker) dropParts() {
	if len(w.shared.used) == 0 {
		return
	}
	w.out = slices.DeleteFunc(w.out, func(f found) bool { return f.parts == nil && f.diag == nil && w.shared.used[f.inRoot] })
}

// search finds the directory profiles in the folders below one, the nearest
// first. It follows no links: what they lead to is searched where it is.
func (w *walker) search(top folder) {
	queue, cut := []folder{top}, false
	for n := 0; n < len(queue); n++ {
		f := queue[n]
		entries, err := w.searched(f)
		if err != nil {
			w.untold = true
			w.diagnose(f.rel, profile.CodeNotSearched, fmt.Sprintf("the folder cannot be searched for directory profiles: %v", bare(err)), "")
		}
		f.ignoring = w.within(f, entries)
		if f.profile = f.depth > 0 && w.isProfile(entries); f.profile {
			w.main(f, entries)
		}
		if f.depth == maxSearchDepth {
			continue
		}
		for _, e := range entries {
			next := f.into(e.Name(), filepath.Join(f.inRoot, e.Name()))
			if !e.IsDir() || w.isPassed(next.rel) || f.ignored(e) {
				continue
			}
			if len(queue) < w.src.most {
				queue = append(queue, next)
				continue
			}
			if !cut {
				w.diagnose(next.rel, profile.CodeSearchCut, fmt.Sprintf("directory profiles are searched for in %d folders; this one and those after it are not searched", w.src.most),
					"name the folder of the profiles under profiles in roster.yaml")
			}
			cut = true
		}
	}
	slices.SortStableFunc(w.out, func(a, b found) int { return cmp.Compare(a.rel, b.rel) })
}

// listing is what a search needs to know of a folder, as of its stamp.
type listing struct {
	stamp   stamp
	entries []fs.DirEntry
}

// searched lists a folder as far as a search needs it. A workspace has many
// folders and few of them change, so the others are not read again.
func (w *walker) searched(f folder) ([]fs.DirEntry, error) {
	at := lookAt(w.path(f.inRoot))
	l, known := w.before[f.inRoot]
	if known && l.stamp == at.stamp {
		w.note(at)
	} else {
		all, err := w.list(f)
		if err != nil {
			return nil, err
		}
		few := slices.DeleteFunc(all, func(e fs.DirEntry) bool { return !e.IsDir() && !isMark(e.Name()) })
		l = listing{at.stamp, slices.Clone(few)}
	}
	if w.began.UnixNano()-max(at.stamp.mtime, at.stamp.ctime) >= int64(racy) {
		w.listed[f.inRoot] = l
	}
	return l.entries, nil
}

// isMark says whether a file of this name tells something about its folder.
func isMark(name string) bool {
	main, required, _ := dialect.DirectoryParts()
	return name == ignoreFile || name == main || slices.Contains(required, name)
}

// main notes the profile of a folder.
func (w *walker) main(f folder, entries []fs.DirEntry) {
	name, _, _ := dialect.DirectoryParts()
	for _, e := range entries {
		if e.Name() == name && !f.ignored(e) {
			w.entry(f, e)
		}
	}
}

// isPassed says whether a search leaves a folder out: another source has it, its
// name starts with a dot, or it holds what a package manager installed.
func (w *walker) isPassed(rel string) bool {
	name := filepath.Base(rel)
	if strings.HasPrefix(name, ".") || name == "node_modules" {
		return true
	}
	return slices.ContainsFunc(w.src.passed, func(pattern string) bool {
		ok, err := path.Match(pattern, filepath.ToSlash(rel))
		return ok && err == nil
	})
}
