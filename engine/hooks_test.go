package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// told keeps what hooks were told.
type told struct {
	mu   sync.Mutex
	list []hook.Moment
}

// at makes a hook that answers with v.
func (t *told) at(on hook.Event, v hook.Verdict) hook.Hook {
	return hook.Hook{On: on, Name: "here:1", Ask: func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.list = append(t.list, *m)
		return v, nil
	}}
}

func (t *told) n() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.list)
}

// inputOf is the input of the only call that began.
func inputOf(events []session.Event) string {
	if b := find[*session.ToolBefore](events); len(b) > 0 {
		return string(b[0].Input)
	}
	return ""
}

// sent are the texts of all messages and results that the model gets.
func (b *bench) sent() string {
	var list []string
	for _, m := range b.state().Root.Messages {
		text := message.PartsText(m.Parts)
		for _, p := range m.Parts {
			if r, ok := p.(message.ToolResult); ok {
				text += fmt.Sprintf("<%s %v>", message.PartsText(r.Parts), r.Error)
			}
		}
		list = append(list, string(m.Role)+":"+text)
	}
	return strings.Join(list, " | ")
}

func allowing(d hook.Decision) hook.Verdict { return hook.Verdict{Decision: d, Reason: "so it is"} }

// TestWhatHooksDo holds every event against every verdict.
func TestWhatHooksDo(t *testing.T) {
	const (
		plain  = "user:go | assistant: | tool:<ok false> | assistant:done"
		failed = "the hook answered"
	)
	deny, allow := allowing(hook.Deny), allowing(hook.Allow)
	rewriteText := hook.Verdict{Decision: hook.Rewrite, Text: "other"}
	rewriteInput := hook.Verdict{Decision: hook.Rewrite, Input: json.RawMessage(`{ "n": 2 }`), Reason: "so it is"}
	for _, c := range []struct {
		on     hook.Event
		v      hook.Verdict
		rule   permission.Effect // of the tool
		reason session.Reason
		ran    string // the input with which the tool ran; empty: it did not
		sent   string
		noted  string // of the only hook event, without its reason
	}{
		{hook.BeforeTool, allow, permission.Allow, "done", `{"n":1}`, plain, "before-tool allow"},
		{hook.BeforeTool, rewriteInput, permission.Allow, "done", `{"n":2}`, plain, `before-tool rewrite here:1 {"n":2}`},
		{hook.BeforeTool, deny, permission.Allow, "done", "", "user:go | assistant: | tool:<Not permitted: denied by the hook at here:1: so it is. true> | assistant:done", "before-tool deny here:1"},
		{hook.BeforeTool, allow, permission.Deny, "done", "", "", "before-tool allow"},
		{hook.BeforeTool, hook.Verdict{Decision: hook.Rewrite, Input: json.RawMessage(`{"n":"x"}`)}, permission.Allow, "done", "", "", "before-tool deny here:1 failed"},
		{hook.BeforeTool, allowing(hook.Ask), permission.Allow, "done", "", "", "before-tool deny here:1 failed"},
		{hook.BeforeTool, allowing(hook.Approve), permission.Ask, "done", "", "", "before-tool deny here:1 failed"},
		{hook.BeforeTool, rewriteText, permission.Allow, "done", "", "", "before-tool deny here:1 failed"},

		{hook.AfterTool, allow, permission.Allow, "done", `{"n":1}`, plain, "after-tool allow"},
		{hook.AfterTool, rewriteText, permission.Allow, "done", `{"n":1}`, "user:go | assistant: | tool:<other false> | assistant:done", "after-tool rewrite here:1"},
		{hook.AfterTool, deny, permission.Allow, "done", `{"n":1}`, "user:go | assistant: | tool:<The call has run, and its result is withheld by the hook at here:1: so it is. true> | assistant:done", "after-tool deny here:1"},
		{hook.AfterTool, deny, permission.Deny, "done", "", "", ""}, // it has not run

		{hook.OnPermission, allow, permission.Allow, "done", `{"n":1}`, plain, "on-permission allow"},
		{hook.OnPermission, allow, permission.Ask, "", "", "", "on-permission allow"},
		{hook.OnPermission, allow, permission.Deny, "done", "", "", "on-permission allow"},
		{hook.OnPermission, allowing(hook.Ask), permission.Allow, "", "", "", "on-permission ask here:1"},
		{hook.OnPermission, allowing(hook.Ask), permission.Ask, "", "", "", "on-permission ask here:1"},
		{hook.OnPermission, allowing(hook.Ask), permission.Deny, "done", "", "", "on-permission ask here:1"},
		{hook.OnPermission, allowing(hook.Approve), permission.Allow, "done", `{"n":1}`, plain, "on-permission approve here:1"},
		{hook.OnPermission, allowing(hook.Approve), permission.Ask, "done", `{"n":1}`, plain, "on-permission approve here:1"},
		{hook.OnPermission, allowing(hook.Approve), permission.Deny, "done", "", "", "on-permission approve here:1"},
		{hook.OnPermission, deny, permission.Allow, "done", "", "user:go | assistant: | tool:<Not permitted: denied by the hook at here:1: so it is. true> | assistant:done", "on-permission deny here:1"},
		{hook.OnPermission, deny, permission.Ask, "done", "", "", "on-permission deny here:1"},
		{hook.OnPermission, rewriteInput, permission.Allow, "done", "", "", "on-permission deny here:1 failed"},

		{hook.BeforeTurn, allow, permission.Allow, "done", `{"n":1}`, plain, ""},
		{hook.BeforeTurn, deny, permission.Allow, "denied", "", "user:go", "before-turn deny here:1"},
		{hook.BeforeTurn, rewriteText, permission.Allow, "denied", "", "user:go", "before-turn deny here:1 failed"},
		{hook.AfterTurn, allow, permission.Allow, "done", `{"n":1}`, plain, ""},
		{hook.AfterTurn, deny, permission.Allow, "denied", `{"n":1}`, "user:go | assistant: | tool:<ok false>", "after-turn deny here:1"},

		{hook.BeforeLoop, allow, permission.Allow, "done", `{"n":1}`, plain, ""},
		{hook.BeforeLoop, rewriteText, permission.Allow, "done", `{"n":1}`, "user:other | assistant: | tool:<ok false> | assistant:done", "before-loop rewrite here:1"},
		{hook.BeforeLoop, deny, permission.Allow, "denied", "", "user:[This message was withheld by the hook at here:1: so it is]", "before-loop deny here:1"},
		{hook.AfterLoop, allow, permission.Allow, "done", `{"n":1}`, plain, ""},
		{hook.AfterLoop, deny, permission.Allow, "done", `{"n":1}`, plain, "after-loop deny here:1"},
		{hook.AfterLoop, rewriteText, permission.Allow, "done", `{"n":1}`, plain, "after-loop deny here:1 failed"},

		{hook.OnMessage, allow, permission.Allow, "done", `{"n":1}`, plain, ""},
		{hook.OnMessage, deny, permission.Allow, "denied", "", "user:[This message was withheld by the hook at here:1: so it is]", "on-message deny here:1"},
	} {
		t.Run(fmt.Sprintf("%s %s on %s", c.on, c.v.Decision, c.rule), func(t *testing.T) {
			p := newProbe("probe", nil)
			b := newBench(t, script.New(calls(script.Call{Name: "probe", Input: `{"n":1}`}), says("done")).Model("script/x"), p)
			b.asks = true
			b.spec.Rules = append(b.spec.Rules, permission.Rule{Tool: "probe", Subject: "x", Effect: c.rule})
			var told told
			b.hooks = []hook.Hook{told.at(c.on, c.v)}
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(engine.Deps{})

			var noted string
			for _, h := range find[*session.Hooked](events) {
				noted = strings.TrimSpace(fmt.Sprintf("%s %s %s %s", h.On, h.Decision, h.By, h.Input))
				if h.Failed {
					noted += " failed"
				}
			}
			if noted != c.noted {
				t.Errorf("noted %q, want %q", noted, c.noted)
			}
			if got := b.sent(); c.sent != "" && got != c.sent {
				t.Errorf("sent\n%s, want\n%s", got, c.sent)
			}
			if got := ""; p.runs.Load() > 0 {
				if got = inputOf(events); got != c.ran {
					t.Errorf("ran with %s, want %s", got, c.ran)
				}
			} else if c.ran != "" {
				t.Error("the tool did not run")
			}
			ends := find[*session.LoopEnd](events)
			switch {
			case c.reason == "":
				waits(t, events)
			case len(ends) != 1 || ends[0].Reason != c.reason:
				t.Errorf("ends: %+v, want %s", ends, c.reason)
			case c.reason == session.ReasonDenied && (ends[0].Error == nil || ends[0].Error.Code != "HookDenied" || !strings.Contains(ends[0].Error.Error, "here:1")):
				t.Errorf("the end does not name the hook: %+v", ends[0].Error)
			}
		})
	}
}

