package pinned

import (
	"bytes"
	"encoding/binary"
	"io/fs"

	"golang.org/x/sys/unix"
)

// openBeneath opens a path without ".." in one system call.
func openBeneath(dir int, path string, flags int) (Handle, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(dir, path, &how)
		switch err {
		case unix.EINTR:
		case unix.ENOSYS, unix.EPERM, unix.EAGAIN: // an old kernel, a filter, a race
			return Handle{}, errNoBeneath
		default:
			return Handle{fd}, err
		}
	}
}

// The fields of a directory entry (linux_dirent64).
const (
	direntLength = 16
	direntType   = 18
	direntName   = 19
)

// List calls each for every entry, in no order, until it returns false. buf is
// scratch space of some kilobytes. It is listed once.
func (h Handle) List(buf []byte, each func(Entry) bool) error {
	for {
		n, err := unix.Getdents(h.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return err
		}
		for rest := buf[:n]; len(rest) > direntName; {
			size := int(binary.NativeEndian.Uint16(rest[direntLength:]))
			if size <= direntName || size > len(rest) {
				break
			}
			name := rest[direntName:size]
			if end := bytes.IndexByte(name, 0); end >= 0 {
				name = name[:end]
			}
			kind := direntKind(rest[direntType])
			rest = rest[size:]
			if s := string(name); s != "." && s != ".." && !each(Entry{s, kind}) {
				return nil
			}
		}
	}
}

func direntKind(t byte) fs.FileMode {
	switch t {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_FIFO:
		return fs.ModeNamedPipe
	case unix.DT_SOCK:
		return fs.ModeSocket
	case unix.DT_CHR, unix.DT_BLK:
		return fs.ModeDevice
	}
	return fs.ModeIrregular
}
