package memory

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

type blobKey struct{ tenant, digest string }

type blob struct {
	bytes []byte
	put   time.Time
	needs int // events that name it
}

type blobs struct {
	mu    sync.Mutex
	kept  map[blobKey]*blob
	order []put // the oldest first
}

type put struct {
	key blobKey
	at  time.Time
}

// refer checks that the blobs of the events are there, and keeps them.
func (b *blobs) refer(k session.Key, evs []session.Event) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range evs {
		for _, digest := range evs[i].Refs {
			if b.kept[blobKey{k.Tenant, digest}] == nil {
				return admit.MissingBlob(k, &evs[i], digest)
			}
		}
	}
	for i := range evs {
		for _, digest := range evs[i].Refs {
			b.kept[blobKey{k.Tenant, digest}].needs++
		}
	}
	return nil
}

// purge forgets a few blobs that nothing needs.
func (b *blobs) purge(now time.Time) {
	for range min(admit.BlobPurge, len(b.order)) {
		oldest := b.order[0]
		if now.Sub(oldest.at) < admit.BlobTime {
			return
		}
		if old := b.kept[oldest.key]; old != nil && old.needs == 0 && old.put.Equal(oldest.at) {
			delete(b.kept, oldest.key)
		}
		b.order = b.order[1:]
	}
}

// PutBlob implements session.Blobs.
func (s *Store) PutBlob(ctx context.Context, tenant string, data []byte) (string, error) {
	if err := s.check(ctx); err != nil {
		return "", err
	}
	digest, now := session.Digest(data), s.now()
	key := blobKey{tenant, digest}
	s.blobs.mu.Lock()
	defer s.blobs.mu.Unlock()
	s.blobs.purge(now)
	if old := s.blobs.kept[key]; old != nil {
		if old.needs > 0 || now.Sub(old.put) < admit.BlobTime/2 {
			return digest, nil
		}
		old.put = now
	} else {
		s.blobs.kept[key] = &blob{bytes: bytes.Clone(data), put: now}
	}
	s.blobs.order = append(s.blobs.order, put{key, now})
	return digest, nil
}

// Blob implements session.Blobs.
func (s *Store) Blob(ctx context.Context, tenant, digest string) ([]byte, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	s.blobs.mu.Lock()
	defer s.blobs.mu.Unlock()
	b := s.blobs.kept[blobKey{tenant, digest}]
	if b == nil {
		return nil, session.ErrNoBlob
	}
	return bytes.Clone(b.bytes), nil
}