// TestFailingHooksDeny: whatever goes wrong with a hook is a denial that names
// it.
func TestFailingHooksDeny(t *testing.T) {
	for _, c := range []struct {
		name string
		ask  func(context.Context, *hook.Moment) (hook.Verdict, error)
		says string
	}{
		{"an error", func(context.Context, *hook.Moment) (hook.Verdict, error) {
			return allowing(hook.Allow), errors.New("broken")
		}, "the hook failed: broken"},
		{"a panic", func(context.Context, *hook.Moment) (hook.Verdict, error) { panic("ouch") }, "the hook failed: ouch"},
		{"no time left", func(ctx context.Context, _ *hook.Moment) (hook.Verdict, error) {
			<-ctx.Done()
			return allowing(hook.Allow), nil
		}, "the hook gave no answer in 10ms"},
		{"nothing decided", func(context.Context, *hook.Moment) (hook.Verdict, error) { return hook.Verdict{}, nil }, "denied by the hook at here:1"},
	} {
		for _, on := range hook.Events() {
			t.Run(c.name+" "+string(on), func(t *testing.T) {
				p := newProbe("probe", nil)
				b := newBench(t, script.New(calls(script.Call{Name: "probe"}), says("done")).Model("script/x"), p)
				b.hooks = []hook.Hook{{On: on, Name: "here:1", Timeout: 10 * time.Millisecond, Ask: c.ask}}
				b.post(&session.Prompt{Parts: text("go")})
				events := b.run(engine.Deps{})
				noted := find[*session.Hooked](events)
				if len(noted) == 0 || noted[0].Decision != "deny" || noted[0].By != "here:1" {
					t.Fatalf("noted: %+v", noted)
				}
				if said := "denied by the hook at " + noted[0].By + noted[0].Reason; !strings.Contains(said, c.says) {
					t.Errorf("the reason is %q", noted[0].Reason)
				}
				after := on == hook.AfterTool || on == hook.AfterLoop || on == hook.AfterTurn
				if ran := p.runs.Load() > 0; ran != after {
					t.Errorf("the tool ran: %v", ran)
				}
			})
		}
	}
}

