package memory

import (
	"container/list"
	"sync"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

// stream is one session's log. What claims guards too is written under both
// locks and may be read under either.
type stream struct {
	key session.Key
	mu  sync.Mutex
	sum session.Summary
	log log

	gone bool // it was pruned

	owner  string        // also guarded by claims.mu; empty if it is free
	epoch  int64         // also guarded by claims.mu
	shared bool          // also guarded by claims.mu
	place  *list.Element // also guarded by claims.mu; nil if there is nothing to do
	until  time.Time     // also guarded by claims.mu; that of sum
}

func (st *stream) holds(l session.Lease) bool {
	return st.owner != "" && st.owner == l.Worker && st.epoch == l.Epoch
}

// event returns the event with a number, which must be there.
func (st *stream) event(seq int64) session.Event {
	st.mu.Lock()
	record := st.log.record(seq)
	st.mu.Unlock()
	return decode(record)
}

func (st *stream) summary() session.Summary {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.sum
}

// behind tells an owner, whose number is not the last one, what it has missed.
// The caller holds the lock.
func (st *stream) behind(after int64) error {
	if after < 0 || after > st.sum.Last {
		return admit.Stale(st.key, after, st.sum.Last)
	}
	missed := make([]session.Event, 0, st.sum.Last-after)
	for seq := after + 1; seq <= st.sum.Last; seq++ {
		e := decode(st.log.record(seq))
		if !session.Inbound(e.Type) {
			return admit.Stale(st.key, after, st.sum.Last)
		}
		missed = append(missed, e)
	}
	return &session.Behind{Key: st.key, Events: missed}
}
