package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
	"github.com/rosterrun/roster/store/internal/recent"
)

// blob is what the writer remembers of a row of blobs.
type blob struct {
	id     int64
	put    time.Time
	needed bool
}

// PutBlob implements session.Blobs.
func (s *Store) PutBlob(ctx context.Context, tenant string, data []byte) (string, error) {
	k := recent.Blob{Tenant: tenant, Digest: session.Digest(data)}
	if err := s.open(ctx); err != nil {
		return "", err
	}
	now := s.now()
	if s.blobs.Has(k, now) {
		return k.Digest, nil
	}
	var put time.Time
	err := s.do(ctx, func(w *writer) (err error) {
		put, err = w.putBlob(k, data, now)
		return err
	})
	if err != nil {
		return "", err
	}
	s.blobs.Put(k, put.Add(admit.BlobTime/2))
	return k.Digest, nil
}

// putBlob stores a blob and returns when it was put last.
func (w *writer) putBlob(k recent.Blob, data []byte, now time.Time) (time.Time, error) {
	if err := w.purgeBlobs(now); err != nil {
		return now, err
	}
	b, err := w.blob(k)
	if err != nil {
		return now, err
	}
	if b == nil {
		if data == nil {
			data = []byte{}
		}
		return now, w.exec(`INSERT INTO blobs (tenant, digest, put, needed, data) VALUES (?,?,?,0,?)`,
			k.Tenant, k.Digest, now.UnixMicro(), data)
	}
	if now.Sub(b.put) < admit.BlobTime/2 {
		return b.put, nil
	}
	b.put = now
	return now, w.exec(`UPDATE blobs SET put = ? WHERE id = ?`, now.UnixMicro(), b.id)
}

// purgeBlobs removes a few blobs that nothing needs.
func (w *writer) purgeBlobs(now time.Time) error {
	var old []recent.Blob
	err := w.conn.query(`SELECT tenant, digest FROM blobs WHERE needed = 0 AND put <= ? ORDER BY put LIMIT ?`,
		func(row []driver.Value) bool {
			old = append(old, recent.Blob{Tenant: str(row[0]), Digest: str(row[1])})
			return true
		}, now.Add(-admit.BlobTime).UnixMicro(), int64(admit.BlobPurge))
	if err != nil {
		return &fault{err}
	}
	for _, k := range old {
		delete(w.known.blobs, k)
		if err := w.exec(`DELETE FROM blobs WHERE tenant = ? AND digest = ?`, k.Tenant, k.Digest); err != nil {
			return err
		}
	}
	return nil
}

// blob returns what is known of a blob, or nil.
func (w *writer) blob(k recent.Blob) (*blob, error) {
	if b := w.known.blobs[k]; b != nil {
		return b, nil
	}
	var b *blob
	err := w.conn.query(`SELECT id, put, needed FROM blobs WHERE tenant = ? AND digest = ?`, func(row []driver.Value) bool {
		b = &blob{integer(row[0]), instant(row[1]), truth(row[2])}
		return false
	}, k.Tenant, k.Digest)
	if err != nil {
		return nil, &fault{err}
	}
	if b != nil {
		recent.Add(w.known.blobs, k, b, maxBlobs)
	}
	return b, nil
}

// refer keeps the blobs that an event of the stream names; check has found
// them.
func (w *writer) refer(st *stream, refs []string) error {
	for _, digest := range refs {
		b, err := w.blob(recent.Blob{Tenant: st.sum.Key.Tenant, Digest: digest})
		if err != nil {
			return err
		}
		if err := w.exec(`INSERT OR IGNORE INTO blob_refs (blob, stream) VALUES (?,?)`, b.id, st.id); err != nil {
			return err
		}
		if b.needed {
			continue
		}
		b.needed = true
		if err := w.exec(`UPDATE blobs SET needed = 1 WHERE id = ?`, b.id); err != nil {
			return err
		}
	}
	return nil
}

// Blob implements session.Blobs.
func (s *Store) Blob(ctx context.Context, tenant, digest string) ([]byte, error) {
	var data []byte
	found := false
	err := s.read(ctx, func(c *conn) error {
		return c.query(`SELECT data FROM blobs WHERE tenant = ? AND digest = ?`, func(row []driver.Value) bool {
			data, _ = row[0].([]byte)
			found = true
			return false
		}, tenant, digest)
	})
	if err == nil && !found {
		err = session.ErrNoBlob
	}
	return data, err
}
