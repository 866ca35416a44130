package engine_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// TestTheSameCallAgain: a call that was made five times in a row, with one
// result, is not made again; a model that insists ends its loop.
func TestTheSameCallAgain(t *testing.T) {
	same, other := script.Call{Name: "probe", Input: `{"n":1}`}, script.Call{Name: "probe", Input: `{"n":2}`}
	calls := func(n int) (list []script.Call) {
		for range n {
			list = append(list, same)
		}
		return list
	}
	var n atomic.Int64
	for _, c := range []struct {
		name    string
		result  func() string
		turns   [][]script.Call
		runs    int64
		skipped int
		reason  session.Reason
	}{
		{"four times", nil, [][]script.Call{calls(1), calls(1), calls(1), calls(1)}, 4, 0, session.ReasonDone},
		{"six times, and it listens", nil, [][]script.Call{calls(1), calls(1), calls(1), calls(1), calls(1), calls(1), {other}}, 6, 1, session.ReasonDone},
		{"seven times", nil, [][]script.Call{calls(1), calls(1), calls(1), calls(1), calls(1), calls(1), calls(1)}, 5, 2, session.ReasonDegenerate},
		{"many in one answer", nil, [][]script.Call{calls(5), calls(3), calls(1)}, 5, 4, session.ReasonDegenerate},
		{"with another between", nil, [][]script.Call{calls(4), {other}, calls(4)}, 9, 0, session.ReasonDone},
		{"with other results", func() string { return fmt.Sprint(n.Add(1)) }, [][]script.Call{calls(4), calls(4)}, 8, 0, session.ReasonDone},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := c.result
			if result == nil {
				result = func() string { return "the same" }
			}
			var replies []script.Reply
			for _, list := range c.turns {
				replies = append(replies, script.Reply{Tools: list})
			}
			p := newProbe("probe", func(context.Context, tool.Call) (tool.Result, error) { return tool.Text(result()), nil })
			b := newBench(t, script.New(append(replies, script.Reply{Text: "well"})...).Model("script/x"), p)
			b.post(&session.Prompt{Parts: text("go")})
			events := b.run(engine.Deps{})
			skipped := 0
			for _, a := range find[*session.ToolAfter](events) {
				if a.Outcome == session.Skipped {
					skipped++
				}
			}
			if e := end(t, events); p.runs.Load() != c.runs || skipped != c.skipped || e.Reason != c.reason {
				t.Errorf("%d runs, %d skipped, end %+v; want %d, %d, %s", p.runs.Load(), skipped, e, c.runs, c.skipped, c.reason)
			}
			b.checkLog()
		})
	}
}
