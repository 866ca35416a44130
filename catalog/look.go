package catalog

import (
	"os"
	"path/filepath"
	"time"
)

// look is a path and its stamp when a walk came to it; the zero stamp is that
// of one that is not there. A walk finds the same again as long as none of its
// looks tells a change: a folder's stamp changes with the names in it.
type look struct {
	path  string
	stamp stamp
}

func lookAt(path string) look {
	info, err := os.Stat(path)
	if err != nil {
		return look{path: path}
	}
	return look{path, stampOf(info)}
}

// look notes that the walk depends on a path below its root.
func (w *walker) look(inRoot string) {
	w.looks = append(w.looks, lookAt(filepath.Join(w.real, inRoot)))
}

// telling returns what tells a change of anything that the walks saw, or nil if
// that cannot be told: they followed a link or met something unreadable, or
// something has changed so lately that the next change might leave its stamp.
func telling(walks []*walker, now time.Time) []look {
	var all []look
	for _, w := range walks {
		if w.untold {
			return nil
		}
		all = append(all, w.looks...)
	}
	for _, l := range all {
		if now.UnixNano()-max(l.stamp.mtime, l.stamp.ctime) < int64(racy) {
			return nil
		}
	}
	return all
}

// same says whether every path is as it was.
func same(looks []look) bool {
	for _, l := range looks {
		if lookAt(l.path) != l {
			return false
		}
	}
	return true
}
