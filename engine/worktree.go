package engine

import (
	"fmt"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// moveIn notes where the session works from now on, if it has got a worktree for
// itself.
func (r *run) moveIn() {
	t := r.Spec.Worktree
	if t == nil || t.Session != r.id || r.st.Worktree(r.id) != nil {
		return
	}
	r.emit(&session.Worktree{Dir: t.Dir, Branch: t.Branch, Base: t.Base, Root: t.Root, Repository: t.Repository, Notes: t.Notes})
}

// told adds to what a child's work came to where its files are, if they are not
// where the one is that gave the work.
func (d *delegation) told(r tool.Result) tool.Result {
	if t := d.st.Worktree(d.child); t != nil {
		r.Parts = append(r.Parts, message.Text{Text: fmt.Sprintf("\n\n[It worked in a git worktree of its own, %s, on the branch %s. What it changed is not in your workspace until a person merges it.]", t.Dir, t.Branch)})
	}
	return r
}
