package roster

import "github.com/rosterrun/roster/host"

// HostDeps are those that Handler serves with.
func (a *App) HostDeps() host.Deps {
	d := a.hostDeps()
	d.MCP, d.A2A = a.mcpFront(), a.A2A()
	return d
}
