package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

func ask(tool string) permission.Rule {
	return permission.Rule{Tool: tool, Subject: "*", Effect: permission.Ask}
}

// askingBench is a bench whose model calls free, risky and grave at once. The last
// two have to be asked for.
func askingBench(t *testing.T) (b *bench, free, risky, grave *probe) {
	t.Helper()
	free, risky, grave = newProbe("free", nil), newProbe("risky", nil), newProbe("grave", nil)
	b = newBench(t, script.New(
		script.Reply{Tools: []script.Call{{Name: "risky", Input: `{"n":1}`}, {Name: "free"}, {Name: "grave"}}},
		script.Reply{Text: "done"},
	).Model("script/x"), free, risky, grave)
	b.asks = true
	b.spec.Rules = append(b.spec.Rules, ask("risky"), ask("grave"))
	b.post(&session.Prompt{Parts: text("go")})
	return b, free, risky, grave
}

func (b *bench) answer(n int, a session.Answer) {
	b.t.Helper()
	b.post(&session.PermissionResolved{Ask: session.AskID("s", n), Answer: a, By: "me"})
}

// outcomes are how the calls of the log have ended, sorted.
func (b *bench) outcomes() string {
	var list []string
	for e := range b.store.Read(b.t.Context(), key, 0) {
		body, _ := e.Decode()
		if a, ok := body.(*session.ToolAfter); ok {
			list = append(list, a.Tool+" "+string(a.Outcome))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func (b *bench) status() session.Status {
	b.t.Helper()
	sum, err := b.store.Summary(b.t.Context(), key)
	if err != nil {
		b.t.Fatal(err)
	}
	return sum.Status()
}

func waits(t *testing.T, events []session.Event) *session.LoopWaiting {
	t.Helper()
	w, ok := events[len(events)-1].Body.(*session.LoopWaiting)
	if !ok {
		t.Fatalf("the run does not wait, the last event is %s", events[len(events)-1].Type)
	}
	return w
}

// TestAskedCallsWaitTheOthersRun goes through a batch of three of which two are
// asked for: the third runs, the run is over, and each answer brings it on.
func TestAskedCallsWaitTheOthersRun(t *testing.T) {
	b, free, risky, grave := askingBench(t)
	events := b.run(engine.Deps{AnswerTime: time.Hour})
	w := waits(t, events)
	if free.runs.Load() != 1 || risky.runs.Load()+grave.runs.Load() != 0 || b.status() != session.Waiting {
		t.Fatalf("free ran %d times, risky %d, grave %d; the session is %s", free.runs.Load(), risky.runs.Load(), grave.runs.Load(), b.status())
	}
	asked := find[*session.PermissionAsked](events)
	if len(asked) != 2 || !slices.Equal(w.Asks, []string{"s.1", "s.2"}) || !w.Until.Equal(asked[0].Expires) {
		t.Fatalf("asked %+v, waits for %+v", asked, w)
	}
	q := asked[0]
	if q.Ask != "s.1" || q.Tool != "risky" || string(q.Input) != `{"n":1}` || q.Digest == "" || q.Rule == nil || q.Rule.Tool != "risky" ||
		!q.Grantable || !slices.Equal(q.Needs, []session.Subject{{Tool: "risky", Subject: "x"}}) || len(q.Parts) != 1 || q.Reason == "" {
		t.Errorf("asked: %+v", q)
	}

	b.answer(2, session.AnswerOnce)
	events = b.run(engine.Deps{})
	waits(t, events)
	if got := b.outcomes(); got != "free ok, grave ok" {
		t.Errorf("after one answer: %s", got)
	}
	if len(find[*session.PermissionAsked](events)) != 0 {
		t.Error("what is asked was asked again")
	}
	b.answer(1, session.AnswerNo)
	events = b.run(engine.Deps{})
	if e := end(t, events); e.Reason != session.ReasonDone || e.Text != "done" || e.Denied != 1 {
		t.Errorf("end: %+v", e)
	}
	if got := b.outcomes(); got != "free ok, grave ok, risky denied" {
		t.Errorf("at the end: %s", got)
	}
	m := b.state().Root.Messages[2]
	var order []string
	for _, p := range m.Parts {
		order = append(order, p.(message.ToolResult).Name)
	}
	if got := strings.Join(order, " "); got != "risky free grave" {
		t.Errorf("the model is told the results of %s", got)
	}
	if risky.runs.Load() != 0 || free.runs.Load() != 1 || grave.runs.Load() != 1 {
		t.Error("a call ran that must not, or twice")
	}
}

// both answers both questions.
func (b *bench) both(a session.Answer) {
	b.t.Helper()
	b.answer(1, a)
	b.answer(2, a)
}

func TestWhatAnswersDo(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(b *bench)
		deps   engine.Deps
		want   string
		says   string // in the end of a call
	}{
		{"yes", func(b *bench) { b.both(session.AnswerOnce) }, engine.Deps{}, "free ok, grave ok, risky ok", ""},
		{"no", func(b *bench) { b.both(session.AnswerNo) }, engine.Deps{}, "free ok, grave denied, risky denied", "the user said no"},
		{"no, with a message", func(b *bench) {
			b.post(&session.PermissionResolved{Ask: "s.1", Answer: session.AnswerNo, Message: "use the other one"})
			b.answer(2, session.AnswerNo)
		}, engine.Deps{}, "free ok, grave denied, risky denied", "use the other one"},
		{"no for the session, with a message", func(b *bench) {
			b.post(&session.PermissionResolved{Ask: "s.1", Answer: session.AnswerNo, ForSession: true, Message: "not on Fridays"})
			b.answer(2, session.AnswerNo)
		}, engine.Deps{}, "free ok, grave denied, risky denied", "the user said no. They say: not on Fridays"},
		{"no one in time", func(b *bench) { b.both(session.AnswerTimeout) }, engine.Deps{}, "free ok, grave denied, risky denied", "did not answer in time"},
		{"nonsense", func(b *bench) { b.both("perhaps") }, engine.Deps{}, "free ok, grave denied, risky denied", "Not permitted"},
		{"the first counts", func(b *bench) { b.both(session.AnswerNo); b.both(session.AnswerOnce) }, engine.Deps{}, "free ok, grave denied, risky denied", ""},
		{"a cancel", func(b *bench) { b.post(&session.Cancel{}) }, engine.Deps{}, "free ok, grave skipped, risky skipped", "Cancelled by the user"},
		{"a yes, then a cancel", func(b *bench) { b.answer(1, session.AnswerOnce); b.post(&session.Cancel{}) }, engine.Deps{}, "free ok, grave skipped, risky skipped", ""},
		{"yes, against a rule that was made since", func(b *bench) {
			b.spec.HostRules = []permission.Rule{{Tool: "risky", Subject: "x", Effect: permission.Deny}}
			b.both(session.AnswerAlways)
		}, engine.Deps{}, "free ok, grave ok, risky denied", "Not permitted"},
		{"no, with a rule that would allow it now", func(b *bench) {
			b.spec.Rules = b.spec.Rules[:1]
			b.both(session.AnswerNo)
		}, engine.Deps{}, "free ok, grave denied, risky denied", "the user said no"},
		{"yes, while a message waits", func(b *bench) { b.post(&session.Steer{Parts: text("hurry")}); b.both(session.AnswerOnce) }, engine.Deps{}, "free ok, grave ok, risky ok", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _, _, _ := askingBench(t)
			waits(t, b.run(engine.Deps{}))
			c.answer(b)
			events := b.run(c.deps)
			end(t, events)
			if got := b.outcomes(); got != c.want {
				t.Errorf("the calls ended %s, want %s", got, c.want)
			}
			said := ""
			for _, a := range find[*session.ToolAfter](events) {
				said += message.PartsText(a.Parts) + "\n"
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("the model is told %q, want %q in it", said, c.says)
			}
			if b.status() != session.Idle {
				t.Errorf("the session is %s", b.status())
			}
		})
	}
}

// TestAskedAnew: an answer counts for what was asked, by the rules of then.
func TestAskedAnew(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(b *bench, p *probe)
		again  string
	}{
		{"what it would change has changed", func(_ *bench, p *probe) { p.state = "after" }, "is not as it was"},
		{"another rule asks", func(b *bench, _ *probe) { b.spec.Rules = append(b.spec.Rules, ask("ris*")) }, "other rules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, _, risky, grave := askingBench(t)
			risky.state = "before"
			waits(t, b.run(engine.Deps{}))
			c.change(b, risky)
			b.both(session.AnswerOnce)
			events := b.run(engine.Deps{})
			w := waits(t, events)
			asked := find[*session.PermissionAsked](events)
			if len(asked) != 1 || asked[0].Ask != "s.3" || asked[0].Tool != "risky" || !strings.Contains(asked[0].Again, c.again) || !slices.Equal(w.Asks, []string{"s.3"}) {
				t.Fatalf("asked anew: %+v", asked)
			}
			if risky.runs.Load() != 0 || grave.runs.Load() != 1 {
				t.Errorf("risky ran %d times, grave %d", risky.runs.Load(), grave.runs.Load())
			}
			b.answer(1, session.AnswerOnce) // to what was asked before
			waits(t, b.run(engine.Deps{}))
			b.answer(3, session.AnswerOnce)
			end(t, b.run(engine.Deps{}))
			if risky.runs.Load() != 1 {
				t.Error("it does not run after the new answer")
			}
		})
	}
}

