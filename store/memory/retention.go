package memory

import (
	"context"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

// Prune implements session.Retention.
func (s *Store) Prune(ctx context.Context, k session.Key, last int64) error {
	st, err := s.stream(ctx, k)
	if err != nil {
		return err
	}
	if st == nil {
		return session.ErrNoStream
	}
	s.posts.mu.Lock()
	defer s.posts.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.gone:
		return session.ErrNoStream
	case !st.sum.AtRest() || st.sum.Last != last:
		return &session.Busy{Key: k}
	}
	st.gone = true
	delete(s.tenants[k.Tenant], k.Stream)
	for key, p := range s.posts.kept {
		if p.done.Key == k {
			delete(s.posts.kept, key)
		}
	}
	s.blobs.release(st)
	s.feedsMu.Lock()
	f := s.feeds[k.Tenant]
	s.feedsMu.Unlock()
	f.drop(st)
	return nil
}

// release forgets that the events of a stream need their blobs.
func (b *blobs) release(st *stream) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for seq := int64(1); seq <= st.sum.Last; seq++ {
		for _, digest := range decode(st.log.record(seq)).Refs {
			key := blobKey{st.key.Tenant, digest}
			kept := b.kept[key]
			if kept == nil {
				continue
			}
			if kept.needs--; kept.needs == 0 {
				b.order = append(b.order, put{key, kept.put})
			}
		}
	}
}

// Restore implements session.Retention.
func (s *Store) Restore(ctx context.Context, k session.Key, evs []session.Event) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	if _, err := admit.Restore(k, evs, s.now); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return admit.ErrClosed
	}
	if s.tenants[k.Tenant][k.Stream] != nil {
		return &session.Exists{Key: k}
	}
	st := &stream{key: k, sum: session.Summary{Key: k}}
	if err := s.keep(st, evs, nil); err != nil {
		return err
	}
	if s.tenants[k.Tenant] == nil {
		s.tenants[k.Tenant] = map[string]*stream{}
	}
	s.tenants[k.Tenant][k.Stream] = st
	return nil
}

// Reclaim implements session.Retention: the collector does it.
func (s *Store) Reclaim(ctx context.Context) error { return s.check(ctx) }

// says says whether one of the stream's texts has what is looked for.
func (st *stream) says(what session.Search) bool {
	last := st.summary().Last
	for seq := int64(1); seq <= last; seq++ {
		e := st.event(seq)
		if what.In(session.Searchable(&e)) {
			return true
		}
	}
	return false
}

// Writable implements session.Backend.
func (s *Store) Writable(ctx context.Context) error { return s.check(ctx) }
