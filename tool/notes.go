package tool

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/model"
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
	def *model.ToolDef
	run func(c Call, w session.Work) (Result, error)
}

func (t *noteTool) Def() *model.ToolDef                             { return t.def }
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
	return []permission.Query{{Tool: p.tool.def.Name, Subject: "session"}}
}

func (p *notePlan) Run(context.Context, func(string)) (Result, error) {
	return p.tool.run(p.call, p.call.Work())
}

func (p *notePlan) Close() error { return nil }

var (
	todoTool = &noteTool{def(TodoName, "Keep the list of what is to do. Give the whole list each time, or nothing to read it. Use it for "+
		"work of several steps: write the steps down first, mark the one you are at as in_progress, and each one as completed when it "+
		"is done, saying how you know. A step that cannot be done is failed, one that is not needed any more cancelled.", `{
  "type": "object",
  "properties": {
    "todos": {"type": "array", "maxItems": 50, "description": "The whole list, in order", "items": {
      "type": "object",
      "properties": {
        "content": {"type": "string", "minLength": 1, "maxLength": 500, "description": "What is to do"},
        "status": {"type": "string", "enum": ["pending", "in_progress", "completed", "failed", "cancelled"]},
        "verified": {"type": "string", "maxLength": 1000, "description": "Of a completed step: how you know that it is done"}
      },
      "required": ["content", "status"]
    }}
  },
  "additionalProperties": false
}`), runTodo}

	planTool = &noteTool{def(PlanName, "Write a plan down before work of several steps, or give nothing to read the one there is. Each "+
		"step is one action; the list of what is to do is made from them.", `{
  "type": "object",
  "properties": {
    "milestones": {"type": "array", "maxItems": 15, "items": {"type": "string", "minLength": 1, "maxLength": 500}, "description": "What will have been reached, in order"},
    "steps": {"type": "array", "minItems": 1, "maxItems": 15, "description": "1 to 3 for simple work, 5 to 9 for medium, 8 to 15 for complex work", "items": {
      "type": "object",
      "properties": {
        "content": {"type": "string", "minLength": 1, "maxLength": 500, "description": "One action"},
        "by": {"type": "string", "maxLength": 200, "description": "tool: NAME, agent: PROFILE, or self"}
      },
      "required": ["content"]
    }}
  },
  "additionalProperties": false
}`), runPlan}

	scratchpadTool = &noteTool{def(ScratchpadName, "Keep notes for yourself that outlast a long conversation: what you found, decided or "+
		"must not forget. Give text to add it, with replace to write it in the place of all there is, or nothing to read.", `{
  "type": "object",
  "properties": {
    "text": {"type": "string", "minLength": 1, "maxLength": 16000},
    "replace": {"type": "boolean"}
  },
  "additionalProperties": false
}`), runScratchpad}
)

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
	for _, s := range in.Steps {
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
