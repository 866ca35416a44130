package roster

import (
	"os"
	"slices"

	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// tools makes the built-in tools of a spec: in its workspace and with its
// settings.
func (a *App) tools(s *spec.Spec) ([]tool.Tool, error) {
	env := a.env(s)
	env.Exec, env.Hold = a.helper()
	var err error
	if env.Box, err = a.box(s); err != nil {
		return nil, err
	}
	list, err := tool.Builtins(env)
	if err != nil {
		return nil, err
	}
	ofWeb, err := a.webTools(s)
	if err != nil {
		return nil, err
	}
	list = append(list, ofWeb...)
	if slices.Contains(s.Tools, tool.Revert) { // it is told of in every request, and serves long tasks
		list = append(list, tool.NewRevert())
	}
	return append(list, a.delegating(s), a.switching(s), a.skillTool(s)), nil
}

// helper is how commands are started, and what they keep open.
func (a *App) helper() (start []string, hold *os.File) {
	if start = a.opts.Exec; len(start) == 0 {
		start = sandbox.Self()
	}
	at := a
	if a.host != nil { // whose worker runs it
		at = a.host
	}
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.local != nil {
		hold = at.local.Hold()
	}
	return start, hold
}

// env is what the tools of a spec work in. Commands need more.
func (a *App) env(s *spec.Spec) tool.Env {
	return tool.Env{
		Root: s.Workspace, StateDir: a.hidden(), Protected: slices.Concat(a.Catalog().Paths(), a.now().skills.Places(), []string{a.trusts.Home}, a.servicePaths(s)),
		Secrets: a.keyVariables(), Settings: s.ToolSettings, Jobs: a.jobs,
	}
}
