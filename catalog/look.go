package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// look is a path and its stamp when a walk came to it; the zero stamp is that
// of one that is not there. A walk finds the same again as long as none of its
// looks tells a change: a folder's stamp changes with the names in it.
type look struct {
	path   string
	stamp  stamp
	folder bool
}

func lookAt(path string) look {
	info, err := os.Stat(path)
	if err != nil {
		return look{path: path}
	}
	return look{path, stampOf(info), info.IsDir()}
}

// path is the absolute path of a place below the root.
func (w *walker) path(inRoot string) string { return filepath.Join(w.real, inRoot) }

// look notes that the walk depends on a path below its root.
func (w *walker) look(inRoot string) {
	w.looks = append(w.looks, lookAt(w.path(inRoot)))
}

// telling says whether what the walk saw tells every change. It does not if the
// walk followed a link or met something unreadable, or if something has changed
// so lately that the next change might leave its stamp.
func (w *walker) telling(now time.Time) bool {
	return !w.untold && !slices.ContainsFunc(w.looks, func(l look) bool {
		return now.UnixNano()-max(l.stamp.mtime, l.stamp.ctime) < int64(racy)
	})
}

// same says whether a source is as it was at the last look.
func (v visit) same() bool {
	return v.telling && !slices.ContainsFunc(v.looks, func(l look) bool { return lookAt(l.path) != l })
}
