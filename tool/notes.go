package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// The tools that note something of the work of a session, in its log.
const (
	TodoName       = "todo"
	PlanName       = "plan"
	ScratchpadName = "scratchpad"
)

// noteTool is one of them. Writing the same once more changes nothing.
type noteTool struct {
	defined
	run func(c Call, w session.Work) (Result, error)
}

func (*noteTool) Notes()                                            {}
func (*noteTool) Recovery(Call) Recovery                            { return Repeat }
func (*noteTool) Conflicts(Call) []string                           { return []string{TodoName} }
func (t *noteTool) Prepare(_ context.Context, c Call) (Plan, error) { return &notePlan{t, c}, nil }

type notePlan struct {
	tool *noteTool
	call Call
}

// Needs implements Plan: the subject is what the notes are of.
func (p *notePlan) Needs() []permission.Query {
	return []permission.Query{{Tool: p.tool.Def().Name, Subject: "session"}}
}

func (p *notePlan) Run(context.Context, func(string)) (Result, error) {
	return p.tool.run(p.call, p.call.Work())
}

func (p *notePlan) Close() error { return nil }

func runTodo(c Call, w session.Work) (Result, error) {
	in, err := decode[struct {
		Todos []struct {
			Content  string
			Status   session.StepStatus
			Verified string
		}
	}](c)
	if err != nil {
		return Result{}, err
	}
	if in.Todos == nil {
		return Text(TodoText(w.Todo)), nil
	}
	steps := make([]session.Step, len(in.Todos))
	for i, t := range in.Todos {
		if strings.TrimSpace(t.Content) == "" {
			return Result{}, fmt.Errorf("todos[%d].content is blank: say what is to do, nothing was noted", i)
		}
		s := session.Step{Text: strings.TrimSpace(t.Content), Status: t.Status, Verified: strings.TrimSpace(t.Verified)}
		for _, old := range w.Todo {
			if old.Text == s.Text {
				s.By = old.By
				s.Checked = old.Checked && s.Status == session.StepDone
				if s.Verified == "" && s.Status == session.StepDone {
					s.Verified = old.Verified
				}
				break
			}
		}
		steps[i] = s
	}
	r := Text(TodoText(steps))
	r.Note = &session.Todo{Call: c.ID, Steps: steps}
	return r, nil
}

// TodoText shows a list of steps to a model.
func TodoText(steps []session.Step) string {
	if len(steps) == 0 {
		return "(The list is empty.)"
	}
	var b strings.Builder
	for i, s := range steps {
		fmt.Fprintf(&b, "%d. [%s] %s", i+1, mark(s.Status), s.Text)
		if s.By != "" {
			fmt.Fprintf(&b, " (%s)", s.By)
		}
		if s.Verified != "" {
			fmt.Fprintf(&b, " (verified: %s)", s.Verified)
		}
		b.WriteByte('\n')
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func mark(s session.StepStatus) string {
	switch s {
	case session.StepDone:
		return "x"
	case session.StepPending:
		return " "
	}
	return strings.ReplaceAll(string(s), "_", " ")
}

func runPlan(c Call, w session.Work) (Result, error) {
	in, err := decode[struct {
		Milestones []string
		Steps      []struct{ Content, By string }
	}](c)
	switch {
	case err != nil:
		return Result{}, err
	case in.Steps == nil && w.Plan == nil:
		return Text("(There is no plan.)"), nil
	case in.Steps == nil:
		return Text(w.Plan.Outline()), nil
	}
	p := &session.Plan{Phase: session.PlanTool, Call: c.ID, Milestones: in.Milestones}
	for i, s := range in.Steps {
		if strings.TrimSpace(s.Content) == "" {
			return Result{}, fmt.Errorf("steps[%d].content is blank: say what is to do, nothing was noted", i)
		}
		by := strings.TrimSpace(s.By)
		if by == "self" {
			by = ""
		}
		p.Steps = append(p.Steps, session.Step{Text: strings.TrimSpace(s.Content), Status: session.StepPending, By: by})
	}
	r := Text("The plan is noted, and the list of what is to do made from it. Begin with step 1.")
	r.Note = p
	return r, nil
}

// maxPad bounds the scratchpad, in characters.
const maxPad = 32_000

func runScratchpad(c Call, w session.Work) (Result, error) {
	in, err := decode[struct {
		Text    string
		Replace bool
	}](c)
	switch {
	case err != nil:
		return Result{}, err
	case in.Replace && strings.TrimSpace(in.Text) == "":
		return Result{}, errors.New("text: give what is to stand in the place of all there is")
	case in.Text == "" && w.Pad == "":
		return Text("(The scratchpad is empty.)"), nil
	case in.Text == "":
		return Text(w.Pad), nil
	case w.Wrote == c.ID: // before a crash
		return Text("Noted."), nil
	}
	text := in.Text
	if !in.Replace && w.Pad != "" {
		text = w.Pad + "\n" + text
	}
	if n := utf8.RuneCountInString(text); n > maxPad {
		return Result{}, fmt.Errorf("the scratchpad would have %d characters, and holds %d: write what still matters of it, with replace", n, maxPad)
	}
	r := Text("Noted.")
	r.Note = &session.Scratchpad{Call: c.ID, Text: text}
	return r, nil
}
