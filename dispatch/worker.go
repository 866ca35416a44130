package dispatch

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/rosterrun/roster/session"
)

// beat renews the lease of this worker. When that fails for too long, the turns
// end, as another worker may begin to run them, and nothing is run until the
// lease is renewed.
func (l *Local) beat(ctx context.Context) {
	timer := time.NewTimer(beatEvery)
	defer timer.Stop()
	renewed := bootTime()
	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		asked := bootTime()
		try, cancel := context.WithTimeout(ctx, max(beatAgain, leaseSure-(asked-renewed)))
		err := l.backend.Beat(try, l.worker)
		cancel()
		if err == nil {
			renewed = asked
			l.regain()
			timer.Reset(beatEvery)
			continue
		}
		l.opts.Log.Warn("the worker's lease could not be renewed", "error", err)
		if bootTime()-renewed >= leaseSure {
			l.lose(errLost)
		}
		timer.Reset(beatAgain)
	}
}

// lose ends the jobs, and lets none begin.
func (l *Local) lose(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop(why)
}

// regain lets jobs begin again after the lease was lost.
func (l *Local) regain() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil && l.closing.Err() == nil {
		l.ctx, l.stop = context.WithCancelCause(l.base)
		l.wakeSweep()
	}
}

// sweep claims what is runnable: at once, when a slot becomes free, and every
// second.
func (l *Local) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		l.Bury(ctx)
		l.expireDue(ctx)
		l.claimAll(ctx)
		select {
		case <-tick.C:
		case <-l.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (l *Local) claimAll(ctx context.Context) {
	for l.acquire() {
		k, lease, err := l.backend.Claim(ctx, l.worker, nil)
		if err != nil {
			<-l.slots
			l.jobs.Done()
			if !errors.Is(err, session.ErrNoWork) && ctx.Err() == nil {
				l.opts.Log.Error("claim", "error", err)
			}
			return
		}
		l.takeUp(ctx, k, lease)
	}
}

// takeUp starts a stream that was claimed. What it has had so far is not news.
func (l *Local) takeUp(ctx context.Context, k session.Key, lease session.Lease) {
	t := l.use(k)
	defer l.release(k, t)
	if sum, err := l.backend.Summary(ctx, k); err == nil {
		t.reached(sum.Last)
	}
	l.start(k, lease, nil)
}

// Claim takes one stream up, also one that is not shared, if it has work to do
// and its worker is gone: session.ErrNoWork otherwise.
func (l *Local) Claim(ctx context.Context, k session.Key) error {
	l.Bury(ctx)
	if err := l.Expire(ctx, k); err != nil && !errors.Is(err, session.ErrNoStream) {
		return err
	}
	if ok, err := l.await(ctx); !ok {
		return cmp.Or(err, ErrClosed)
	}
	k, lease, err := l.backend.Claim(ctx, l.worker, &k)
	if err != nil {
		l.free()
		return err
	}
	l.takeUp(ctx, k, lease)
	return nil
}

// Bury marks the workers of this machine that have died, so that their streams
// can be claimed at once: the lock of a dead process is free.
func (l *Local) Bury(ctx context.Context) {
	if l.lock == nil {
		return
	}
	workers, err := l.backend.Workers(ctx)
	if err != nil {
		if ctx.Err() == nil {
			l.opts.Log.Error("list workers", "error", err)
		}
		return
	}
	for _, w := range workers {
		if w.Dead || w.ID == l.worker || !workerDied(l.opts.LockDir, w.ID) {
			continue
		}
		if err := l.backend.Bury(ctx, w.ID); err != nil {
			l.opts.Log.Error("bury worker", "worker", w.ID, "error", err)
			continue
		}
		forgetWorker(l.opts.LockDir, w.ID)
	}
}

// watched is a backend that other processes may write to.
type watched interface {
	// Version changes whenever another process has written.
	Version(ctx context.Context) (int64, error)
}

// notice learns of what other processes have committed: posts for the streams
// that run here, events of streams that are read here, and streams to claim.
func (l *Local) notice(ctx context.Context) {
	w, ok := l.backend.(watched)
	if !ok {
		return
	}
	tick := time.NewTicker(noticeEvery)
	defer tick.Stop()
	var seen int64
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		version, err := w.Version(ctx)
		if err != nil && ctx.Err() == nil {
			l.opts.Log.Error("look for changes of other processes", "error", err)
		}
		if err != nil || version == seen {
			continue
		}
		seen = version
		for _, k := range l.watching() {
			l.catchUp(ctx, k)
		}
		l.wakeSweep()
	}
}

// watching lists the streams that somebody here runs or reads.
func (l *Local) watching() []session.Key {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.topics))
}

// catchUp shows what is stored of a stream and was not shown yet.
func (l *Local) catchUp(ctx context.Context, k session.Key) {
	l.mu.Lock()
	t := l.topics[k]
	l.mu.Unlock()
	if t == nil || t.newest() == 0 {
		return // nobody has begun to read or to run it yet
	}
	var events []session.Event
	for e, err := range l.backend.Read(ctx, k, t.newest()) {
		if err != nil {
			return // the next commit of the stream, or its reader, meets it again
		}
		if _, err := e.Decode(); err == nil {
			events = append(events, e)
		}
	}
	if len(events) > 0 {
		l.show(k, events...)
	}
}

// Worker is the id by which this process beats in the store.
func (l *Local) Worker() string { return l.worker }

// Hold is the file whose lock says that this worker lives, or nil. A helper
// that runs a command keeps it open, so that the command's stream is not taken
// up elsewhere before nothing of the command is left.
func (l *Local) Hold() *os.File {
	if l.lock == nil {
		return nil
	}
	return l.lock.f
}
