package roster

import (
	"context"
	"sync"
	"time"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/session"
)

// Bounds of the folded states that are kept in memory for the next prompt of a
// session. A state that is not there is folded anew from the log.
const (
	statesMax  = 1024
	statesIdle = time.Minute
)

// states keeps the folds of sessions that were used a short while ago. Each is
// owned by one run at a time: take removes it.
type states struct {
	mu    sync.Mutex
	kept  map[session.Key]kept
	swept time.Time
}

type kept struct {
	state *session.State
	since time.Time
}

// take returns the state of a job's stream up to its newest event.
func (s *states) take(ctx context.Context, j *dispatch.Job) (*session.State, error) {
	k := j.Key
	s.mu.Lock()
	st := s.kept[k].state
	delete(s.kept, k)
	s.mu.Unlock()
	if st == nil {
		st = session.NewState(k)
	}
	posted := j.Posted
	if len(posted) > 0 && posted[0].Seq == st.Last+1 {
		for i := range posted {
			if err := st.Apply(&posted[i]); err != nil {
				return nil, err
			}
		}
		return st, nil
	}
	for e, err := range j.Store.Read(ctx, k, st.Last) {
		if err != nil {
			return nil, err
		}
		if len(posted) > 0 && e.Seq == posted[0].Seq {
			e, posted = posted[0], posted[1:] // what Submit compiled goes by its body
		}
		if err := st.Apply(&e); err != nil {
			return nil, err
		}
	}
	return st, nil
}

// drop forgets a session that is no more.
func (s *states) drop(k session.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.kept, k)
}

// put keeps a state that is a fold of committed events only.
func (s *states) put(st *session.State) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[session.Key]kept{}
	}
	if len(s.kept) >= statesMax || now.Sub(s.swept) > statesIdle {
		s.sweep(now)
	}
	if len(s.kept) < statesMax {
		s.kept[st.Key] = kept{st, now}
	}
}

// sweep drops what has not been used lately; if that is not enough, some more.
func (s *states) sweep(now time.Time) {
	s.swept = now
	for k, v := range s.kept {
		if now.Sub(v.since) > statesIdle {
			delete(s.kept, k)
		}
	}
	for k := range s.kept {
		if len(s.kept) < statesMax {
			break
		}
		delete(s.kept, k)
	}
}
