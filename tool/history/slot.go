package history

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A root has a folder in the state directory, and in it one slot for each process
// that works there at the same time. A slot has the pack, the tree as it was seen
// last, and below open a copy of the tree as it was before each call that has not
// ended. A process takes over the slot of one that is gone.
type slot struct {
	dir   string
	lock  *os.File
	pack  *pack
	saved *node // what the file tree has
}

const (
	maxSlots = 64
	// forgotten is how old a call must be that is not taken up any more.
	forgotten = 7 * 24 * time.Hour
)

func short(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:12])
}

// openSlot takes a slot of a root that nobody has.
func openSlot(dir, root string) (*slot, error) {
	base := filepath.Join(dir, short(root))
	for i := range maxSlots {
		s := &slot{dir: filepath.Join(base, strconv.Itoa(i))}
		if err := os.MkdirAll(s.open(), 0o700); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(filepath.Join(s.dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			s.lock = f
			return s, nil
		}
		f.Close()
		if !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%d processes keep the history of %s already", maxSlots, root)
}

func (s *slot) open() string              { return filepath.Join(s.dir, "open") }
func (s *slot) tree() string              { return filepath.Join(s.dir, "tree") }
func (s *slot) record(call string) string { return filepath.Join(s.open(), call) }

// take reads what the process before has left.
func (s *slot) take(root string) (err error) {
	if s.pack, err = openPack(filepath.Join(s.dir, "pack")); err != nil {
		return err
	}
	left := s.sweep()
	was, _, n, err := loadTree(s.tree())
	if err == nil && was == root && s.pack.size < maxPack/2 {
		s.saved = n
		s.pack.known(n)
		return nil
	}
	if left == 0 { // nobody needs what is there
		return s.pack.clear()
	}
	return nil
}

// sweep drops what nobody will take up any more, and counts the rest.
func (s *slot) sweep() (left int) {
	list, err := os.ReadDir(s.open())
	if err != nil {
		return 1
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > forgotten {
			_ = os.Remove(s.record(e.Name())) // it is tried again the next time
			continue
		}
		left++
	}
	return left
}

// note writes down what there is before a call: all of the tree.
func (s *slot) note(call, root string, n *node) error {
	if n != s.saved {
		if err := saveTree(s.tree(), root, nil, n); err != nil {
			return err
		}
		s.saved = n
	}
	err := os.Link(s.tree(), s.record(call))
	if errors.Is(err, os.ErrExist) {
		err = errors.Join(os.Remove(s.record(call)), os.Link(s.tree(), s.record(call)))
	}
	if err != nil { // a file system without links
		return saveTree(s.record(call), root, nil, n)
	}
	now := time.Now()
	return os.Chtimes(s.record(call), now, now)
}

// began is when a call was written down, by the clock that the file system has.
func (s *slot) began(call string) (time.Time, error) {
	var st unix.Stat_t
	err := unix.Stat(s.record(call), &st)
	return time.Unix(0, st.Ctim.Nano()), err
}

// busy says whether another process has worked with the files of the same root
// since a time, or just before.
func (s *slot) busy(since time.Time) bool {
	others, err := os.ReadDir(filepath.Dir(s.dir))
	if err != nil {
		return true
	}
	for _, o := range others {
		dir := filepath.Join(filepath.Dir(s.dir), o.Name(), "open")
		if dir == s.open() {
			continue
		}
		info, err := os.Stat(dir)
		if err != nil {
			continue
		}
		if !info.ModTime().Before(since) || s.holds(dir) {
			return true
		}
	}
	return false
}

// holds says whether a call is open in another slot whose process lives.
func (s *slot) holds(open string) bool {
	list, err := os.ReadDir(open)
	if err != nil || len(list) == 0 {
		return false
	}
	f, err := os.OpenFile(filepath.Join(filepath.Dir(open), "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close() // and the lock with it
	return unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB) != nil
}

func (s *slot) close() error {
	return errors.Join(s.pack.file.Close(), s.lock.Close())
}
