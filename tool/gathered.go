package tool

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rosterrun/roster/permission"
)

// gathered is what a search comes back with.
type gathered struct {
	found      newest
	denied     int    // files left out because reading them is not allowed
	unreadable int    // what could not be looked at
	example    string // the first of these, by name, that may be named
	cut        bool   // a bound was reached

	queries [2]permission.Query // scratch space
}

// unread counts what could not be looked at. Its subject is empty if it must not
// be named.
func (g *gathered) unread(subject string) {
	g.unreadable++
	g.exemplify(subject)
}

func (g *gathered) exemplify(subject string) {
	if subject != "" && (g.example == "" || subject < g.example) {
		g.example = subject
	}
}

func (g *gathered) merge(o *gathered) {
	g.found.merge(&o.found)
	g.denied += o.denied
	g.unreadable += o.unreadable
	g.cut = g.cut || o.cut
	g.exemplify(o.example)
}

type foundFile struct {
	rel, subject string
	modTime      int64 // nanoseconds since 1970
}

// before is the order of results: the newest first, then by name.
func before(a, b foundFile) int {
	return cmp.Or(cmp.Compare(b.modTime, a.modTime), strings.Compare(a.subject, b.subject))
}

// newest collects files. If only so many are wanted, it holds at most twice as
// many.
type newest struct {
	keep  int // 0: all
	files []foundFile
	total int // were added
	full  bool
	last  foundFile // of those to keep, when full
}

func (n *newest) add(f foundFile) {
	n.total++
	if n.full && before(f, n.last) > 0 {
		return
	}
	n.files = append(n.files, f)
	if n.keep > 0 && len(n.files)/2 >= n.keep {
		n.order()
	}
}

// order sorts the files and drops those that are not wanted.
func (n *newest) order() {
	slices.SortFunc(n.files, before)
	n.trim()
}

func (n *newest) trim() {
	if n.keep > 0 && len(n.files) >= n.keep {
		clear(n.files[n.keep:])
		n.files = n.files[:n.keep]
		n.full, n.last = true, n.files[n.keep-1]
	}
}

// merge adds files; both are in order, before and after.
func (n *newest) merge(o *newest) {
	n.total += o.total
	switch {
	case len(o.files) == 0:
		return
	case len(n.files) == 0:
		n.files = o.files
	default:
		all := make([]foundFile, 0, len(n.files)+len(o.files))
		a, b := n.files, o.files
		for len(a) > 0 && len(b) > 0 {
			if before(a[0], b[0]) <= 0 {
				all, a = append(all, a[0]), a[1:]
			} else {
				all, b = append(all, b[0]), b[1:]
			}
		}
		n.files = append(append(all, a...), b...)
	}
	n.trim()
}
