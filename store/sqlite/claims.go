package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/recent"
)

// take makes the worker the owner; the caller saves the stream.
func (w *writer) take(st *stream, worker string, how session.Takeover) (session.Lease, error) {
	if err := w.register(worker); err != nil {
		return session.Lease{}, err
	}
	st.owner = worker
	st.epoch++
	return session.Lease{Worker: worker, Epoch: st.epoch, Takeover: how}, nil
}

// register lets a worker that is not known, or thought dead, live from now on.
func (w *writer) register(worker string) error {
	if _, ok := w.known.workers[worker]; ok {
		return nil
	}
	err := w.exec(`INSERT INTO workers (id, beat, dead) VALUES (?,?,0)
		ON CONFLICT (id) DO UPDATE SET beat = excluded.beat, dead = 0 WHERE dead`, worker, w.now().UnixMicro())
	if err != nil {
		return err
	}
	recent.Add(w.known.workers, worker, struct{}{}, maxWorkers)
	return nil
}

const claimQuery = `SELECT s.tenant, s.stream, s.worker, w.beat, w.dead
	FROM streams s LEFT JOIN workers w ON w.id = s.worker
	WHERE s.runnable = 1 AND (s.worker IS NULL OR w.id IS NULL OR w.dead OR w.beat <= ?)`

// Claim implements session.Claims.
func (s *Store) Claim(ctx context.Context, worker string, only *session.Key) (session.Key, session.Lease, error) {
	var k session.Key
	var l session.Lease
	err := s.do(ctx, func(w *writer) (err error) {
		k, l, err = w.claim(worker, only)
		return err
	})
	return k, l, err
}

func (w *writer) claim(worker string, only *session.Key) (session.Key, session.Lease, error) {
	query, args := claimQuery, []any{w.now().Add(-session.LeaseTime).UnixMicro()}
	if only != nil {
		query += ` AND s.tenant = ? AND s.stream = ?`
		args = append(args, only.Tenant, only.Stream)
	} else {
		query += ` AND s.shared ORDER BY s.waiting, s.id LIMIT 1`
	}
	var k session.Key
	var how session.Takeover
	err := w.conn.query(query, func(row []driver.Value) bool {
		k = session.Key{Tenant: str(row[0]), Stream: str(row[1])}
		how = takeover(row[2], row[3], row[4])
		return false
	}, args...)
	if err != nil {
		return k, session.Lease{}, &fault{err}
	}
	if k.Stream == "" {
		return k, session.Lease{}, session.ErrNoWork
	}
	st, err := w.stream(k)
	if err != nil {
		return k, session.Lease{}, err
	}
	l, err := w.take(st, worker, how)
	if err != nil {
		return k, l, err
	}
	return k, l, w.save(st)
}

// takeover says how a stream is taken from an owner, whose row may be gone.
func takeover(owner, beat, dead driver.Value) session.Takeover {
	switch {
	case owner == nil:
		return session.TakeoverNone
	case beat == nil || truth(dead):
		return session.TakeoverDead
	}
	return session.TakeoverExpired
}

// dueMost bounds what one call of Due lists.
const dueMost = 256

// Due implements session.Claims.
func (s *Store) Due(ctx context.Context) ([]session.Key, error) {
	var due []session.Key
	err := s.read(ctx, func(c *conn) error {
		return c.query(`SELECT tenant, stream FROM streams WHERE until > 0 AND until <= ? ORDER BY until, tenant, stream LIMIT ?`,
			func(row []driver.Value) bool {
				due = append(due, session.Key{Tenant: str(row[0]), Stream: str(row[1])})
				return true
			}, s.now().UnixMicro(), int64(dueMost))
	})
	return due, err
}

// Release implements session.Claims.
func (s *Store) Release(ctx context.Context, k session.Key, l session.Lease) error {
	return s.do(ctx, func(w *writer) error {
		st, err := w.stream(k)
		if err != nil {
			return err
		}
		if st == nil {
			return session.ErrNoStream
		}
		if !st.holds(l) {
			return &session.Fenced{Key: k, Held: l.Epoch, Epoch: st.epoch}
		}
		st.owner, st.waiting = "", time.Time{}
		return w.save(st)
	})
}

// Beat implements session.Claims.
func (s *Store) Beat(ctx context.Context, worker string) error {
	return s.do(ctx, func(w *writer) error {
		now := w.now().UnixMicro()
		recent.Add(w.known.workers, worker, struct{}{}, maxWorkers)
		if err := w.exec(`UPDATE workers SET beat = ?1 WHERE beat > ?1`, now); err != nil {
			return err
		}
		return w.exec(`INSERT OR REPLACE INTO workers (id, beat, dead) VALUES (?,?,0)`, worker, now)
	})
}

// Workers implements session.Claims.
func (s *Store) Workers(ctx context.Context) ([]session.Worker, error) {
	var all []session.Worker
	err := s.read(ctx, func(c *conn) error {
		return c.query(`SELECT id, beat, dead FROM workers w
			WHERE NOT dead OR EXISTS (SELECT 1 FROM streams WHERE runnable = 1 AND worker = w.id) ORDER BY id`,
			func(row []driver.Value) bool {
				all = append(all, session.Worker{ID: str(row[0]), Beat: instant(row[1]), Dead: truth(row[2])})
				return true
			})
	})
	return all, err
}

// Bury implements session.Claims.
func (s *Store) Bury(ctx context.Context, worker string) error {
	return s.do(ctx, func(w *writer) error {
		delete(w.known.workers, worker)
		err := w.exec(`DELETE FROM workers WHERE dead
			AND NOT EXISTS (SELECT 1 FROM streams WHERE runnable = 1 AND worker = workers.id)`)
		if err != nil {
			return err
		}
		return w.exec(`UPDATE workers SET dead = 1 WHERE id = ?`, worker)
	})
}
