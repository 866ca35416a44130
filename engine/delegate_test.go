package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/task"
)

// family is a bench whose agent gives tasks to others.
type family struct {
	*bench
	members map[string]*bench // by profile
	mu      sync.Mutex
	asked   []engine.Child
}

// newFamily makes a root that speaks by a script. Its tools are task and those
// given.
func newFamily(t testing.TB, root []script.Reply, tools ...tool.Tool) *family {
	f := &family{members: map[string]*bench{}}
	f.bench = newBench(t, script.New(root...).Model("script/root"), tools...)
	return f
}

// add makes a profile that tasks can be given to.
func (f *family) add(name string, replies []script.Reply, tools ...tool.Tool) *bench {
	return f.addModel(name, script.New(replies...).Model("script/"+name), tools...)
}

func (f *family) addModel(name string, m model.Model, tools ...tool.Tool) *bench {
	b := newBench(f.t, m, tools...)
	b.spec.Name = name
	f.members[name] = b
	return b
}

// give has every profile of the family give tasks to every other.
func (f *family) give() {
	var targets []task.Target
	for name := range f.members {
		targets = append(targets, task.Target{Name: name})
	}
	refuse := func(name string) string { return fmt.Sprintf("unknown profile %q.", name) }
	f.tools = append(f.tools, task.New(targets, refuse))
	for _, b := range f.members {
		b.tools = append(b.tools, task.New(targets, refuse))
	}
}

func (f *family) child(_ context.Context, c engine.Child) (*engine.Blueprint, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, c)
	b := f.members[c.Profile]
	if b == nil {
		return nil, fmt.Errorf("there is no %s", c.Profile)
	}
	return b.blueprint(), nil
}

func (f *family) start(d engine.Deps) []session.Event {
	f.give()
	f.post(&session.Prompt{Parts: text("go"), Profile: "p"})
	return f.goOn(d)
}

func (f *family) goOn(d engine.Deps) []session.Event {
	d.Child = f.child
	return f.run(d)
}

func calls(calls ...script.Call) script.Reply { return script.Reply{Tools: calls} }

func says(s string) script.Reply { return script.Reply{Text: s} }

func taskFor(profile, prompt string) script.Call {
	return script.Call{Name: "task", Input: fmt.Sprintf(`{"profile":%q,"prompt":%q,"description":"some work"}`, profile, prompt)}
}

// results are the texts of the results of the session's calls, in their order.
func results(events []session.Event, in string) []string {
	var list []string
	for _, e := range events {
		if a, ok := e.Body.(*session.ToolAfter); ok && e.Session == in {
			list = append(list, string(a.Outcome)+": "+message.PartsText(a.Parts))
		}
	}
	return list
}

func of(events []session.Event, in string) []session.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e session.Event) bool { return e.Session != in })
}

func TestTaskRunsInASessionOfItsOwn(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("helper", "count the files")), says("there are three")})
	probe := newProbe("count", nil)
	f.add("helper", []script.Reply{calls(script.Call{Name: "count"}), says("three")}, probe)
	events := f.start(engine.Deps{})
	if got := end(t, events); got.Reason != session.ReasonDone || got.Text != "there are three" {
		t.Fatalf("end: %+v", got)
	}
	if got := results(events, "s"); len(got) != 1 || got[0] != "ok: three" {
		t.Errorf("the result of the call: %q", got)
	}
	child := of(events, "s_1")
	want := "session.start loop.start message turn.start turn.request message usage tool.before tool.after message " +
		"turn.start turn.request message usage loop.end"
	stored := slices.DeleteFunc(slices.Clone(child), func(e session.Event) bool { return e.Seq == 0 })
	if got := types(stored); got != want || len(stored) != len(child)-1 {
		t.Errorf("the child's events:\n%s\nwant\n%s", got, want)
	}
	start := find[*session.Start](child)[0]
	before := find[*session.ToolBefore](of(events, "s"))[0]
	if start.Parent != "s" || start.Call != before.Call || before.Child != "s_1" || before.Recovery != "resume" || start.Profile != "helper" || start.Title != "some work" {
		t.Errorf("linked both ways: %+v, %+v", start, before)
	}
	if m := find[*session.Message](child)[0]; m.Role != message.User || message.PartsText(m.Parts) != "count the files" {
		t.Errorf("the child's context begins with %+v", m)
	}
	root := events[0]
	for _, e := range child {
		if e.Depth != 1 || e.Chain != events[len(events)-1].Chain || e.Agent == root.Agent || e.Loop == "" {
			t.Errorf("%s: depth %d, chain %q, agent %q", e.Type, e.Depth, e.Chain, e.Agent)
		}
	}
	if c := f.asked[0]; c.Above.Spec != f.spec || c.Open != nil || c.Key != key {
		t.Errorf("asked for %+v", c)
	}
	if len(f.state().Children) != 0 {
		t.Error("a child that has ended is kept")
	}
}

