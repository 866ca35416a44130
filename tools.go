package roster

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
)

// tools makes the built-in tools of a spec: in its workspace and with its
// settings.
func (a *App) tools(s *spec.Spec) ([]tool.Tool, error) {
	helper := a.opts.Exec
	if len(helper) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program to start commands with: %w", err)
		}
		helper = []string{self, "__exec"}
	}
	env := a.env(s)
	env.Exec = helper
	a.mu.Lock()
	if a.local != nil {
		env.Hold = a.local.Hold()
	}
	a.mu.Unlock()
	list, err := tool.Builtins(env)
	return append(list, a.delegating(s), a.switching(s)), err
}

// env is what the tools of a spec work in. Commands need more.
func (a *App) env(s *spec.Spec) tool.Env {
	env := tool.Env{
		Root: s.Workspace, StateDir: a.state, Protected: append(a.Catalog().Paths(), a.trusts.Home),
		Secrets: a.Models().KeyVariables(), Settings: s.ToolSettings, Ledger: a.ledger,
	}
	if a.opts.State == "" {
		env.StateDir = filepath.Dir(a.state) // where the state of other workspaces is too
	}
	return env
}
