package render

import (
	"fmt"
	"io"

	"github.com/rosterrun/roster/session"
)

// worktree says where a session works.
func (r *Run) worktree(indent string, b *session.Worktree) {
	r.notef("%s· in the worktree %s, on the branch %s", indent, Safe(b.Dir), line(b.Branch, noteRunes))
	for _, text := range b.Notes {
		r.notef("%s· %s", indent, line(text, noteRunes))
	}
}

// Waits is a worktree that waits for somebody to say what becomes of it.
type Waits struct {
	Session string
	What    string // was done in it
}

// Worktrees says at the end of a run which worktrees wait.
func Worktrees(w io.Writer, s Style, list []Waits) {
	for _, t := range list {
		fmt.Fprintln(w, s.paint(dim, fmt.Sprintf("worktree of session %s: %s", t.Session, t.What)))
	}
	if len(list) > 0 {
		fmt.Fprintln(w, s.paint(dim, "  roster sessions worktree diff|merge|keep|drop "+list[0].Session))
	}
}