func TestUsageOfAChildCountsForItsParents(t *testing.T) {
	spent := func(r script.Reply) script.Reply { r.Usage = &script.Usage{Input: 100, Output: 10}; return r }
	f := newFamily(t, []script.Reply{spent(calls(taskFor("a", "x"))), spent(says("done"))})
	f.add("a", []script.Reply{spent(calls(taskFor("b", "y"))), spent(says("a done"))})
	f.add("b", []script.Reply{spent(says("b done"))})
	events := f.start(engine.Deps{})
	for id, want := range map[string]int64{"s": 500, "s_1": 300, "s_1_1": 100} {
		ends := find[*session.LoopEnd](of(events, id))
		if len(ends) != 1 || ends[0].Usage.Input != want {
			t.Errorf("%s: %+v, want %d", id, ends, want)
		}
	}
	if got := of(events, "s_1_1")[0]; got.Depth != 2 {
		t.Errorf("depth %d", got.Depth)
	}
	sum, err := f.store.Summary(t.Context(), key)
	if err != nil || sum.Usage.Input != 500 || sum.Children != 2 || sum.Turns != 2 {
		t.Errorf("summary: %+v, %v", sum, err)
	}
}

func TestWhatBecomesOfATask(t *testing.T) {
	for _, c := range []struct {
		name  string
		child []script.Reply
		set   func(b *bench)
		want  string
	}{
		{"an answer", []script.Reply{says(" yes \n")}, nil, "ok: yes"},
		{"no answer", []script.Reply{{}}, nil, "ok: (The agent ended without an answer.)"},
		{"a limit", []script.Reply{{Text: "so far", Tools: []script.Call{{Name: "safe"}}}}, func(b *bench) { b.spec.Limits.Turns = 1 },
			"error: The task was ended before it was done: the limit of turns was reached. The agent's last words:\n\nso far"},
		{"an error", []script.Reply{{Error: &script.Failure{Status: 400}}}, nil, "error: The task failed: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFamily(t, []script.Reply{calls(taskFor("helper", "x")), says("done")})
			b := f.add("helper", c.child, newProbe("safe", nil))
			if c.set != nil {
				c.set(b)
			}
			events := f.start(engine.Deps{})
			if got := results(events, "s"); len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
			if e := end(t, events); e.Reason != session.ReasonDone {
				t.Errorf("the parent goes on: %+v", e)
			}
		})
	}
}

