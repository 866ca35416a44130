package engine_test

import (
	"context"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

var lentRule = session.Rule{Tool: "risky", Subject: "*", Effect: "allow", Layer: "profile", File: "skills/x/SKILL.md", Line: 3}

// lender is a tool whose calls lend the loop a rule for risky.
func lender() *probe {
	return newProbe("lender", func(_ context.Context, c tool.Call) (tool.Result, error) {
		r := tool.Text("how to do it")
		r.Note = &session.Lent{Source: "skill x", Call: c.ID, Rules: []session.Rule{lentRule}}
		return r, nil
	})
}

// TestLentRulesHoldForTheLoop: what a call lends is allowed from the next batch on,
// says by which rule, and is asked for again in the next loop.
func TestLentRulesHoldForTheLoop(t *testing.T) {
	risky := newProbe("risky", nil)
	b := newBench(t, script.New(uses("lender"), uses("risky"), says("done"), uses("risky")).Model("script/x"), lender(), risky)
	b.asks = true
	b.spec.Rules = append(b.spec.Rules, ask("risky"))
	b.post(&session.Prompt{Parts: text("go")})
	events := b.run(engine.Deps{})
	if got := end(t, events); got.Text != "done" || risky.runs.Load() != 1 || b.state().Asks != 0 {
		t.Fatalf("end: %+v, risky ran %d times", got, risky.runs.Load())
	}
	for _, before := range find[*session.ToolBefore](events) {
		if before.Tool == "risky" && (before.Rule == nil || *before.Rule != lentRule || before.Effect != "allow") {
			t.Errorf("risky: %+v, by %+v", before, before.Rule)
		}
	}

	b.post(&session.Prompt{Parts: text("again")})
	waits(t, b.run(engine.Deps{}))
	if n := risky.runs.Load(); n != 1 {
		t.Errorf("risky ran %d times", n)
	}
}

// TestLentRulesSurviveAWait: a loop that is taken up again has what it was lent.
func TestLentRulesSurviveAWait(t *testing.T) {
	risky, grave := newProbe("risky", nil), newProbe("grave", nil)
	b := newBench(t, script.New(uses("lender"), uses("grave"), uses("risky"), says("done")).Model("script/x"), lender(), risky, grave)
	b.asks = true
	b.spec.Rules = append(b.spec.Rules, ask("risky"), ask("grave"))
	b.post(&session.Prompt{Parts: text("go")})
	waits(t, b.run(engine.Deps{}))
	b.answer(1, session.AnswerOnce)
	if got := end(t, b.run(engine.Deps{})); got.Text != "done" || b.state().Asks != 1 || risky.runs.Load() != 1 {
		t.Errorf("end: %+v, asked %d times", got, b.state().Asks)
	}
}

// TestAPromptLends: the rules that a prompt comes with hold for its loop alone.
func TestAPromptLends(t *testing.T) {
	risky := newProbe("risky", nil)
	b := newBench(t, script.New(uses("risky"), says("done"), uses("risky")).Model("script/x"), risky)
	b.asks = true
	b.spec.Rules = append(b.spec.Rules, ask("risky"))
	b.post(&session.Prompt{Parts: text("go"), Lent: []session.Lent{{Source: "command x", Rules: []session.Rule{lentRule}}}})
	if got := end(t, b.run(engine.Deps{})); got.Text != "done" || risky.runs.Load() != 1 {
		t.Errorf("end: %+v, risky ran %d times", got, risky.runs.Load())
	}
	b.post(&session.Prompt{Parts: text("again")})
	waits(t, b.run(engine.Deps{}))
}

// TestLentRulesStayWithTheProfile: another profile that the session goes on as does
// not have them.
func TestLentRulesStayWithTheProfile(t *testing.T) {
	x := newTroupe(t, uses("lender"), to("b"), uses("risky"), says("done"))
	risky := newProbe("risky", nil)
	for _, b := range x.as {
		b.tools = append(b.tools, lender(), risky)
		b.spec.Rules = append(b.spec.Rules, ask("risky"))
	}
	x.post(&session.Prompt{Parts: text("go"), Profile: "a"})
	waits(t, x.run(x.deps()))
	if n := risky.runs.Load(); n != 0 {
		t.Errorf("risky ran %d times", n)
	}
}

// TestLentRulesAreNoChilds: whom a loop gives work to has to ask.
func TestLentRulesAreNoChilds(t *testing.T) {
	risky := newProbe("risky", nil)
	f := newFamily(t, []script.Reply{uses("lender"), calls(taskFor("helper", "go")), says("done")}, lender())
	child := f.add("helper", []script.Reply{uses("risky"), says("tried")}, risky)
	child.spec.Rules = append(child.spec.Rules, ask("risky"))
	f.start(engine.Deps{})
	if n := risky.runs.Load(); n != 0 || f.outcomes() != "lender ok, risky denied, task ok" {
		t.Errorf("risky ran %d times; calls ended %s", n, f.outcomes())
	}
}
