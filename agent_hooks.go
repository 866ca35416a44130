package roster

import (
	"context"
	"sync"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/session"
)

// guard is the hooks of one agent. They are asked in its loops and in those of
// the agents that work for it; nil: there are none.
type guard struct {
	hooks *hook.Set

	mu          sync.Mutex
	plain, mine *engine.Blueprint // the last one of a loop, and with the hooks
}

// guardOf gives the hooks of the agent whose loop comes next.
func (a *App) guardOf(st *session.State) *guard {
	id := engine.NextAgent(&st.Root)
	if id == "" {
		return nil
	}
	g, _ := a.guards.Load(id)
	own, _ := g.(*guard)
	return own
}

// of gives a blueprint with the hooks.
func (g *guard) of(b *engine.Blueprint) *engine.Blueprint {
	if g == nil || b == nil {
		return b
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.plain != b {
		g.plain, g.mine = b, b.WithHooks(g.hooks)
	}
	return g.mine
}

// over has the hooks hold also for whom the loop gives work, or the session, to.
func (g *guard) over(d *engine.Deps) {
	if g == nil {
		return
	}
	child, next := d.Child, d.Switch
	d.Child = func(ctx context.Context, c engine.Child) (*engine.Blueprint, error) {
		b, err := child(ctx, c)
		return g.of(b), err
	}
	d.Switch = func(ctx context.Context, s engine.Switch) (*engine.Blueprint, error) {
		b, err := next(ctx, s)
		return g.of(b), err
	}
}

// SetHooks has hooks asked in everything that the agent, and whoever works for it,
// does from its next loop on: after those of files and of Options. They take the
// place of those set before; without any there are none. A loop that another
// process takes up does not know them.
func (g *Agent) SetHooks(hooks ...Hook) error {
	if g.app == nil {
		return ErrNotRunning
	}
	list := make([]Hook, len(hooks))
	for i, h := range hooks {
		if list[i] = h; h.On == hook.AfterLoop {
			list[i].Ask = g.app.loud(h)
		}
	}
	set, err := hook.NewSet(list...)
	switch {
	case err != nil:
		return err
	case set == nil:
		g.app.guards.Delete(g.id)
	default:
		g.app.guards.Store(g.id, &guard{hooks: set})
	}
	return nil
}