// TestHooksOfAnswers: what a model asks for does not begin before its answer
// was looked at.
func TestHooksOfAnswers(t *testing.T) {
	p := newProbe("probe", nil)
	b := newBench(t, script.New(calls(script.Call{Name: "probe"}), says("done")).Model("script/x"), p)
	b.hooks = []hook.Hook{{On: hook.OnMessage, Name: "here:1", Ask: func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
		if m.Role == "assistant" {
			return allowing(hook.Deny), nil
		}
		return allowing(hook.Allow), nil
	}}}
	b.post(&session.Prompt{Parts: text("go")})
	e := end(t, b.run(engine.Deps{}))
	if e.Reason != session.ReasonDenied || p.runs.Load() != 0 || b.outcomes() != "probe skipped" {
		t.Errorf("%+v, ran %d times, %s", e, p.runs.Load(), b.outcomes())
	}
}

// TestHooksAreToldInOrder goes through a loop and sees what each hook is told,
// and that what they are told of is in the log.
func TestHooksAreToldInOrder(t *testing.T) {
	p := newProbe("probe", nil)
	b := newBench(t, script.New(calls(script.Call{Name: "probe", Input: `{"n":1}`}), says("done")).Model("script/x"), p)
	b.spec.Workspace = "/w"
	var got []string
	for _, on := range hook.Events() {
		b.hooks = append(b.hooks, hook.Hook{On: on, Ask: func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
			last := ""
			for e := range b.store.Read(t.Context(), key, 0) {
				last = e.Type
			}
			line := fmt.Sprintf("%s %d %s%s %s%s%s", m.Event, m.Turn, m.Role, m.Tool, m.Input, m.Text, m.Reason)
			if m.Permission != nil {
				line += m.Permission.Effect
			}
			if got = append(got, line+" < "+last); m.Profile != "p" || m.Model != "script/x" || m.Session != "s" || m.Loop == "" || m.Workspace != "/w" {
				t.Errorf("%+v", m)
			}
			return allowing(hook.Allow), nil
		}})
	}
	b.post(&session.Prompt{Parts: text("go")})
	b.run(engine.Deps{})
	want := []string{
		"before-loop 0 user go < prompt",
		"on-message 0 user go < prompt",
		"before-turn 1   < message",
		"on-message 1 assistant  < usage",
		`before-tool 1 probe {"n":1} < usage`,
		`on-permission 1 probe {"n":1}allow < usage`,
		`after-tool 1 probe {"n":1}ok < tool.after`,
		"after-turn 1   < message",
		"before-turn 2   < message",
		"on-message 2 assistant done < usage",
		"after-turn 2  done < usage",
		"after-loop 2  donedone < loop.end",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestWhatHooksSaidHolds: a call that waits for a person, or whose worker is
// gone, goes on with what the hooks said of it once.
func TestWhatHooksSaidHolds(t *testing.T) {
	for _, c := range []struct {
		name  string
		rule  permission.Effect
		death bool // of the worker, in the middle of the call
	}{{"a person is asked", permission.Ask, false}, {"the worker goes", permission.Allow, true}} {
		t.Run(c.name, func(t *testing.T) {
			ctx, die := context.WithCancel(t.Context())
			defer die()
			var ran []string
			p := newProbe("probe", func(ctx context.Context, call tool.Call) (tool.Result, error) {
				if ran = append(ran, string(call.Input)); c.death && len(ran) == 1 {
					die()
					<-ctx.Done()
					return tool.Result{}, ctx.Err()
				}
				return tool.Text("ok"), nil
			})
			p.recovery = tool.Repeat
			b := newBench(t, script.New(calls(script.Call{Name: "probe", Input: `{"n":1}`}), says("done")).Model("script/x"), p)
			b.asks = true
			b.spec.Rules = append(b.spec.Rules, permission.Rule{Tool: "probe", Subject: "*", Effect: c.rule})
			asked := 1
			b.hooks = []hook.Hook{{On: hook.BeforeTool, Ask: func(context.Context, *hook.Moment) (hook.Verdict, error) {
				asked++
				return hook.Verdict{Decision: hook.Rewrite, Input: fmt.Appendf(nil, `{"n":%d}`, asked)}, nil
			}}}
			b.post(&session.Prompt{Parts: text("go")})
			for range engine.Run(ctx, engine.Deps{Store: b.store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
			}
			if !c.death {
				b.answer(1, session.AnswerOnce)
			}
			if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonDone || asked != 2 || ran[len(ran)-1] != `{"n":2}` {
				t.Errorf("asked %d times, ran with %s, end %+v", asked-1, ran, e)
			}
		})
	}
}

// TestHooksOfAChild: its own profile's hooks are asked in it, and a task that
// one refuses is a failed call.
func TestHooksOfAChild(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("helper", "count")), says("done")})
	helper := f.add("helper", []script.Reply{calls(script.Call{Name: "count"}), says("three")}, newProbe("count", nil))
	var told told
	helper.hooks = []hook.Hook{told.at(hook.BeforeTool, allowing(hook.Allow)), told.at(hook.AfterLoop, allowing(hook.Allow))}
	events := f.start(engine.Deps{})
	if got := results(events, "s"); len(got) != 1 || got[0] != "ok: three" || told.n() != 2 || told.list[0].Depth != 1 || told.list[0].Session != "s_1" {
		t.Errorf("%q, told %+v", got, told.list)
	}

	f = newFamily(t, []script.Reply{calls(taskFor("helper", "count")), says("done")})
	helper = f.add("helper", []script.Reply{says("three")})
	helper.hooks = []hook.Hook{told.at(hook.BeforeLoop, allowing(hook.Deny))}
	if got := results(f.start(engine.Deps{}), "s"); len(got) != 1 || !strings.Contains(got[0], "the prompt was denied by the hook at here:1") {
		t.Errorf("%q", got)
	}
}

