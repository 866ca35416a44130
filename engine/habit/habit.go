// Package habit is how an agent goes about its work: each habit, a file of its
// own, says what comes next from what the log has. It does nothing itself: the
// engine asks models and writes the log.
package habit

import (
	"strings"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// State is what habits look at: a session with an open loop, and what it runs by.
type State struct {
	*session.Session
	Spec *spec.Spec
}

// turn is the turn that is about to be asked for, or asked for again.
func (s State) turn() int { return s.Loop.Turn }

// Reminder is what the next request has at its end.
type Reminder struct {
	Text    string            // "": nothing
	Anchors []*session.Anchor // those parts of it that the log does not have yet
	// Last says that the turn is the last one, and goes without tools.
	Last bool
}

// Remind says what the request of the present turn, which has begun, has at its
// end. It is the same for each attempt.
func Remind(s State) (r Reminder) {
	h := &s.Spec.Habits
	if !h.IterationBudget && h.GoalAnchoring == 0 && h.AntiStall == 0 && !h.StepValidation {
		return r
	}
	var parts [4]string
	n := 0
	say := func(text string) {
		if text != "" {
			parts[n] = text
			n++
		}
	}
	say(reopened(s))
	text, anchor := goal(s)
	say(text)
	r.anchor(session.HabitGoal, text, anchor)
	text, anchor = stall(s)
	say(text)
	r.anchor(session.HabitStall, text, anchor)
	text, r.Last = budget(s)
	say(text)
	if n > 0 {
		r.Text = opening + strings.Join(parts[:n], "\n\n") + closing
	}
	return r
}

func (r *Reminder) anchor(habit, text string, is bool) {
	if is {
		r.Anchors = append(r.Anchors, &session.Anchor{Habit: habit, Text: text})
	}
}

// A reminder stands in a tag, so that the model does not take it for the user's.
const (
	tag     = "roster-reminder>"
	opening = "<" + tag + "\n"
	closing = "\n</" + tag
)

// quote gives text that others wrote: no longer than most characters, and without
// what would end the reminder.
func quote(text string, most int) string {
	text = strings.TrimSpace(strings.ReplaceAll(text, tag, "reminder>"))
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + " …"
		}
		n++
	}
	return text
}
