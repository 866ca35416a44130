package catalog

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/profile"
)

// opener reads files one after the other. Files of the same folder mostly
// follow each other, so it keeps the last folder open: its path is walked, and
// kept inside the root, once. Of a file in it only the name is left, and a name
// that is a link is refused. The zero opener is ready; it is for one goroutine.
type opener struct {
	root   *os.Root
	name   string // of the folder, below the root
	folder *os.File
}

func (o *opener) close() {
	if o.folder != nil {
		o.folder.Close()
	}
	*o = opener{}
}

// in opens a folder below a root.
func (o *opener) in(root *os.Root, name string) error {
	if o.folder != nil && o.root == root && o.name == name {
		return nil
	}
	o.close()
	folder, err := root.Open(name)
	if err != nil {
		return err
	}
	*o = opener{root, name, folder}
	return nil
}

// read reads a regular file, at most one byte more than a profile may have,
// into buf. It does not wait for the other end of a pipe. When the file is
// written to meanwhile, its stamp is another than the one it was found with.
func (o *opener) read(root *os.Root, inRoot string, buf []byte) ([]byte, error) {
	if err := o.in(root, filepath.Dir(inRoot)); err != nil {
		return nil, err
	}
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := again(func() (int, error) { return unix.Openat(int(o.folder.Fd()), filepath.Base(inRoot), flags, 0) })
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	size, err := regular(fd)
	if err != nil {
		return nil, err
	}
	size = min(size, profile.MaxFile+1)
	for buf = slices.Grow(buf[:0], size); len(buf) < size; {
		n, err := again(func() (int, error) { return unix.Read(fd, buf[len(buf):size]) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		buf = buf[:len(buf)+n]
	}
	return buf, nil
}

// regular gives the size of a regular file.
func regular(fd int) (int, error) {
	var st unix.Stat_t
	if _, err := again(func() (int, error) { return 0, unix.Fstat(fd, &st) }); err != nil {
		return 0, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		return int(st.Size), nil
	case unix.S_IFDIR:
		return 0, irregularError(fs.ModeDir)
	case unix.S_IFIFO:
		return 0, irregularError(fs.ModeNamedPipe)
	case unix.S_IFSOCK:
		return 0, irregularError(fs.ModeSocket)
	}
	return 0, irregularError(fs.ModeDevice)
}

// again repeats a call that a signal interrupted.
func again(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); err != unix.EINTR {
			return n, err
		}
	}
}
