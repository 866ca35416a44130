package history

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/rosterrun/roster/session"
)

// errLink is why nothing is done where a directory on the way is a link now.
var errLink = errors.New("a link or a file stands on the way there")

// state is what stands at a path, with its content. nil: nothing.
type state struct {
	session.FileState
	data []byte // of a file, where it is kept
	was  stamp
}

// root opens the directory that paths are below.
func openRoot(root string) (int, error) {
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		return -1, err
	}
	if real != root {
		return -1, fmt.Errorf("%s is another directory now", root)
	}
	fd, err := unix.Open(root, dirFlags, 0)
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: root, Err: err}
	}
	return fd, nil
}

// holder opens the directory of a path below a root, through no link. With create
// it makes what is missing of it.
func holder(root int, path string, create bool) (fd int, base string, err error) {
	names := strings.Split(path, "/")
	fd, err = unix.Openat(root, ".", dirFlags, 0)
	for _, name := range names[:len(names)-1] {
		if err != nil {
			return -1, "", err
		}
		var sub int
		sub, err = unix.Openat(fd, name, dirFlags, 0)
		if errors.Is(err, unix.ENOENT) && create {
			if err = unix.Mkdirat(fd, name, 0o777); err == nil {
				sub, err = unix.Openat(fd, name, dirFlags, 0)
			}
		}
		unix.Close(fd)
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENOTDIR) {
			err = errLink
		}
		fd = sub
	}
	return fd, names[len(names)-1], err
}

// local says whether a path of the log can be below a root.
func local(path string) bool {
	return filepath.IsLocal(path) && path == filepath.Clean(path) && path != "." && !strings.ContainsRune(path, 0) && path != ".git" && !strings.HasPrefix(path, ".git/")
}

// current looks at what stands at a path now.
func current(root int, path string) (*state, error) {
	fd, base, err := holder(root, path, false)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return look(fd, base)
}

func look(fd int, base string) (*state, error) {
	var st unix.Stat_t
	err := unix.Fstatat(fd, base, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.ENOENT) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n := newNode(base, &st)
	s := &state{was: n.stamp}
	switch n.kind {
	case kindLink:
		n.target = readLink(fd, base)
	case kindDir:
	case kindFile:
		if n.stamp.size > MaxFile {
			n.why = tooLarge
			break
		}
		if s.data, err = readFile(fd, n); err != nil {
			return nil, err
		}
		n.digest, s.was = sha256.Sum256(s.data), n.stamp
	default:
		return nil, errors.New("it is no file, link or directory any more")
	}
	s.FileState = *n.state()
	return s, nil
}

// put makes a path what it is to be, if it is still what was seen of it.
func put(root int, path string, seen, to *state) error {
	fd, base, err := holder(root, path, to != nil)
	if errors.Is(err, unix.ENOENT) && to == nil {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	check := func() error { return unchanged(fd, base, seen) }
	if err := check(); err != nil {
		return err
	}
	switch {
	case to == nil:
		return remove(fd, base, seen)
	case to.Kind == session.KindDir:
		return putDir(fd, base, seen, to)
	}
	if seen != nil && seen.Kind == session.KindDir {
		if err := remove(fd, base, seen); err != nil {
			return err
		}
		check = func() error { return unchanged(fd, base, nil) }
	}
	return replace(fd, base, to, check)
}

// errMeanwhile: somebody was quicker.
var errMeanwhile = errors.New("it was changed by somebody else at this moment")

func unchanged(fd int, base string, seen *state) error {
	var st unix.Stat_t
	err := unix.Fstatat(fd, base, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT) && seen == nil:
		return nil
	case errors.Is(err, unix.ENOENT), err == nil && seen == nil:
		return errMeanwhile
	case err != nil:
		return err
	}
	now := newNode(base, &st)
	if seen.Kind == session.KindDir { // what is in it changes with this
		if now.kind != kindDir {
			return errMeanwhile
		}
		return nil
	}
	if now.stamp != seen.was {
		return errMeanwhile
	}
	return nil
}

func remove(fd int, base string, seen *state) error {
	if seen == nil {
		return nil
	}
	flags := 0
	if seen.Kind == session.KindDir {
		flags = unix.AT_REMOVEDIR
	}
	err := unix.Unlinkat(fd, base, flags)
	if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
		return errors.New("it is not empty")
	}
	return err
}

func putDir(fd int, base string, seen, to *state) error {
	if seen != nil && seen.Kind != session.KindDir {
		if err := remove(fd, base, seen); err != nil {
			return err
		}
		seen = nil
	}
	if seen == nil {
		if err := unix.Mkdirat(fd, base, 0o777); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
	sub, err := unix.Openat(fd, base, dirFlags, 0)
	if err != nil {
		return err
	}
	defer unix.Close(sub)
	return unix.Fchmod(sub, to.Mode&0o777)
}

// replace writes a file or a link beside the old one, and renames it over that.
func replace(fd int, base string, to *state, check func() error) (err error) {
	name := ".roster-" + rand.Text() + ".tmp"
	if to.Kind == session.KindLink {
		err = unix.Symlinkat(to.Target, fd, name)
	} else {
		err = fill(fd, name, to)
	}
	if err == nil {
		err = check()
	}
	if err == nil {
		err = unix.Renameat(fd, name, fd, base)
	}
	if err != nil {
		_ = unix.Unlinkat(fd, name, 0) // where it was made
	}
	return err
}

func fill(fd int, name string, to *state) error {
	file, err := unix.Openat(fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(file), name)
	_, err = f.Write(to.data)
	if err == nil {
		err = f.Chmod(fs.FileMode(to.Mode & 0o777))
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// digestOf names a content.
func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
