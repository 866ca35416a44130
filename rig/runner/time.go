package runner

import (
	"context"
	"time"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
)

// keepTime queues the jobs of schedules when they are due, and takes out what is old,
// until ctx ends.
func (n *running) keepTime(ctx context.Context) {
	due := map[string]time.Time{} // by knot and schedule
	var forgot time.Time
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		now := time.Now()
		for _, k := range n.now().Knots() {
			if err := n.schedule(ctx, k, now, due); err != nil && ctx.Err() == nil {
				n.r.o.Log.Error("a schedule was not looked at; it is tried again", "rig", n.key.Name, "knot", k.ID(), "error", err)
			}
		}
		if now.Sub(forgot) > time.Hour {
			forgot = now
			if err := n.r.o.Ledger.Forget(ctx, n.key, now.Add(-keep)); err != nil && ctx.Err() == nil {
				n.r.o.Log.Error("old jobs of a rig stay", "rig", n.key.Name, "error", err)
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// schedule queues a job of a knot that is due. A knot that is new is due from now on;
// times that passed while nothing ran are made up for by one job, for the last of them.
// The row of the schedule says which time was the last, so that of several processes one
// queues the job.
func (n *running) schedule(ctx context.Context, k *rig.Knot, now time.Time, due map[string]time.Time) error {
	if k.Schedule.V == nil {
		return nil
	}
	row := ledger.Strand{Knot: k.ID(), Path: "schedule:" + k.Schedule.V.Text}
	name := row.Knot + "\n" + row.Path
	if next, known := due[name]; known && (next.IsZero() || now.Before(next)) {
		return nil
	}
	rows, err := n.r.o.Ledger.Strands(ctx, n.key, row.Knot, row.Path)
	if err != nil {
		return err
	}
	change := ledger.Change{Strand: row}
	change.ModTime, change.Checked = now, now
	if len(rows) > 0 {
		last, times := lastDue(k, rows[0].ModTime, now)
		if times == 0 {
			due[name] = k.Next(rows[0].ModTime)
			return nil
		}
		change.Rev, change.ModTime = rows[0].Rev, last
		change.Job = &ledger.Job{ID: newID(), Knot: k.ID(), Event: string(rig.Scheduled), Content: []byte(last.Format(time.RFC3339)), Queued: now}
	}
	if _, err := n.r.o.Ledger.Note(ctx, n.key, []ledger.Change{change}); err != nil { // a stale one: another process has done it
		return err
	}
	due[name] = k.Next(change.ModTime)
	n.signal(n.jobs)
	n.signal(n.changed)
	return nil
}

// maxMissed bounds the times that are counted one by one.
const maxMissed = 10_000

// lastDue is the last time that was due in (from, to], and how many there were.
func lastDue(k *rig.Knot, from, to time.Time) (last time.Time, times int) {
	for next := k.Next(from); !next.IsZero() && !next.After(to); next = k.Next(next) {
		last, times = next, times+1
		if day := to.Add(-24 * time.Hour); times == maxMissed && next.Before(day) { // the machine was off for long
			next = day
		}
	}
	return last, times
}
