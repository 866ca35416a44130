package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/rosterrun/roster/store/internal/admit"
)

// op is a write that waits for its commit.
type op struct {
	// run does the write in the open transaction. If it returns an error that
	// is not a *fault, it has changed nothing.
	run  func(*writer) error
	peek bool // it writes nothing and needs no transaction
	err  error
	done chan struct{}
}

// fault is a failure of the database in the middle of an op.
type fault struct{ err error }

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

// queue holds the ops that wait for the writer.
type queue struct {
	mu     sync.Mutex
	ops    []*op
	closed bool
	wake   chan struct{}
}

func (q *queue) put(o *op) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return admit.ErrClosed
	}
	q.ops = append(q.ops, o)
	q.signal()
	return nil
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// maxBatch bounds the ops of one commit.
const maxBatch = 256

// take returns what waits, without waiting, and whether more may come.
func (q *queue) take(batch []*op) ([]*op, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.ops), maxBatch)
	batch = append(batch[:0], q.ops[:n]...)
	q.ops = slices.Delete(q.ops, 0, n)
	return batch, !q.closed || n > 0
}

// remove takes an op back that the writer has not begun.
func (q *queue) remove(o *op) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.ops, o)
	if i < 0 {
		return false
	}
	q.ops = slices.Delete(q.ops, i, i+1)
	return true
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.signal()
}

// do has the writer run f in a transaction and waits for the commit. When the
// context ends before the writer has begun, f is never run; afterwards do waits
// for its end, so that the caller always knows what became of it.
func (s *Store) do(ctx context.Context, f func(*writer) error) error {
	return s.wait(ctx, &op{run: f})
}

func (s *Store) wait(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.done = make(chan struct{})
	if err := s.queue.put(o); err != nil {
		return err
	}
	select {
	case <-o.done:
	case <-ctx.Done():
		if s.queue.remove(o) {
			return ctx.Err()
		}
		<-o.done
	}
	var f *fault
	if errors.As(o.err, &f) {
		return &Error{s.path, f.err}
	}
	return o.err
}

// write is the goroutine that alone writes. All ops that wait when a commit has
// ended share the next one; a lone op does not wait for others.
func (s *Store) write() {
	defer close(s.stopped)
	var batch []*op
	for open := true; open; {
		batch, open = s.queue.take(batch)
		if len(batch) == 0 {
			if open {
				<-s.queue.wake
			}
			continue
		}
		s.writer.commit(batch)
		for i, o := range batch {
			close(o.done)
			batch[i] = nil
		}
	}
}
