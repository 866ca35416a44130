package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool/task"
)

// troupe is a bench whose session can be switched between profiles. Each reply
// stands at its turn, whoever gives it.
type troupe struct {
	*bench
	as     map[string]*bench
	broken error // why no profile is to be had
}

func newTroupe(t testing.TB, turns ...script.Reply) *troupe {
	x := &troupe{as: map[string]*bench{}}
	var targets []task.Target
	for _, name := range []string{"a", "b", "c"} {
		targets = append(targets, task.Target{Name: name})
	}
	for _, o := range targets {
		b := newBench(t, script.New(turns...).Model("script/"+o.Name),
			task.NewSwitch(targets, func(name string) string { return "Unknown profile " + name + "." }), newProbe("only-"+o.Name, nil))
		b.spec.Name, b.asks = o.Name, true
		x.as[o.Name] = b
	}
	x.bench = x.as["a"]
	return x
}

func (x *troupe) deps() engine.Deps {
	return engine.Deps{Switch: func(_ context.Context, s engine.Switch) (*engine.Blueprint, error) {
		if x.broken != nil {
			return nil, x.broken
		}
		return x.as[s.To].blueprint(), nil
	}}
}

func (x *troupe) start() []session.Event {
	x.post(&session.Prompt{Parts: text("go"), Profile: "a"})
	return x.run(x.deps())
}

func to(names ...string) script.Reply {
	var r script.Reply
	for _, name := range names {
		r.Tools = append(r.Tools, script.Call{Name: task.Switch, Input: fmt.Sprintf(`{"profile":%q,"reason":"it is for %s"}`, name, name)})
	}
	return r
}

func uses(tool string) script.Reply { return calls(script.Call{Name: tool}) }

// TestSwitchTakesEffectAtTheNextCall: prompt, tools and model are the new
// profile's, and the conversation stays.
func TestSwitchTakesEffectAtTheNextCall(t *testing.T) {
	x := newTroupe(t, to("b"), uses("only-b"), says("done"))
	events := x.start()
	if got := end(t, events); got.Reason != session.ReasonDone || got.Text != "done" {
		t.Fatalf("end: %+v", got)
	}
	if got := results(events, "s"); len(got) != 2 || got[0] != "ok: From your next answer on you are b." || got[1] != "ok: ok" {
		t.Errorf("results: %q", got)
	}
	list := find[*session.Switched](events)
	if len(list) != 1 {
		t.Fatalf("switched %d times", len(list))
	}
	s := list[0]
	if s.From != "a" || s.To != "b" || s.Reason != "it is for b" || s.Revision != "r" || s.Model != "script/b" || s.Call == "" {
		t.Errorf("%+v", s)
	}
	start := find[*session.LoopStart](events)[0]
	if s.Spec == start.Spec || s.Prefix == start.Prefix {
		t.Error("the new profile has the old one's spec or prompt")
	}
	for _, digest := range []string{s.Spec, s.Prefix} {
		if _, err := x.store.Blob(t.Context(), key.Tenant, digest); err != nil {
			t.Errorf("what the event refers to: %v", err)
		}
	}
	if u := find[*session.Usage](events); u[0].Model != "script/a" || u[1].Model != "script/b" {
		t.Errorf("asked: %s, %s", u[0].Model, u[1].Model)
	}
	if r := find[*session.TurnRequest](events); r[1].Messages != 3 {
		t.Errorf("the second request has %d messages, want all 3", r[1].Messages)
	}
	if len(find[*session.LoopStart](events)) != 1 {
		t.Error("the loop began anew")
	}
	sum, err := x.store.Summary(t.Context(), key)
	if st := x.state(); err != nil || sum.Profile != "b" || st.Root.Profile != "b" {
		t.Errorf("the session's profile: %q, %q, %v", sum.Profile, st.Root.Profile, err)
	}
}

func TestWhichSwitchesAreRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		turns []script.Reply
		want  []string // the results that are no switch
		end   string   // the profile at the end
	}{
		{"to nobody", []script.Reply{to("x")}, []string{"error: Unknown profile x. You can switch to: a, b, c."}, "a"},
		{"back at once", []script.Reply{to("b"), to("a")}, []string{"error: you were a until 1 turns ago"}, "b"},
		{"back after three turns", []script.Reply{to("b"), uses("only-b"), uses("only-b"), to("a")}, []string{"error: you were a until 3 turns ago"}, "b"},
		{"back after four", []script.Reply{to("b"), uses("only-b"), uses("only-b"), uses("only-b"), to("a")}, nil, "a"},
		{"back by a third", []script.Reply{to("b"), to("c"), to("a")}, []string{"error: you were a until 2 turns ago"}, "c"},
		{"on to a third", []script.Reply{to("b"), to("c")}, nil, "c"},
		{"two in one answer", []script.Reply{to("b", "c")}, []string{"error: the profile is switched by another call of this answer"}, "b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := newTroupe(t, append(c.turns, says("done"))...)
			events := x.start()
			var refused []string
			for _, got := range results(events, "s") {
				if strings.HasPrefix(got, "error") {
					refused = append(refused, got)
				}
			}
			if len(refused) != len(c.want) {
				t.Fatalf("refused: %q", refused)
			}
			for i := range refused {
				if !strings.HasPrefix(refused[i], c.want[i]) {
					t.Errorf("%q, want %q", refused[i], c.want[i])
				}
			}
			if got := x.state().Root.Profile; got != c.end {
				t.Errorf("at the end it is %s, want %s", got, c.end)
			}
		})
	}
}

