package engine

import (
	"github.com/rosterrun/roster/engine/habit"
	"github.com/rosterrun/roster/session"
)

// textLastTurn is what the model is told of calls in the turn that has no tools.
const textLastTurn = "Not run: this was the last turn, and no tools are called in it."

// habits is what the habits of the profile look at.
func (r *run) habits() habit.State { return habit.State{Session: r.s, Spec: r.Spec} }

// remind finds what the requests of the present turn end with.
func (r *run) remind() {
	r.reminder = habit.Remind(r.habits())
	for _, a := range r.reminder.Anchors {
		r.emit(a)
	}
}

// stalled ends a loop in which nothing moves any more.
func (r *run) stalled(why string) (ended bool, err error) {
	return r.fail(session.ReasonStalled, &session.Error{Code: "Stalled", Error: "the run does not get on: " + why})
}
