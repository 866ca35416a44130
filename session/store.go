package session

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Key names a stream: one delegation tree, with one sequence of events, one
// lease and one budget. The stream's id is the id of its root session. Nothing
// in a store is reached without its tenant.
type Key struct{ Tenant, Stream string }

func (k Key) String() string { return k.Tenant + "/" + k.Stream }

// Lease is the right to append the owner's events. A higher epoch ends it.
type Lease struct {
	Worker string
	Epoch  int64
	// Takeover says how the stream was taken from a worker that had left work
	// open: TakeoverNone, TakeoverDead or TakeoverExpired.
	Takeover Takeover
}

// Takeover tells a new owner how sure it is that the one before it is gone.
type Takeover uint8

const (
	TakeoverNone    Takeover = iota // the stream was free
	TakeoverDead                    // the worker before was seen to be dead
	TakeoverExpired                 // its lease ran out; it may still be doing something
)

// Store keeps the log. A number never changes its meaning: an event is seen by
// a reader only after its commit. Every method is safe for concurrent use, and
// what Read yields shares no memory with what was given to Append or Post.
type Store interface {
	// Append adds the owner's events after seq after: all or none, durable on
	// return. It gives the events their numbers, in place, and keeps their
	// Refs. *Fenced: another worker owns the stream; stop. *Behind: inbound
	// events came in between and are in the error: fold them, decide again.
	// Events of an inbound type are refused. A commit that leaves nothing to
	// do sets the stream free.
	Append(ctx context.Context, k Key, l Lease, after int64, evs []Event) (last int64, err error)
	// Post adds inbound events from any process, without a lease, and marks
	// the stream runnable in the same commit. It gives the events their
	// numbers, in place. The stream comes into being with its first prompt or
	// branch; any other event for an unknown stream is ErrNoStream.
	Post(ctx context.Context, k Key, p Post) (Posted, error)
	Reader
	// Usage sums up what was used, sorted by what the query asks apart, in its
	// order. It counts what Append and Post have stored, with the commit that
	// stored it, by the day of each event; what is pruned stays counted, and what
	// is restored is not counted again.
	Usage(ctx context.Context, tenant string, q UsageQuery) ([]Used, error)
}

// Reader is what one needs to look at the log.
type Reader interface {
	// Read yields the committed events after seq after, in order, without gaps.
	// An unknown stream yields nothing.
	Read(ctx context.Context, k Key, after int64) iter.Seq2[Event, error]
	// Summary describes one stream, or is ErrNoStream.
	Summary(ctx context.Context, k Key) (Summary, error)
	// List yields the tenant's streams, the newest first.
	List(ctx context.Context, tenant string, q Query) iter.Seq2[Summary, error]
}

// Post is what Store.Post adds.
type Post struct {
	// Idem makes the post idempotent within its tenant for 24 hours: the same
	// Idem with the same events is stored once, with others it is *Conflict.
	// Empty: not idempotent.
	Idem   string
	Events []Event
	// Worker, when set, also claims the stream for that worker in the same
	// commit, if it is free.
	Worker string
	// OnlyIdle refuses the post with *Busy if the stream has work to do.
	OnlyIdle bool
}

// Posted says what came of a post.
type Posted struct {
	Key       Key   // the stream of the first post with this Idem, else the one asked for
	First     int64 // the number of the post's first event
	Last      int64 // the number of its last event
	Duplicate bool  // it had been stored before
	Lease     *Lease
}

// Query narrows a List. The zero Query lists everything.
type Query struct {
	Status  Status
	Profile string // only streams whose Summary.Profile it is; empty: all
	Asking  bool   // only streams in which a question may be open
	Before  string // streams that sort before this id: the last one of the page before
	Limit   int    // 0: no limit
	// Search leaves streams out in which no text (Searchable) has it; nil: none.
	Search Search
}