// TestGrantsHold: what was answered for the session, and for the workspace as
// long as that is not revoked, is not asked again.
func TestGrantsHold(t *testing.T) {
	granted := func(effect permission.Effect) []permission.Grant {
		return []permission.Grant{{Profile: "p", Query: permission.Query{Tool: "risky", Subject: "x"}, Effect: effect}}
	}
	for _, c := range []struct {
		name   string
		answer *session.PermissionResolved
		deps   engine.Deps
		asked  int // in all
		want   string
	}{
		{"once", &session.PermissionResolved{Ask: "s.1", Answer: session.AnswerOnce}, engine.Deps{}, 2, "risky ok"},
		{"session", &session.PermissionResolved{Ask: "s.1", Answer: session.AnswerSession}, engine.Deps{}, 1, "risky ok, risky ok"},
		{"never in the session", &session.PermissionResolved{Ask: "s.1", Answer: session.AnswerNo, ForSession: true}, engine.Deps{}, 1, "risky denied, risky denied"},
		{"workspace", nil, engine.Deps{Grants: func(string) []permission.Grant { return granted(permission.Allow) }}, 0, "risky ok, risky ok"},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := script.Reply{Tools: []script.Call{{Name: "risky"}}}
			b := newBench(t, script.New(call, call, script.Reply{Text: "done"}).Model("script/x"), newProbe("risky", nil))
			b.asks = true
			b.spec.Rules = append(b.spec.Rules, ask("risky"))
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(c.deps)
			if c.answer != nil {
				waits(t, events)
				b.post(c.answer)
				events = b.run(c.deps)
			}
			if c.asked == 2 {
				waits(t, events)
			} else {
				end(t, events)
			}
			if st := b.state(); st.Asks != c.asked || b.outcomes() != c.want {
				t.Errorf("asked %d times, want %d; calls ended %s, want %s", st.Asks, c.asked, b.outcomes(), c.want)
			}
		})
	}

	t.Run("revoked while the loop runs", func(t *testing.T) {
		call := script.Reply{Tools: []script.Call{{Name: "risky"}}}
		revoked := false
		p := newProbe("risky", func(context.Context, tool.Call) (tool.Result, error) { revoked = true; return tool.Text("ok"), nil })
		b := newBench(t, script.New(call, call, script.Reply{Text: "done"}).Model("script/x"), p)
		b.asks = true
		b.spec.Rules = append(b.spec.Rules, ask("risky"))
		b.post(&session.Prompt{Parts: text("go")})
		waits(t, b.run(engine.Deps{Grants: func(string) []permission.Grant {
			if revoked {
				return nil
			}
			return granted(permission.Allow)
		}}))
		if got := b.outcomes(); got != "risky ok" {
			t.Errorf("calls ended %s", got)
		}
	})
}

