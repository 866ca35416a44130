package catalog

import (
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// look is a path and its stamp when a walk came to it; the zero stamp is that
// of one that is not there. A walk finds the same again as long as none of its
// looks tells a change: a folder's stamp changes with the names in it.
type look struct {
	path   string
	stamp  stamp
	folder bool
	// over is what is there above a path that is not: as long as it is the same,
	// the path has not come. nil: nobody knows.
	over *look
}

// lookAt does not follow os.Stat's way, which allocates more: there are many paths.
func lookAt(path string) look {
	var st unix.Stat_t
	if _, err := again(func() (int, error) { return 0, unix.Stat(path, &st) }); err != nil {
		return look{path: path}
	}
	at := stamp{size: st.Size, mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(), inode: st.Ino}
	return look{path: path, stamp: at, folder: st.Mode&unix.S_IFMT == unix.S_IFDIR}
}

// lookFor is lookAt for a path that may well not be there.
func lookFor(path string) look {
	l := lookAt(path)
	for dir := path; l.stamp == (stamp{}) && l.over == nil; dir = filepath.Dir(dir) {
		if dir == filepath.Dir(dir) {
			break
		}
		if at := lookAt(filepath.Dir(dir)); at.stamp != (stamp{}) {
			l = lookAt(path) // it may have come before this look at what is over it
			l.over = &at
		}
	}
	if l.stamp != (stamp{}) {
		l.over = nil
	}
	return l
}

// same says whether another look at the path found the same.
func (l *look) same(again look) bool { return l.stamp == again.stamp && l.folder == again.folder }

// lately says whether there was a change so late that the next one might leave
// the stamp.
func (l *look) lately(now time.Time) bool {
	return now.UnixNano()-max(l.stamp.mtime, l.stamp.ctime) < int64(racy)
}

// path is the absolute path of a place below the root.
func (w *walker) path(inRoot string) string { return filepath.Join(w.real, inRoot) }

// look notes that the walk depends on a path below its root.
func (w *walker) look(inRoot string) { w.note(lookAt(w.path(inRoot))) }

// note takes in a look, once where it is made again and again.
func (w *walker) note(l look) {
	if n := len(w.looks); n == 0 || w.looks[n-1] != l {
		w.looks = append(w.looks, l)
	}
}

// telling says whether what the walk saw tells every change. It does not if the
// walk followed a link or met something unreadable, or if something has changed
// too lately.
func (w *walker) telling(now time.Time) bool {
	for i := range w.looks {
		if l := &w.looks[i]; l.over != nil && l.over.lately(now) {
			l.over = nil
		}
	}
	return !w.untold && !slices.ContainsFunc(w.looks, func(l look) bool { return l.lately(now) })
}

// glances are the looks of one pass over all sources at what many of them depend
// on, such as the workspace's root.
type glances []look

// maxGlances bounds them: the sources are below a few folders.
const maxGlances = 8

func (g *glances) at(path string) look {
	for i := range *g {
		if (*g)[i].path == path {
			return (*g)[i]
		}
	}
	l := lookAt(path)
	if len(*g) < maxGlances {
		*g = append(*g, l)
	}
	return l
}

// same says whether a source is as it was at the last look.
func (v *visit) same(g *glances) bool {
	if !v.telling {
		return false
	}
	for i := range v.looks {
		l := &v.looks[i]
		if l.over != nil && l.over.same(g.at(l.over.path)) {
			continue
		}
		if l.folder && i == 0 {
			if !l.same(g.at(l.path)) {
				return false
			}
		} else if !l.same(lookAt(l.path)) {
			return false
		}
	}
	return true
}