// TestSwitchBackWhenTheUserHasSpoken: what the user says lifts the bound.
func TestSwitchBackWhenTheUserHasSpoken(t *testing.T) {
	x := newTroupe(t, to("b"), says("now b"), to("a"), says("done"))
	x.post(&session.Prompt{Parts: text("go"), Profile: "a"}, &session.Followup{Parts: text("go back")})
	events := x.run(x.deps())
	if n := len(find[*session.Switched](events)); n != 2 || x.state().Root.Profile != "a" {
		t.Errorf("switched %d times: %q", n, results(events, "s"))
	}
}

// TestSwitchIsAskedFor and happens when a person has said yes, in another run.
func TestSwitchIsAskedFor(t *testing.T) {
	for _, c := range []struct {
		answer session.Answer
		want   string
	}{{session.AnswerOnce, "b"}, {session.AnswerNo, "a"}} {
		t.Run(string(c.answer), func(t *testing.T) {
			x := newTroupe(t, to("b"), says("done"))
			x.spec.Rules = append(x.spec.Rules, permission.Rule{Tool: task.Switch, Subject: "*", Effect: permission.Ask})
			events := x.start()
			asked := find[*session.PermissionAsked](events)
			if len(asked) != 1 || asked[0].Needs[0] != (session.Subject{Tool: task.Switch, Subject: "b"}) || len(find[*session.LoopWaiting](events)) != 1 {
				t.Fatalf("asked: %+v", asked)
			}
			x.post(&session.PermissionResolved{Ask: asked[0].Ask, Answer: c.answer})
			if got := end(t, x.run(x.deps())); got.Reason != session.ReasonDone {
				t.Errorf("end: %+v", got)
			}
			if got := x.state().Root.Profile; got != c.want {
				t.Errorf("at the end it is %s", got)
			}
		})
	}
}

// TestRefusedForTheSessionIsRefusedToAll: a switch does not get around a no.
func TestRefusedForTheSessionIsRefusedToAll(t *testing.T) {
	x := newTroupe(t, uses("both"), to("b"), uses("both"), says("done"))
	both := newProbe("both", nil)
	for _, name := range []string{"a", "b"} {
		x.as[name].tools = append(x.as[name].tools, both)
	}
	x.spec.Rules = append(x.spec.Rules, ask("both"))
	q := find[*session.PermissionAsked](x.start())[0]
	x.post(&session.PermissionResolved{Ask: q.Ask, Answer: session.AnswerNo, ForSession: true})
	events := x.run(x.deps())
	if got := x.state().Root.Profile; got != "b" || both.runs.Load() != 0 {
		t.Errorf("as %s: %q", got, results(events, "s"))
	}
}

// TestSwitchGivesNoLargerBudget: tokens, cost and time count on under the smaller
// bound, and turns under the new profile's own.
func TestSwitchGivesNoLargerBudget(t *testing.T) {
	spent := func(r script.Reply) script.Reply { r.Usage = &script.Usage{Input: 100, Output: 10}; return r }
	x := newTroupe(t, spent(to("b")), spent(uses("only-b")), spent(uses("only-b")), spent(says("done")))
	x.spec.Limits.Turns = 1
	x.spec.Limits.Tokens, x.spec.Limits.Set = 200, map[string]string{"tokens": "a.md:3"}
	events := x.start()
	limits := find[*session.Limit](events)
	if len(limits) != 1 || *limits[0] != (session.Limit{Limit: "tokens", Max: 200, Used: 220, Set: "a.md:3"}) {
		t.Errorf("%+v", limits)
	}
}

// TestSwitchToWhatIsGone: a profile that cannot be run is refused, and the
// session goes on as it is.
func TestSwitchToWhatIsGone(t *testing.T) {
	x := newTroupe(t, to("b"), says("done"))
	x.broken = errors.New("it has no model")
	events := x.start()
	if got := results(events, "s"); len(got) != 1 || got[0] != "error: it has no model" {
		t.Errorf("%q", got)
	}
	if got := x.state().Root.Profile; got != "a" {
		t.Errorf("at the end it is %s", got)
	}
}

// TestSwitchedToWhatIsGoneByThen: the worker stops between the call and the end of
// its batch, and then the profile is not to be had. The model was told that it
// is b, so the loop does not go on as a.
func TestSwitchedToWhatIsGoneByThen(t *testing.T) {
	x := newTroupe(t, calls(to("b").Tools[0], script.Call{Name: "only-a"}), says("done"))
	x.spec.Rules = append(x.spec.Rules, ask("only-a"))
	events := x.start() // and waits
	x.broken = errors.New("it has no model")
	x.post(&session.PermissionResolved{Ask: find[*session.PermissionAsked](events)[0].Ask, Answer: session.AnswerOnce})
	got := end(t, x.run(x.deps()))
	if got.Reason != session.ReasonError || !strings.Contains(got.Error.Error, "as b") {
		t.Errorf("end: %+v", got)
	}
	if m := x.state().Root.Messages; m[len(m)-1].Role != message.Tool {
		t.Error("the calls have no results")
	}
}

// BenchmarkSwitch is a turn that switches the profile, with all that it makes
// anew, beside one that calls a tool.
func BenchmarkSwitch(b *testing.B) {
	for _, c := range []struct {
		name string
		turn script.Reply
	}{{"switch", to("b")}, {"tool", uses("only-a")}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				x := newTroupe(b, c.turn, says("done"))
				x.post(&session.Prompt{Parts: text("go"), Profile: "a"})
				made := map[string]*engine.Blueprint{"a": x.blueprint(), "b": x.as["b"].blueprint()}
				d := engine.Deps{Store: x.store, Blobs: x.store, Switch: func(_ context.Context, s engine.Switch) (*engine.Blueprint, error) { return made[s.To], nil }}
				st, lease := x.state(), x.lease
				b.StartTimer()
				for _, err := range engine.Run(b.Context(), d, made["a"], st, lease) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
