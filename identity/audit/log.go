package audit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Bounds of a Log.
const (
	Pause    = 200 * time.Millisecond // between two commits: what kill -9 may take
	maxQueue = 4096                   // entries that wait for their commit
	maxKinds = 256                    // refused calls that are told apart at once
	kindTime = time.Second            // after which one more of them is
	sumEvery = time.Minute            // for which those that are not are counted together
	Keep     = 90 * 24 * time.Hour    // how long entries are kept
	purge    = time.Hour
	saveTime = 10 * time.Second
)

// Log adds entries to a store, many in one commit, so that the calls do not wait
// for it. A call that comes while too many wait is held up; what cannot be stored
// is written to the program's log. It is safe for concurrent use.
type Log struct {
	store func(context.Context) (Store, error)
	log   *slog.Logger

	mu      sync.Mutex
	waiting []Entry
	refused map[Entry]int // to its place in waiting
	kinds   *rate.Limiter
	sums    map[Entry]Entry // refused calls that are not told apart
	closed  bool
	room    *sync.Cond
	wake    chan struct{}
	quit    chan struct{}
	done    chan struct{}
	begin   sync.Once
}

// NewLog returns a log. It starts with the first entry, and is ended by Close.
func NewLog(store func(context.Context) (Store, error), log *slog.Logger) *Log {
	l := &Log{store: store, log: log, refused: map[Entry]int{}, sums: map[Entry]Entry{}, kinds: rate.NewLimiter(rate.Every(kindTime), maxKinds), wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	l.room = sync.NewCond(&l.mu)
	return l
}

// Add has an entry stored soon. After Close it is only written to the program's
// log.
func (l *Log) Add(e Entry) {
	l.begin.Do(func() { go l.run() })
	e = stamped(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	kind, merged := l.merge(&e)
	if merged {
		return
	}
	for len(l.waiting) >= maxQueue && !l.closed {
		l.room.Wait()
	}
	if l.closed {
		l.lost([]Entry{e}, "the log is closed")
		return
	}
	if Refused(e.Status) {
		l.refused[kind] = len(l.waiting)
	}
	l.waiting = append(l.waiting, e)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// stamped is an entry of now, unless it says when it was.
func stamped(e Entry) Entry {
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	e.Times = max(e.Times, 1)
	return e
}

// merge counts a refused call among those like it that wait already. Where there
// are too many kinds of them, from where they came and what they were about is not
// told apart, and they are stored once a minute: nobody can fill the disk by being
// refused.
func (l *Log) merge(e *Entry) (kind Entry, merged bool) {
	if !Refused(e.Status) {
		return kind, false
	}
	kind = *e
	kind.Time, kind.Request, kind.Chain, kind.Times = time.Time{}, "", "", 0
	if i, known := l.refused[kind]; known {
		l.waiting[i].Times += e.Times
		return kind, true
	}
	if l.closed || l.kinds.Allow() {
		return kind, false
	}
	kind.Address, kind.Target = "", ""
	sum, known := l.sums[kind]
	if !known && len(l.sums) >= maxKinds {
		kind = Entry{Status: e.Status, Code: e.Code}
		sum, known = l.sums[kind]
	}
	if !known {
		sum = kind
		sum.Time = e.Time
	}
	sum.Times += e.Times
	l.sums[kind] = sum
	return kind, true
}

func (l *Log) run() {
	defer close(l.done)
	purged := time.Time{}
	tick := time.NewTicker(sumEvery)
	defer tick.Stop()
	for open := true; open; {
		select {
		case <-tick.C:
			l.sum()
		case <-l.wake:
			select { // more may come
			case <-time.After(Pause):
			case <-l.quit:
			}
		case <-l.quit:
			open = false
			l.sum()
		}
		l.flush()
		if now := time.Now(); open && now.Sub(purged) > purge {
			purged = now
			l.purge(now)
		}
	}
}

// sum has the calls stored that are counted together.
func (l *Log) sum() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.sums {
		l.waiting = append(l.waiting, e)
	}
	clear(l.sums)
}

func (l *Log) flush() {
	l.mu.Lock()
	batch := l.waiting
	l.waiting = nil
	clear(l.refused)
	l.room.Broadcast()
	l.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	if err := l.save(batch); err != nil {
		l.lost(batch, err.Error())
	}
}

func (l *Log) save(batch []Entry) error {
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	store, err := l.store(ctx)
	if err != nil {
		return err
	}
	return store.Record(ctx, batch)
}

func (l *Log) purge(now time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), saveTime)
	defer cancel()
	store, err := l.store(ctx)
	if err == nil {
		err = store.ForgetRecorded(ctx, now.Add(-Keep))
	}
	if err != nil {
		l.log.Error("old entries of the audit log stay", "error", err)
	}
}

// lost writes what could not be stored where it is found again.
func (l *Log) lost(batch []Entry, why string) {
	for i := range batch {
		e := &batch[i]
		l.log.Error("audit: an entry could not be stored", "error", why, "time", e.Time, "tenant", e.Tenant, "user", e.User, "key", e.Key,
			"action", e.Action, "target", e.Target, "status", e.Status, "code", e.Code, "address", e.Address, "request", e.Request, "times", e.Times)
	}
}

// Now stores an entry before it returns: for what must not be done unseen.
func (l *Log) Now(ctx context.Context, e Entry) error {
	e = stamped(e)
	store, err := l.store(ctx)
	if err != nil {
		return err
	}
	return store.Record(ctx, []Entry{e})
}

// Entries lists what is stored of a tenant, the newest first.
func (l *Log) Entries(ctx context.Context, tenant string, q Query) ([]Entry, error) {
	store, err := l.store(ctx)
	if err != nil {
		return nil, err
	}
	return store.Recorded(ctx, tenant, q)
}

// Close stores what waits.
func (l *Log) Close() {
	l.begin.Do(func() { close(l.done) })
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return
	}
	l.closed = true
	l.room.Broadcast()
	l.mu.Unlock()
	close(l.quit)
	<-l.done
}
