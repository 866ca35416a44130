package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// maxParts is how many folders deep a folder of the system is looked through;
// what lies deeper counts as private.
const maxParts = 8

// parts divides a folder of the system into what everybody may read and what is
// private: password hashes, the keys of the machine. To root the kernel would not
// deny that. A folder that holds nothing private is named as a whole; links are
// left out.
func parts(dir string) (public, private []string) {
	w := &partition{}
	if w.walk(unix.AT_FDCWD, dir, dir, maxParts) {
		return []string{dir}, nil
	}
	return w.public, w.private
}

type partition struct{ public, private []string }

// walk says whether all in the folder is public; if not, it has noted its parts.
func (w *partition) walk(at int, name, path string, deep int) bool {
	fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil || deep == 0 {
		w.private = append(w.private, path)
		return false
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	entries, err := f.ReadDir(-1)
	all := err == nil
	var public []string
	for _, e := range entries {
		var st unix.Stat_t
		if e.Type()&os.ModeSymlink != 0 || unix.Fstatat(fd, e.Name(), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			continue
		}
		below := filepath.Join(path, e.Name())
		switch {
		case st.Mode&unix.S_IROTH == 0:
			w.private = append(w.private, below)
			all = false
		case !e.IsDir():
			public = append(public, below)
		case w.walk(fd, e.Name(), below, deep-1):
			public = append(public, below)
		default:
			all = false
		}
	}
	if !all {
		w.public = append(w.public, public...)
	}
	return all
}
