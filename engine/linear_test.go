package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

// TestTurnCostDoesNotGrow compares what a turn allocates early and late in a
// session: a turn costs what is new in it.
func TestTurnCostDoesNotGrow(t *testing.T) {
	s := script.New(script.Reply{Text: "Hello."})
	s.Loop = true
	l := newLoops(t, s)
	k := session.Key{Tenant: "t", Stream: "s"}
	var st *session.State
	cost := func(turns int) float64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range turns {
			st = l.prompt(t.Context(), k, st)
		}
		runtime.ReadMemStats(&after)
		return float64(after.TotalAlloc-before.TotalAlloc) / float64(turns)
	}
	cost(200) // what is made once
	early := cost(200)
	cost(3000)
	late := cost(200)
	if late > 1.2*early {
		t.Errorf("a turn allocates %s at first and %s after 3,400 turns", bytes(early), bytes(late))
	}
}

func bytes(n float64) string { return fmt.Sprintf("%.0f bytes", n) }
