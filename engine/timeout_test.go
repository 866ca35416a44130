package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// TestToolTimeout: a call that takes longer than the profile lets it is ended, and
// the model is told; the others of its batch and the run go on.
func TestToolTimeout(t *testing.T) {
	slow := newProbe("slow", func(ctx context.Context, c tool.Call) (tool.Result, error) {
		<-ctx.Done()
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			t.Errorf("it ended by %v", ctx.Err())
		}
		return tool.Result{}, ctx.Err()
	})
	partial := newProbe("partial", func(ctx context.Context, c tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{Parts: text("half of it"), Error: true}, nil
	})
	quick := newProbe("quick", nil)
	b := newBench(t, script.New(script.Reply{Tools: []script.Call{{Name: "slow"}, {Name: "partial"}, {Name: "quick"}}}, script.Reply{Text: "Done."}).Model("script/x"), slow, partial, quick)
	b.spec.ToolTimeout = 50 * time.Millisecond
	b.post(&session.Prompt{Parts: text("Go."), Profile: "p"})
	events := b.run(engine.Deps{})
	if got := end(t, events); got.Reason != session.ReasonDone {
		t.Errorf("the run ended with %+v", got)
	}
	want := map[string]struct {
		outcome session.Outcome
		says    string
	}{
		"slow":    {session.ToolError, "Stopped after 50ms, the longest that a call may take here (tool-timeout)"},
		"partial": {session.ToolError, "half of it"},
		"quick":   {session.OK, "ok"},
	}
	for _, a := range find[*session.ToolAfter](events) {
		if w := want[a.Tool]; a.Outcome != w.outcome || !strings.Contains(message.PartsText(a.Parts), w.says) {
			t.Errorf("%s: %s %q", a.Tool, a.Outcome, message.PartsText(a.Parts))
		}
		delete(want, a.Tool)
	}
	if len(want) > 0 {
		t.Errorf("no end of %v", want)
	}
}
