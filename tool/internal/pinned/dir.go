package pinned

import (
	"io/fs"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// Dir is an open directory.
type Dir struct{ f *os.File }

// Close closes the directory.
func (d *Dir) Close() error { return d.f.Close() }

// File is the open directory, to be passed on as a file descriptor.
func (d *Dir) File() *os.File { return d.f }

// Names lists the entries, in no order.
func (d *Dir) Names() ([]string, error) {
	if _, err := d.f.Seek(0, 0); err != nil {
		return nil, err
	}
	return d.f.Readdirnames(-1)
}

// Lstat looks at an entry; a symbolic link is not followed.
func (d *Dir) Lstat(name string) (Stat, error) { return lstatAt(d.f, name) }

// Sub opens a directory in this one; a symbolic link is an error.
func (d *Dir) Sub(name string) (*Dir, error) {
	f, err := openAt(int(d.f.Fd()), name, dirFlags, 0)
	if err != nil {
		return nil, err
	}
	return &Dir{f}, nil
}

// Open opens a regular file some directories below, for reading. Symbolic
// links on the way are errors.
func (d *Dir) Open(path string) (*os.File, error) {
	dir := d.f
	for {
		name, rest, more := strings.Cut(path, "/")
		if !more {
			f, err := openRegular(dir, name)
			closeOther(dir, d.f)
			return f, err
		}
		sub, err := openAt(int(dir.Fd()), name, searchFlags, 0)
		closeOther(dir, d.f)
		if err != nil {
			return nil, err
		}
		dir, path = sub, rest
	}
}

func closeOther(dir, keep *os.File) {
	if dir != keep {
		dir.Close()
	}
}

// openRegular does not wait for the other end of a named pipe: it is opened
// without blocking, seen to be none, and closed.
func openRegular(dir *os.File, name string) (*os.File, error) {
	f, err := openAt(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = syscall.EINVAL
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func openAt(dir int, name string, flags int, perm uint32) (*os.File, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, perm)
		switch err {
		case nil:
			return os.NewFile(uintptr(fd), name), nil
		case unix.EINTR:
		default:
			return nil, err
		}
	}
}

func lstatAt(dir *os.File, name string) (Stat, error) { return lstatFD(int(dir.Fd()), name) }

// StatFile looks at an open file.
func StatFile(f *os.File) (Stat, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return Stat{}, pathError("stat", f.Name(), err)
	}
	return newStat(&st), nil
}

func newStat(st *unix.Stat_t) Stat {
	mode := fs.FileMode(st.Mode & 0o777)
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	default:
		mode |= fs.ModeIrregular
	}
	return Stat{Mode: mode, Size: st.Size, ModTime: st.Mtim.Nano(), Inode: st.Ino}
}
