package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
	"github.com/rosterrun/roster/store/internal/recent"
)

// PutBlob implements session.Blobs.
func (s *Store) PutBlob(ctx context.Context, tenant string, data []byte) (string, error) {
	b := recent.Blob{Tenant: tenant, Digest: session.Digest(data)}
	if err := s.open(ctx); err != nil {
		return "", err
	}
	if s.blobs.Has(b, s.local()) {
		return b.Digest, nil
	}
	var put time.Time
	err := s.do(ctx, func(t *tx) (err error) {
		put, err = t.putBlob(b, data)
		return err
	})
	if err != nil {
		return "", err
	}
	s.blobs.Put(b, put.Add(admit.BlobTime/2))
	return b.Digest, nil
}

// putBlob stores a blob and returns when it was put last.
func (t *tx) putBlob(b recent.Blob, data []byte) (put time.Time, err error) {
	now, err := t.now()
	if err != nil {
		return now, err
	}
	err = t.exec(`DELETE FROM blobs WHERE id IN
		(SELECT id FROM blobs WHERE NOT needed AND put <= $1 ORDER BY put LIMIT $2 FOR UPDATE SKIP LOCKED)`,
		now.Add(-admit.BlobTime), admit.BlobPurge)
	if err != nil {
		return now, err
	}
	if data == nil {
		data = []byte{}
	}
	err = t.QueryRow(t.ctx, `INSERT INTO blobs (tenant, digest, put, needed, data) VALUES ($1,$2,$3,false,$4)
		ON CONFLICT (tenant, digest) DO UPDATE SET put = CASE WHEN blobs.put <= $5 THEN excluded.put ELSE blobs.put END
		RETURNING put`, b.Tenant, b.Digest, now, data, now.Add(-admit.BlobTime/2)).Scan(&put)
	return put, err
}

// Blob implements session.Blobs.
func (s *Store) Blob(ctx context.Context, tenant, digest string) (data []byte, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		err := t.QueryRow(ctx, `SELECT data FROM blobs WHERE tenant = $1 AND digest = $2`, tenant, digest).Scan(&data)
		if errors.Is(err, pgx.ErrNoRows) {
			return session.ErrNoBlob
		}
		return err
	})
	return data, err
}