// TestHooksAreAskedTogether: the first denial is the last that is asked, the
// next one is told what one rewrote, and of ask and approve the stricter counts.
func TestHooksAreAskedTogether(t *testing.T) {
	to := func(n int) hook.Verdict {
		return hook.Verdict{Decision: hook.Rewrite, Input: fmt.Appendf(nil, `{"n":%d}`, n)}
	}
	for _, c := range []struct {
		name  string
		on    hook.Event
		list  []hook.Verdict
		want  hook.Decision
		input string
		asked int
	}{
		{"rewritten twice", hook.BeforeTool, []hook.Verdict{to(2), to(3)}, hook.Rewrite, `{"n":3}`, 2},
		{"denied after that", hook.BeforeTool, []hook.Verdict{to(2), allowing(hook.Deny), to(3)}, hook.Deny, "", 2},
		{"approve, then ask", hook.OnPermission, []hook.Verdict{allowing(hook.Approve), allowing(hook.Ask)}, hook.Ask, "", 2},
		{"ask, then approve", hook.OnPermission, []hook.Verdict{allowing(hook.Ask), allowing(hook.Approve), allowing(hook.Allow)}, hook.Ask, "", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var told told
			var list []hook.Hook
			for _, v := range c.list {
				list = append(list, told.at(c.on, v))
			}
			set, err := hook.NewSet(list...)
			if err != nil {
				t.Fatal(err)
			}
			a := set.Ask(t.Context(), hook.Moment{Event: c.on, Tool: "x"})
			if a.Decision != c.want || string(a.Input) != c.input || told.n() != c.asked {
				t.Errorf("%+v, asked %d", a, told.n())
			}
			if c.input != "" && string(told.list[1].Input) != `{"n":2}` {
				t.Errorf("the second one was told %s", told.list[1].Input)
			}
		})
	}
}

