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
		h, err := a.fileHook(&s.Hooks[i])
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return hook.NewSet(append(list, a.opts.Hooks...)...)
}

// fileHook makes a hook of what a file says. It is asked only as long as that is
// trusted; after that it denies.
func (a *App) fileHook(e *hook.Entry) (hook.Hook, error) {
	ask := external.Address{Client: a.client, URL: e.URL}.Ask
	if e.Command != "" {
		helper, hold, err := a.helper()
		if err != nil {
			return hook.Hook{}, err
		}
		env := append(tool.Environ(os.Environ(), a.Models().KeyVariables()), "PWD="+a.dir)
		ask = external.Command{Line: e.Command, Helper: helper, Dir: a.dir, Env: env, Hold: hold}.Ask
	}
	item := trust.OfHook(e)
	return hook.Hook{On: e.On, Name: e.Name(), Match: e.Match, Timeout: e.Timeout, Ask: func(ctx context.Context, m *hook.Moment) (hook.Verdict, error) {
		err := a.Trust().Gate(item)
		var v hook.Verdict
		if err == nil {
			v, err = ask(ctx, m)
		}
		if err != nil && m.Event == hook.AfterLoop { // the log is closed
			a.opts.Log.Warn("a hook failed", "hook", item.At.String(), "session", m.Session, "error", err)
		}
		return v, err
	}}, nil
}
