package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

func TestCallsThatDoNotRun(t *testing.T) {
	for _, c := range []struct {
		name    string
		call    script.Call
		rules   []permission.Rule
		outcome session.Outcome
		says    string
	}{
		{"unknown tool", script.Call{Name: "nope"}, nil, session.ToolError, `no tool "nope"`},
		{"not JSON", script.Call{Name: "probe", Input: `{"n":`}, nil, session.ToolError, "not valid JSON"},
		{"against the schema", script.Call{Name: "probe", Input: `{"n":"x"}`}, nil, session.ToolError, "n"},
		{"denied", script.Call{Name: "probe"}, []permission.Rule{{Tool: "probe", Subject: "x", Effect: permission.Deny}}, session.Denied, "Not permitted"},
		{"ask with nobody there", script.Call{Name: "probe"}, []permission.Rule{{Tool: "probe", Subject: "x", Effect: permission.Ask}}, session.Denied, "Not permitted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProbe("probe", nil)
			b := newBench(t, script.New(script.Reply{Tools: []script.Call{c.call}}, script.Reply{Text: "fine"}).Model("script/x"), p)
			b.spec.Rules = append(b.spec.Rules, c.rules...)
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(engine.Deps{})
			after := find[*session.ToolAfter](events)
			if len(after) != 1 || after[0].Outcome != c.outcome || !strings.Contains(message.PartsText(after[0].Parts), c.says) {
				t.Errorf("tool.after: %+v", after)
			}
			if p.runs.Load() != 0 {
				t.Error("the tool ran")
			}
			e := end(t, events)
			if e.Reason != session.ReasonDone || (c.outcome == session.Denied) != (e.Denied == 1) {
				t.Errorf("end: %+v", e)
			}
		})
	}
}

func TestOnDenyStop(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "probe"}}}, script.Reply{Text: "no"}).Model("script/x"), newProbe("probe", nil))
	b.spec.Rules = append(b.spec.Rules, permission.Rule{Tool: "probe", Subject: "x", Effect: permission.Deny})
	b.post(&session.Prompt{Parts: text("go"), OnDeny: "stop"})
	if e := end(t, b.run(engine.Deps{})); e.Reason != session.ReasonDenied || e.Denied != 1 {
		t.Errorf("end: %+v", e)
	}
}

func TestConflictsAreSerialised(t *testing.T) {
	var now, most atomic.Int64
	p := newProbe("p", func(context.Context, tool.Call) (tool.Result, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return tool.Text("ok"), nil
	})
	p.keys = []string{"file"}
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "p"}, {Name: "p"}, {Name: "p"}, {Name: "p"}}}, script.Reply{Text: "x"}).Model("script/x"), p)
	b.post(&session.Prompt{Parts: text("go")})
	b.run(engine.Deps{})
	if most.Load() != 1 || p.runs.Load() != 4 {
		t.Errorf("%d at once, %d in all", most.Load(), p.runs.Load())
	}
}

// TestShutdownBetweenCalls: calls that had not started when the worker was shut
// down are not said to be cancelled by the user, nor to have an unknown outcome.
func TestShutdownBetweenCalls(t *testing.T) {
	ctx, shutDown := context.WithCancel(t.Context())
	defer shutDown()
	first := newProbe("first", func(context.Context, tool.Call) (tool.Result, error) {
		shutDown()
		return tool.Text("done"), nil
	})
	second := newProbe("second", nil)
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "first"}, {Name: "second"}}}, script.Reply{Text: "x"}).Model("script/x"), first, second)
	b.spec.ToolExecution.Strategy = "sequential"
	b.post(&session.Prompt{Parts: text("go")})
	for range engine.Run(ctx, engine.Deps{Store: b.store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
	}
	calls := b.state().Root.Loop.Calls
	if len(calls) != 2 || calls[0].After == nil || calls[0].After.Outcome != session.OK {
		t.Fatalf("%+v", calls)
	}
	a := calls[1].After
	if a == nil || a.Outcome != session.Skipped || !strings.Contains(message.PartsText(a.Parts), "shut down") {
		t.Errorf("the call that did not start: %+v", a)
	}
	if e := end(t, b.run(engine.Deps{})); e.Text != "x" || second.runs.Load() != 0 {
		t.Errorf("end: %+v", e)
	}
}