// TestHooksNeverWiden: no answer of a hook lifts a denial, nor what the host has
// to be asked for, nor makes a question where nobody is.
func TestHooksNeverWiden(t *testing.T) {
	rule := func(e permission.Effect) permission.Rule {
		return permission.Rule{Tool: "probe", Subject: "x", Effect: e}
	}
	for _, c := range []struct {
		name     string
		says     hook.Decision
		rule     permission.Effect
		host     []permission.Rule
		mode     permission.Mode
		headless bool
		denied   permission.Effect // in the session
		want     string
	}{
		{"approve what is asked for", hook.Approve, permission.Ask, nil, permission.ModeDefault, false, permission.Allow, "ran"},
		{"allow what is asked for", hook.Allow, permission.Ask, nil, permission.ModeDefault, false, permission.Allow, "waits"},
		{"approve what the host asks for", hook.Approve, permission.Allow, []permission.Rule{rule(permission.Ask)}, permission.ModeDefault, false, permission.Allow, "waits"},
		{"approve what both ask for", hook.Approve, permission.Ask, []permission.Rule{rule(permission.Ask)}, permission.ModeDefault, false, permission.Allow, "waits"},
		{"approve what the host denies", hook.Approve, permission.Ask, []permission.Rule{rule(permission.Deny)}, permission.ModeDefault, false, permission.Allow, "denied"},
		{"approve what nobody can answer", hook.Approve, permission.Ask, nil, permission.ModeDefault, true, permission.Allow, "denied"},
		{"approve in dont-ask", hook.Approve, permission.Ask, nil, permission.ModeDontAsk, false, permission.Allow, "denied"},
		{"approve what was refused", hook.Approve, permission.Ask, nil, permission.ModeDefault, false, permission.Deny, "denied"},
		{"approve a denial", hook.Approve, permission.Deny, nil, permission.ModeDefault, false, permission.Allow, "denied"},
		{"allow a denial", hook.Allow, permission.Deny, nil, permission.ModeDefault, false, permission.Allow, "denied"},
		{"ask where nobody is", hook.Ask, permission.Allow, nil, permission.ModeDefault, true, permission.Allow, "denied"},
		{"ask in dont-ask", hook.Ask, permission.Allow, nil, permission.ModeDontAsk, false, permission.Allow, "denied"},
		{"ask in bypass", hook.Ask, permission.Allow, nil, permission.ModeBypass, false, permission.Allow, "waits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProbe("probe", nil)
			b := newBench(t, script.New(calls(script.Call{Name: "probe"}), says("done")).Model("script/x"), p)
			b.asks = !c.headless
			b.spec.Rules, b.spec.HostRules, b.spec.PermissionMode = append(b.spec.Rules, rule(c.rule)), c.host, c.mode
			var told told
			b.hooks = []hook.Hook{told.at(hook.OnPermission, allowing(c.says))}
			b.post(&session.Prompt{Parts: text("go")})
			st := b.state()
			if c.denied == permission.Deny {
				st.Grants = []session.Grant{{Profile: "p", Subject: session.Subject{Tool: "probe", Subject: "x"}, Effect: "deny"}}
			}
			got := "waits"
			for e, err := range engine.Run(t.Context(), engine.Deps{Store: b.store, Blobs: b.store}, b.blueprint(), st, b.lease) {
				if err != nil {
					t.Fatal(err)
				}
				if a, ok := e.Body.(*session.ToolAfter); ok {
					got = strings.Replace(string(a.Outcome), "ok", "ran", 1)
				}
			}
			if got != c.want || told.n() != 1 {
				t.Errorf("%s, want %s; the hook was asked %d times", got, c.want, told.n())
			}
		})
	}
}

