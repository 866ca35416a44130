package habit

import (
	"fmt"
	"slices"

	"github.com/rosterrun/roster/session"
)

// Who has checked a step.
const (
	byRule  = "rule"
	byModel = "model"
)

// validate looks at a step that is said to be done: by what it says of how that
// is known, and then by a look at what was done.
func validate(s State) *Ask {
	if s.Work == nil {
		return nil
	}
	i := slices.IndexFunc(s.Work.Todo, func(x session.Step) bool { return x.Status == session.StepDone && !x.Checked })
	if i < 0 {
		return nil
	}
	x := s.Work.Todo[i]
	checked := func(accepted bool, by, reason string) session.Body {
		return &session.Checked{Step: i + 1, Accepted: accepted, By: by, Reason: reason}
	}
	a := &Ask{Failed: func(why string) session.Body { return checked(true, byRule, "nobody could look at it: "+why) }}
	if x.Verified == "" {
		a.Answer = func(string) session.Body {
			return checked(false, byRule, "it does not say how it was verified")
		}
		return a
	}
	a.About = "step-validation"
	a.Say = fmt.Sprintf("A step of the todo list is said to be done:\n\n%s\n\nHow it is known:\n\n%s\n\nLook at what was done and found above. "+
		"Answer ACCEPT if that shows it. Otherwise answer REOPEN, and in one sentence what is missing.", x.Text, x.Verified)
	a.Answer = func(text string) session.Body {
		switch word, rest := verdict(text); word {
		case "ACCEPT":
			return checked(true, byModel, "")
		case "REOPEN":
			return checked(false, byModel, quote(rest, stepLength))
		}
		return checked(true, byRule, "the one who looked at it gave no verdict")
	}
	return a
}

// reopened reminds the model of the steps that do not count as done.
func reopened(s State) (text string) {
	for _, c := range s.Loop.Rejected {
		if s.Work == nil || c.Step > len(s.Work.Todo) {
			continue
		}
		if text != "" {
			text += "\n"
		}
		text += fmt.Sprintf("Step %d of the todo list is open again: %s. Reason: %s.", c.Step, quote(s.Work.Todo[c.Step-1].Text, stepLength), c.Reason)
	}
	return text
}
