package roster

import "github.com/rosterrun/roster/host/a2a"

// A2A serves the workspace to clients of the Agent2Agent protocol: each profile is an
// agent, each prompt with all that it brings about a task. It starts nothing.
func (a *App) A2A() *a2a.Server {
	return a2a.New(a2a.Options{Host: a.hostDeps(), Resume: a.Resume, Version: version()})
}
