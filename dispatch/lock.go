package dispatch

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// lockFile is the lock that a worker holds while its process lives. Helpers
// that run a tool's command inherit it, so a free lock also says that none of
// those is left.
type lockFile struct{ f *os.File }

// lockWorker takes the lock of a new worker. Without a directory there is none.
func lockWorker(dir, worker string) (*lockFile, error) {
	if dir == "" {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("worker lock: %w", err)
	}
	f, err := os.OpenFile(lockPath(dir, worker), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("worker lock: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("worker lock %s: %w", f.Name(), err)
	}
	return &lockFile{f}, nil
}

// Close gives the lock up and removes the file.
func (l *lockFile) Close() error {
	if l == nil {
		return nil
	}
	err := os.Remove(l.f.Name())
	l.f.Close()
	return err
}

// workerDied says that a worker of this machine holds its lock no more. A
// worker without a lock file here may be of another machine, or has not got to
// it yet: its lease has to run out.
func workerDied(dir, worker string) bool {
	if uuid.Validate(worker) != nil {
		return false
	}
	f, err := os.OpenFile(lockPath(dir, worker), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}

// forgetWorker removes the lock file of a worker that is buried.
func forgetWorker(dir, worker string) {
	_ = os.Remove(lockPath(dir, worker)) // another worker may have done it
}

func lockPath(dir, worker string) string { return filepath.Join(dir, worker+".lock") }
