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

// path is the absolute path of a place below the root.
func (w *walker) path(inRoot string) string { return filepath.Join(w.real, inRoot) }

// look notes that the walk depends on a path below its root.
func (w *walker) look(inRoot string) {
	w.looks = append(w.looks, lookAt(w.path(inRoot)))
}

// telling returns what tells a change of anything that the walk saw, or nil if
// that cannot be told: it followed a link or met something unreadable, or
// something has changed so lately that the next change might leave its stamp.
func (w *walker) telling(now time.Time) []look {
	if w.untold {
		return nil
	}
	for _, l := range w.looks {
		if now.UnixNano()-max(l.stamp.mtime, l.stamp.ctime) < int64(racy) {
			return nil
		}
	}
	return w.looks
}

// same says whether every path is as it was. Nothing to look at says no.
func same(looks []look) bool {
	for _, l := range looks {
		if lookAt(l.path) != l {
			return false
		}
	}
	return len(looks) > 0
}
