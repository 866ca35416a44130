package roster

import (
	"context"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/profile"
)

// Handler serves the workspace over HTTP: profiles, prompts, sessions and their
// event streams. It asks nobody who they are and refuses requests that do not
// come from this machine.
func (a *App) Handler() *host.Host {
	return host.New(host.Deps{
		Profiles: func(context.Context) ([]*profile.Profile, []profile.Diagnostic, error) {
			all := a.catalog.Snapshot()
			profiles := make([]*profile.Profile, 0, all.Len())
			for p := range all.List() {
				profiles = append(profiles, p)
			}
			return profiles, all.Diagnostics(), nil
		},
		Profile: func(_ context.Context, name string) (*profile.Profile, error) { return a.catalog.Get(name) },
		Submit:  a.Submit, Steer: a.Steer, Followup: a.Followup, Cancel: a.Cancel,
		Follow: a.Follow, Backend: a.Backend, Code: Code, Log: a.opts.Log,
	})
}
