package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
	"github.com/rosterrun/roster/store/internal/recent"
)

// Prune implements session.Retention.
func (s *Store) Prune(ctx context.Context, k session.Key, last int64) error {
	return s.do(ctx, func(w *writer) error { return w.prune(k, last) })
}

func (w *writer) prune(k session.Key, last int64) error {
	st, err := w.stream(k)
	switch {
	case err != nil:
		return err
	case st == nil:
		return session.ErrNoStream
	case !st.sum.AtRest() || st.sum.Last != last:
		return &session.Busy{Key: k}
	}
	old := w.now().Add(-admit.BlobTime).UnixMicro()
	for _, step := range []struct {
		query string
		args  []any
	}{
		{`INSERT INTO retention (stream) VALUES (?)`, []any{st.id}},
		{`DELETE FROM events WHERE stream = ?`, []any{st.id}},
		{`DELETE FROM retention WHERE stream = ?`, []any{st.id}},
		{`UPDATE blobs SET needed = 0 WHERE id IN (SELECT blob FROM blob_refs WHERE stream = ?)
			AND NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.blob = blobs.id AND r.stream <> ?)`, []any{st.id, st.id}},
		{`DELETE FROM blob_refs WHERE stream = ?`, []any{st.id}},
		{`DELETE FROM blobs WHERE needed = 0 AND put <= ?`, []any{old}},
		{`DELETE FROM words WHERE rowid IN (SELECT id FROM worded WHERE stream = ?)`, []any{st.id}},
		{`DELETE FROM worded WHERE stream = ?`, []any{st.id}},
		{`DELETE FROM posts WHERE stream = ?`, []any{st.id}},
		{`UPDATE feed SET stream = NULL WHERE stream = ? AND pos = (SELECT max(pos) FROM feed WHERE tenant = ?)`, []any{st.id, k.Tenant}},
		{`DELETE FROM feed WHERE stream = ?`, []any{st.id}},
		{`DELETE FROM streams WHERE id = ?`, []any{st.id}},
	} {
		if err := w.exec(step.query, step.args...); err != nil {
			return err
		}
	}
	delete(w.known.streams, k)
	w.known.blobs = map[recent.Blob]*blob{}
	return nil
}

// Restore implements session.Retention.
func (s *Store) Restore(ctx context.Context, k session.Key, evs []session.Event) error {
	if _, err := admit.Restore(k, evs, s.now); err != nil {
		return err
	}
	return s.do(ctx, func(w *writer) error {
		st, err := w.stream(k)
		if err != nil {
			return err
		}
		if st != nil {
			return &session.Exists{Key: k}
		}
		st = &stream{sum: session.Summary{Key: k}}
		sum, _, err := w.check(st, evs) // it was used elsewhere, or is counted
		if err != nil {
			return err
		}
		return w.add(st, sum, evs)
	})
}

// vacuumPages is how many pages one step gives back, so that writers need not
// wait long.
const vacuumPages = "1000"

// Reclaim implements session.Retention: the file gets smaller.
func (s *Store) Reclaim(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	c, err := dial(s.dsn)
	if err != nil {
		return &Error{s.path, err}
	}
	err = reclaim(ctx, c)
	if err = errors.Join(err, c.close()); err != nil && ctx.Err() == nil {
		err = &Error{s.path, err}
	}
	return err
}

func reclaim(ctx context.Context, c *conn) error {
	every := func([]driver.Value) bool { return true }
	for before := int64(-1); ; {
		free, err := c.number("PRAGMA freelist_count")
		if err != nil || free == 0 || free == before {
			if err == nil {
				err = c.query("PRAGMA wal_checkpoint(TRUNCATE)", every) // others that read keep the rest
			}
			return err
		}
		before = free
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.query("PRAGMA incremental_vacuum("+vacuumPages+")", every); err != nil {
			return err
		}
	}
}

// Writable implements session.Backend: it writes a number again that is there, so
// that a full disk is seen as well as a file that may not be written.
func (s *Store) Writable(ctx context.Context) error {
	return s.do(ctx, func(w *writer) error { return w.exec(fmt.Sprintf("PRAGMA user_version = %d", schema)) })
}
