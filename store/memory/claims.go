package memory

import (
	"cmp"
	"container/list"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/session"
)

type worker struct {
	beat time.Time
	dead bool
	owns int
}

// claims says who owns what. Its lock is taken after a stream's.
type claims struct {
	mu      sync.Mutex
	workers map[string]*worker
	queue   list.List            // of *stream with something to do, owned or not, the longest waiting first
	asking  map[*stream]struct{} // those with a time by which somebody must have answered
}

// settle puts the stream into the queue or takes it out, after a commit. The
// caller holds the stream's lock.
func (c *claims) settle(st *stream) {
	runnable := st.sum.Runnable()
	if runnable == (st.place != nil) && (runnable || st.owner == "") && st.until.Equal(st.sum.Until) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if st.until = st.sum.Until; st.until.IsZero() {
		delete(c.asking, st)
	} else {
		c.asking[st] = struct{}{}
	}
	if !runnable {
		c.disown(st)
		c.leave(st)
		return
	}
	if st.place == nil {
		c.enter(st)
	}
}

// enter puts the stream at the end of the queue. The caller holds both locks.
func (c *claims) enter(st *stream) {
	st.shared = st.sum.Shared
	st.place = c.queue.PushBack(st)
}

func (c *claims) leave(st *stream) {
	if st.place != nil {
		c.queue.Remove(st.place)
		st.place = nil
	}
}

func (c *claims) disown(st *stream) {
	if w := c.workers[st.owner]; w != nil {
		w.owns--
	}
	st.owner = ""
}

// take makes the worker the owner. The caller holds both locks.
func (c *claims) take(st *stream, id string, how session.Takeover, now time.Time) session.Lease {
	c.disown(st)
	c.register(id, now).owns++
	st.owner = id
	st.epoch++
	return session.Lease{Worker: id, Epoch: st.epoch, Takeover: how}
}

// register returns the worker; one that is not known, or thought dead, begins
// to live now.
func (c *claims) register(id string, now time.Time) *worker {
	w := c.workers[id]
	if w == nil {
		w = &worker{beat: now}
		c.workers[id] = w
	}
	if w.dead {
		w.beat, w.dead = now, false
	}
	return w
}

// takeFree claims the stream of a post, or returns nil. The caller holds the
// stream's lock.
func (c *claims) takeFree(st *stream, id string, now func() time.Time) *session.Lease {
	if st.owner != "" || !st.sum.Runnable() {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.take(st, id, session.TakeoverNone, now())
	return &l
}

// claimable says whether the stream can be taken, and how. The caller holds
// c.mu.
func (c *claims) claimable(st *stream, now time.Time) (session.Takeover, bool) {
	if st.place == nil {
		return 0, false
	}
	if st.owner == "" {
		return session.TakeoverNone, true
	}
	switch w := c.workers[st.owner]; {
	case w == nil || w.dead:
		return session.TakeoverDead, true
	case now.Sub(w.beat) >= session.LeaseTime:
		return session.TakeoverExpired, true
	}
	return 0, false
}

// next finds the stream that has waited longest.
func (c *claims) next(now time.Time) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := c.queue.Front(); p != nil; p = p.Next() {
		st := p.Value.(*stream)
		if _, ok := c.claimable(st, now); ok && st.shared {
			return st
		}
	}
	return nil
}

// Claim implements session.Claims.
func (s *Store) Claim(ctx context.Context, worker string, only *session.Key) (session.Key, session.Lease, error) {
	for {
		var st *stream
		err := s.check(ctx)
		if err == nil && only != nil {
			st, err = s.stream(ctx, *only)
		} else if err == nil {
			st = s.claims.next(s.now())
		}
		if err != nil {
			return session.Key{}, session.Lease{}, err
		}
		if st == nil {
			return session.Key{}, session.Lease{}, session.ErrNoWork
		}
		if l, ok := s.claim(st, worker); ok {
			return st.key, l, nil
		}
		if only != nil {
			return session.Key{}, session.Lease{}, session.ErrNoWork
		}
	}
}

func (s *Store) claim(st *stream, id string) (session.Lease, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	now := s.now()
	how, ok := s.claims.claimable(st, now)
	if !ok {
		return session.Lease{}, false
	}
	return s.claims.take(st, id, how, now), true
}

// dueMost bounds what one call of Due lists.
const dueMost = 256

// Due implements session.Claims.
func (s *Store) Due(ctx context.Context) ([]session.Key, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	now := s.now()
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	var due []*stream
	for st := range s.claims.asking {
		if !now.Before(st.until) {
			due = append(due, st)
		}
	}
	slices.SortFunc(due, func(a, b *stream) int {
		return cmp.Or(a.until.Compare(b.until), strings.Compare(a.key.String(), b.key.String()))
	})
	keys := make([]session.Key, 0, min(len(due), dueMost))
	for _, st := range due[:cap(keys)] {
		keys = append(keys, st.key)
	}
	return keys, nil
}

// Release implements session.Claims.
func (s *Store) Release(ctx context.Context, k session.Key, l session.Lease) error {
	st, err := s.stream(ctx, k)
	if err != nil {
		return err
	}
	if st == nil {
		return session.ErrNoStream
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	if !st.holds(l) {
		return &session.Fenced{Key: k, Held: l.Epoch, Epoch: st.epoch}
	}
	s.claims.disown(st)
	s.claims.leave(st)
	s.claims.enter(st)
	return nil
}

// Beat implements session.Claims.
func (s *Store) Beat(ctx context.Context, id string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	now := s.now()
	for _, w := range s.claims.workers {
		if w.beat.After(now) {
			w.beat = now
		}
	}
	w := s.claims.register(id, now)
	w.beat, w.dead = now, false
	return nil
}

// Workers implements session.Claims.
func (s *Store) Workers(ctx context.Context) ([]session.Worker, error) {
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	var all []session.Worker
	for id, w := range s.claims.workers {
		if !w.dead || w.owns > 0 {
			all = append(all, session.Worker{ID: id, Beat: w.beat.UTC().Truncate(time.Microsecond), Dead: w.dead})
		}
	}
	slices.SortFunc(all, func(a, b session.Worker) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// Bury implements session.Claims.
func (s *Store) Bury(ctx context.Context, id string) error {
	if err := s.check(ctx); err != nil {
		return err
	}
	s.claims.mu.Lock()
	defer s.claims.mu.Unlock()
	for old, w := range s.claims.workers {
		if w.dead && w.owns == 0 {
			delete(s.claims.workers, old)
		}
	}
	if w := s.claims.workers[id]; w != nil {
		w.dead = true
	}
	return nil
}
