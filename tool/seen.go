package tool

import (
	"fmt"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool/internal/pinned"
)

// seenState names the content of a file as far as its inode, size and time tell it
// from another. A change of its mode is none of its content.
func seenState(st pinned.Stat) string {
	if st == (pinned.Stat{}) {
		return "absent"
	}
	return fmt.Sprintf("%x-%x-%x", st.Inode, st.Size, st.ModTime)
}

// saw notes with a result that the session knows the file as it is here.
func (t *target) saw(st pinned.Stat, r Result) Result {
	r.Seen = &session.Seen{Path: t.subject, State: seenState(st)}
	return r
}

// changed says whether the session has seen another state of the file.
func (t *target) changed(now pinned.Stat, seen func(string) (string, bool)) bool {
	if seen == nil {
		return false
	}
	before, ok := seen(t.subject)
	return ok && before != seenState(now)
}
