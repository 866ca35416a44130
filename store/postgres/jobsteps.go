package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/jobs"
)

// ClaimJob implements ledger.Store.
func (s *Store) ClaimJob(ctx context.Context, r ledger.Rig, worker string, l ledger.Limits) (ledger.Job, error) {
	if err := jobs.CheckClaim(worker); err != nil {
		return ledger.Job{}, err
	}
	var claimed ledger.Job
	err := s.do(ctx, func(t *tx) error {
		id, err := t.claimable(r, l)
		if err != nil {
			return err
		}
		if err := t.register(worker); err != nil {
			return err
		}
		j, err := t.job(r, id)
		if err != nil {
			return err
		}
		j.Worker = worker
		j.Epoch++
		if err := t.saveJob(j); err != nil {
			return err
		}
		claimed = j.Job
		return t.QueryRow(t.ctx, `SELECT content, section FROM jobs WHERE number = $1`, j.number).Scan(&claimed.Content, &claimed.Section)
	})
	return claimed, err
}

// claimable locks the rig and finds the job that is to be claimed, or is ErrNoWork.
func (t *tx) claimable(r ledger.Rig, l ledger.Limits) (string, error) {
	row, err := t.lockRig(r)
	if errors.Is(err, pgx.ErrNoRows) {
		return "", &refused{ledger.ErrNoWork}
	}
	if err != nil {
		return "", err
	}
	held, err := t.heldJobs(row.id)
	if err != nil {
		return "", err
	}
	room := jobs.Look(held, l)
	if room.Begun != nil {
		return room.Begun.ID, nil
	}
	seq, id, err := t.readyJob(row.id, room.Knots)
	if err != nil {
		return "", err
	}
	if q := room.Queued; q != nil && (id == "" || q.Seq < seq) {
		id = q.ID
	}
	if id == "" {
		return "", &refused{ledger.ErrNoWork}
	}
	return id, nil
}

// heldJobs returns the jobs of a rig that have a worker, alive or not.
func (t *tx) heldJobs(rig int64) ([]jobs.Held, error) {
	now, err := t.now()
	if err != nil {
		return nil, err
	}
	rows, err := t.Query(t.ctx, `SELECT j.id, j.seq, j.knot, j.state, w.id IS NOT NULL AND NOT w.dead AND w.beat > $2
		FROM jobs j LEFT JOIN workers w ON w.id = j.worker WHERE j.rig = $1 AND j.held = 1 ORDER BY j.seq`,
		rig, now.Add(-session.LeaseTime))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (h jobs.Held, err error) {
		var state ledger.State
		err = row.Scan(&h.ID, &h.Seq, &h.Knot, &state, &h.Living)
		h.Begun = jobs.Begun(state)
		return h, err
	})
}

// readyJob finds the first job of the knots that waits for nothing but a worker. It
// looks at the first of each knot, not at all that are queued.
func (t *tx) readyJob(rig int64, knots []string) (seq int64, id string, err error) {
	if len(knots) == 0 {
		return 0, "", nil
	}
	now, err := t.now()
	if err != nil {
		return 0, "", err
	}
	err = t.QueryRow(t.ctx, `SELECT j.seq, j.id FROM unnest($3::text[]) AS k (name) CROSS JOIN LATERAL
		(SELECT seq, id FROM jobs WHERE rig = $1 AND knot = k.name AND ready AND (after IS NULL OR after <= $2) ORDER BY seq LIMIT 1) j
		ORDER BY j.seq LIMIT 1`, rig, now, knots).Scan(&seq, &id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, "", nil
	}
	return seq, id, err
}

// Begin implements ledger.Store.
func (s *Store) Begin(ctx context.Context, r ledger.Rig, id string, epoch int64, session string) error {
	return s.do(ctx, func(t *tx) error {
		j, err := t.held(r, id, epoch)
		if err != nil {
			return err
		}
		now, err := t.now()
		if err != nil {
			return err
		}
		jobs.Begin(&j.Job, session, now)
		if j.File == "" {
			if err := t.exec(`UPDATE jobs SET section = NULL WHERE number = $1 AND section IS NOT NULL`, j.number); err != nil {
				return err
			}
		}
		return t.saveJob(j)
	})
}

// Write implements ledger.Store.
func (s *Store) Write(ctx context.Context, r ledger.Rig, id string, epoch int64, file string, offset int64, section []byte) error {
	return s.do(ctx, func(t *tx) error {
		j, err := t.held(r, id, epoch)
		if err != nil {
			return err
		}
		j.State, j.File, j.Offset = ledger.Writing, file, offset
		if err := t.saveJob(j); err != nil {
			return err
		}
		return t.exec(`UPDATE jobs SET section = $2 WHERE number = $1`, j.number, section)
	})
}

// Settle implements ledger.Store.
func (s *Store) Settle(ctx context.Context, r ledger.Rig, id string, epoch int64, o ledger.Outcome) error {
	if err := jobs.CheckOutcome(&o); err != nil {
		return err
	}
	return s.do(ctx, func(t *tx) error {
		row, err := t.lockRig(r)
		if errors.Is(err, pgx.ErrNoRows) {
			return &refused{ledger.ErrLost}
		}
		if err != nil {
			return err
		}
		j, err := t.held(r, id, epoch)
		if err != nil {
			return err
		}
		if err := t.settle(j, &o); err != nil {
			return err
		}
		return t.enqueue(&row, o.Fires)
	})
}

func (t *tx) settle(j *job, o *ledger.Outcome) error {
	now, err := t.now()
	if err != nil {
		return err
	}
	jobs.Settle(&j.Job, o, now)
	if err := t.saveJob(j); err != nil {
		return err
	}
	if o.Cost != 0 || o.Tokens != 0 {
		if err := t.exec(`INSERT INTO job_costs (rig, knot, time, cost, tokens) VALUES ($1,$2,$3,$4,$5)`, j.rig, j.Knot, now, o.Cost, o.Tokens); err != nil {
			return err
		}
	}
	if j.State == ledger.Done {
		if err := t.exec(`UPDATE jobs SET content = NULL WHERE number = $1`, j.number); err != nil {
			return err
		}
	}
	if !jobs.Ended(j.State) {
		return nil
	}
	return t.unblock(j.rig, j.Knot, j.Path)
}

// Holds implements ledger.Store.
func (s *Store) Holds(ctx context.Context, r ledger.Rig, id string, epoch int64) error {
	return s.read(ctx, func(t pgx.Tx) error {
		var held bool
		err := t.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM jobs WHERE `+ofRig+` AND id = $3 AND epoch = $4 AND worker IS NOT NULL)`,
			r.Tenant, r.Name, id, epoch).Scan(&held)
		if err == nil && !held {
			err = &refused{ledger.ErrLost}
		}
		return err
	})
}
