// Package memory is a session store that lives as long as the process. It
// keeps events encoded, exactly as a durable store does, and decodes on read.
package memory

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

// Options of a store. The zero value is good.
type Options struct {
	// Now is the store's clock; nil is time.Now.
	Now func() time.Time
}

// Store is a session.Backend in memory, safe for concurrent use. Streams do
// not wait for each other.
type Store struct {
	now func() time.Time

	mu      sync.RWMutex // guards the maps, not the streams
	tenants map[string]map[string]*stream
	closed  bool

	feedsMu sync.Mutex // guards the map; it is taken after a stream's lock
	feeds   map[string]*feed

	posts  posts
	claims claims
	blobs  blobs
	usage  usage
	keys   keys
	audit  auditLog
	rigs   rigs
}

var _ session.Backend = (*Store)(nil)

// New returns an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{now: o.Now, tenants: map[string]map[string]*stream{}, feeds: map[string]*feed{}}
	s.posts.kept = map[idemKey]posted{}
	s.claims.workers = map[string]*worker{}
	s.claims.asking = map[*stream]struct{}{}
	s.blobs.kept = map[blobKey]*blob{}
	s.usage.kept = map[account]*session.Used{}
	s.rigs.kept = map[ledger.Rig]*rig{}
	return s
}

// Close forgets everything. Later calls fail.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed, s.tenants = true, nil
	return nil
}

func (s *Store) check(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return admit.ErrClosed
	}
	return nil
}

// stream returns the stream, or nil.
func (s *Store) stream(ctx context.Context, k session.Key) (*stream, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, admit.ErrClosed
	}
	return s.tenants[k.Tenant][k.Stream], nil
}

// Append implements session.Store.
func (s *Store) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	if err := admit.Append(k, evs, s.now); err != nil {
		return 0, err
	}
	st, err := s.stream(ctx, k)
	if err != nil {
		return 0, err
	}
	if st == nil {
		return 0, session.ErrNoStream
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.gone {
		return 0, session.ErrNoStream
	}
	if !st.holds(l) {
		return 0, &session.Fenced{Key: k, Held: l.Epoch, Epoch: st.epoch}
	}
	if after != st.sum.Last {
		return 0, st.behind(after)
	}
	if err := s.commit(st, evs); err != nil {
		return 0, err
	}
	s.claims.settle(st)
	return st.sum.Last, nil
}

// Post implements session.Store.
func (s *Store) Post(ctx context.Context, k session.Key, p session.Post) (session.Posted, error) {
	if err := s.check(ctx); err != nil {
		return session.Posted{}, err
	}
	if err := admit.Post(k, &p, s.now); err != nil {
		return session.Posted{}, err
	}
	if p.Idem == "" {
		return s.post(ctx, k, &p)
	}
	return s.posts.once(k, &p, s.now(), func() (session.Posted, error) { return s.post(ctx, k, &p) })
}

