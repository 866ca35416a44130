package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rosterrun/roster/session"
)

// flushAfter is how long events wait for the commit that their turn awaits
// anyway, before they are committed by themselves. A model that answers at once
// then costs one commit, and a slow one is still seen to have been asked.
const flushAfter = 25 * time.Millisecond

// maxBehind bounds how often one commit may find that posts came in between.
const maxBehind = 100

// journal is the owner's pen: it gathers events and appends them to the log.
type journal struct {
	ctx   context.Context // of flushes
	store session.Store
	key   session.Key
	lease session.Lease

	mu      sync.Mutex
	last    int64           // the newest event of the stream that we know of
	pending []session.Event // in order, not yet committed
	done    []session.Event // committed, not yet taken by the reader
	slab    []byte          // room for the bytes of the next events
	timer   *time.Timer
	armed   atomic.Bool // a flush is to come
	flushes sync.WaitGroup
}

// newest is the number of the newest event of the stream that we know of.
func (j *journal) newest() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.last
}

// add queues an event that says b, and gives it to apply, if there is one, as it
// will stand in the log.
func (j *journal) add(like session.Event, b session.Body, refs []string, apply func(*session.Event) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if cap(j.slab)-len(j.slab) < slabRoom {
		j.slab = make([]byte, 0, slabSize)
	}
	if j.pending == nil {
		j.pending = queues.Get().(*[usualEvents]session.Event)[:0]
	}
	j.pending = append(j.pending, like)
	e := &j.pending[len(j.pending)-1]
	e.Body, e.Refs = b, refs
	n := len(j.slab)
	j.slab = e.EncodeTo(j.slab)
	e.Data = j.slab[n:len(j.slab):len(j.slab)]
	if apply == nil {
		return nil
	}
	return apply(e)
}

// The events of a turn are encoded into one piece of memory. An event that
// needs more room than is left takes the slab with it as it grows.
const (
	slabSize    = 1536
	slabRoom    = 256
	usualEvents = 16
)

// queues keeps the backing of queues: no store and no reader keeps the slice of
// events that it is given.
var queues = sync.Pool{New: func() any { return new([usualEvents]session.Event) }}

// commit makes all queued events durable. Posts that came in between are given
// to learn; they precede the queued events in the log. If stands then says that
// the last queued event does not hold any more, it is dropped and nothing is
// committed.
func (j *journal) commit(ctx context.Context, learn func([]session.Event) error, stands func() bool) (bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for range maxBehind {
		if len(j.pending) == 0 {
			return true, nil
		}
		err := j.append(ctx)
		if err == nil {
			return true, nil
		}
		var behind *session.Behind
		if !errors.As(err, &behind) {
			return false, err
		}
		j.last = behind.Events[len(behind.Events)-1].Seq
		j.done = append(j.done, behind.Events...)
		if err := learn(behind.Events); err != nil {
			return false, err
		}
		if !stands() {
			j.pending = j.pending[:len(j.pending)-1]
			return false, nil
		}
	}
	return false, fmt.Errorf("session %s: %d times in a row posts came in between; giving up", j.key, maxBehind)
}

// asks says that a question is queued. It is for commit's learn, which has the
// lock.
func (j *journal) asks(ask string) bool {
	return slices.ContainsFunc(j.pending, func(e session.Event) bool {
		switch b := e.Body.(type) {
		case *session.PermissionAsked:
			return b.Ask == ask
		case *session.InputAsked:
			return b.Ask == ask
		}
		return false
	})
}

// takeBack drops the newest queued event.
func (j *journal) takeBack() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.pending); n > 0 {
		j.pending = j.pending[:n-1]
	}
}

func (j *journal) append(ctx context.Context) error {
	last, err := j.store.Append(ctx, j.key, j.lease, j.last, j.pending)
	if err != nil {
		return err
	}
	j.last = last
	if j.done == nil {
		j.done, j.pending = j.pending, nil
	} else {
		j.done = append(j.done, j.pending...)
		j.pending = recycle(j.pending)
	}
	return nil
}

// recycle gives a queue back that nobody looks at any more. One that has grown
// is left to the collector.
func recycle(q []session.Event) []session.Event {
	if cap(q) == usualEvents {
		clear(q[:usualEvents])
		queues.Put((*[usualEvents]session.Event)(q[:usualEvents]))
	}
	return nil
}

// take hands over what was committed since the last take. The taker recycles it.
func (j *journal) take() []session.Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	done := j.done
	j.done = nil
	return done
}

// flushSoon commits what is queued in a little while, unless the wait ends
// before. It is called when the owner begins to wait for somebody. An error is
// left for the next commit to meet.
func (j *journal) flushSoon() {
	if j.armed.Swap(true) {
		return
	}
	j.flushes.Add(1)
	if j.timer == nil {
		j.timer = time.AfterFunc(flushAfter, j.flush)
	} else {
		j.timer.Reset(flushAfter)
	}
}

func (j *journal) flush() {
	defer j.flushes.Done()
	j.armed.Store(false)
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.pending) > 0 {
		_ = j.append(j.ctx) // what is not committed stays queued
	}
}

// waited ends the wait: no flush is under way when it returns. While others may
// wait too, nobody calls it.
func (j *journal) waited() {
	if j.armed.Load() && j.timer.Stop() {
		j.armed.Store(false)
		j.flushes.Done()
	}
	j.flushes.Wait()
}
