package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/store/internal/jobs"
)

// job is a row of jobs.
type job struct {
	ledger.Job
	number, rig int64
}

const jobColumns = `seq, id, knot, event, path, digest, hops, parent, queued, state, attempt, after, error, code,
	worker, epoch, session, began, file, place, ended, cost, tokens, number, rig`

func scanJob(row []driver.Value) *job {
	return &job{ledger.Job{
		Seq: integer(row[0]), ID: str(row[1]), Knot: str(row[2]), Event: str(row[3]), Path: str(row[4]), Digest: str(row[5]),
		Hops: int(integer(row[6])), Parent: str(row[7]), Queued: moment(row[8]), State: ledger.State(str(row[9])), Attempt: int(integer(row[10])),
		After: moment(row[11]), Error: str(row[12]), Code: str(row[13]), Worker: str(row[14]), Epoch: integer(row[15]), Session: str(row[16]),
		Began: moment(row[17]), File: str(row[18]), Offset: integer(row[19]), Ended: moment(row[20]), Cost: real(row[21]), Tokens: integer(row[22]),
	}, integer(row[23]), integer(row[24])}
}

// job returns the row of a job without what is long, or nil.
func (w *writer) job(r ledger.Rig, id string) (j *job, err error) {
	err = w.conn.query(`SELECT `+jobColumns+` FROM jobs WHERE `+ofRig+` AND id = ?3`, func(row []driver.Value) bool {
		j = scanJob(row)
		return false
	}, r.Tenant, r.Name, id)
	if err != nil {
		return nil, &fault{err}
	}
	return j, nil
}

// held returns the row of a job that a worker has.
func (w *writer) held(r ledger.Rig, id string, epoch int64) (*job, error) {
	j, err := w.job(r, id)
	if err == nil && (j == nil || !jobs.Holds(&j.Job, epoch)) {
		err = ledger.ErrLost
	}
	return j, err
}

// saveJob writes what changes with each step of a job. One that is nobody's, and
// not over, is the first of its knot and path: else nobody could have had it.
func (w *writer) saveJob(j *job) error {
	var worker any
	if j.Worker != "" {
		worker = j.Worker
	}
	return w.exec(`UPDATE jobs SET (state, attempt, after, error, code, worker, epoch, session, began, file, place, ended, cost, tokens, ready, hops)
		= (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) WHERE number = ?`,
		string(j.State), int64(j.Attempt), micros(j.After), j.Error, j.Code, worker, j.Epoch, j.Session, micros(j.Began),
		j.File, j.Offset, micros(j.Ended), j.Cost, j.Tokens, j.State == ledger.Queued && j.Worker == "", int64(j.Hops), j.number)
}

// Queue implements ledger.Store.
func (s *Store) Queue(ctx context.Context, r ledger.Rig, list []ledger.Job) error {
	if err := jobs.Check(list); err != nil {
		return err
	}
	return s.do(ctx, func(w *writer) error {
		row, err := w.makeRig(r)
		if err != nil {
			return err
		}
		return w.enqueue(&row, list)
	})
}

// enqueue adds jobs as the last ones of a rig, except those whose ID is there.
func (w *writer) enqueue(row *rig, list []ledger.Job) error {
	before := row.last
	for i := range list {
		if err := w.enqueueOne(row, &list[i]); err != nil {
			return err
		}
	}
	if row.last == before {
		return nil
	}
	return w.saveRig(row)
}

func (w *writer) saveRig(row *rig) error {
	return w.exec(`UPDATE rigs SET last = ? WHERE id = ?`, row.last, row.id)
}

// jobInsert adds a job, which is ready if nothing of its knot (?3) and path (?4) in the
// rig (?1) stands before it.
const jobInsert = `INSERT INTO jobs (rig, seq, knot, path, state, id, event, digest, hops, parent, queued, after, error, code, ended, ready)
	VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15, ?5 = 'queued' AND
	(?4 = '' OR NOT EXISTS (SELECT 1 FROM jobs WHERE rig = ?1 AND knot = ?3 AND path = ?4 AND ended = 0)))
	ON CONFLICT (rig, id) DO NOTHING`

func (w *writer) enqueueOne(row *rig, given *ledger.Job) error {
	j := jobs.New(given, row.last+1, w.now())
	done, err := w.conn.exec(jobInsert, row.id, j.Seq, j.Knot, j.Path, string(j.State), j.ID, j.Event, j.Digest, int64(j.Hops), j.Parent,
		micros(j.Queued), micros(j.After), j.Error, j.Code, micros(j.Ended))
	if err != nil {
		return &fault{err}
	}
	if added, err := done.RowsAffected(); err != nil {
		return &fault{err}
	} else if added == 0 {
		return nil
	}
	row.last++
	if len(j.Content) == 0 {
		return nil
	}
	return w.exec(`INSERT INTO job_bytes (job, content) VALUES (last_insert_rowid(), ?)`, j.Content)
}

// unblock lets the first job of a knot and path that has not ended go on, after the
// one before it has.
func (w *writer) unblock(rig int64, knot, path string) error {
	if path == "" {
		return nil
	}
	return w.exec(`UPDATE jobs SET ready = 1 WHERE worker IS NULL AND number =
		(SELECT number FROM jobs WHERE rig = ? AND knot = ? AND path = ? AND ended = 0 ORDER BY seq LIMIT 1)`, rig, knot, path)
}

// Replay implements ledger.Store.
func (s *Store) Replay(ctx context.Context, r ledger.Rig, id string) error {
	return s.do(ctx, func(w *writer) error {
		j, err := w.job(r, id)
		if err != nil {
			return err
		}
		if j == nil || j.State != ledger.Dead {
			return ledger.ErrNoJob
		}
		row, err := w.rig(r)
		if err != nil {
			return err
		}
		row.last++
		jobs.Replay(&j.Job, row.last, w.now())
		if err := w.exec(`UPDATE job_bytes SET section = NULL WHERE job = ?`, j.number); err != nil {
			return err
		}
		if err := w.saveJob(j); err != nil {
			return err
		}
		err = w.exec(`UPDATE jobs SET seq = ?, queued = ?, ready = ? WHERE number = ?`, j.Seq, micros(j.Queued), j.Path == "", j.number)
		if err != nil {
			return err
		}
		if err := w.unblock(row.id, j.Knot, j.Path); err != nil {
			return err
		}
		return w.saveRig(&row)
	})
}

// Drop implements ledger.Store.
func (s *Store) Drop(ctx context.Context, r ledger.Rig, id string) error {
	return s.do(ctx, func(w *writer) error {
		j, err := w.job(r, id)
		if err != nil {
			return err
		}
		if j == nil || j.State != ledger.Queued && j.State != ledger.Dead {
			return ledger.ErrNoJob
		}
		if err := w.exec(`DELETE FROM jobs WHERE number = ?`, j.number); err != nil {
			return err
		}
		return w.unblock(j.rig, j.Knot, j.Path)
	})
}
