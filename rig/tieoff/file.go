package tieoff

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// NameError says that the name of a loom or of a knot cannot be that of a file.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("%q cannot name a tie-off: a name has no slashes and no control characters, does not begin with a dot, and has %d bytes at most", e.Name, maxName)
}

const maxName = 200

// Folder is where the tie-offs of a rig are, below it.
const Folder = "tie-offs"

// File is the tie-off of a knot, below its rig. *NameError.
func File(loom, knot string) (string, error) {
	for _, name := range []string{loom, knot} {
		control := strings.ContainsFunc(name, unicode.IsControl)
		if name == "" || name[0] == '.' || len(name) > maxName || control || strings.ContainsAny(name, `/\`) || !utf8.ValidString(name) {
			return "", &NameError{name}
		}
	}
	return path.Join(Folder, loom, "tie-off-"+knot+".md"), nil
}

// LinkError says that a tie-off, or a folder that it is in, is no plain file or folder.
type LinkError struct{ Path, Want string } // Want is "file" or "folder"

func (e *LinkError) Error() string {
	return fmt.Sprintf("%s is a link, or no %s: nothing is written through it; put a %s there, or take it away", e.Path, e.Want, e.Want)
}

// lockLook is how often a lock is tried that another has.
const lockLook = 5 * time.Millisecond

// Lock opens a file below a rig to add to it, such as a tie-off, and locks it against all
// that do so; missing folders and the file are made. Close ends the lock. It waits as long
// as ctx lasts. Links are refused (*LinkError).
func Lock(ctx context.Context, root *os.Root, name string) (*os.File, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := create(root, name)
		if err != nil {
			return nil, err
		}
		if err := lock(ctx, f); err != nil {
			f.Close()
			return nil, fmt.Errorf("waiting for the lock of %s: %w", name, err)
		}
		if same(root, name, f) {
			return f, nil
		}
		f.Close() // replaced, or removed, before it was locked
	}
}

// create opens a tie-off, or makes it.
func create(root *os.Root, name string) (*os.File, error) {
	if err := plain(root, name); err != nil {
		return nil, err
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o644)
	if errors.Is(err, unix.ELOOP) {
		return nil, &LinkError{name, "file"}
	}
	return f, err
}

// plain looks whether all on the way to a tie-off, as far as it is there, are folders,
// and it itself is a file.
func plain(root *os.Root, name string) error {
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		info, err := root.Lstat(name[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case i < len(name) && !info.IsDir():
			return &LinkError{name[:i], "folder"}
		case i == len(name) && !info.Mode().IsRegular():
			return &LinkError{name, "file"}
		}
	}
	return nil
}

// same says whether a name is still that of an open file.
func same(root *os.Root, name string, f *os.File) bool {
	named, err := root.Lstat(name)
	if err != nil {
		return false
	}
	opened, err := f.Stat()
	return err == nil && os.SameFile(named, opened)
}

func lock(ctx context.Context, f *os.File) error {
	again := time.NewTicker(lockLook)
	defer again.Stop()
	for {
		err := flock(f)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return err
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// flock tries once. The file stays as it is to the runtime, which Fd would change.
func flock(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var locked error
	err = raw.Control(func(fd uintptr) { locked = unix.Flock(int(fd), unix.LOCK_EX|unix.LOCK_NB) })
	return errors.Join(err, locked)
}

// settle makes a file that was written to durable, with its name.
func settle(root *os.Root, name string, f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		d, err := root.Open(dir)
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
		if dir == "." {
			return nil
		}
	}
}
