package habit

import (
	"fmt"
	"strings"

	"github.com/rosterrun/roster/session"
)

// maxReplans bounds how often the plan of a loop is made anew.
const maxReplans = 3

// replan writes the rest of a plan anew when a step of it has failed.
func replan(s State, offer func() Offer) *Ask {
	l := s.Loop
	if l.Broken == 0 || l.Replans >= maxReplans || s.Work == nil || l.Broken > len(s.Work.Todo) {
		return nil
	}
	o := offer()
	var b strings.Builder
	b.WriteString("The todo list:\n\n")
	for i, x := range s.Work.Todo {
		fmt.Fprintf(&b, "%d. [%s] %s\n", i+1, x.Status, quote(x.Text, stepLength))
	}
	fmt.Fprintf(&b, "\nStep %d did not come off", l.Broken)
	for _, c := range l.Rejected {
		if c.Step == l.Broken {
			b.WriteString(": " + c.Reason)
		}
	}
	b.WriteString(". Write the rest of the plan anew, from here on: what is done stays, and the goal is reached in another way where need be. ")
	b.WriteString(form(o))
	a := phase(session.PlanAgain, b.String(), func(p *session.Plan) { parse(p, o) })
	a.About = "adaptive-replan"
	return a
}