// TestAskedByAHook: a person sees which hook asks, and a yes holds for this call
// only.
func TestAskedByAHook(t *testing.T) {
	p := newProbe("probe", nil)
	b := newBench(t, script.New(calls(script.Call{Name: "probe"}), calls(script.Call{Name: "probe"}), says("done")).Model("script/x"), p)
	b.asks = true
	var told told
	b.hooks = []hook.Hook{told.at(hook.OnPermission, allowing(hook.Ask))}
	b.post(&session.Prompt{Parts: text("go")})
	events := b.run(engine.Deps{})
	waits(t, events)
	q := find[*session.PermissionAsked](events)
	if len(q) != 1 || q[0].Grantable || q[0].Reason != "asked for by the hook at here:1: so it is" || len(q[0].Needs) != 1 {
		t.Fatalf("%+v", q)
	}
	b.answer(1, session.AnswerSession)
	if waits(t, b.run(engine.Deps{})); p.runs.Load() != 1 || told.n() != 2 {
		t.Errorf("ran %d times, the hook was asked %d times", p.runs.Load(), told.n())
	}
	b.answer(2, session.AnswerNo)
	if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonDone || e.Denied != 1 || p.runs.Load() != 1 {
		t.Errorf("%+v", e)
	}
}

// TestCancelEndsAHook: a cancel does not wait for a hook, and what the hook has
// not let through is neither sent nor run.
func TestCancelEndsAHook(t *testing.T) {
	for _, on := range hook.Events() {
		if on == hook.AfterLoop {
			continue // the loop has ended
		}
		t.Run(string(on), func(t *testing.T) {
			p := newProbe("probe", nil)
			b := newBench(t, script.New(calls(script.Call{Name: "probe"}), says("done")).Model("script/x"), p)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			b.hooks = []hook.Hook{{On: on, Timeout: time.Minute, Ask: func(ctx context.Context, _ *hook.Moment) (hook.Verdict, error) {
				b.post(&session.Cancel{})
				cancel()
				<-ctx.Done()
				return allowing(hook.Allow), nil
			}}}
			b.post(&session.Prompt{Parts: text("go")})
			e := end(t, b.run(engine.Deps{Cancelled: ctx}))
			if e.Reason != session.ReasonCancelled {
				t.Errorf("the end is %+v", e)
			}
			before := on != hook.AfterTool && on != hook.AfterTurn
			if ran := p.runs.Load() > 0; ran == before {
				t.Errorf("the tool ran: %t", ran)
			}
			sent := b.sent()
			if first := on == hook.BeforeLoop || on == hook.OnMessage; first && sent != "user:[This message was withheld by the hook at "+string(on)+": the hook failed: context canceled]" {
				t.Errorf("sent: %s", sent)
			}
			if on == hook.AfterTool && !strings.Contains(sent, "its result is withheld") {
				t.Errorf("sent: %s", sent)
			}
		})
	}
}

