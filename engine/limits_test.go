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
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// TestLimitReachedByAnAnswer lets an answer use up what may be used and ask for
// a tool: the tool does not run.
func TestLimitReachedByAnAnswer(t *testing.T) {
	p := newProbe("probe", nil)
	b := newBench(t, script.New(script.Reply{
		Tools: []script.Call{{Name: "probe"}}, Usage: &script.Usage{Input: 100, Output: 100},
	}).Model("script/x"), p)
	b.spec.Limits = spec.Limits{Tokens: 150}
	b.post(&session.Prompt{Parts: text("go")})
	events := b.run(engine.Deps{})
	after := find[*session.ToolAfter](events)
	if p.runs.Load() != 0 || len(after) != 1 || after[0].Outcome != session.Skipped {
		t.Errorf("%d runs, tool.after %+v", p.runs.Load(), after)
	}
	if e := end(t, events); e.Reason != session.ReasonLimit || e.Limit != "tokens" {
		t.Errorf("end: %+v", e)
	}
}

func TestPanicInPrepareIsAResult(t *testing.T) {
	p := &panicky{newProbe("probe", nil)}
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "probe"}}}, script.Reply{Text: "x"}).Model("script/x"), p)
	b.post(&session.Prompt{Parts: text("go")})
	if a := find[*session.ToolAfter](b.run(engine.Deps{})); len(a) != 1 || a[0].Outcome != session.ToolError {
		t.Errorf("%+v", a)
	}
}

type panicky struct{ *probe }

func (*panicky) Prepare(context.Context, tool.Call) (tool.Plan, error) { panic("boom") }

// TestOnlyDeathsPoison takes a loop up again and again: when it was handed over
// nothing is held against it, when its workers died it ends.
func TestOnlyDeathsPoison(t *testing.T) {
	for _, c := range []struct {
		name     string
		takeover session.Takeover
		reason   session.Reason
	}{
		{"handed over", session.TakeoverNone, session.ReasonDone},
		{"died", session.TakeoverDead, session.ReasonPoisoned},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, script.New(script.Reply{Text: "answer", Delay: 500 * time.Millisecond}).Model("script/x"))
			b.post(&session.Prompt{Parts: text("go")})
			for range 3 { // each worker is broken off in the middle of the answer
				ctx, cancel := context.WithCancel(t.Context())
				for e := range engine.Run(ctx, engine.Deps{Store: b.store, Blobs: b.store}, b.blueprint(), b.state(), b.lease) {
					if e.Type == "turn.request" {
						cancel()
					}
				}
				cancel()
				b.lease.Takeover = c.takeover
			}
			if e := end(t, b.run(engine.Deps{})); e.Reason != c.reason {
				t.Errorf("end: %+v", e)
			}
		})
	}
}

// TestLimitInTheMiddleOfAnAnswer: an answer that goes on and on is broken off
// where a limit is, and what was said so far is kept.
func TestLimitInTheMiddleOfAnAnswer(t *testing.T) {
	endless := script.New(script.Reply{Text: strings.Repeat("word ", 20_000)}).Model("script/x")
	for name, limits := range map[string]spec.Limits{"tokens": {Tokens: 500}, "cost": {Cost: 0.005}} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, endless)
			b.spec.Limits, b.spec.Model.Price = limits, spec.Price{Output: 10}
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(engine.Deps{})
			e := end(t, events)
			if e.Reason != session.ReasonLimit || e.Limit != name || !e.Usage.Estimated || e.Usage.Output < 400 || e.Usage.Output > 600 {
				t.Errorf("end %+v", e)
			}
			said := find[*session.Message](events)
			if last := said[len(said)-1]; !last.Partial || len(message.PartsText(last.Parts)) < 1500 || len(message.PartsText(last.Parts)) > 2500 {
				t.Errorf("the last message has %d bytes, partial %t", len(message.PartsText(last.Parts)), last.Partial)
			}
			b.checkLog()
		})
	}
}