// Claims hand runnable streams to workers. It stands beside Store in each
// backend. The clock is the store's.
type Claims interface {
	// Beat says that the worker lives, and registers it the first time. There
	// is one row for a process, not for a session. The last beat of another
	// worker that is in the future, as the clock was put back, counts as made
	// now: else the streams of one that died would stay with it until then.
	Beat(ctx context.Context, worker string) error
	// Claim takes a runnable stream that nobody owns, or whose owner is dead
	// or has not beaten for LeaseTime, the one that has waited longest first,
	// and raises its epoch. Streams whose first prompt was not Shared are left
	// out, unless only names one. ErrNoWork: nothing to claim.
	Claim(ctx context.Context, worker string, only *Key) (Key, Lease, error)
	// Due lists streams whose question was not answered in time, the longest
	// overdue first; a few of them, if there are many.
	Due(ctx context.Context) ([]Key, error)
	// Release sets a stream free that its owner leaves with work to do.
	Release(ctx context.Context, k Key, l Lease) error
	// Workers lists the workers that own a stream or have not said goodbye.
	Workers(ctx context.Context) ([]Worker, error)
	// Bury marks a worker as dead, so that its streams can be claimed at once.
	// A worker buries itself to say goodbye.
	Bury(ctx context.Context, worker string) error
}

// Worker is one process that runs streams.
type Worker struct {
	ID   string
	Beat time.Time
	Dead bool
}

// LeaseTime is how long a worker that does not beat keeps its streams.
const LeaseTime = 10 * time.Second

// Blobs keep bytes by their digest, such as specs, prefixes and large results.
// A blob is kept while an event that names it in Refs is kept, and for an hour
// after it was put.
type Blobs interface {
	// PutBlob stores b, durably, and returns its digest (Digest(b)).
	PutBlob(ctx context.Context, tenant string, b []byte) (digest string, err error)
	// Blob returns the bytes, or ErrNoBlob.
	Blob(ctx context.Context, tenant, digest string) ([]byte, error)
}

// Retention takes whole streams out and in.
type Retention interface {
	// Prune removes a stream with all that belongs to it, for good. Blobs go that
	// no other stream needs, within some time. *Busy: it has work to do, or last
	// is not the number of its newest event any more.
	Prune(ctx context.Context, k Key, last int64) error
	// Restore adds a stream that is not there, with all its events, which are
	// numbered from 1, and whose blobs are there. *Exists: it is there. *Busy: it
	// would have work to do.
	Restore(ctx context.Context, k Key, evs []Event) error
	// Reclaim gives space that is not used any more back to the system, as far as
	// the backend does not do so by itself.
	Reclaim(ctx context.Context) error
}

// Exists is returned for a stream that is restored and is there.
type Exists struct{ Key Key }

func (e *Exists) Error() string {
	return fmt.Sprintf("session %s is there: prune it first, or fork it", e.Key.Stream)
}

// Backend is all of it, as one database gives it.
type Backend interface {
	Store
	Feed
	Claims
	Blobs
	Retention
	// Writable returns why nothing could be stored now; nil: it could.
	Writable(ctx context.Context) error
	Close() error
}

// Fenced is returned to an owner that has lost its stream.
type Fenced struct {
	Key         Key
	Held, Epoch int64 // the epoch of the lease given, and the stream's
}

func (e *Fenced) Error() string {
	return fmt.Sprintf("session %s: the lease of epoch %d has ended (the stream is at epoch %d): it was released, or another worker has it", e.Key, e.Held, e.Epoch)
}

// Behind is returned to an owner that has not seen all inbound events. Events
// holds those after the seq given, in order.
type Behind struct {
	Key    Key
	Events []Event
}

func (e *Behind) Error() string {
	return fmt.Sprintf("session %s: %d inbound events came in between", e.Key, len(e.Events))
}

// Conflict is returned for an idempotency key that was used with other events.
type Conflict struct{ Idem string }

func (e *Conflict) Error() string {
	return fmt.Sprintf("idempotency key %q was used before with a different body, or by another user; use a new key", e.Idem)
}

// Busy is returned for a post with OnlyIdle to a stream that has work to do.
type Busy struct{ Key Key }

func (e *Busy) Error() string {
	return fmt.Sprintf("session %s is busy: wait for it, cancel it, steer it or queue the prompt; if the process that ran it is gone, resume it first", e.Key.Stream)
}
