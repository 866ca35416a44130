package sqlite

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// turns lets the processes that write to one database take turns. SQLite gives
// its lock to whoever asks first after it was set free, which beside a process
// that writes all the time is mostly that process: others could wait in vain for
// seconds. So who waits says so by a lock on a file beside the database, and
// who is about to write makes room for him. Without the file nobody does.
type turns struct {
	file   *os.File
	polite time.Time // before this nobody is made room for
}

const (
	// roomTime bounds how long room is made before a commit. Who has not come by
	// then may be stopped, and is passed over for impoliteTime.
	roomTime     = 20 * time.Millisecond
	impoliteTime = 500 * time.Millisecond
)

// openTurns opens the file. Who may only read the database needs none.
func openTurns(path string) turns {
	f, err := os.OpenFile(path+"-turns", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return turns{}
	}
	return turns{file: f}
}

func (t *turns) close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// wait says that this process waits; leave, that it does not any more.
func (t *turns) wait()  { t.lock(unix.F_RDLCK) }
func (t *turns) leave() { t.lock(unix.F_UNLCK) }

func (t *turns) lock(kind int16) {
	if t.file != nil {
		// An error only makes the wait longer.
		_ = unix.FcntlFlock(t.file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Len: 1})
	}
}

// othersWait says whether another process waits.
func (t *turns) othersWait() bool {
	if t.file == nil {
		return false
	}
	l := unix.Flock_t{Type: unix.F_WRLCK, Len: 1}
	return unix.FcntlFlock(t.file.Fd(), unix.F_OFD_GETLK, &l) == nil && l.Type != unix.F_UNLCK
}

// makeRoom gives another process that waits the time to begin.
func (t *turns) makeRoom() {
	if !t.othersWait() {
		return
	}
	now := time.Now()
	if now.Before(t.polite) {
		return
	}
	for end := now.Add(roomTime); time.Now().Before(end); time.Sleep(busyPause) {
		if !t.othersWait() {
			return
		}
	}
	t.polite = time.Now().Add(impoliteTime)
}
