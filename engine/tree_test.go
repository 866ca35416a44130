package engine_test

import (
	"context"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/task"
)

// TestAnyInterleavingOfATree is TestAnyInterleaving for an agent that gives tasks
// to others, and they to others again.
func TestAnyInterleavingOfATree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newTreeWorld(t, rt)
		w.post(0)
		w.rest()
	})
}

// newTreeWorld is a world whose agents give tasks to others, and they to others
// again.
func newTreeWorld(t *testing.T, rt *rapid.T) *world {
	w := newWorld(t, rt)
	w.names = append(w.names, "task", "task")
	give := task.New([]task.Target{{Name: "c"}}, func(name string) string { return fmt.Sprintf("unknown profile %q.", name) })
	alone := w.tools
	w.tools = append(w.tools, give)
	w.child = func(_ context.Context, c engine.Child) (*engine.Blueprint, error) {
		if c.Open != nil && w.draw("gone", 9) == 0 {
			return nil, fmt.Errorf("there is no %s any more", c.Profile)
		}
		below := *w.bench
		s := *w.spec
		s.Name = "c"
		below.spec, below.tools = &s, alone
		if c.Above.Spec.Name != "c" {
			below.tools = append([]tool.Tool{give}, alone...)
		}
		return below.blueprint(), nil
	}
	return w
}
