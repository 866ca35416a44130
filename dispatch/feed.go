package dispatch

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/rosterrun/roster/session"
)

// FeedBehind is yielded to a reader of a feed that does not keep up. Nothing is
// lost: it may follow again from From.
type FeedBehind struct{ From session.Position }

func (e *FeedBehind) Error() string {
	return fmt.Sprintf("fell behind: read the feed again from commit %d, event %d", e.From.Commit, e.From.Seq)
}

// FollowFeed yields the tenant's stored events after a position, and then those
// that are committed, by this process at once and by others within 100 ms, until
// the range is left or ctx ends. A batch is what was there at once; it is shared
// by all readers and must not be changed. *FeedBehind ends the range of a reader
// that is too slow.
func (l *Local) FollowFeed(ctx context.Context, tenant string, after session.Position) iter.Seq2[[]session.Fed, error] {
	return func(yield func([]session.Fed, error) bool) {
		f, err := l.useFeed(ctx, tenant)
		if err != nil {
			yield(nil, err)
			return
		}
		defer l.releaseFeed(tenant, f)
		at, live := after, false
		for {
			batch, known, err := f.next(ctx, at)
			switch {
			case err == nil && !known && live:
				err = &FeedBehind{at}
			case err == nil && !known:
				var left bool
				if at, left, err = l.catchUpFeed(ctx, f, tenant, at, yield); left {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if live = live || known; !known {
				continue
			}
			at = batch[len(batch)-1].At
			if !yield(batch, nil) {
				return
			}
		}
	}
}

// catchUpFeed yields what is stored after a position, up to where the window
// begins at least, and returns where the reader stands. left says that the range
// was left.
func (l *Local) catchUpFeed(ctx context.Context, f *feed, tenant string, at session.Position, yield func([]session.Fed, error) bool) (_ session.Position, left bool, err error) {
	begins := f.begins() // all before it is committed, and so will be read
	for batch, err := range feedBatches(l.backend.ReadFeed(ctx, tenant, at)) {
		if err != nil {
			return at, false, err
		}
		if !yield(batch, nil) {
			return at, true, nil
		}
		at = batch[len(batch)-1].At
	}
	if at.Compare(begins) < 0 {
		at = begins
	}
	return at, false, nil
}

// feedBatches gathers up to readBatch events.
func feedBatches(all iter.Seq2[session.Fed, error]) iter.Seq2[[]session.Fed, error] {
	return func(yield func([]session.Fed, error) bool) {
		var batch []session.Fed
		for fed, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if batch = append(batch, fed); len(batch) == readBatch {
				if !yield(batch, nil) {
					return
				}
				batch = nil
			}
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

// feed is what was committed lately for a tenant whose feed is followed: a window
// that one goroutine fills from the store for all readers.
type feed struct {
	kick    chan struct{} // somebody has committed something here
	stop    context.CancelFunc
	ended   chan struct{} // closed when nobody fills the window any more
	readers int           // guarded by the dispatcher

	mu     sync.Mutex
	items  []session.Fed // never changed, for readers share them
	before session.Position
	at     session.Position // of the newest
	bytes  int
	wake   chan struct{} // closed at the next change; nil if nobody waits
	failed error         // why the store could not be read
}

// useFeed counts a reader in. The first has the window filled, which begins at
// the newest event.
func (l *Local) useFeed(ctx context.Context, tenant string) (*feed, error) {
	end, err := l.backend.FeedEnd(ctx, tenant)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.feeds[tenant]
	if f == nil {
		f = &feed{kick: make(chan struct{}, 1), ended: make(chan struct{}), before: end, at: end}
		var fills context.Context
		fills, f.stop = context.WithCancel(l.base)
		l.feeds[tenant] = f
		go func() {
			defer close(f.ended)
			l.fillFeed(fills, tenant, f)
		}()
	}
	f.readers++
	return f, nil
}

// releaseFeed counts a reader out. The last one ends what fills the window.
func (l *Local) releaseFeed(tenant string, f *feed) {
	l.mu.Lock()
	f.readers--
	last := f.readers == 0
	if last {
		delete(l.feeds, tenant)
	}
	l.mu.Unlock()
	if last {
		f.stop()
		<-f.ended
	}
}

// fillFeed reads what is committed: at once if it was here, and every so often
// what others have done.
func (l *Local) fillFeed(ctx context.Context, tenant string, f *feed) {
	tick := time.NewTicker(noticeEvery)
	defer tick.Stop()
	for {
		select {
		case <-f.kick:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		var failed error
		for batch, err := range feedBatches(l.backend.ReadFeed(ctx, tenant, f.at)) {
			f.show(batch)
			failed = err
		}
		f.fail(failed)
	}
}

// kickFeed has the window of a tenant filled, if anybody follows his feed.
func (l *Local) kickFeed(tenant string) {
	l.mu.Lock()
	f := l.feeds[tenant]
	l.mu.Unlock()
	if f == nil {
		return
	}
	select {
	case f.kick <- struct{}{}:
	default:
	}
}

// fail ends the readers that have read everything, as the store cannot be read.
// nil: it can.
func (f *feed) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed = err; err != nil {
		f.wakeAll()
	}
}

func (f *feed) wakeAll() {
	if f.wake != nil {
		close(f.wake)
		f.wake = nil
	}
}

// show adds events to the window, and drops what goes past its bounds.
func (f *feed) show(batch []session.Fed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range batch {
		f.bytes += len(batch[i].Event.Data)
		f.at = batch[i].At
	}
	f.items = append(f.items, batch...)
	n := max(0, len(f.items)-topicItems)
	for i := range n {
		f.bytes -= len(f.items[i].Event.Data)
	}
	for n < len(f.items)-1 && f.bytes > topicBytes {
		f.bytes -= len(f.items[n].Event.Data)
		n++
	}
	if n > 0 {
		f.before = f.items[n-1].At
		f.items = f.items[n:]
	}
	f.wakeAll()
}

// begins is the position after which the window has everything.
func (f *feed) begins() session.Position {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.before
}

// next waits for events after a position. known is false if the window does not
// reach back that far.
func (f *feed) next(ctx context.Context, at session.Position) (batch []session.Fed, known bool, err error) {
	for {
		f.mu.Lock()
		if at.Compare(f.before) < 0 {
			f.mu.Unlock()
			return nil, false, nil
		}
		i, found := slices.BinarySearchFunc(f.items, at, func(e session.Fed, at session.Position) int { return e.At.Compare(at) })
		if found {
			i++
		}
		if batch := f.items[i:len(f.items):len(f.items)]; len(batch) > 0 {
			f.mu.Unlock()
			return batch, true, nil
		}
		if err := f.failed; err != nil {
			f.mu.Unlock()
			return nil, false, err
		}
		if f.wake == nil {
			f.wake = make(chan struct{})
		}
		wake := f.wake
		f.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}
