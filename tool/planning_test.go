package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// notebook calls the planning tools and keeps what they note, as the log does.
type notebook struct {
	*fixture
	work session.Work
	n    int
}

func (b *notebook) call(tool, input string) (string, error) {
	b.t.Helper()
	v, err := NewValidator(b.tools[tool].Def())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := v.Validate([]byte(input)); err != nil {
		return "", err
	}
	b.n++
	c := Call{ID: string(rune('a' + b.n)), Input: json.RawMessage(input), Work: func() session.Work { return b.work }}
	plan, err := b.tools[tool].Prepare(b.t.Context(), c)
	if err != nil {
		return "", err
	}
	defer plan.Close()
	r, err := plan.Run(b.t.Context(), nil)
	switch note := r.Note.(type) {
	case *session.Todo:
		b.work.Todo = note.Steps
	case *session.Plan:
		b.work.Plan, b.work.Todo = note, note.Steps
	case *session.Scratchpad:
		b.work.Pad, b.work.Wrote = note.Text, note.Call
	}
	return message.PartsText(r.Parts), err
}

// TestPlanningTools: each line of their contract, in one session.
func TestPlanningTools(t *testing.T) {
	b := &notebook{fixture: newFixture(t)}
	step := func(n int) string { return `{"content":"` + strings.Repeat("ж", n) + `","status":"pending"}` }
	for _, c := range []struct{ name, tool, input, want, fails string }{
		{"no list yet", "todo", `{}`, "(The list is empty.)", ""},
		{"a list", "todo", `{"todos":[{"content":" Look \n","status":"in_progress"},{"content":"Do","status":"pending"}]}`, "1. [in progress] Look\n2. [ ] Do", ""},
		{"read", "todo", `{}`, "1. [in progress] Look\n2. [ ] Do", ""},
		{"blank", "todo", `{"todos":[{"content":"a","status":"pending"},{"content":" \t","status":"pending"}]}`, "", "todos[1].content is blank"},
		{"nothing came of that", "todo", `{}`, "1. [in progress] Look\n2. [ ] Do", ""},
		{"done, and how it is known", "todo", `{"todos":[{"content":"Look","status":"completed","verified":"seen"},{"content":"Do","status":"failed"}]}`, "1. [x] Look (verified: seen)\n2. [failed] Do", ""},
		{"that stays", "todo", `{"todos":[{"content":"Look","status":"completed"},{"content":"Do","status":"cancelled"}]}`, "1. [x] Look (verified: seen)\n2. [cancelled] Do", ""},
		{"what other systems say besides is passed over", "todo", `{"todos":[{"content":"Look","status":"completed","id":"7","priority":"high"}]}`, "1. [x] Look (verified: seen)", ""},
		{"no such status", "todo", `{"todos":[{"content":"a","status":"done"}]}`, "", "todos.0.status: value must be one of 'pending'"},
		{"no status", "todo", `{"todos":[{"content":"a"}]}`, "", "missing property 'status'"},
		{"500 characters of two bytes", "todo", `{"todos":[` + step(500) + `]}`, "1. [ ] " + strings.Repeat("ж", 500), ""},
		{"501", "todo", `{"todos":[` + step(501) + `]}`, "", "maxLength: got 501, want 500"},
		{"50 steps and one", "todo", `{"todos":[` + strings.Repeat(step(1)+",", 50) + step(1) + `]}`, "", "maxItems: got 51, want 50"},
		{"not a list", "todo", `{"todos":"Look"}`, "", "todos: got string, want array"},
		{"emptied", "todo", `{"todos":[]}`, "(The list is empty.)", ""},

		{"no plan yet", "plan", `{}`, "(There is no plan.)", ""},
		{"no steps", "plan", `{"steps":[]}`, "", "minItems: got 0, want 1"},
		{"a blank step", "plan", `{"steps":[{"content":" "}]}`, "", "steps[0].content is blank"},
		{"a plan", "plan", `{"milestones":["It runs"],"steps":[{"content":"Look","by":"tool: grep"},{"content":"Do","by":"self"}]}`, "The plan is noted, and the list of what is to do made from it. Begin with step 1.", ""},
		{"read back", "plan", `{}`, "Milestones:\n- It runs\nSteps:\n1. Look | tool: grep\n2. Do | self", ""},
		{"its list", "todo", `{}`, "1. [ ] Look (tool: grep)\n2. [ ] Do", ""},
		{"who does it stays", "todo", `{"todos":[{"content":"Look","status":"completed"}]}`, "1. [x] Look (tool: grep)", ""},

		{"an empty pad", "scratchpad", `{}`, "(The scratchpad is empty.)", ""},
		{"a note", "scratchpad", `{"text":"one"}`, "Noted.", ""},
		{"another", "scratchpad", `{"text":"two"}`, "Noted.", ""},
		{"read again", "scratchpad", `{}`, "one\ntwo", ""},
		{"replace by nothing", "scratchpad", `{"replace":true}`, "", "text: give what is to stand"},
		{"replaced", "scratchpad", `{"text":"three","replace":true}`, "Noted.", ""},
		{"16,000 characters", "scratchpad", `{"text":"` + strings.Repeat("語", 16000) + `"}`, "Noted.", ""},
		{"over what it holds", "scratchpad", `{"text":"` + strings.Repeat("語", 16000) + `"}`, "", "would have 32007 characters, and holds 32000"},
		{"as it was", "scratchpad", `{}`, "three\n" + strings.Repeat("語", 16000), ""},
	} {
		got, err := b.call(c.tool, c.input)
		switch {
		case c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)):
			t.Errorf("%s: %.300q, %v; want an error with %q", c.name, got, err, c.fails)
		case c.fails == "" && (err != nil || got != c.want):
			t.Errorf("%s: %.300q, %v; want %.300q", c.name, got, err, c.want)
		}
	}
}
