package render

import (
	"fmt"

	"github.com/rosterrun/roster/session"
)

// thinking shows what a model thinks, apart from what it says.
func (r *Run) thinking(b *session.Thinking) {
	if !r.Stream || r.Err == nil || b.Text == "" {
		return
	}
	if !r.Begun {
		r.early = append(r.early, b)
		return
	}
	if !r.musing {
		r.finishLine()
		fmt.Fprint(r.Err, r.Style.paint(dim, "· thinking: "))
		r.musing = true
	}
	fmt.Fprint(r.Err, r.Style.paint(dim, Safe(b.Text)))
}

// endThinking ends the line that shows it.
func (r *Run) endThinking() {
	if r.musing {
		r.musing = false
		fmt.Fprintln(r.Err)
	}
}
