package history

import (
	"strings"

	"github.com/rosterrun/roster/internal/ignore"
)

const maxIgnore = ignore.MaxBytes // of a .gitignore

// rules are what is left out below a directory. A directory has those of the one
// above it where it has no .gitignore of its own.
type rules struct {
	above *rules
	own   digest // of the .gitignore
	set   *ignore.Set
}

// with adds the patterns of a file in a directory, whose path its names are.
func (r *rules) with(text []byte, sum digest, names []string) *rules {
	n := &rules{above: r, own: sum}
	if r != nil {
		n.set = r.set
	}
	n.set, _, _ = n.set.And(text, strings.Join(names, "/"))
	return n
}

// ignores says whether the last of names is left out.
func (r *rules) ignores(names []string, dir bool) bool {
	return r != nil && r.set != nil && r.set.Match(strings.Join(names, "/"), dir)
}