// TestShutdownDuringAHook: the next owner asks the hook again, and nothing is
// denied because a worker went.
func TestShutdownDuringAHook(t *testing.T) {
	for _, on := range hook.Events() {
		if on == hook.AfterLoop {
			continue // the stream was given up with the end
		}
		t.Run(string(on), func(t *testing.T) {
			p := newProbe("probe", nil)
			b := newBench(t, script.New(calls(script.Call{Name: "probe"}), says("done")).Model("script/x"), p)
			ctx, shutDown := context.WithCancel(t.Context())
			defer shutDown()
			asked := 0
			b.hooks = []hook.Hook{{On: on, Ask: func(ctx context.Context, _ *hook.Moment) (hook.Verdict, error) {
				if asked++; asked == 1 {
					shutDown()
					<-ctx.Done()
				}
				return allowing(hook.Allow), nil
			}}}
			b.post(&session.Prompt{Parts: text("go")})
			for range engine.Run(ctx, engine.Deps{Store: b.store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
			}
			e := end(t, b.run(engine.Deps{}))
			if e.Reason != session.ReasonDone || e.Denied != 0 || strings.Contains(b.sent(), "withheld") {
				t.Errorf("%+v, sent %s", e, b.sent())
			}
			if skipped := b.outcomes() == "probe skipped"; asked < 2 && !skipped {
				t.Errorf("the hook was asked %d times, %s", asked, b.outcomes())
			}
		})
	}
}

// TestHooksOfMessagesOnTheWay: a steering message is looked at like a prompt;
// one that is denied does not end the loop, and an image stays beside a text
// that is rewritten.
func TestHooksOfMessagesOnTheWay(t *testing.T) {
	b := newBench(t, script.New(says("done")).Model("script/x"))
	b.hooks = []hook.Hook{{On: hook.OnMessage, Name: "here:1", Ask: func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
		switch m.Text {
		case "secret":
			return allowing(hook.Deny), nil
		case "picture":
			return hook.Verdict{Decision: hook.Rewrite, Text: "image"}, nil
		}
		return allowing(hook.Allow), nil
	}}}
	picture := append(text("picture"), message.Image{MediaType: "image/png", Data: []byte("x")})
	b.spec.Steering = spec.QueueAll
	b.post(&session.Prompt{Parts: text("go")}, &session.Steer{Parts: text("secret")}, &session.Steer{Parts: picture})
	if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonDone {
		t.Fatalf("%+v", e)
	}
	want := "user:go | user:[This message was withheld by the hook at here:1: so it is] | user:image | assistant:done"
	if got := b.sent(); got != want {
		t.Errorf("sent %s", got)
	}
	if parts := b.state().Root.Messages[2].Parts; len(parts) != 2 {
		t.Errorf("the message has %d parts", len(parts))
	}
}
