package habit

import (
	"slices"
	"strings"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// goalLength bounds what is said again of the request, in characters.
const goalLength = 2000

// goal says what the loop is for again, and what of it is open. It is an anchor
// that the log does not have yet where new is true.
func goal(s State) (text string, anchor bool) {
	every, l := s.Spec.Habits.GoalAnchoring, s.Loop
	if every <= 0 || s.turn() < 2 || s.turn()%every != 0 {
		return "", false
	}
	asked := request(s)
	if asked == "" {
		return "", false
	}
	text = "What you are to do, as it was asked of you:\n" + quote(asked, goalLength)
	if open := s.Work.OpenSteps(); len(open) > 0 {
		text += "\n\nWhat is still open of it:\n" + list(open)
	}
	return text, l.Anchored != s.turn()
}

// request is what the loop is for. One that answers a message anew has it from
// before.
func request(s State) string {
	if m := s.Loop.For; m != nil {
		return m.Text()
	}
	for _, m := range slices.Backward(s.Messages) {
		if m.Role == message.User {
			return m.Text()
		}
	}
	return ""
}

// stepLength bounds what is said of a step, in characters.
const stepLength = 300

func list(steps []session.Step) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteString("- ")
		if s.Status == session.StepStarted {
			b.WriteString("(at it) ")
		}
		b.WriteString(quote(s.Text, stepLength))
		if s.By != "" {
			b.WriteString(" (" + s.By + ")")
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}
