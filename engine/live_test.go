package engine_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// lives has tools that a test changes.
type lives struct {
	b  *bench
	mu sync.Mutex
	// stale until it was renewed; tools are those of now.
	stale bool
	tools []tool.Tool
	notes []string
	err   error
}

func (l *lives) Stale() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stale
}

func (l *lives) Notes() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.notes)
}

func (l *lives) Renew(context.Context) (*engine.Blueprint, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	x := *l.b
	x.tools = l.tools
	b := x.blueprint()
	b.Live = &lives{b: l.b, tools: l.tools}
	return b, nil
}

func (l *lives) become(tools ...tool.Tool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale, l.tools = true, tools
}

func (l *lives) run(d engine.Deps) []session.Event {
	l.b.post(&session.Prompt{Parts: text("go"), Profile: "p"})
	b := l.b.blueprint()
	b.Live = l
	return l.b.runAs(b, d)
}

// TestToolsThatChange: the next model call has them, the log says so, and what was
// sent in each turn can be told from it.
func TestToolsThatChange(t *testing.T) {
	l := &lives{notes: []string{"one is down"}}
	same, gone, other := newProbe("same", nil), newProbe("gone", nil), newProbe("same", nil)
	other.def.Description = "another one"
	gone.run = func(context.Context, tool.Call) (tool.Result, error) {
		l.become(other, newProbe("come", nil))
		return tool.Text("done"), nil
	}
	l.b = newBench(t, script.New(uses("gone"), uses("come"), uses("gone"), says("done")).Model("script/x"), same, gone)
	events := l.run(engine.Deps{})
	if got := end(t, events); got.Reason != session.ReasonDone {
		t.Fatalf("end: %+v", got)
	}
	if got := results(events, "s"); len(got) != 3 || got[0] != "ok: done" || got[1] != "ok: ok" || !strings.Contains(got[2], `There is no tool "gone". The tools are: same, come.`) {
		t.Errorf("results: %q", got)
	}
	list := find[*session.ToolsChanged](events)
	if len(list) != 2 {
		t.Fatalf("said %d times", len(list))
	}
	if n := list[0]; !slices.Equal(n.Notes, []string{"one is down"}) || n.Prefix != "" {
		t.Errorf("first: %+v", n)
	}
	e := list[1]
	if !slices.Equal(e.Added, []string{"come"}) || !slices.Equal(e.Removed, []string{"gone"}) || !slices.Equal(e.Changed, []string{"same"}) || e.Prefix == "" {
		t.Errorf("then: %+v", e)
	}
	data, err := l.b.store.Blob(t.Context(), key.Tenant, e.Prefix)
	if err != nil || !strings.Contains(string(data), "another one") {
		t.Errorf("the head of the requests from then on: %s %v", data, err)
	}
}

// TestToolsThatCannotBeRenewed: the loop goes on with those that it has.
func TestToolsThatCannotBeRenewed(t *testing.T) {
	l := &lives{stale: true, err: context.DeadlineExceeded}
	l.b = newBench(t, script.New(uses("a"), says("done")).Model("script/x"), newProbe("a", nil))
	events := l.run(engine.Deps{})
	if got := end(t, events); got.Reason != session.ReasonDone || len(find[*session.ToolsChanged](events)) != 0 {
		t.Errorf("end: %+v", got)
	}
}

// TestWildcardsInTools: a name with a * stands for tools.
func TestWildcardsInTools(t *testing.T) {
	b := newBench(t, script.New(says("x")).Model("script/x"), newProbe("git_log", nil), newProbe("git_push", nil), newProbe("other", nil))
	b.spec.AllTools, b.spec.Tools = false, []string{"git_*", "none_*"}
	if got := b.blueprint().ToolNames(); !slices.Equal(got, []string{"git_log", "git_push"}) {
		t.Errorf("offered %v", got)
	}
	permit, err := b.spec.Permit(false)
	if err != nil {
		t.Fatal(err)
	}
	offers := engine.Offers(b.spec, permit, []engine.Capability{{Name: "probes", Tools: b.tools}})
	if last := offers[len(offers)-1]; len(offers) != 4 || last.Name != "none_*" || last.Reason != engine.ReasonNoTool {
		t.Errorf("%+v", offers)
	}
}
