package habit

import (
	"strings"

	"github.com/rosterrun/roster/session"
)

const (
	askDirect = "If the request can be answered at once, or in one or two steps that are plain, answer with the one word DIRECT. Otherwise answer "
	askTask   = `with these four sections, in few words, and with nothing else:

TASK: what is to be done, in your own words
UNKNOWNS: what you do not know yet and have to find out
RESOURCES: what there is to do it with
REVIEW: yes, if a plan for it should be looked at before it is made, because it is risky, hard to undo or unclear; else no`
)

// plan is the next phase of planning, before the first turn of a loop.
func plan(s State, offer func() Offer) *Ask {
	how, done := &s.Spec.Habits.Planning, &s.Loop.Planning
	if s.Loop.Turn > 0 || done.Told || done.Plan != nil || request(s) == "" {
		return nil
	}
	a := done.Analysis
	switch {
	case how.Analysis && a == nil:
		return analysis(how.Mandatory)
	case a != nil && (a.Direct || a.Failed != ""):
		return nil
	case done.Review == nil && (how.Review || s.Spec.Habits.PlanningReflect && a != nil && a.Review):
		return review(a)
	case how.Plan:
		return steps(a, done.Review, offer())
	}
	return nil
}

// analysis says what the task is. Mandatory planning leaves out none.
func analysis(mandatory bool) *Ask {
	say := "Before you begin: look at the request, and do not work on it yet. "
	if mandatory {
		say += "Answer " + askTask
	} else {
		say += askDirect + askTask
	}
	return phase(session.PlanAnalysis, say, func(p *session.Plan) {
		word, _ := verdict(p.Text)
		p.Direct = word == "DIRECT" && !mandatory
		for line := range strings.Lines(p.Text) {
			if word, rest := verdict(line); word == "REVIEW" {
				answer, _ := verdict(rest)
				p.Review = answer == "YES"
			}
		}
	})
}

// steps writes the plan.
func steps(a, r *session.Plan, o Offer) *Ask {
	say := said(a, r) + "Write the plan for the request now, and do not work on it yet. " + form(o)
	return phase(session.PlanSteps, say, func(p *session.Plan) { parse(p, o) })
}

// said gives what earlier phases came to, which stands nowhere else.
func said(a, r *session.Plan) (text string) {
	if a != nil {
		text = section("Your analysis of the request:", a.Text)
	}
	if r != nil {
		text += section("A review of it, whose adjustments the plan has to take up:", r.Text)
	}
	return text
}

// phase asks for one phase of planning.
func phase(name, say string, read func(*session.Plan)) *Ask {
	return &Ask{
		About: "planning." + name, Say: say,
		Answer: func(text string) session.Body {
			p := &session.Plan{Phase: name, Text: strings.TrimSpace(text)}
			if p.Text == "" {
				p.Failed = "the answer is empty"
				return p
			}
			read(p)
			return p
		},
		Failed: func(why string) session.Body { return &session.Plan{Phase: name, Failed: why} },
	}
}

// Tell is what a model is to be told of its plan before the next turn, so that it
// does not take it for its answer; "": nothing.
func Tell(s State) string {
	p := &s.Loop.Planning
	switch {
	case p.Told || !s.Spec.Habits.Planning.On && s.Loop.Replans == 0:
		return ""
	case p.Plan != nil && len(p.Plan.Steps) > 0:
		title := "This is your plan for the request:"
		if p.Plan.Phase == session.PlanAgain {
			title = "The rest of your plan was made anew:"
		}
		return opening + section(title, quote(p.Plan.Outline(), planLength)) +
			"It is not your answer. Carry it out now, beginning with its first step, and keep the todo list up to date." + closing
	case p.Analysis != nil && !p.Analysis.Direct && p.Analysis.Failed == "" && !s.Spec.Habits.Planning.Plan:
		return opening + quote(said(p.Analysis, p.Review), planLength) + "\n\nThis is not your answer. Do the work now." + closing
	}
	return ""
}

// planLength bounds what is said of a plan, in characters.
const planLength = 12_000
