package pinned

import (
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Handle is an open file or directory without what os.File has around it, for
// searches that open a hundred thousand. It is used by one goroutine at a time
// and must be closed.
type Handle struct{ fd int }

// Close closes it.
func (h Handle) Close() error { return unix.Close(h.fd) }

// Read reads from a file.
func (h Handle) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(h.fd, p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// Lstat looks at an entry of a directory; a symbolic link is not followed.
func (h Handle) Lstat(name string) (Stat, error) { return lstatFD(h.fd, name) }

// Open opens a regular file of a directory; a symbolic link is an error.
func (h Handle) Open(name string) (Handle, error) {
	f, _, err := regular(openFD(h.fd, name, fileFlags, 0))
	return f, err
}

// SubHandle opens the directory itself, or one some directories below. Symbolic
// links on the way are errors.
func (d *Dir) SubHandle(path string) (Handle, error) {
	if path == "" {
		path = "."
	}
	return d.below(path, dirFlags)
}

// OpenHandle opens a regular file some directories below, for reading, and says
// its size. Symbolic links on the way are errors.
func (d *Dir) OpenHandle(path string) (Handle, int64, error) {
	return regular(d.below(path, fileFlags))
}

// fileFlags open a file without waiting for the other end of a named pipe.
const fileFlags = unix.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CLOEXEC

// regular closes what is no regular file.
func regular(h Handle, err error) (Handle, int64, error) {
	if err != nil {
		return h, 0, err
	}
	var st unix.Stat_t
	if err = unix.Fstat(h.fd, &st); err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG {
		err = syscall.EINVAL
	}
	if err != nil {
		h.Close()
	}
	return h, st.Size, err
}

// below opens what lies some directories below, in one step where the kernel can
// be told to follow no link.
func (d *Dir) below(path string, flags int) (Handle, error) {
	root := int(d.f.Fd())
	if len(path) < unix.PathMax {
		if h, err := openBeneath(root, path, flags); err != errNoBeneath {
			return h, err
		}
	}
	dir := Handle{root}
	for {
		name, rest, more := strings.Cut(path, "/")
		use := flags
		if more {
			use = searchFlags
		}
		h, err := openFD(dir.fd, name, use, 0)
		if dir.fd != root {
			dir.Close()
		}
		if err != nil || !more {
			return h, err
		}
		dir, path = h, rest
	}
}

// errNoBeneath says that a path has to be walked step by step.
var errNoBeneath = errors.New("not in one step")

func openFD(dir int, name string, flags int, perm uint32) (Handle, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, perm)
		if err != unix.EINTR {
			return Handle{fd}, err
		}
	}
}

func lstatFD(dir int, name string) (Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Stat{}, err
	}
	return newStat(&st), nil
}

// Entry is a name in a directory. Kind is the type of the file as far as the
// directory tells: fs.ModeIrregular if it does not.
type Entry struct {
	Name string
	Kind fs.FileMode
}
