package postgres

import (
	"context"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

// Prune implements session.Retention.
func (s *Store) Prune(ctx context.Context, k session.Key, last int64) error {
	return s.do(ctx, func(t *tx) error {
		st, err := t.stream(k)
		switch {
		case err != nil:
			return err
		case st == nil:
			return session.ErrNoStream
		case !st.sum.AtRest() || st.sum.Last != last:
			return &session.Busy{Key: k}
		}
		now, err := t.now()
		if err != nil {
			return err
		}
		if err := t.exec(feedLock, k.Tenant); err != nil {
			return err
		}
		err = t.exec(`UPDATE feed SET stream = NULL WHERE stream = $1 AND pos = (SELECT max(pos) FROM feed WHERE tenant = $2 AND pos IS NOT NULL)`, st.id, k.Tenant)
		if err != nil {
			return err
		}
		for _, step := range []struct {
			query string
			arg   any
		}{
			{`DELETE FROM feed WHERE stream = $1`, st.id},
			{`SELECT 1 FROM blobs WHERE id IN (SELECT blob FROM blob_refs WHERE stream = $1) ORDER BY id FOR UPDATE`, st.id},
			{`INSERT INTO retention (stream) VALUES ($1)`, st.id},
			{`DELETE FROM events WHERE stream = $1`, st.id},
			{`DELETE FROM retention WHERE stream = $1`, st.id},
			{`UPDATE blobs SET needed = false WHERE id IN (SELECT blob FROM blob_refs WHERE stream = $1)
				AND NOT EXISTS (SELECT 1 FROM blob_refs r WHERE r.blob = blobs.id AND r.stream <> $1)`, st.id},
			{`DELETE FROM blob_refs WHERE stream = $1`, st.id},
			{`DELETE FROM blobs WHERE id IN (SELECT id FROM blobs WHERE NOT needed AND put <= $1 ORDER BY id FOR UPDATE SKIP LOCKED)`, now.Add(-admit.BlobTime)},
			{`DELETE FROM words WHERE stream = $1`, st.id},
			{`DELETE FROM posts WHERE stream = $1`, st.id},
			{`DELETE FROM streams WHERE id = $1`, st.id},
		} {
			if err := t.exec(step.query, step.arg); err != nil {
				return err
			}
		}
		return nil
	})
}

// Restore implements session.Retention.
func (s *Store) Restore(ctx context.Context, k session.Key, evs []session.Event) error {
	if _, err := admit.Restore(k, evs, s.local); err != nil {
		return err
	}
	return s.do(ctx, func(t *tx) error {
		st, err := t.stream(k)
		if err != nil {
			return err
		}
		if st != nil {
			return &session.Exists{Key: k}
		}
		return t.add(&stream{sum: session.Summary{Key: k}}, evs, false)
	})
}

// Reclaim implements session.Retention: the server does it.
func (s *Store) Reclaim(ctx context.Context) error { return s.open(ctx) }

// Writable implements session.Backend: a server that only reads refuses it.
func (s *Store) Writable(ctx context.Context) error {
	return s.do(ctx, func(t *tx) error { return t.exec(`UPDATE workers SET dead = dead WHERE id = ''`) })
}
