package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rosterrun/roster/session"
)

// Options configure Local. The zero value is a worker that runs what is
// submitted to it and claims nothing else.
type Options struct {
	// LockDir is where workers of this machine hold a lock while they live.
	// Empty: there is no other worker on this machine.
	LockDir string
	// Slots is how many streams may run at once; 0: 1024.
	Slots int
	// Claim takes up all shared streams that are runnable or abandoned, not
	// only those submitted here.
	Claim bool
	// Ended is called by Close when no job runs any more, and while the lock is still
	// held: it ends what has been started for jobs. nil: there is nothing.
	Ended func() error
	Log   *slog.Logger // nil: discarded
}

const (
	defaultSlots = 1024
	beatEvery    = session.LeaseTime / 3
	leaseSure    = session.LeaseTime * 2 / 3 // without renewal for so long, the lease counts as lost
	sweepEvery   = time.Second
	noticeEvery  = 50 * time.Millisecond
	beatAgain    = 500 * time.Millisecond // after a beat that failed

	// A job that fails is begun again after firstPause, then after four times
	// that, and so on, maxTries times in all.
	firstPause = 100 * time.Millisecond
	maxTries   = 4

	// Readers of a stream that nobody else would run wait so long for the lease
	// to be renewed before they are told.
	reclaimTime = time.Minute
)

// errLost ends the turns of a worker that could not renew its lease.
var errLost = errors.New("dispatch: the lease could not be renewed")

// ErrClosed is returned by Claim after Close. A post is then still stored, for
// another worker to run.
var ErrClosed = errors.New("dispatch: closed")

// Local is a Dispatcher with a bounded pool of workers in this process. It is
// safe for concurrent use.
type Local struct {
	backend session.Backend
	run     Runner
	opts    Options
	worker  string
	lock    *lockFile
	slots   chan struct{} // holds one item for each job
	missed  atomic.Bool   // there was no slot for something since the last was freed
	jobs    sync.WaitGroup
	loops   sync.WaitGroup

	base    context.Context    // of all that goes on here
	closing context.Context    // done when Close begins
	shut    context.CancelFunc // ends closing
	quit    context.CancelFunc // ends the loops
	wake    chan struct{}      // somebody should claim

	mu     sync.Mutex
	ctx    context.Context // of jobs; done when the lease is lost
	stop   context.CancelCauseFunc
	topics map[session.Key]*topic
	left   []session.Key    // topics that nobody holds, the longest left first
	feeds  map[string]*feed // that somebody follows, by tenant
}

// NewLocal starts a dispatcher that runs streams of backend with run. Close
// ends it; the backend stays open.
func NewLocal(ctx context.Context, backend session.Backend, run Runner, o Options) (*Local, error) {
	if o.Slots == 0 {
		o.Slots = defaultSlots
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l := &Local{
		backend: backend, run: run, opts: o, worker: uuid.NewString(),
		slots: make(chan struct{}, o.Slots), wake: make(chan struct{}, 1),
		topics: map[session.Key]*topic{}, feeds: map[string]*feed{}, base: context.WithoutCancel(ctx),
	}
	var err error
	if l.lock, err = lockWorker(o.LockDir, l.worker); err != nil {
		return nil, err
	}
	if err := backend.Beat(ctx, l.worker); err != nil {
		return nil, errors.Join(fmt.Errorf("register worker: %w", err), l.lock.Close())
	}
	l.ctx, l.stop = context.WithCancelCause(l.base)
	l.closing, l.shut = context.WithCancel(l.base)
	loops, quit := context.WithCancel(l.base)
	l.quit = quit
	l.loops.Go(func() { l.beat(loops) })
	l.loops.Go(func() { l.notice(loops) })
	if o.Claim {
		l.loops.Go(func() { l.sweep(loops) })
	}
	return l, nil
}

// Submit implements Dispatcher. For a prompt, if a slot is free and nobody owns
// the stream, it begins to run here at once. A prompt that nobody would claim
// later waits for a slot. For anything else it is claimed like the others, if it
// may be (Options.Claim).
func (l *Local) Submit(ctx context.Context, k session.Key, p session.Post) (session.Posted, error) {
	asks, shared := asks(p.Events)
	slot := asks && l.acquire()
	if !slot && asks && !(l.opts.Claim && shared) {
		var err error
		if slot, err = l.await(ctx); err != nil {
			return session.Posted{}, err
		}
	}
	if slot {
		p.Worker = l.worker
	}
	t := l.use(k)
	defer l.release(k, t)
	posted, err := l.backend.Post(ctx, k, p)
	if err != nil || posted.Duplicate {
		if slot {
			l.free()
		}
		return posted, err
	}
	l.show(k, p.Events...)
	if posted.Lease != nil {
		l.start(k, *posted.Lease, p.Events)
	} else if slot {
		l.free()
	} else {
		l.wakeSweep() // a slot may have become free before this was stored
	}
	return posted, nil
}

// asks says whether a prompt is among events, and whether it is shared.
func asks(events []session.Event) (prompt, shared bool) {
	for i := range events {
		if b, ok := events[i].Body.(*session.Prompt); ok {
			return true, b.Shared
		}
	}
	return false, false
}

// Load says how many streams are run here now, and how many may be at once.
func (l *Local) Load() (jobs, slots int) { return len(l.slots), cap(l.slots) }

// acquire takes a slot if there is one and jobs may begin.
func (l *Local) acquire() bool {
	if l.trySlot() {
		return l.admit()
	}
	l.missed.Store(true) // the next that is freed is noticed; one may have been just now
	return l.trySlot() && l.admit()
}

func (l *Local) trySlot() bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
		return false
	}
}

