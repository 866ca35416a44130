package roster

import (
	"context"
	"os"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/hook/external"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/trust"
)

// Hook has a say in what loops do; see package hook.
type Hook = hook.Hook

// hooks makes the hooks of a spec: those of files, and then the program's own.
func (a *App) hooks(s *spec.Spec) (*hook.Set, error) {
	list := make([]hook.Hook, 0, len(s.Hooks)+len(a.opts.Hooks))
	for i := range s.Hooks {
		h, err := a.fileHook(s, &s.Hooks[i])
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	list = append(list, a.opts.Hooks...)
	for i := range list {
		if list[i].On == hook.AfterLoop {
			list[i].Ask = a.loud(list[i])
		}
	}
	return hook.NewSet(list...)
}

// loud says when a hook fails after a loop: its log is closed then.
func (a *App) loud(h hook.Hook) func(context.Context, *hook.Moment) (hook.Verdict, error) {
	return func(ctx context.Context, m *hook.Moment) (hook.Verdict, error) {
		v, err := h.Ask(ctx, m)
		if err != nil {
			a.opts.Log.Warn("a hook failed after the end of a loop", "hook", h.Name, "session", m.Session, "error", err)
		}
		return v, err
	}
}

// fileHook makes a hook of what a file says. It is asked only as long as that is
// trusted; after that it denies.
func (a *App) fileHook(s *spec.Spec, e *hook.Entry) (hook.Hook, error) {
	ask := external.Address{Client: a.client, URL: e.URL}.Ask
	if e.Command != "" {
		helper, hold := a.helper()
		box, err := a.hookBox(s, e)
		if err != nil {
			return hook.Hook{}, err
		}
		env := append(tool.Environ(os.Environ(), a.keyVariables()), "PWD="+a.dir)
		ask = external.Command{Line: e.Command, Helper: helper, Dir: a.dir, Env: env, Hold: hold, Box: box}.Ask
	}
	item := trust.OfHook(e)
	return hook.Hook{On: e.On, Name: e.Name(), Match: e.Match, Timeout: e.Timeout, Ask: func(ctx context.Context, m *hook.Moment) (hook.Verdict, error) {
		if err := a.Trust().Gate(item); err != nil {
			return hook.Verdict{}, err
		}
		return ask(ctx, m)
	}}, nil
}
