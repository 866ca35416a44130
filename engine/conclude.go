package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Bounds of the answer that a loop may give when a limit has been reached.
const (
	finalTokens = 2000
	finalTime   = time.Minute
)

const textConclude = "The limit of %s of this run has been reached, and no tools can be called any more. " +
	"Give your final answer now: what was done and found, and what is left open."

// conclude has the model sum up in one more call, without tools, where the profile
// wants that of a loop which a limit ends. Children do not: who gave them the work
// is told how far they came. ended: the loop has ended meanwhile.
func (r *run) conclude(limit *session.Limit) (ended bool, err error) {
	l := r.s.Loop
	if !r.Spec.Limits.FinalAnswer || r.above != nil || l.Concluded || r.concluding || r.ctx.Err() != nil {
		return false, nil
	}
	late := r.late() != nil
	if r.work.Err() != nil && !late {
		return false, nil
	}
	r.concluding = true
	if late {
		work, stop := context.WithTimeout(r.ctx, finalTime)
		defer stop()
		if r.deps.Cancelled != nil {
			defer context.AfterFunc(r.deps.Cancelled, stop)()
		}
		r.work = work
	}
	a := aside{about: "final-answer", say: fmt.Sprintf(textConclude, limit.Limit), beyond: true}
	c, failed, ended, err := r.answer(l, r.clock.ID(), &a)
	if failed != nil || ended || err != nil {
		return ended, err
	}
	if text := c.done.Text(); text != "" {
		r.emit(&session.Message{
			ID: c.id, Parent: r.head(), Role: message.Assistant, Parts: []message.Part{message.Text{Text: text}}, Stop: c.stop,
		})
	}
	r.spend(c)
	return false, nil
}
