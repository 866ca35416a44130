// Package keep holds small files that several processes read and one at a time
// replaces.
package keep

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds: of a file, in bytes, and of the wait for another process.
const (
	MaxSize  = 16 << 20
	lockWait = 5 * time.Second
	lockLook = 5 * time.Millisecond
)

// File is the path of such a file. Beside it stands its lock.
type File string

// Stamp changes whenever the file is replaced. The zero Stamp is that of no
// file.
type Stamp struct{ inode, size, mtime int64 }

// Stamp looks at the file without reading it.
func (f File) Stamp() (Stamp, error) {
	info, err := os.Stat(string(f))
	if errors.Is(err, os.ErrNotExist) {
		return Stamp{}, nil
	}
	if err != nil {
		return Stamp{}, err
	}
	s := Stamp{size: info.Size(), mtime: info.ModTime().UnixNano()}
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		s.inode = int64(sys.Ino)
	}
	return s, nil
}

// Read reads the file if nobody but the user can have written it. There may be
// none: fs.ErrNotExist.
func (f File) Read() ([]byte, error) {
	file, err := os.OpenFile(string(f), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", f)
	case info.Mode().Perm()&0o022 != 0:
		return nil, fmt.Errorf("others may write to %s (chmod 600 %s)", f, f)
	case info.Size() > MaxSize:
		return nil, fmt.Errorf("%s has more than %d bytes", f, MaxSize)
	}
	return io.ReadAll(io.LimitReader(file, MaxSize))
}

// Lock waits until no other process writes and, unless it is shared, none reads
// under a lock either.
func (f File) Lock(ctx context.Context, shared bool) (unlock func(), err error) {
	name, how := string(f)+".lock", unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	again := time.NewTicker(lockLook)
	defer again.Stop()
	for {
		if err = unix.Flock(int(file.Fd()), how|unix.LOCK_NB); err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			break
		}
		select {
		case <-again.C:
			continue
		case <-ctx.Done():
			err = ctx.Err()
		}
		break
	}
	file.Close()
	return nil, fmt.Errorf("waiting for the lock %s: %w", name, err)
}

// Write replaces the file at once, durably, or not at all. The caller has the
// lock.
func (f File) Write(data []byte) error {
	if len(data) > MaxSize {
		return fmt.Errorf("%s would have more than %d bytes", f, MaxSize)
	}
	dir, base := filepath.Split(string(f))
	tmp, err := os.CreateTemp(dir, base+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already if all went well
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(0o600), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), string(f)); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Clean(dir))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