// TestEndOutlivesAFailedCommit: how a call ended is known although the store
// refused it once.
func TestEndOutlivesAFailedCommit(t *testing.T) {
	store := &refusing{}
	p := newProbe("p", func(context.Context, tool.Call) (tool.Result, error) {
		store.next = true
		return tool.Text("done"), nil
	})
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "p"}}}, script.Reply{Text: "x"}).Model("script/x"), p)
	store.Store = b.store
	b.post(&session.Prompt{Parts: text("go")})
	var failed error
	for _, err := range engine.Run(t.Context(), engine.Deps{Store: store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
		failed = err
	}
	if failed == nil {
		t.Fatal("the failure is not told")
	}
	b.run(engine.Deps{})
	for e := range b.store.Read(t.Context(), key, 0) {
		body, _ := e.Decode()
		if a, ok := body.(*session.ToolAfter); ok && a.Outcome != session.OK {
			t.Errorf("the call ended as %s", a.Outcome)
		}
	}
}

// refusing refuses the next commit.
type refusing struct {
	session.Store
	next bool
}

func (s *refusing) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	if s.next {
		s.next = false
		return 0, errors.New("disk full")
	}
	return s.Store.Append(ctx, k, l, after, evs)
}

// TestAnEndIsStoredBeforeTheOthers: how a call ended does not wait for a slow
// one beside it.
func TestAnEndIsStoredBeforeTheOthers(t *testing.T) {
	var b *bench
	first := func(holds func(session.CallState) bool) func(context.Context, tool.Call) (tool.Result, error) {
		return func(context.Context, tool.Call) (tool.Result, error) {
			tick := time.NewTicker(time.Millisecond)
			defer tick.Stop()
			for range 3000 {
				if l := b.state().Root.Loop; l != nil && len(l.Calls) > 0 && holds(l.Calls[0]) {
					return tool.Text("seen"), nil
				}
				<-tick.C
			}
			return tool.Text("not seen"), nil
		}
	}
	quick := newProbe("quick", first(func(c session.CallState) bool { return c.Before != nil }))
	slow := newProbe("slow", first(func(c session.CallState) bool { return c.After != nil }))
	quick.recovery, slow.recovery = tool.Repeat, tool.Repeat // nothing is awaited before they run
	b = newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "quick"}, {Name: "slow"}}}, script.Reply{Text: "x"}).Model("script/x"), quick, slow)
	b.post(&session.Prompt{Parts: text("go")})
	after := find[*session.ToolAfter](b.run(engine.Deps{}))
	if len(after) != 2 || message.PartsText(after[1].Parts) != "seen" {
		t.Errorf("%+v", after)
	}
}

func TestParallelCallsRunTogether(t *testing.T) {
	meet := make(chan struct{})
	p := newProbe("p", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		select { // each waits for the other
		case meet <- struct{}{}:
		case <-meet:
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
		return tool.Text("met"), nil
	})
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "p"}, {Name: "p"}}}, script.Reply{Text: "x"}).Model("script/x"), p)
	b.post(&session.Prompt{Parts: text("go")})
	for _, a := range find[*session.ToolAfter](b.run(engine.Deps{})) {
		if a.Outcome != session.OK {
			t.Errorf("%+v", a)
		}
	}
}

func TestToolPanicIsAResult(t *testing.T) {
	p := newProbe("p", func(context.Context, tool.Call) (tool.Result, error) { panic("boom") })
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "p"}}}, script.Reply{Text: "x"}).Model("script/x"), p)
	b.post(&session.Prompt{Parts: text("go")})
	a := find[*session.ToolAfter](b.run(engine.Deps{}))
	if len(a) != 1 || a[0].Outcome != session.ToolError || !strings.Contains(message.PartsText(a[0].Parts), "boom") {
		t.Errorf("%+v", a)
	}
}

func TestToolInputIsOneLine(t *testing.T) {
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "probe", Input: "{\n \"n\": 1\n}"}}}, script.Reply{Text: "x"}).Model("script/x"), newProbe("probe", nil))
	b.post(&session.Prompt{Parts: text("go")})
	for _, e := range b.run(engine.Deps{}) {
		line := e.AppendJSON(nil)
		if strings.Contains(string(line), "\n") || !json.Valid(line) {
			t.Errorf("not one line: %s", line)
		}
	}
}