// await takes a slot when there is one and jobs may begin; none once the
// dispatcher is closed.
func (l *Local) await(ctx context.Context) (bool, error) {
	for {
		select {
		case l.slots <- struct{}{}:
			if l.admit() {
				return true, nil
			}
		case <-l.closing.Done():
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if !l.pause(beatAgain) {
			return false, nil
		}
	}
}

// admit counts a job in that has a slot, or gives the slot back if the
// dispatcher is closed or has lost its lease.
func (l *Local) admit() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closing.Err() != nil || l.ctx.Err() != nil {
		<-l.slots
		return false
	}
	l.jobs.Add(1)
	return true
}

// free gives a slot back, and has somebody claim if one was missed before.
func (l *Local) free() {
	<-l.slots
	l.jobs.Done()
	if l.missed.Swap(false) {
		l.wakeSweep()
	}
}

func (l *Local) wakeSweep() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// start runs a stream that has been claimed, in a slot that has been acquired.
func (l *Local) start(k session.Key, lease session.Lease, posted []session.Event) {
	t := l.use(k)
	t.fail(nil)
	j := &Job{Key: k, Lease: lease, Store: shownStore{l.backend, l}, Posted: posted, ctx: l.running(), signals: &t.signals}
	go func() {
		defer l.free()
		defer l.release(k, t)
		l.runJob(j, t)
	}()
}

// Close implements Dispatcher.
func (l *Local) Close(ctx context.Context) error {
	l.mu.Lock()
	l.shut()
	l.mu.Unlock()
	done := make(chan struct{})
	go func() {
		l.jobs.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		l.lose(ErrClosed)
		<-done // jobs end when their context does
	}
	var err error
	if l.opts.Ended != nil {
		err = l.opts.Ended()
	}
	l.quit()
	l.loops.Wait()
	l.lose(ErrClosed)
	bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), beatEvery)
	defer cancel()
	return errors.Join(err, l.backend.Bury(bye, l.worker), l.lock.Close())
}

// use and release count who needs a stream's topic.
func (l *Local) use(k session.Key) *topic {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.topics[k]
	if t == nil {
		t = &topic{readers: map[*reader]struct{}{}}
		l.topics[k] = t
	}
	t.users++
	return t
}

func (l *Local) release(k session.Key, t *topic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.users--; t.users > 0 {
		return
	}
	t.fail(nil)
	l.left = append(slices.DeleteFunc(l.left, func(o session.Key) bool { return o == k }), k)
	if len(l.left) <= lingering {
		return
	}
	if old := l.topics[l.left[0]]; old != nil && old.users == 0 {
		delete(l.topics, l.left[0])
	}
	l.left = slices.Delete(l.left, 0, 1)
}

// lingering is how many topics are kept that nobody holds any more. Who has
// posted and is about to read finds there what a short run has shown by then.
const lingering = 8

// show gives committed events to those who read the stream here, and posts to
// the job that runs it.
func (l *Local) show(k session.Key, events ...session.Event) {
	l.mu.Lock()
	t := l.topics[k]
	l.mu.Unlock()
	if t != nil {
		t.show(events...)
	}
	l.kickFeed(k.Tenant)
}

// shownStore shows what it commits.
type shownStore struct {
	session.Store
	local *Local
}

func (s shownStore) Append(ctx context.Context, k session.Key, lease session.Lease, after int64, evs []session.Event) (int64, error) {
	last, err := s.Store.Append(ctx, k, lease, after, evs)
	if err == nil {
		s.local.show(k, evs...)
	}
	return last, err
}
