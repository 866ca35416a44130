// Package dispatch decides who runs what: it takes posts in, gives runnable
// streams to workers, and shows readers what happens. Local does it in one
// process.
package dispatch

import (
	"context"
	"fmt"
	"iter"

	"github.com/rosterrun/roster/session"
)

// Dispatcher is what the front doors use. A run is not theirs: a reader that
// leaves does not end it.
type Dispatcher interface {
	// Submit posts events and wakes a worker. It returns when they are durable.
	Submit(ctx context.Context, k session.Key, p session.Post) (session.Posted, error)
	// Follow yields the stored events after seq after, then stored and live
	// ones as they come, until the range is left or ctx ends. A batch is what
	// was there at once, and a writer flushes after it; readers share it, and must
	// not change it. A reader that comes in the middle of a message first gets
	// message.partial. *FellBehind ends the range of a reader that is too slow.
	Follow(ctx context.Context, k session.Key, after int64) iter.Seq2[[]session.Event, error]
	// Close stops claiming, lets turns finish until ctx ends, and hands over.
	Close(ctx context.Context) error
}

// FellBehind is yielded to a reader that does not keep up. Nothing is lost: it
// may follow again from From.
type FellBehind struct{ From int64 }

func (e *FellBehind) Error() string {
	return fmt.Sprintf("fell behind: read again from event %d", e.From)
}

// Runner runs a stream until nothing is left to do. It yields live events, and
// stored ones, which are ignored: readers get those from the store's commits.
type Runner func(ctx context.Context, j *Job) iter.Seq2[session.Event, error]

// Job is a stream that this process owns.
type Job struct {
	Key   session.Key
	Lease session.Lease
	// Store is the session store; what it commits is shown to readers.
	Store session.Store
	// Posted are the events whose post began the job, if one did: a state that
	// ends just before them need not read them back.
	Posted []session.Event

	ctx     context.Context
	signals *signals
}
