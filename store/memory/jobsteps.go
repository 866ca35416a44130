package memory

import (
	"bytes"
	"context"
	"iter"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/jobs"
)

// ready yields the jobs that are queued and nobody's, and of each knot and path the
// first that has not ended, in their order.
func (row *rig) ready() iter.Seq[*ledger.Job] {
	type place struct{ knot, path string }
	return func(yield func(*ledger.Job) bool) {
		before := map[place]bool{}
		for _, j := range row.open {
			at := place{j.Knot, j.Path}
			if j.Path != "" && before[at] {
				continue
			}
			before[at] = true
			if j.Worker == "" && !yield(j) {
				return
			}
		}
	}
}

// ClaimJob implements ledger.Store.
func (s *Store) ClaimJob(ctx context.Context, r ledger.Rig, worker string, l ledger.Limits) (claimed ledger.Job, err error) {
	if err := jobs.CheckClaim(worker); err != nil {
		return ledger.Job{}, err
	}
	err = s.inRig(ctx, r, func(row *rig) error {
		j := s.claimable(row, l)
		if j == nil {
			return ledger.ErrNoWork
		}
		s.claims.mu.Lock()
		s.claims.register(worker, s.now())
		s.claims.mu.Unlock()
		j.Worker = worker
		j.Epoch++
		claimed = whole(j)
		return nil
	})
	return claimed, err
}

// claimable finds the job that is to be claimed, or nil.
func (s *Store) claimable(row *rig, l ledger.Limits) *ledger.Job {
	room := jobs.Look(s.heldJobs(row), l)
	if room.Begun != nil {
		return row.jobs[room.Begun.ID]
	}
	free := map[string]bool{}
	for _, knot := range room.Knots {
		free[knot] = true
	}
	now := s.now()
	for j := range row.ready() {
		if room.Queued != nil && room.Queued.Seq < j.Seq {
			break
		}
		if free[j.Knot] && !j.After.After(now) {
			return j
		}
	}
	if room.Queued != nil {
		return row.jobs[room.Queued.ID]
	}
	return nil
}

// heldJobs returns the jobs that have a worker, alive or not.
func (s *Store) heldJobs(row *rig) (held []jobs.Held) {
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	now := s.now()
	for _, j := range row.open {
		if j.Worker == "" {
			continue
		}
		w := s.claims.workers[j.Worker]
		held = append(held, jobs.Held{
			ID: j.ID, Seq: j.Seq, Knot: j.Knot, Begun: jobs.Begun(j.State),
			Living: w != nil && !w.dead && now.Sub(w.beat) < session.LeaseTime,
		})
	}
	return held
}

// withHeld runs f with a job that a worker has.
func (s *Store) withHeld(ctx context.Context, r ledger.Rig, id string, epoch int64, f func(*rig, *ledger.Job)) error {
	return s.inRig(ctx, r, func(row *rig) error {
		j := row.jobs[id]
		if j == nil || !jobs.Holds(j, epoch) {
			return ledger.ErrLost
		}
		f(row, j)
		return nil
	})
}

// Begin implements ledger.Store.
func (s *Store) Begin(ctx context.Context, r ledger.Rig, id string, epoch int64, session string) error {
	return s.withHeld(ctx, r, id, epoch, func(_ *rig, j *ledger.Job) { jobs.Begin(j, session, utc(s.now())) })
}

// Write implements ledger.Store.
func (s *Store) Write(ctx context.Context, r ledger.Rig, id string, epoch int64, file string, offset int64, section []byte) error {
	return s.withHeld(ctx, r, id, epoch, func(_ *rig, j *ledger.Job) {
		j.State, j.File, j.Offset, j.Section = ledger.Writing, file, offset, bytes.Clone(section)
	})
}

// Settle implements ledger.Store.
func (s *Store) Settle(ctx context.Context, r ledger.Rig, id string, epoch int64, o ledger.Outcome) error {
	if err := jobs.CheckOutcome(&o); err != nil {
		return err
	}
	return s.withHeld(ctx, r, id, epoch, func(row *rig, j *ledger.Job) {
		now := utc(s.now())
		o.After = utc(o.After)
		jobs.Settle(j, &o, now)
		if o.Cost != 0 || o.Tokens != 0 {
			row.costs = append(row.costs, cost{j.Knot, now, o.Cost, o.Tokens})
		}
		if jobs.Ended(j.State) {
			row.open = remove(row.open, j)
		}
		row.enqueue(o.Fires, now)
	})
}

// Holds implements ledger.Store.
func (s *Store) Holds(ctx context.Context, r ledger.Rig, id string, epoch int64) error {
	return s.withHeld(ctx, r, id, epoch, func(*rig, *ledger.Job) {})
}
