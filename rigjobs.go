package roster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
)

// RigStatus says how a rig stands: its knots, and how many jobs of each are in which
// state.
func (a *App) RigStatus(ctx context.Context, name string) (view.Rig, error) {
	r, err := a.Rig(ctx, name)
	if err != nil {
		return view.Rig{}, err
	}
	store, err := a.Ledger(ctx)
	if err != nil {
		return view.Rig{}, err
	}
	counts, err := store.Counts(ctx, a.RigKey(name))
	if err != nil {
		return view.Rig{}, err
	}
	waiting, err := store.Jobs(ctx, a.RigKey(name), ledger.Query{States: []ledger.State{ledger.Queued}, Limit: ledger.MaxPage})
	if err != nil {
		return view.Rig{}, err
	}
	out := a.viewRig(r, counts, waiting)
	return out, a.addLimits(ctx, r, &out)
}

// addLimits says what a rig and its knots may spend, and of knots that have jobs queued
// why they rest.
func (a *App) addLimits(ctx context.Context, r *rig.Rig, v *view.Rig) error {
	from, err := a.rigReader(ctx)
	if err != nil {
		return err
	}
	if v.Budget, err = today(from.Today(ctx, r.Name, nil)); err != nil {
		return err
	}
	for i := range v.Knots {
		k := &v.Knots[i]
		knot, err := r.Knot(k.ID)
		if err != nil { // it has errors, or is gone
			continue
		}
		if k.Budget, err = today(from.Today(ctx, r.Name, knot)); err != nil {
			return err
		}
		if k.Queued == 0 {
			continue
		}
		why, err := from.Rests(ctx, r.Name, knot)
		if err != nil {
			return err
		}
		k.Waits = cmp.Or(why, k.Waits)
	}
	return nil
}

func today(d *runner.Day, err error) (*view.DayBudget, error) {
	if d == nil || err != nil {
		return nil, err
	}
	return &view.DayBudget{CostPerDay: d.Most, Spent: d.Spent}, nil
}

func (a *App) viewRig(r *rig.Rig, counts []ledger.Count, waiting []ledger.Job) view.Rig {
	noProfile := func(k *rig.Knot) bool { return a.withoutProfile(k) != nil }
	return view.NewRig(r, noProfile, counts, waiting, time.Now())
}

// ledgerOf is Ledger, for a rig that has to be there: *rig.NoRigError.
func (a *App) ledgerOf(ctx context.Context, name string) (ledger.Store, error) {
	if err := rig.Lookup(a.Dir(), name); err != nil {
		return nil, err
	}
	return a.Ledger(ctx)
}

// RigJobs lists jobs of a rig, the newest first.
func (a *App) RigJobs(ctx context.Context, name string, q ledger.Query) ([]view.RigJob, error) {
	store, err := a.ledgerOf(ctx, name)
	if err != nil {
		return nil, err
	}
	jobs, err := store.Jobs(ctx, a.RigKey(name), q)
	list := make([]view.RigJob, len(jobs))
	for i := range jobs {
		list[i] = view.NewRigJob(&jobs[i])
	}
	return list, err
}

// RigJob is a job of a rig with its answer, and why it does not go on; or
// ledger.ErrNoJob.
func (a *App) RigJob(ctx context.Context, rig, id string) (view.RigJob, error) {
	store, err := a.ledgerOf(ctx, rig)
	if err != nil {
		return view.RigJob{}, err
	}
	j, err := store.Job(ctx, a.RigKey(rig), id)
	if err != nil {
		return view.RigJob{}, err
	}
	out := answered(&j)
	if r, err := a.rigReader(ctx); err != nil {
		return out, err
	} else if out.Waits, err = r.Waits(ctx, rig, &j); err != nil {
		return out, err
	}
	return out, nil
}

// ReplayJob queues a dead job of a rig anew, with the strand as it was then. Another is a
// *JobStateError.
func (a *App) ReplayJob(ctx context.Context, rig, id string) (view.RigJob, error) {
	store, err := a.ledgerOf(ctx, rig)
	if err != nil {
		return view.RigJob{}, err
	}
	if err := store.Replay(ctx, a.RigKey(rig), id); err != nil {
		return view.RigJob{}, a.whyNot(ctx, store, rig, id, "dead", err)
	}
	return a.RigJob(ctx, rig, id)
}

// JobStateError says that a job is there, and not in a state that is asked for.
type JobStateError struct {
	ID    string
	State ledger.State
	Takes string // "dead", or "queued or dead"
}

func (e *JobStateError) Error() string {
	return fmt.Sprintf("the job %s is %s: this takes one that is %s", e.ID, e.State, e.Takes)
}

// whyNot tells of a job that a store has not found in a state whether it is there at all.
func (a *App) whyNot(ctx context.Context, store ledger.Store, rig, id, takes string, err error) error {
	if !errors.Is(err, ledger.ErrNoJob) {
		return err
	}
	if j, found := store.Job(ctx, a.RigKey(rig), id); found == nil {
		return &JobStateError{ID: id, State: j.State, Takes: takes}
	}
	return err
}

// DropJob takes a job of a rig out that is queued or dead. Another is a *JobStateError.
func (a *App) DropJob(ctx context.Context, rig, id string) error {
	store, err := a.ledgerOf(ctx, rig)
	if err != nil {
		return err
	}
	if err := store.Drop(ctx, a.RigKey(rig), id); err != nil {
		return a.whyNot(ctx, store, rig, id, "queued or dead", err)
	}
	return nil
}
