package engine_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// inquiring is a bench whose model asks the user something and calls free at the
// same time.
func inquiring(t *testing.T) (b *bench, free *probe) {
	t.Helper()
	free = newProbe("free", nil)
	b = newBench(t, script.New(
		script.Reply{Tools: []script.Call{{Name: "inquire"}, {Name: "free"}}},
		script.Reply{Text: "done"},
	).Model("script/x"), free, &inquirer{newProbe("inquire", func(_ context.Context, c tool.Call) (tool.Result, error) {
		if c.Reply == nil {
			return tool.Text("nobody"), nil
		}
		return tool.Text(string(c.Reply.Answer) + ": " + c.Reply.Text), nil
	})})
	b.asks = true
	return b, free
}

func toldOf(events []session.Event, tool string) string {
	for _, a := range find[*session.ToolAfter](events) {
		if a.Tool == tool {
			return string(a.Outcome) + ": " + message.PartsText(a.Parts)
		}
	}
	return ""
}

// TestAQuestionWaitsForItsAnswer in another run, when the other calls of the
// batch have ended.
func TestAQuestionWaitsForItsAnswer(t *testing.T) {
	for _, c := range []struct {
		name string
		post session.Body
		want string
	}{
		{"a text", &session.InputAnswered{Ask: "s.1", Answer: session.AnswerText, Text: "the second"}, "ok: text: the second"},
		{"no", &session.InputAnswered{Ask: "s.1", Answer: session.AnswerNo}, "ok: no: "},
		{"nobody in time", &session.InputAnswered{Ask: "s.1", Answer: session.AnswerTimeout}, "ok: timeout: "},
		{"a cancel", &session.Cancel{}, "skipped: Cancelled by the user."},
		{"an answer of another kind", &session.PermissionResolved{Ask: "s.1", Answer: session.AnswerOnce}, ""},
		{"an answer to another question", &session.InputAnswered{Ask: "s.2", Answer: session.AnswerText, Text: "x"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, free := inquiring(t)
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(engine.Deps{AnswerTime: time.Hour})
			asked := find[*session.InputAsked](events)
			if len(asked) != 1 || asked[0].Ask != "s.1" || asked[0].Question != "Which?" || len(asked[0].Options) != 2 || asked[0].Expires.IsZero() {
				t.Fatalf("asked: %+v", asked)
			}
			if w := waits(t, events); len(w.Asks) != 1 || w.Asks[0] != "s.1" || !w.Until.Equal(asked[0].Expires) {
				t.Errorf("waits: %+v", w)
			}
			if free.runs.Load() != 1 || b.status() != session.Waiting {
				t.Errorf("free ran %d times, the session is %s", free.runs.Load(), b.status())
			}
			b.post(c.post)
			events = b.run(engine.Deps{AnswerTime: time.Hour})
			if got := toldOf(events, "inquire"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if n := len(find[*session.InputAsked](events)); n != 0 {
				t.Errorf("asked %d times more", n)
			}
			if c.want == "" && b.status() != session.Waiting {
				t.Errorf("the session is %s", b.status())
			}
		})
	}
}

// TestTheFirstReplyCounts, also one that comes before the run waits.
func TestTheFirstReplyCounts(t *testing.T) {
	b, free := inquiring(t)
	free.run = func(context.Context, tool.Call) (tool.Result, error) {
		for _, text := range []string{"the first", "the second"} {
			b.post(&session.InputAnswered{Ask: "s.1", Answer: session.AnswerText, Text: text})
		}
		return tool.Text("ok"), nil
	}
	b.post(&session.Prompt{Parts: text("go")})
	events := b.run(engine.Deps{})
	for len(find[*session.LoopEnd](events)) == 0 {
		events = append(events, b.run(engine.Deps{})...)
	}
	if got := toldOf(events, "inquire"); got != "ok: text: the first" {
		t.Errorf("%q", got)
	}
}

// TestNobodyIsAsked where nobody is there: the call runs at once, without an
// answer.
func TestNobodyIsAsked(t *testing.T) {
	b, _ := inquiring(t)
	b.post(&session.Prompt{Parts: text("go"), Headless: true})
	events := b.run(engine.Deps{})
	if got := toldOf(events, "inquire"); got != "ok: nobody" || len(find[*session.InputAsked](events)) != 0 {
		t.Errorf("%q", got)
	}
	end(t, events)
}

// TestAQuestionThatHasToBeAllowed is asked for a permission first.
func TestAQuestionThatHasToBeAllowed(t *testing.T) {
	b, _ := inquiring(t)
	b.spec.Rules = append(b.spec.Rules, ask("inquire"))
	b.post(&session.Prompt{Parts: text("go")})
	if n := len(find[*session.InputAsked](b.run(engine.Deps{}))); n != 0 {
		t.Errorf("asked before it was allowed")
	}
	b.post(&session.PermissionResolved{Ask: "s.1", Answer: session.AnswerOnce})
	events := b.run(engine.Deps{})
	waits(t, events)
	b.post(&session.InputAnswered{Ask: "s.2", Answer: session.AnswerText, Text: "yes"})
	events = b.run(engine.Deps{})
	if got := toldOf(events, "inquire"); got != "ok: text: yes" {
		t.Errorf("%q", got)
	}
}

// TestAChildsQuestionIsTheSessions: it waits with the parent, and goes on.
func TestAChildsQuestionIsTheSessions(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("helper", "ask")), says("done")})
	f.asks = true
	child := f.add("helper", []script.Reply{calls(script.Call{Name: "inquire"}), says("asked")},
		&inquirer{newProbe("inquire", func(_ context.Context, c tool.Call) (tool.Result, error) { return tool.Text(c.Reply.Text), nil })})
	child.asks = true
	events := f.start(engine.Deps{})
	if w := waits(t, events); len(w.Asks) != 1 {
		t.Fatalf("waits: %+v", w)
	}
	for q := range f.state().Questions() {
		if q.Depth != 1 || q.Session != "s_1" || q.Profile != "helper" || q.Input == nil || q.Permission != nil {
			t.Errorf("the question is %+v", q)
		}
	}
	f.post(&session.InputAnswered{Ask: "s.1", Answer: session.AnswerText, Text: "blue"})
	events = f.goOn(engine.Deps{})
	if got := toldOf(events, "inquire"); got != "ok: blue" {
		t.Errorf("%q", got)
	}
	if got := end(t, events); got.Reason != session.ReasonDone || !strings.Contains(got.Text, "done") {
		t.Errorf("end: %+v", got)
	}
}
