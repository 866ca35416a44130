package roster

import (
	"context"
	"errors"
	"slices"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
)

// serveRigs gives a host the rigs of the workspace.
func (a *App) serveRigs(d *host.Deps) {
	d.Rigs = func(ctx context.Context) ([]view.Rig, error) {
		names, err := a.rigsFor(ctx)
		rigs := make([]view.Rig, 0, len(names))
		for _, name := range names {
			r, err := a.RigStatus(ctx, name)
			if none := (*rig.NoRigError)(nil); errors.As(err, &none) {
				continue // it was removed meanwhile
			}
			if err != nil {
				return nil, err
			}
			rigs = append(rigs, r)
		}
		return rigs, err
	}
	d.Rig, d.CheckRig, d.RigGraph = forRig(a, a.RigStatus), forRig(a, a.CheckRig), forRig(a, a.RigGraph)
	d.AskKnot = func(ctx context.Context, name, knot, path, idem string) (view.RigJob, error) {
		if err := a.rigFor(ctx, name); err != nil {
			return view.RigJob{}, err
		}
		return a.AskKnot(ctx, name, runner.Wish{Knot: knot, Path: path, Own: true, Idem: idem})
	}
	d.RigJobs = func(ctx context.Context, name string, q ledger.Query) (view.RigJobs, error) {
		if err := a.rigFor(ctx, name); err != nil {
			return view.RigJobs{}, err
		}
		jobs, err := a.RigJobs(ctx, name, q)
		return view.NewRigJobs(q, jobs), err
	}
	d.TieOffs = func(ctx context.Context, name, knot string, limit int, answers bool) (view.TieOffs, error) {
		if err := a.rigFor(ctx, name); err != nil {
			return view.TieOffs{}, err
		}
		return a.RigTieOffs(ctx, name, TieOffQuery{Knot: knot, Limit: limit, Answers: answers})
	}
	d.RigJob = func(ctx context.Context, name, id string) (view.RigJob, error) {
		if err := a.rigFor(ctx, name); err != nil {
			return view.RigJob{}, err
		}
		return a.RigJob(ctx, name, id)
	}
	d.ReplayJob = func(ctx context.Context, name, id string) (view.RigJob, error) {
		if err := a.rigFor(ctx, name); err != nil {
			return view.RigJob{}, err
		}
		return a.ReplayJob(ctx, name, id)
	}
	d.DropJob = func(ctx context.Context, name, id string) error {
		if err := a.rigFor(ctx, name); err != nil {
			return err
		}
		return a.DropJob(ctx, name, id)
	}
}

// forRig has a look at a rig answer those only who may know of the rig.
func forRig[T any](a *App, look func(context.Context, string) (T, error)) func(context.Context, string) (T, error) {
	return func(ctx context.Context, name string) (none T, err error) {
		if err := a.rigFor(ctx, name); err != nil {
			return none, err
		}
		return look(ctx, name)
	}
}

// rigsFor names the rigs that a request may know of. They are the tenant's whose
// sessions their runs are: where tenants share a workspace, the others have none.
func (a *App) rigsFor(ctx context.Context) ([]string, error) {
	if identity.From(ctx).Tenant != a.ownTenant() {
		return nil, nil
	}
	return a.Rigs()
}

// rigFor is a *rig.NoRigError for a rig that a request may not know of.
func (a *App) rigFor(ctx context.Context, name string) error {
	names, err := a.rigsFor(ctx)
	if err == nil && !slices.Contains(names, name) {
		err = rig.NoRig(name, names)
	}
	return err
}
