package dispatch

import (
	"context"
	"sync"

	"github.com/rosterrun/roster/session"
)

// signals tells the job of a stream about posts before it meets them in the
// log. They stand in the stream's topic, which is there before the job is: a
// post that comes while the job begins is noticed.
type signals struct {
	mu              sync.Mutex
	after           int64 // what the loop knew when it began
	cancel          context.CancelFunc
	steered, broken int64 // the numbers of the newest steering message and cancel
}

// Loop makes the job's signals ready for another loop, which knows the events
// up to seq after: cancelled is done when a later cancel is posted, and steered
// gives the number of the newest steering message. release ends the use of both.
func (j *Job) Loop(after int64) (cancelled context.Context, steered func() int64, release func()) {
	s := j.signals
	ctx, cancel := context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.after, s.cancel = after, cancel
	if s.broken > after {
		cancel()
	}
	return ctx, s.newestSteer, cancel
}

func (s *signals) newestSteer() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steered
}

// notice takes a post in. Posts may be noticed late and out of order.
func (s *signals) notice(e *session.Event) {
	if !session.Inbound(e.Type) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Type {
	case "cancel":
		s.broken = max(s.broken, e.Seq)
		if s.cancel != nil && e.Seq > s.after {
			s.cancel()
		}
	case "steer":
		s.steered = max(s.steered, e.Seq)
	}
}
