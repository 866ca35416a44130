package engine

import (
	"github.com/rosterrun/roster/engine/habit"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// think does the next thing that habits ask for before another turn: it plans, or
// looks at what is said to be done. done: there was something.
func (r *run) think() (done, ended bool, err error) {
	h := &r.Spec.Habits
	if !h.Planning.On && !h.StepValidation && !h.AdaptiveReplan {
		return false, false, nil
	}
	s := r.habits()
	if a := habit.Next(s, r.offers); a != nil {
		ended, err = r.ponder(a)
		return true, ended, err
	}
	text := habit.Tell(s)
	if text == "" {
		return false, false, nil
	}
	r.emit(&session.Message{
		ID: r.clock.ID(), Parent: r.head(), Role: message.User, Why: session.WhyPlan, Parts: []message.Part{message.Text{Text: text}},
	})
	return true, false, nil
}

// ponder asks what a habit wants to know, and logs what came of it.
func (r *run) ponder(a *habit.Ask) (ended bool, err error) {
	if a.About == "" { // nobody needs to be asked
		r.emit(a.Answer(""))
		return false, nil
	}
	text, failed, ended, err := r.aside(aside{about: a.About, say: a.Say})
	switch {
	case ended || err != nil:
		return ended, err
	case failed != nil:
		r.emit(a.Failed(failed.Error))
	default:
		r.emit(a.Answer(text))
	}
	return false, nil
}

// offers is what steps can be done with.
func (r *run) offers() (o habit.Offer) {
	o.Tools = r.ToolNames()
	for _, t := range r.tools {
		if _, ok := t.Tool.(tool.Delegating); !ok {
			continue
		}
		for _, t := range r.Spec.Targets {
			o.Agents = append(o.Agents, t.Name)
		}
		break
	}
	return o
}