func (s *Store) post(ctx context.Context, k session.Key, p *session.Post) (session.Posted, error) {
	st, err := s.stream(ctx, k)
	if err != nil {
		return session.Posted{}, err
	}
	if st == nil {
		if !admit.Creates(p) {
			return session.Posted{}, session.ErrNoStream
		}
		return s.create(ctx, k, p)
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.gone {
		return session.Posted{}, session.ErrNoStream
	}
	return s.add(st, p)
}

// create makes the stream with its first post. The stream is not seen before
// it holds the post.
func (s *Store) create(ctx context.Context, k session.Key, p *session.Post) (session.Posted, error) {
	s.mu.Lock()
	if s.closed || s.tenants[k.Tenant][k.Stream] != nil {
		s.mu.Unlock()
		return s.post(ctx, k, p)
	}
	defer s.mu.Unlock()
	st := &stream{key: k, sum: session.Summary{Key: k}}
	done, err := s.add(st, p)
	if err != nil {
		return done, err
	}
	if s.tenants[k.Tenant] == nil {
		s.tenants[k.Tenant] = map[string]*stream{}
	}
	s.tenants[k.Tenant][k.Stream] = st
	return done, nil
}

// add stores a post in a stream whose lock the caller holds.
func (s *Store) add(st *stream, p *session.Post) (session.Posted, error) {
	if p.OnlyIdle && !st.sum.AtRest() {
		return session.Posted{}, &session.Busy{Key: st.key}
	}
	first := st.sum.Last + 1
	if err := s.commit(st, p.Events); err != nil {
		return session.Posted{}, err
	}
	done := session.Posted{Key: st.key, First: first, Last: st.sum.Last}
	s.claims.settle(st)
	if p.Worker != "" {
		done.Lease = s.claims.takeFree(st, p.Worker, s.now)
	}
	return done, nil
}

// commit adds the events, all or none, numbers them and counts their use.
func (s *Store) commit(st *stream, evs []session.Event) error {
	tally := tallies.Get().(*session.Tally)
	defer tallies.Put(tally)
	*tally = (*tally)[:0]
	if err := s.keep(st, evs, tally); err != nil {
		return err
	}
	s.usage.add(*tally)
	return nil
}

// keep adds the events, all or none, and numbers them; tally takes their use in
// unless it is nil.
func (s *Store) keep(st *stream, evs []session.Event, tally *session.Tally) error {
	sum := st.sum
	for i := range evs {
		seq := evs[i].Seq
		evs[i].Seq = sum.Last + 1
		var err error
		if tally != nil {
			err = tally.Add(&sum, &evs[i])
		}
		err = cmp.Or(err, sum.Apply(&evs[i]))
		evs[i].Seq = seq
		if err != nil {
			return err
		}
	}
	if err := s.blobs.refer(st.key, evs); err != nil {
		return err
	}
	for i := range evs {
		evs[i].Seq = st.sum.Last + int64(i) + 1
		st.log.add(&evs[i])
	}
	first := st.sum.Last + 1
	st.sum = sum
	if len(evs) > 0 {
		s.fed(st, first)
	}
	return nil
}

// Read implements session.Store. It yields what is there when it begins.
func (s *Store) Read(ctx context.Context, k session.Key, after int64) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		st, err := s.stream(ctx, k)
		if err != nil {
			yield(session.Event{}, err)
			return
		}
		if st == nil {
			return
		}
		last := st.summary().Last
		for seq := max(after, 0) + 1; seq <= last; seq++ {
			if err := ctx.Err(); err != nil {
				yield(session.Event{}, err)
				return
			}
			if !yield(st.event(seq), nil) {
				return
			}
		}
	}
}

// Summary implements session.Store.
func (s *Store) Summary(ctx context.Context, k session.Key) (session.Summary, error) {
	st, err := s.stream(ctx, k)
	if err != nil {
		return session.Summary{}, err
	}
	if st == nil {
		return session.Summary{}, session.ErrNoStream
	}
	return st.summary(), nil
}

// List implements session.Store.
func (s *Store) List(ctx context.Context, tenant string, q session.Query) iter.Seq2[session.Summary, error] {
	return func(yield func(session.Summary, error) bool) {
		if err := s.check(ctx); err != nil {
			yield(session.Summary{}, err)
			return
		}
		n := 0
		for _, st := range s.newest(tenant, q.Before) {
			if err := ctx.Err(); err != nil {
				yield(session.Summary{}, err)
				return
			}
			sum := st.summary()
			if q.Status != "" && sum.Status() != q.Status || q.Profile != "" && sum.Profile != q.Profile || q.Asking && !sum.Asking || q.Search != nil && !st.says(q.Search) {
				continue
			}
			if n++; !yield(sum, nil) || n == q.Limit {
				return
			}
		}
	}
}

// newest returns the tenant's streams that sort before an id, if one is named,
// in descending order.
func (s *Store) newest(tenant, before string) []*stream {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var found []*stream
	for id, st := range s.tenants[tenant] {
		if before == "" || id < before {
			found = append(found, st)
		}
	}
	slices.SortFunc(found, func(a, b *stream) int {
		return strings.Compare(b.key.Stream, a.key.Stream)
	})
	return found
}