// TestAnsweredBeforeItWaits: an answer that comes while the other calls of the
// batch run is taken without waiting.
func TestAnsweredBeforeItWaits(t *testing.T) {
	var b *bench
	free := newProbe("free", func(context.Context, tool.Call) (tool.Result, error) {
		b.answer(1, session.AnswerOnce)
		return tool.Text("ok"), nil
	})
	risky := newProbe("risky", nil)
	b = newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "risky"}, {Name: "free"}}}, script.Reply{Text: "done"}).Model("script/x"), free, risky)
	b.asks = true
	b.spec.Rules = append(b.spec.Rules, ask("risky"))
	b.post(&session.Prompt{Parts: text("go")})
	events := b.run(engine.Deps{})
	if e := end(t, events); e.Text != "done" || risky.runs.Load() != 1 || len(find[*session.LoopWaiting](events)) != 0 {
		t.Errorf("%s", types(events))
	}
}

// TestLimitsHoldForWhatIsAsked: where a limit is reached nobody is asked.
func TestLimitsHoldForWhatIsAsked(t *testing.T) {
	b, _, _, _ := askingBench(t)
	b.spec.Limits.Tokens = 1
	if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonLimit || b.state().Asks != 0 {
		t.Errorf("end: %+v", e)
	}
}

// TestANoStopsARunThatSaysSo: --on-deny stop holds for what a person refuses.
func TestANoStopsARunThatSaysSo(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "risky"}}}, script.Reply{Text: "no"}).Model("script/x"), newProbe("risky", nil))
	b.asks = true
	b.spec.Rules = append(b.spec.Rules, ask("risky"))
	b.post(&session.Prompt{Parts: text("go"), OnDeny: "stop"})
	waits(t, b.run(engine.Deps{}))
	b.answer(1, session.AnswerNo)
	if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonDenied || e.Denied != 1 {
		t.Errorf("end: %+v", e)
	}
}
