// Package strand looks at the files of watched folders: which there are, what is in
// them, and which have changed. A file whose text becomes a job is a strand; one that
// cannot be a strand has a word that says why.
//
// Nothing outside of a folder is read. A folder need not be there: it has no files
// then, until it appears.
package strand

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/ignore"
)

// Bounds, where Options name none.
const (
	MaxSize  = 4 << 20 // bytes of a strand
	Debounce = 100 * time.Millisecond
)

// Options say which files of a folder are strands, and when.
type Options struct {
	// Ignore has globs as a .gitignore has lines. What they match is not looked at.
	Ignore []string
	// MaxSize is how many bytes a strand has at most; 0: MaxSize.
	MaxSize int64
	// PathOnly says that only the paths are wanted: a strand has no bound then, and
	// its content is hashed, but not kept.
	PathOnly bool
	// Debounce is for how long a file must not have been touched before a Watcher
	// gives its path; 0: Debounce.
	Debounce time.Duration
}

// Dir is a watched folder, as one knot sees it. It is immutable, and safe for
// concurrent use. Several may be of the same folder.
type Dir struct {
	path    string
	ignored *ignore.Set
	o       Options
}

// PathError says that a path cannot be that of a watched folder, or of a file in it.
type PathError struct {
	Path string
	Why  string
}

func (e *PathError) Error() string { return fmt.Sprintf("%q: %s", e.Path, e.Why) }

// Open returns a folder by its absolute path. Links on the way to it are followed
// now, as far as it is there; it need not be. *PathError.
func Open(dir string, o Options) (*Dir, error) {
	if !filepath.IsAbs(dir) {
		return nil, &PathError{dir, "the path of a watched folder has to be absolute"}
	}
	path, err := realPath(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, &PathError{dir, "it is a file: watch the folder that it is in"}
	}
	if o.MaxSize <= 0 {
		o.MaxSize = MaxSize
	}
	if o.Debounce <= 0 {
		o.Debounce = Debounce
	}
	set, last, cut := (*ignore.Set)(nil).And([]byte(strings.Join(o.Ignore, "\n")), "")
	if cut {
		return nil, &PathError{dir, fmt.Sprintf("it has too many globs to ignore: only the first %d would count", last)}
	}
	return &Dir{path: path, ignored: set, o: o}, nil
}

// realPath follows the links in the part of a path that is there.
func realPath(path string) (string, error) {
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		found, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(found, rest), nil
		}
		if _, lost := os.Lstat(at); !os.IsNotExist(lost) {
			return "", &PathError{path, "a link on the way to it leads nowhere, or may not be followed: " + err.Error()}
		}
		if at == filepath.Dir(at) {
			return path, nil
		}
	}
}

// Path is the folder's absolute path, without links.
func (d *Dir) Path() string { return d.path }

// Options are those of the folder, with the bounds that hold where none were named.
func (d *Dir) Options() Options { return d.o }

// File is a file as its folder has it.
type File struct {
	Path    string // below the folder, with slashes
	Size    int64
	ModTime time.Time // to the nanosecond
	Inode   uint64
	// Skipped says why it is no strand, as far as can be seen without reading it;
	// empty: it may be one.
	Skipped Reason
}

// coarse is how coarse the time of a change may be, on the file systems there are.
const coarse = 2 * time.Second

// Same says whether a file is what it was when it was looked at last, by its size and
// the time of its change. A change that came so soon before that look that the next
// may have the same time is not the same: it has to be read.
func (f File) Same(size int64, modTime, looked time.Time) bool {
	return f.Size == size && f.ModTime.Equal(modTime) && looked.Sub(modTime) >= coarse
}
