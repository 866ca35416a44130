package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
)

// claim takes the jobs of the rig, one after the other, as long as there is room, and has
// each worked on beside the others, until ctx ends.
func (n *running) claim(ctx context.Context) {
	for {
		select {
		case n.r.slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		j, err := n.take(ctx)
		if err == nil {
			n.signal(n.changed)
			n.r.work.Go(func() {
				defer func() { <-n.r.slots; n.signal(n.jobs) }()
				n.do(ctx, &j)
			})
			continue
		}
		<-n.r.slots
		if !errors.Is(err, ledger.ErrNoWork) && ctx.Err() == nil {
			n.r.o.Log.Error("no job can be claimed; it is tried again", "rig", n.key.Name, "error", err)
		}
		select {
		case <-n.jobs:
		case <-time.After(n.idle(ctx)):
		case <-ctx.Done():
			return
		}
	}
}

// take claims a job of the knots that may begin one now.
func (n *running) take(ctx context.Context) (ledger.Job, error) {
	limits := ledger.Limits{Knots: map[string]int{}}
	now := time.Now()
	if why, err := n.spent(ctx, now); err != nil || why != "" {
		return ledger.Job{}, cmp.Or(err, ledger.ErrNoWork)
	}
	for _, k := range n.now().Knots() {
		free, err := n.mayBegin(ctx, k, now)
		if err != nil {
			return ledger.Job{}, err
		}
		if free {
			limits.Knots[k.ID()] = k.Concurrency.V
		}
	}
	if len(limits.Knots) == 0 {
		return ledger.Job{}, ledger.ErrNoWork
	}
	return n.r.o.Ledger.ClaimJob(ctx, n.key, n.r.o.Worker, limits)
}

// mayBegin says whether jobs of a knot may begin, as far as that is the knot's: it is not
// quiet, has something left of its budget, and nothing is known that keeps its agent from
// beginning.
func (n *running) mayBegin(ctx context.Context, k *rig.Knot, now time.Time) (bool, error) {
	n.mu.Lock()
	until, blocked := n.blocked[k.ID()]
	if blocked && !now.Before(until) {
		delete(n.blocked, k.ID())
		blocked = false
	}
	n.mu.Unlock()
	if blocked {
		return false, nil
	}
	why, err := n.knotRests(ctx, k, now)
	return why == "", err
}

// rests says why no job of a knot begins for a long time; empty: that is not so.
func (n *running) rests(ctx context.Context, k *rig.Knot, now time.Time) (why string, err error) {
	if why, err = n.spent(ctx, now); err != nil || why != "" {
		return why, err
	}
	return n.knotRests(ctx, k, now)
}

// spent says that the rig has spent what it may on a day; empty: that is not so.
func (n *running) spent(ctx context.Context, now time.Time) (why string, err error) {
	day, err := n.rigDay(ctx, now)
	if err == nil && day != nil && day.Spent >= day.Most {
		why = "of the budget of the rig of " + day.String()
	}
	return why, err
}

// knotRests says so of what is the knot's own.
func (n *running) knotRests(ctx context.Context, k *rig.Knot, now time.Time) (why string, err error) {
	if until := k.Quiet(now); !until.IsZero() {
		return "its quiet hours end at " + until.Format("2006-01-02 15:04 MST"), nil
	}
	day, err := n.knotDay(ctx, k, now)
	if err == nil && day != nil && day.Spent >= day.Most {
		why = "of its budget of " + day.String()
	}
	return why, err
}

// Day is what may be spent on a day, in USD, and what of it is.
type Day struct{ Most, Spent float64 }

func (d *Day) String() string { return fmt.Sprintf("$%g a day $%.4f are spent", d.Most, d.Spent) }

// rigDay is that of the rig, in the time zone of the machine; nil: it has no limit.
func (n *running) rigDay(ctx context.Context, now time.Time) (*Day, error) {
	if n.r.o.PerDay <= 0 {
		return nil, nil
	}
	cost, _, err := n.r.o.Ledger.Spent(ctx, n.key, "", dayOf(now, time.Local))
	return &Day{n.r.o.PerDay, cost}, err
}

// knotDay is that of a knot, in its time zone; nil: it has no limit.
func (n *running) knotDay(ctx context.Context, k *rig.Knot, now time.Time) (*Day, error) {
	if !k.Budget.PerDay.Set {
		return nil, nil
	}
	cost, _, err := n.r.o.Ledger.Spent(ctx, n.key, k.ID(), dayOf(now, k.Zone.V))
	return &Day{k.Budget.PerDay.V, cost}, err
}

// Today is the budget of a knot, or of the rig where k is nil; nil: it has no limit.
func (r *Runner) Today(ctx context.Context, rigName string, k *rig.Knot) (*Day, error) {
	n := newRunning(r, rigName)
	if k == nil {
		return n.rigDay(ctx, time.Now())
	}
	return n.knotDay(ctx, k, time.Now())
}

// Rests says why no job of a knot of a rig begins for a long time; empty: that is not so.
func (r *Runner) Rests(ctx context.Context, rigName string, k *rig.Knot) (why string, err error) {
	return newRunning(r, rigName).rests(ctx, k, time.Now())
}

// dayOf is when the day of a time began.
func dayOf(at time.Time, zone *time.Location) time.Time {
	y, m, d := at.In(zone).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, zone)
}

// idle is how long to wait before claiming again, unless something happens here: other
// processes queue jobs too.
func (n *running) idle(ctx context.Context) time.Duration {
	due, err := n.r.o.Ledger.NextDue(ctx, n.key)
	if wait := time.Until(due); err == nil && !due.IsZero() && wait > 0 {
		return min(wait, pollEvery)
	}
	return pollEvery
}

// block keeps the jobs of a knot from beginning for a while: the next would fail alike.
// Why is said once.
func (n *running) block(k *rig.Knot, why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.blocked[k.ID()] = time.Now().Add(blockedFor)
	if n.reasons[k.ID()] != why.Error() {
		n.reasons[k.ID()] = why.Error()
		n.r.o.Log.Warn("the strands of a knot wait: its agent cannot begin", "rig", n.key.Name, "knot", k.ID(), "error", why)
	}
}

// unblock forgets why the jobs of a knot could not begin.
func (n *running) unblock(k *rig.Knot) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.reasons, k.ID())
}

// blockedFor is how long a knot rests whose agent could not begin.
const blockedFor = 2 * time.Second