func TestTasksThatCannotBegin(t *testing.T) {
	for _, c := range []struct{ name, input, want string }{
		{"an unknown profile", `{"profile":"nobody","prompt":"x"}`, `error: unknown profile "nobody". You can give a task to: gone.`},
		{"one that is gone", `{"profile":"gone","prompt":"x"}`, "error: there is no gone"},
		{"no prompt", `{"profile":"gone","prompt":""}`, "error: the input does not fit the schema of task"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFamily(t, []script.Reply{calls(script.Call{Name: "task", Input: c.input}), says("done")})
			f.tools = append(f.tools, task.New([]task.Target{{Name: "gone"}}, func(n string) string { return fmt.Sprintf("unknown profile %q.", n) }))
			f.post(&session.Prompt{Parts: text("go")})
			events := f.goOn(engine.Deps{})
			if got := results(events, "s"); len(got) != 1 || !strings.HasPrefix(got[0], c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// gate is a tool whose calls meet: none ends before all have begun.
func gate(n int) *probe {
	var all sync.WaitGroup
	all.Add(n)
	return newProbe("meet", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		all.Done()
		all.Wait()
		return tool.Text("met"), ctx.Err()
	})
}

func TestChildrenRunAtTheSameTime(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1"), taskFor("a", "2"), taskFor("a", "3")), says("done")})
	f.add("a", []script.Reply{calls(script.Call{Name: "meet"}), says("one two three four")}, gate(3))
	events := f.start(engine.Deps{})
	if got := results(events, "s"); len(got) != 3 || got[0] != "ok: one two three four" {
		t.Errorf("%q", got)
	}
	for _, id := range []string{"s_1", "s_2", "s_3"} {
		text := ""
		for _, d := range find[*session.Delta](of(events, id)) {
			if d.Offset != len(text) {
				t.Errorf("%s: a piece at %d after %q", id, d.Offset, text)
			}
			text += d.Text
		}
		if text != "one two three four" {
			t.Errorf("%s: shown %q", id, text)
		}
	}
}

// TestMaxParallel: with a bound of one, children run one after the other.
func TestMaxParallel(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1"), taskFor("a", "2"), taskFor("a", "3")), says("done")})
	f.spec.Subagents.MaxParallel = 1
	var mu sync.Mutex
	now, most := 0, 0
	f.add("a", []script.Reply{calls(script.Call{Name: "count"}), says("ok")}, newProbe("count", func(context.Context, tool.Call) (tool.Result, error) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(time.Millisecond) // so that others could come in between
		mu.Lock()
		now--
		mu.Unlock()
		return tool.Text("x"), nil
	}))
	if got := results(f.start(engine.Deps{}), "s"); len(got) != 3 || most != 1 {
		t.Errorf("%q, %d at a time", got, most)
	}
}

func TestCancelEndsChildren(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1"), taskFor("b", "2")), says("never")})
	f.add("a", []script.Reply{calls(script.Call{Name: "hang"})}, newProbe("hang", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		f.post(&session.Cancel{})
		cancel()
		<-ctx.Done()
		return tool.Result{}, errors.New("broken off")
	}))
	f.add("b", []script.Reply{{Text: "slow words", Gap: time.Hour}})
	events := f.start(engine.Deps{Cancelled: cancelled})
	for _, id := range []string{"s", "s_1", "s_2"} {
		if ends := find[*session.LoopEnd](of(events, id)); len(ends) != 1 || ends[0].Reason != session.ReasonCancelled {
			t.Errorf("%s: %+v", id, ends)
		}
	}
}

func TestTimeOfTheParentEndsChildren(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1")), says("never")})
	f.spec.Limits.Duration = 50 * time.Millisecond
	f.spec.Limits.Set = map[string]string{"duration": "here"}
	f.add("a", []script.Reply{{Text: "slow words", Gap: time.Hour}})
	events := f.start(engine.Deps{})
	for _, id := range []string{"s", "s_1"} {
		limits, ends := find[*session.Limit](of(events, id)), find[*session.LoopEnd](of(events, id))
		if len(limits) != 1 || limits[0].Limit != "duration" || limits[0].Set != "here" || ends[0].Reason != session.ReasonLimit {
			t.Errorf("%s: %+v %+v", id, limits, ends)
		}
	}
}

// TestCostOfAChildStopsTheParent: the child has no limit of its own and ends at
// the parent's, and so does the parent.
func TestCostOfAChildStopsTheParent(t *testing.T) {
	dear := script.Reply{Tools: []script.Call{{Name: "safe"}}, Usage: &script.Usage{Input: 1e6}}
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1")), says("never")})
	f.spec.Limits.Cost = 2.5
	f.spec.Limits.Tokens = 0
	f.spec.Limits.Set = map[string]string{"cost": "p.md:3"}
	a := f.add("a", []script.Reply{dear, dear, dear, dear, dear}, newProbe("safe", nil))
	a.spec.Model.Price.Input, a.spec.Limits.Tokens = 1, 0
	events := f.start(engine.Deps{})
	if n := len(find[*session.TurnRequest](of(events, "s_1"))); n != 3 {
		t.Errorf("the child was asked %d times, want 3", n)
	}
	for _, id := range []string{"s", "s_1"} {
		limits, ends := find[*session.Limit](of(events, id)), find[*session.LoopEnd](of(events, id))
		if len(limits) != 1 || limits[0].Limit != "cost" || limits[0].Max != 2.5 || limits[0].Set != "p.md:3" || ends[0].Usage.Cost != 3 {
			t.Errorf("%s: %+v %+v", id, limits, ends)
		}
	}
}

// TestParallelChildrenReserve: several at once do not go past the limit by a call
// each.
func TestParallelChildrenReserve(t *testing.T) {
	dear := script.Reply{Tools: []script.Call{{Name: "safe"}}, Usage: &script.Usage{Output: 100}}
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1"), taskFor("a", "2"), taskFor("a", "3"), taskFor("a", "4")), says("never")})
	f.spec.Limits.Tokens = 500
	a := f.add("a", []script.Reply{dear, dear, dear, dear, dear}, newProbe("safe", nil))
	a.spec.Model.MaxOutput, a.spec.Limits.Tokens = 400, 0
	events := f.start(engine.Deps{})
	used := end(t, events).Usage.Limited()
	if used < 500 || used >= 700 {
		t.Errorf("%d tokens were used, the limit is 500 and a call takes 100", used)
	}
	if e := end(t, events); e.Reason != session.ReasonLimit || e.Limit != "tokens" {
		t.Errorf("%+v", e)
	}
}

// TestAnswerToAChild: a child that has to ask parks the stream once nothing else
// can go on, and goes on after the answer.
func TestAnswerToAChild(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1"), taskFor("b", "2")), says("done")})
	risky := newProbe("risky", nil)
	a := f.add("a", []script.Reply{calls(script.Call{Name: "risky"}), says("a done")}, risky)
	a.asks, a.spec.Rules = true, append(a.spec.Rules, ask("risky"))
	f.add("b", []script.Reply{calls(script.Call{Name: "safe"}), says("b done")}, newProbe("safe", nil))
	f.asks = true
	f.give()
	f.post(&session.Prompt{Parts: text("go")})
	first := f.goOn(engine.Deps{})
	waiting := first[len(first)-1]
	if w, ok := waiting.Body.(*session.LoopWaiting); !ok || waiting.Depth != 0 || len(w.Asks) != 1 || w.Asks[0] != "s.1" {
		t.Fatalf("the run ends with %s %+v", waiting.Type, waiting.Body)
	}
	if got := results(first, "s"); len(got) != 1 || got[0] != "ok: b done" {
		t.Errorf("the other child goes on: %q", got)
	}
	if asked := find[*session.PermissionAsked](of(first, "s_1")); len(asked) != 1 || risky.runs.Load() != 0 {
		t.Errorf("asked %+v", asked)
	}
	f.answer(1, session.AnswerOnce)
	second := f.goOn(engine.Deps{})
	if e := end(t, second); e.Reason != session.ReasonDone || e.Text != "done" || risky.runs.Load() != 1 {
		t.Errorf("%+v, %d runs", e, risky.runs.Load())
	}
	if got := results(second, "s"); len(got) != 1 || got[0] != "ok: a done" {
		t.Errorf("%q", got)
	}
	if n := len(find[*session.LoopResumed](of(second, "s_1"))); n != 1 {
		t.Errorf("the child was taken up %d times", n)
	}
}

// TestCancelOfWhatWaits ends the child too.
func TestCancelOfWhatWaits(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1")), says("never")})
	a := f.add("a", []script.Reply{calls(script.Call{Name: "risky"}), says("a done")}, newProbe("risky", nil))
	a.asks, a.spec.Rules = true, append(a.spec.Rules, ask("risky"))
	f.asks = true
	f.give()
	f.post(&session.Prompt{Parts: text("go")})
	f.goOn(engine.Deps{})
	f.post(&session.Cancel{})
	events := f.goOn(engine.Deps{})
	for _, id := range []string{"s", "s_1"} {
		if ends := find[*session.LoopEnd](of(events, id)); len(ends) != 1 || ends[0].Reason != session.ReasonCancelled {
			t.Errorf("%s: %+v", id, ends)
		}
	}
}

// TestDenialInAChildStopsTheRun where that was asked for.
func TestDenialInAChildStopsTheRun(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1")), says("never")})
	a := f.add("a", []script.Reply{calls(script.Call{Name: "risky"}), says("never")}, newProbe("risky", nil))
	a.spec.Rules = append(a.spec.Rules, ask("risky"))
	f.give()
	f.post(&session.Prompt{Parts: text("go"), OnDeny: "stop"})
	events := f.goOn(engine.Deps{})
	for _, id := range []string{"s", "s_1"} {
		if ends := find[*session.LoopEnd](of(events, id)); len(ends) != 1 || ends[0].Reason != session.ReasonDenied || ends[0].Denied != 1 {
			t.Errorf("%s: %+v", id, ends)
		}
	}
}

// TestRefusedRunEndsItsChildren: a loop that cannot be taken up leaves none open.
func TestRefusedRunEndsItsChildren(t *testing.T) {
	f := newFamily(t, []script.Reply{calls(taskFor("a", "1")), says("never")})
	ctx, stop := context.WithCancel(t.Context())
	f.add("a", []script.Reply{calls(script.Call{Name: "hang"})}, newProbe("hang", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		stop()
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}))
	f.give()
	f.post(&session.Prompt{Parts: text("go")})
	d := engine.Deps{Store: f.store, Blobs: f.store, Child: f.child}
	for _, err := range engine.Run(ctx, d, f.blueprint(), f.state(), f.lease) {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	var events []session.Event
	for e, err := range engine.Refuse(t.Context(), d, "p", f.state(), f.lease, &session.Error{Code: "X", Error: "no"}) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	f.checkLog()
	if e := end(t, events); e.Reason != session.ReasonError {
		t.Errorf("%+v", e)
	}
	if ends := find[*session.LoopEnd](of(events, "s_1")); len(ends) != 1 || ends[0].Reason != session.ReasonCancelled {
		t.Errorf("the child: %+v", ends)
	}
	if len(f.state().Children) != 0 {
		t.Error("a child is left")
	}
}
