package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"

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
	err := s.do(ctx, func(w *writer) error {
		id, err := w.claimable(r, l)
		if err != nil {
			return err
		}
		if err := w.register(worker); err != nil {
			return err
		}
		j, err := w.job(r, id)
		if err != nil {
			return err
		}
		j.Worker = worker
		j.Epoch++
		if err := w.saveJob(j); err != nil {
			return err
		}
		claimed = j.Job
		return w.jobBytes(j.number, &claimed)
	})
	return claimed, err
}

// claimable finds the job that is to be claimed, or is ErrNoWork.
func (w *writer) claimable(r ledger.Rig, l ledger.Limits) (string, error) {
	row, err := w.rig(r)
	if err != nil {
		return "", err
	}
	held, err := w.heldJobs(row.id)
	if err != nil {
		return "", err
	}
	room := jobs.Look(held, l)
	if room.Begun != nil {
		return room.Begun.ID, nil
	}
	seq, id, err := w.readyJob(row.id, room.Knots)
	if err != nil {
		return "", err
	}
	if q := room.Queued; q != nil && (id == "" || q.Seq < seq) {
		id = q.ID
	}
	if id == "" {
		return "", ledger.ErrNoWork
	}
	return id, nil
}

// heldJobs returns the jobs of a rig that have a worker, alive or not.
func (w *writer) heldJobs(rig int64) (held []jobs.Held, err error) {
	err = w.conn.query(`SELECT j.id, j.seq, j.knot, j.state, w.id IS NOT NULL AND NOT w.dead AND w.beat > ?
		FROM jobs j LEFT JOIN workers w ON w.id = j.worker WHERE j.rig = ? AND j.worker IS NOT NULL ORDER BY j.seq`,
		func(row []driver.Value) bool {
			held = append(held, jobs.Held{
				ID: str(row[0]), Seq: integer(row[1]), Knot: str(row[2]),
				Begun: jobs.Begun(ledger.State(str(row[3]))), Living: truth(row[4]),
			})
			return true
		}, w.now().Add(-session.LeaseTime).UnixMicro(), rig)
	if err != nil {
		return nil, &fault{err}
	}
	return held, nil
}

// readyJob finds the first job of the knots that waits for nothing but a worker. It
// looks at the first of each knot, not at all that are queued.
func (w *writer) readyJob(rig int64, knots []string) (seq int64, id string, err error) {
	if len(knots) == 0 {
		return 0, "", nil
	}
	names, err := json.Marshal(knots)
	if err != nil {
		return 0, "", err
	}
	err = w.conn.query(`SELECT seq, id FROM jobs WHERE rig = ?1 AND seq =
		(SELECT min((SELECT seq FROM jobs WHERE rig = ?1 AND knot = value AND after <= ?2 AND ready = 1 ORDER BY seq LIMIT 1)) FROM json_each(?3))`,
		func(row []driver.Value) bool {
			seq, id = integer(row[0]), str(row[1])
			return false
		}, rig, w.now().UnixMicro(), string(names))
	if err != nil {
		return 0, "", &fault{err}
	}
	return seq, id, nil
}

// jobBytes reads what is long of a job.
func (w *writer) jobBytes(number int64, j *ledger.Job) error {
	err := w.conn.query(`SELECT content, section FROM job_bytes WHERE job = ?`, func(row []driver.Value) bool {
		j.Content, _ = row[0].([]byte)
		j.Section, _ = row[1].([]byte)
		return false
	}, number)
	if err != nil {
		return &fault{err}
	}
	return nil
}

// Begin implements ledger.Store.
func (s *Store) Begin(ctx context.Context, r ledger.Rig, id string, epoch int64, session string) error {
	return s.do(ctx, func(w *writer) error {
		j, err := w.held(r, id, epoch)
		if err != nil {
			return err
		}
		jobs.Begin(&j.Job, session, w.now())
		if j.File == "" {
			if err := w.exec(`UPDATE job_bytes SET section = NULL WHERE job = ? AND section IS NOT NULL`, j.number); err != nil {
				return err
			}
		}
		return w.saveJob(j)
	})
}

// Write implements ledger.Store.
func (s *Store) Write(ctx context.Context, r ledger.Rig, id string, epoch int64, file string, offset int64, section []byte) error {
	return s.do(ctx, func(w *writer) error {
		j, err := w.held(r, id, epoch)
		if err != nil {
			return err
		}
		j.State, j.File, j.Offset = ledger.Writing, file, offset
		if err := w.saveJob(j); err != nil {
			return err
		}
		return w.exec(`INSERT INTO job_bytes (job, section) VALUES (?,?) ON CONFLICT (job) DO UPDATE SET section = excluded.section`,
			j.number, section)
	})
}

// Settle implements ledger.Store.
func (s *Store) Settle(ctx context.Context, r ledger.Rig, id string, epoch int64, o ledger.Outcome) error {
	if err := jobs.CheckOutcome(&o); err != nil {
		return err
	}
	return s.do(ctx, func(w *writer) error {
		j, err := w.held(r, id, epoch)
		if err != nil {
			return err
		}
		now := w.now()
		jobs.Settle(&j.Job, &o, now)
		if err := w.saveJob(j); err != nil {
			return err
		}
		if o.Cost != 0 || o.Tokens != 0 {
			if err := w.exec(`INSERT INTO job_costs (rig, knot, time, cost, tokens) VALUES (?,?,?,?,?)`, j.rig, j.Knot, micros(now), o.Cost, o.Tokens); err != nil {
				return err
			}
		}
		if err := w.endJob(j); err != nil {
			return err
		}
		if len(o.Fires) == 0 {
			return nil
		}
		row, err := w.rig(r)
		if err != nil {
			return err
		}
		return w.enqueue(&row, o.Fires)
	})
}

// endJob removes what an ended job needs no more, and lets the next one go on.
func (w *writer) endJob(j *job) error {
	if j.State == ledger.Done {
		if err := w.exec(`UPDATE job_bytes SET content = NULL WHERE job = ?`, j.number); err != nil {
			return err
		}
	}
	if !jobs.Ended(j.State) {
		return nil
	}
	return w.unblock(j.rig, j.Knot, j.Path)
}

// Holds implements ledger.Store.
func (s *Store) Holds(ctx context.Context, r ledger.Rig, id string, epoch int64) error {
	held := false
	err := s.read(ctx, func(c *conn) error {
		return c.query(`SELECT 1 FROM jobs WHERE `+ofRig+` AND id = ?3 AND epoch = ?4 AND worker IS NOT NULL`, func([]driver.Value) bool {
			held = true
			return false
		}, r.Tenant, r.Name, id, epoch)
	})
	if err == nil && !held {
		err = ledger.ErrLost
	}
	return err
}
