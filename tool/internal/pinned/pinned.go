// Package pinned reaches files through directories that are open, one path
// element at a time and never through a symbolic link that the kernel follows
// by itself. The real path that it reports is therefore the one that was
// walked, and swapping a directory for a link afterwards changes nothing.
package pinned

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxLinks is how many symbolic links one path may go through, as in Linux.
const maxLinks = 40

// Stat is what is known of a file. Two Stats that are equal are of the same
// unchanged file, as far as size, time and inode can tell.
type Stat struct {
	Mode    fs.FileMode // type and permission bits
	Size    int64
	ModTime int64 // nanoseconds since 1970
	Inode   uint64
}

// Place is where a path leads: an open directory, the names of directories
// that do not exist yet, and a last name.
type Place struct {
	Path    string // absolute, without symbolic links
	Exists  bool
	dir     *os.File
	missing []string
	base    string
}

// Resolve walks an absolute path. What does not exist at its end is kept as
// names. A path that the kernel would not take is an error, also where it leads
// through names that do not exist. The Place must be closed.
func Resolve(path string) (*Place, error) {
	switch {
	case len(path) >= unix.PathMax:
		return nil, &fs.PathError{Op: "resolve", Path: path[:40] + "…", Err: syscall.ENAMETOOLONG}
	case !filepath.IsAbs(path) || strings.ContainsRune(path, 0):
		return nil, &fs.PathError{Op: "resolve", Path: path, Err: syscall.EINVAL}
	}
	w := walk{todo: elements(path)}
	defer w.closeAll()
	err := w.reset()
	for err == nil && len(w.todo) > 0 {
		name := w.todo[0]
		w.todo = w.todo[1:]
		err = w.step(name)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "resolve", Path: path, Err: err}
	}
	return w.place(), nil
}

// walk holds the directories from / down to where it stands, all open, so that
// ".." goes back the way it came.
type walk struct {
	todo    []string
	dirs    []*os.File
	names   []string // of dirs[1:], then the file if it ends at one
	missing []string
	file    bool // the last of names is not a directory
	links   int
}

func (w *walk) reset() error {
	w.closeAll()
	root, err := openAt(unix.AT_FDCWD, "/", searchFlags, 0)
	w.dirs, w.names = append(w.dirs[:0], root), w.names[:0]
	return err
}

func (w *walk) closeAll() {
	for _, d := range w.dirs {
		d.Close()
	}
	w.dirs = nil
}

func (w *walk) step(name string) error {
	switch {
	case w.file:
		return syscall.ENOTDIR
	case name == ".":
		return nil
	case name == ".." && len(w.missing) > 0:
		return syscall.ENOENT
	case name == "..":
		if last := len(w.dirs) - 1; last > 0 {
			w.dirs[last].Close()
			w.dirs, w.names = w.dirs[:last], w.names[:last-1]
		}
		return nil
	case len(w.missing) > 0:
		w.missing = append(w.missing, name)
		return nil
	}
	top := w.dirs[len(w.dirs)-1]
	st, err := lstatAt(top, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.missing = append(w.missing, name)
		return nil
	case err != nil:
		return err
	case st.Mode&fs.ModeSymlink != 0:
		return w.follow(top, name)
	case !st.Mode.IsDir():
		w.names, w.file = append(w.names, name), true
		return nil
	}
	sub, err := openAt(int(top.Fd()), name, searchFlags, 0)
	if err != nil {
		return err
	}
	w.dirs, w.names = append(w.dirs, sub), append(w.names, name)
	return nil
}

func (w *walk) follow(dir *os.File, name string) error {
	if w.links++; w.links > maxLinks {
		return syscall.ELOOP
	}
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(int(dir.Fd()), name, buf[:])
	if err != nil {
		return err
	}
	target := string(buf[:n])
	w.todo = append(elements(target), w.todo...)
	if filepath.IsAbs(target) {
		return w.reset()
	}
	return nil
}

// place hands the directory that holds the last name over to a Place.
func (w *walk) place() *Place {
	names := append(w.names, w.missing...)
	p := &Place{Path: "/" + strings.Join(names, "/"), Exists: len(w.missing) == 0, base: "."}
	holder := len(w.dirs) - 1
	switch {
	case !p.Exists:
		p.missing, p.base = w.missing[:len(w.missing)-1], w.missing[len(w.missing)-1]
	case w.file:
		p.base = names[len(names)-1]
	case holder > 0:
		holder, p.base = holder-1, names[len(names)-1]
	}
	p.dir = w.dirs[holder]
	w.dirs = append(w.dirs[:holder], w.dirs[holder+1:]...)
	return p
}

// elements splits a path, without empty elements. A slash at the end becomes
// ".", which only a directory has.
func elements(path string) []string {
	var names []string
	for name := range strings.SplitSeq(path, "/") {
		if name != "" {
			names = append(names, name)
		}
	}
	if strings.HasSuffix(path, "/") {
		names = append(names, ".")
	}
	return names
}

// Close closes the directory.
func (p *Place) Close() error { return p.dir.Close() }

// Lstat looks at the file as it is now; a symbolic link is not followed.
func (p *Place) Lstat() (Stat, error) {
	if len(p.missing) > 0 {
		return Stat{}, &fs.PathError{Op: "stat", Path: p.Path, Err: fs.ErrNotExist}
	}
	st, err := lstatAt(p.dir, p.base)
	return st, pathError("stat", p.Path, err)
}

// Links says how many names the file has; 0 if it is no regular one.
func (p *Place) Links() int {
	var st unix.Stat_t
	if len(p.missing) > 0 || unix.Fstatat(int(p.dir.Fd()), p.base, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0
	}
	return int(st.Nlink)
}

// Open opens the file for reading. It fails on anything but a regular file,
// without waiting for the other end of a pipe.
func (p *Place) Open() (*os.File, error) {
	if len(p.missing) > 0 {
		return nil, &fs.PathError{Op: "open", Path: p.Path, Err: fs.ErrNotExist}
	}
	f, err := openRegular(p.dir, p.base)
	return f, pathError("open", p.Path, err)
}

// OpenDir opens the directory that the Place is.
func (p *Place) OpenDir() (*Dir, error) {
	if len(p.missing) > 0 {
		return nil, &fs.PathError{Op: "open", Path: p.Path, Err: fs.ErrNotExist}
	}
	f, err := openAt(int(p.dir.Fd()), p.base, dirFlags, 0)
	if err != nil {
		return nil, pathError("open", p.Path, err)
	}
	return &Dir{f}, nil
}

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
