package postgres

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

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

// scanJob reads jobColumns, and then what more is asked for.
func scanJob(row pgx.Row, more ...any) (*job, error) {
	var j job
	var path, file []byte
	var worker *string
	var after, began, ended *time.Time
	err := row.Scan(append([]any{
		&j.Seq, &j.ID, &j.Knot, &j.Event, &path, &j.Digest, &j.Hops, &j.Parent, &j.Queued, &j.State, &j.Attempt, &after, &j.Error, &j.Code,
		&worker, &j.Epoch, &j.Session, &began, &file, &j.Offset, &ended, &j.Cost, &j.Tokens, &j.number, &j.rig,
	}, more...)...)
	if worker != nil {
		j.Worker = *worker
	}
	j.Path, j.File = string(path), string(file)
	j.Queued, j.After, j.Began, j.Ended = j.Queued.UTC(), moment(after), moment(began), moment(ended)
	return &j, err
}

// job locks and returns the row of a job without what is long, or is pgx.ErrNoRows.
func (t *tx) job(r ledger.Rig, id string) (*job, error) {
	return scanJob(t.QueryRow(t.ctx, `SELECT `+jobColumns+` FROM jobs WHERE `+ofRig+` AND id = $3 FOR NO KEY UPDATE`, r.Tenant, r.Name, id))
}

// held locks and returns the row of a job that a worker has.
func (t *tx) held(r ledger.Rig, id string, epoch int64) (*job, error) {
	j, err := t.job(r, id)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !jobs.Holds(&j.Job, epoch) {
		err = &refused{ledger.ErrLost}
	}
	return j, err
}

// saveJob writes what changes with each step of a job. One that is nobody's, and
// not over, is the first of its knot and path: else nobody could have had it.
func (t *tx) saveJob(j *job) error {
	var worker *string
	held := 0
	if j.Worker != "" {
		worker, held = &j.Worker, 1
	}
	return t.exec(`UPDATE jobs SET (state, attempt, after, error, code, worker, held, epoch, session, began, file, place, ended, cost, tokens, ready, hops)
		= ($2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18) WHERE number = $1`,
		j.number, string(j.State), j.Attempt, orNull(j.After), storable(j.Error), storable(j.Code), worker, held, j.Epoch, j.Session, orNull(j.Began),
		[]byte(j.File), j.Offset, orNull(j.Ended), j.Cost, j.Tokens, j.State == ledger.Queued && j.Worker == "", j.Hops)
}

// Queue implements ledger.Store.
func (s *Store) Queue(ctx context.Context, r ledger.Rig, list []ledger.Job) error {
	if err := jobs.Check(list); err != nil {
		return err
	}
	return s.do(ctx, func(t *tx) error {
		row, err := t.makeRig(r)
		if err != nil {
			return err
		}
		return t.enqueue(&row, list)
	})
}

// jobInsert adds a job, which is ready if nothing of its knot ($3) and path ($4) in the
// rig ($1) stands before it.
const jobInsert = `INSERT INTO jobs (rig, seq, knot, path, state, id, event, digest, content, hops, parent, queued, after, error, code, ended, ready)
	VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16, $5 = 'queued' AND
	($4 = ''::bytea OR NOT EXISTS (SELECT 1 FROM jobs WHERE rig = $1 AND knot = $3 AND path = $4 AND ended IS NULL)))
	ON CONFLICT (rig, id) DO NOTHING`

// enqueue adds jobs as the last ones of a locked rig, except those whose ID is there.
func (t *tx) enqueue(row *rig, list []ledger.Job) error {
	if len(list) == 0 {
		return nil
	}
	now, err := t.now()
	if err != nil {
		return err
	}
	var b pgx.Batch
	for i := range list {
		row.last++
		j := jobs.New(&list[i], row.last, now)
		b.Queue(jobInsert, row.id, j.Seq, j.Knot, []byte(j.Path), string(j.State), j.ID, storable(j.Event), j.Digest, j.Content, j.Hops, j.Parent,
			j.Queued, orNull(j.After), storable(j.Error), storable(j.Code), orNull(j.Ended))
	}
	b.Queue(`UPDATE rigs SET last = $2 WHERE id = $1`, row.id, row.last)
	return t.SendBatch(t.ctx, &b).Close()
}

// unblock lets the first job of a knot and path that has not ended go on, after the
// one before it has. The rig is locked.
func (t *tx) unblock(rig int64, knot, path string) error {
	if path == "" {
		return nil
	}
	return t.exec(`UPDATE jobs SET ready = true WHERE worker IS NULL AND NOT ready AND number =
		(SELECT number FROM jobs WHERE rig = $1 AND knot = $2 AND path = $3 AND ended IS NULL ORDER BY seq LIMIT 1)`, rig, knot, []byte(path))
}

// Replay implements ledger.Store.
func (s *Store) Replay(ctx context.Context, r ledger.Rig, id string) error {
	return s.do(ctx, func(t *tx) error {
		row, j, err := t.idle(r, id, ledger.Dead)
		if err != nil {
			return err
		}
		now, err := t.now()
		if err != nil {
			return err
		}
		jobs.Replay(&j.Job, row.last+1, now)
		if err := t.saveJob(j); err != nil {
			return err
		}
		err = t.exec(`UPDATE jobs SET seq = $2, queued = $3, section = NULL, ready = $4 WHERE number = $1`, j.number, j.Seq, j.Queued, j.Path == "")
		if err != nil {
			return err
		}
		if err := t.exec(`UPDATE rigs SET last = $2 WHERE id = $1`, row.id, j.Seq); err != nil {
			return err
		}
		return t.unblock(row.id, j.Knot, j.Path)
	})
}

// idle locks a rig and a job of it that is in one of the states.
func (t *tx) idle(r ledger.Rig, id string, states ...ledger.State) (rig, *job, error) {
	row, err := t.lockRig(r)
	var j *job
	if err == nil {
		j, err = t.job(r, id)
	}
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !slices.Contains(states, j.State) {
		err = &refused{ledger.ErrNoJob}
	}
	return row, j, err
}

// Drop implements ledger.Store.
func (s *Store) Drop(ctx context.Context, r ledger.Rig, id string) error {
	return s.do(ctx, func(t *tx) error {
		row, j, err := t.idle(r, id, ledger.Queued, ledger.Dead)
		if err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM jobs WHERE number = $1`, j.number); err != nil {
			return err
		}
		return t.unblock(row.id, j.Knot, j.Path)
	})
}
