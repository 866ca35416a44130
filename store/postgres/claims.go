package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
)

// take makes the worker the owner; the caller saves the stream.
func (t *tx) take(st *stream, worker string, how session.Takeover) (session.Lease, error) {
	if err := t.register(worker); err != nil {
		return session.Lease{}, err
	}
	st.owner = worker
	st.epoch++
	return session.Lease{Worker: worker, Epoch: st.epoch, Takeover: how}, nil
}

// register lets a worker that is not known, or thought dead, live from now on.
func (t *tx) register(worker string) error {
	now, err := t.now()
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO workers (id, beat, dead) VALUES ($1,$2,false)
		ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, dead = false WHERE workers.dead`, worker, now)
}

// claimable says that a stream s is free, or that its owner w is gone since $1.
const claimable = `s.runnable AND (s.worker IS NULL OR w.id IS NULL OR w.dead OR w.beat <= $1)`

const (
	claimQuery = `SELECT s.tenant, s.stream FROM streams s LEFT JOIN workers w ON w.id = s.worker WHERE ` + claimable

	// ownerQuery looks at a stream that is locked. Only a statement that begins
	// after the lock was given sees what the one before it has done: the first
	// looks again at the stream, but not at its worker.
	ownerQuery = `SELECT s.worker IS NULL, w.id IS NULL OR w.dead FROM streams s LEFT JOIN workers w ON w.id = s.worker
		WHERE ` + claimable + ` AND s.tenant = $2 AND s.stream = $3`
)

// Claim implements session.Claims.
func (s *Store) Claim(ctx context.Context, worker string, only *session.Key) (session.Key, session.Lease, error) {
	var k session.Key
	var l session.Lease
	err := s.do(ctx, func(t *tx) (err error) {
		k, l, err = t.claim(worker, only)
		return err
	})
	return k, l, err
}

// claimTries bounds how many streams a claim finds taken by others while it
// looked.
const claimTries = 64

func (t *tx) claim(worker string, only *session.Key) (k session.Key, l session.Lease, err error) {
	now, err := t.now()
	if err != nil {
		return k, l, err
	}
	dead := now.Add(-session.LeaseTime)
	for range claimTries {
		if k, err = t.candidate(dead, only); err != nil {
			return k, l, err
		}
		var how session.Takeover
		how, err = t.takeover(dead, k)
		if errors.Is(err, pgx.ErrNoRows) {
			continue // by now somebody has it
		}
		if err != nil {
			return k, l, err
		}
		st, err := t.stream(k)
		if err != nil {
			return k, l, err
		}
		if l, err = t.take(st, worker, how); err != nil {
			return k, l, err
		}
		return k, l, t.save(st)
	}
	return k, l, session.ErrNoWork
}

// candidate locks a stream that looks as if it could be claimed.
func (t *tx) candidate(dead time.Time, only *session.Key) (k session.Key, err error) {
	query, args := claimQuery, []any{dead}
	if only != nil {
		query += ` AND s.tenant = $2 AND s.stream = $3 FOR NO KEY UPDATE OF s`
		args = append(args, only.Tenant, only.Stream)
	} else {
		query += ` AND s.shared ORDER BY s.waiting, s.id LIMIT 1 FOR NO KEY UPDATE OF s SKIP LOCKED`
	}
	err = t.QueryRow(t.ctx, query, args...).Scan(&k.Tenant, &k.Stream)
	if errors.Is(err, pgx.ErrNoRows) {
		err = session.ErrNoWork
	}
	return k, err
}

// takeover says how a locked stream would be taken from its owner, or that it
// cannot be (pgx.ErrNoRows).
func (t *tx) takeover(cutoff time.Time, k session.Key) (session.Takeover, error) {
	var free, dead bool
	err := t.QueryRow(t.ctx, ownerQuery, cutoff, k.Tenant, k.Stream).Scan(&free, &dead)
	switch {
	case free:
		return session.TakeoverNone, err
	case dead:
		return session.TakeoverDead, err
	}
	return session.TakeoverExpired, err
}

// dueMost bounds what one call of Due lists.
const dueMost = 256

// Due implements session.Claims.
func (s *Store) Due(ctx context.Context) (due []session.Key, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		now, err := (&tx{Tx: t, ctx: ctx, clock: s.now}).now()
		if err != nil {
			return err
		}
		rows, err := t.Query(ctx, `SELECT tenant, stream FROM streams WHERE until <= $1 ORDER BY until, tenant, stream LIMIT $2`, now, dueMost)
		if err != nil {
			return err
		}
		due, err = pgx.AppendRows(due, rows, pgx.RowToStructByPos[session.Key])
		return err
	})
	return due, err
}

// Release implements session.Claims.
func (s *Store) Release(ctx context.Context, k session.Key, l session.Lease) error {
	return s.do(ctx, func(t *tx) error {
		st, err := t.stream(k)
		switch {
		case err != nil:
			return err
		case st == nil:
			return session.ErrNoStream
		case !st.holds(l):
			return &session.Fenced{Key: k, Held: l.Epoch, Epoch: st.epoch}
		}
		st.owner, st.waiting = "", time.Time{}
		if err := t.save(st); err != nil {
			return err
		}
		return s.tell(t)
	})
}

// Beat implements session.Claims.
func (s *Store) Beat(ctx context.Context, worker string) error {
	return s.do(ctx, func(t *tx) error {
		now, err := t.now()
		if err != nil {
			return err
		}
		if err := t.exec(`UPDATE workers SET beat = $1 WHERE beat > $1`, now); err != nil {
			return err
		}
		return t.exec(`INSERT INTO workers (id, beat, dead) VALUES ($1,$2,false)
			ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, dead = false`, worker, now)
	})
}

// owns says that a worker, by the name w, has a stream with work to do.
const owns = `EXISTS (SELECT 1 FROM streams s WHERE s.runnable AND s.worker = w.id)`

// Workers implements session.Claims.
func (s *Store) Workers(ctx context.Context) (all []session.Worker, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, `SELECT id, beat, dead FROM workers w WHERE NOT dead OR `+owns+` ORDER BY id COLLATE "C"`)
		if err != nil {
			return err
		}
		all, err = pgx.AppendRows(all, rows, func(row pgx.CollectableRow) (w session.Worker, err error) {
			err = row.Scan(&w.ID, &w.Beat, &w.Dead)
			w.Beat = w.Beat.UTC()
			return w, err
		})
		return err
	})
	return all, err
}

// Bury implements session.Claims.
func (s *Store) Bury(ctx context.Context, worker string) error {
	return s.do(ctx, func(t *tx) error {
		if err := t.exec(`DELETE FROM workers w WHERE dead AND NOT ` + owns); err != nil {
			return err
		}
		if err := t.exec(`UPDATE workers SET dead = true WHERE id = $1`, worker); err != nil {
			return err
		}
		return s.tell(t)
	})
}
