package roster

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/commit"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
)

// RigOptions say how rigs are run.
type RigOptions struct {
	// OnlyTrusted has the jobs of a workspace wait for as long as nobody has trusted it:
	// for who runs rigs besides what was asked for, in a folder that may be somebody
	// else's, whose knots would work with the caller's keys.
	OnlyTrusted bool
}

// RunRigs runs the rigs of the workspace, and of those of its tenants, until ctx ends:
// what changes in the folders of their knots is worked on. Several processes may do so at
// once; each calls it once, for a job that is at work when ctx ends is taken up by whoever
// runs after this process. The error says that changes are noticed a minute late, or that nothing could be
// run at all.
func (a *App) RunRigs(ctx context.Context, o RigOptions) error {
	var all sync.WaitGroup
	apps := append([]*App{a}, a.Tenants()...)
	errs := make([]error, len(apps))
	for i, one := range apps {
		all.Go(func() { errs[i] = one.runRigs(ctx, o) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (a *App) runRigs(ctx context.Context, o RigOptions) error {
	r, err := a.rigRunner(ctx, o)
	if err != nil {
		return err
	}
	return r.Run(ctx)
}

// rigRunner returns what runs the rigs of the workspace.
func (a *App) rigRunner(ctx context.Context, o RigOptions) (*runner.Runner, error) {
	store, err := a.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	local, err := a.dispatcher(ctx)
	if err != nil {
		return nil, err
	}
	c := a.now().config.Rig
	start, hold := a.helper()
	return runner.New(runner.Options{
		Dir: a.Dir(), Tenant: a.ownTenant(), Policy: a.rigPolicy(), Ledger: store, Worker: local.Worker(), Agents: rigAgents{a, a.ownTenant(), o.OnlyTrusted},
		MaxParallel: c.MaxParallel.V, MaxHops: c.MaxHops.V, PerDay: c.PerDay.V, Git: commit.Options{Helper: start, Hold: hold, Getenv: a.opts.Getenv}, Records: rigRecords{a}, Log: a.opts.Log,
	}), nil
}

// rigReader returns what knows how the rigs of the workspace stand, and runs none.
func (a *App) rigReader(ctx context.Context) (*runner.Runner, error) {
	store, err := a.Ledger(ctx)
	if err != nil {
		return nil, err
	}
	return runner.New(runner.Options{Dir: a.Dir(), Tenant: a.ownTenant(), Policy: a.rigPolicy(), Ledger: store, PerDay: a.now().config.Rig.PerDay.V, Log: a.opts.Log}), nil
}

// Ledger opens what the rigs of the workspace have seen, and have to do.
func (a *App) Ledger(ctx context.Context) (ledger.Store, error) {
	return backed[ledger.Store](ctx, a, "the ledgers of rigs")
}

// ownTenant is whose the rigs of the workspace are.
func (a *App) ownTenant() string { return cmp.Or(a.tenant.Name, LocalTenant) }

func (a *App) rigPolicy() rig.Policy {
	c := a.now().config
	return rig.Policy{Outside: c.Rig.Outside.V, Home: a.opts.Getenv("HOME")}
}

// Rigs names the rigs of the workspace, in order.
func (a *App) Rigs() ([]string, error) { return rig.Find(a.Dir()) }

// Rig reads a rig of the workspace, as its files are now. What is wrong in it is in its
// diagnostics.
func (a *App) Rig(ctx context.Context, name string) (*rig.Rig, error) {
	return rig.Load(ctx, a.Dir(), name, a.rigPolicy())
}

// RigKey is a rig of the workspace as the ledger knows it.
func (a *App) RigKey(name string) ledger.Rig { return ledger.Rig{Tenant: a.ownTenant(), Name: name} }

// knotProfile is the profile in place of a knot, by LOOM/NAME, as its file is now.
func (a *App) knotProfile(ctx context.Context, name string) (*profile.Profile, error) {
	loom, knot, _ := strings.Cut(name, "/")
	if !rig.IsLoom(loom) || knot == "" {
		return nil, nil
	}
	names, err := a.Rigs()
	if err != nil {
		return nil, err
	}
	for _, one := range names {
		r, err := a.Rig(ctx, one)
		if err != nil {
			return nil, err
		}
		if k, err := r.Knot(name); err == nil && k.Inline() != nil {
			return k.Inline(), nil
		}
	}
	return nil, nil
}
