package roster

import (
	"context"
	"io"

	"github.com/rosterrun/roster/host/acp"
)

// ACPOptions are how an editor finds the workspace.
type ACPOptions struct {
	// Profile is the one that sessions begin with; empty: the first one by its name
	// that is not hidden and no subagent.
	Profile string
	// Flags override profile keys in every prompt, as Ask.Flags does, and AllowAll and
	// OnDeny are those of Ask.
	Flags    map[string]string
	AllowAll bool
	OnDeny   string
}

// ServeACP talks to an editor that has started this program, by the Agent Client
// Protocol, until in ends or ctx does. The runs go on: they are left to Close, and
// to whoever takes them up.
func (a *App) ServeACP(ctx context.Context, o ACPOptions, in io.ReadCloser, out io.Writer) error {
	return acp.Serve(ctx, acp.Options{
		Host: a.hostDeps(), Resume: a.Resume, Dir: a.Dir(), Version: version(),
		Profile: o.Profile, Flags: o.Flags, AllowAll: o.AllowAll, OnDeny: o.OnDeny,
	}, in, out)
}
