package roster

import (
	"context"
	"iter"
	"runtime/debug"

	"github.com/rosterrun/roster/host/mcp"
	"github.com/rosterrun/roster/profile"
)

// MCP serves the workspace to clients of the Model Context Protocol: each profile
// that offer takes is a tool, each session a resource; nil takes all that are not
// hidden. It starts nothing before a client comes. The caller closes it, before
// the App.
func (a *App) MCP(offer func(*profile.Profile) bool) *mcp.Server {
	return mcp.New(mcp.Options{
		Host: a.hostDeps(), Profiles: a.watchProfiles, Resume: a.Resume, Offer: offer,
		Version: version(), Log: a.opts.Log,
	})
}

func (a *App) watchProfiles(ctx context.Context) iter.Seq[[]*profile.Profile] {
	return func(yield func([]*profile.Profile) bool) {
		for s := range a.Catalog().Watch(ctx) {
			all := make([]*profile.Profile, 0, s.Len())
			for p := range s.List() {
				all = append(all, p)
			}
			if !yield(all) {
				return
			}
		}
	}
}

// version is that of the program as it was built.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
