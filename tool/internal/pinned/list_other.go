//go:build unix && !linux

package pinned

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

func openBeneath(int, string, int) (Handle, error) { return Handle{}, errNoBeneath }

// List calls each for every entry, in no order, until it returns false. It is
// listed once.
func (h Handle) List(_ []byte, each func(Entry) bool) error {
	fd, err := unix.Dup(h.fd)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), "")
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !each(Entry{name, fs.ModeIrregular}) {
			return nil
		}
	}
	return nil
}
