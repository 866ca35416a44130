package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

var errDisk = errors.New("no space left on device")

// failing is a store that can refuse to write.
type failing struct {
	*memory.Store
	appends  atomic.Int64 // until one fails
	failures atomic.Int64 // how many then fail
	releases atomic.Int64 // how many releases fail
	deaf     atomic.Bool  // beats fail
	beats    chan struct{}
}

func (s *failing) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	if s.appends.Add(-1) < 0 && s.failures.Add(-1) >= 0 {
		return 0, errDisk
	}
	return s.Store.Append(ctx, k, l, after, evs)
}

func (s *failing) Release(ctx context.Context, k session.Key, l session.Lease) error {
	if s.releases.Add(-1) >= 0 {
		return errDisk
	}
	return s.Store.Release(ctx, k, l)
}

func (s *failing) Beat(ctx context.Context, worker string) error {
	if s.deaf.Load() {
		return errDisk
	}
	select {
	case s.beats <- struct{}{}:
	default:
	}
	return s.Store.Beat(ctx, worker)
}

// TestAppendFailsOnce: a run whose log cannot be written for a moment goes on.
func TestAppendFailsOnce(t *testing.T) {
	for at := range int64(3) {
		for _, claim := range []bool{false, true} {
			store := &failing{Store: memory.New(memory.Options{})}
			store.appends.Store(at)
			store.failures.Store(1)
			s := script.New(script.Reply{Text: "answer", Gap: 50 * time.Millisecond})
			l := start(t, store, runner(t, store, s.Model("script/x")), dispatch.Options{Claim: claim})
			if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
				t.Fatal(err)
			}
			events, shown := follow(t, l, key(1), 0)
			checkOrder(t, events, 0)
			if end := endOf(t, events); end.Text != "answer" || shown != "" && shown != "answer" {
				t.Errorf("failure of commit %d: end %+v, shown %q", at, end, shown)
			}
		}
	}
}

// TestAppendKeepsFailing: readers are told, the stream is set free, and what is
// mended can be resumed.
func TestAppendKeepsFailing(t *testing.T) {
	t.Parallel()
	store := &failing{Store: memory.New(memory.Options{})}
	store.failures.Store(1 << 40)
	store.releases.Store(1)
	s := script.New(script.Reply{Text: "answer"})
	l := start(t, store, runner(t, store, s.Model("script/x")), dispatch.Options{})
	if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var told error
	for _, told = range l.Follow(ctx, key(1), 0) {
	}
	if !errors.Is(told, errDisk) || !strings.Contains(told.Error(), "resume") {
		t.Fatalf("the reader was told: %v", told)
	}
	store.failures.Store(0)
	for err := session.ErrNoWork; errors.Is(err, session.ErrNoWork); {
		if ctx.Err() != nil {
			t.Fatal("the stream was not set free")
		}
		err = l.Claim(ctx, key(1))
	}
	events, _ := follow(t, l, key(1), 0)
	checkOrder(t, events, 0)
}

// TestLostLease: a worker that cannot renew its lease ends its turns in time,
// and goes on by itself when it can, also with what nobody else would take up.
func TestLostLease(t *testing.T) {
	for _, c := range []struct{ claims, shared bool }{{false, false}, {true, true}, {true, false}} {
		t.Run(fmt.Sprintf("claims %t, shared %t", c.claims, c.shared), func(t *testing.T) {
			t.Parallel()
			store := &failing{Store: memory.New(memory.Options{}), beats: make(chan struct{})}
			g := &gated{pieces: []string{"one"}, next: make(chan struct{})}
			ended := make(chan time.Time, 1)
			run := runner(t, store, g)
			l := start(t, store, func(ctx context.Context, j *dispatch.Job) iter.Seq2[session.Event, error] {
				return func(yield func(session.Event, error) bool) {
					run(ctx, j)(yield)
					if ctx.Err() != nil {
						ended <- time.Now()
					}
				}
			}, dispatch.Options{Claim: c.claims})
			p := prompt(key(1), "hi")
			p.Events[0].Body.(*session.Prompt).Shared = c.shared
			if _, err := l.Submit(t.Context(), key(1), p); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			store.deaf.Store(true)
			store.releases.Store(1)
			if took := (<-ended).Sub(began); took >= session.LeaseTime {
				t.Fatalf("the turn ended %v after the last beat", took)
			}
			store.deaf.Store(false)
			<-store.beats
			close(g.next)
			events, _ := follow(t, l, key(1), 0)
			checkOrder(t, events, 0)
			if end := endOf(t, events); end.Text != "one" {
				t.Errorf("end: %+v", end)
			}
			resumed := 0
			for _, e := range events {
				if e.Type == "loop.resumed" {
					resumed++
				}
			}
			if resumed != 1 {
				t.Errorf("the loop was taken up %d times", resumed)
			}
		})
	}
}

// TestLostLeaseElsewhere: what another worker has taken up meanwhile stays with
// that, and readers here see how it goes on.
func TestLostLeaseElsewhere(t *testing.T) {
	t.Parallel()
	memo := memory.New(memory.Options{})
	store := &failing{Store: memo, beats: make(chan struct{})}
	g := &gated{pieces: []string{"one"}, next: make(chan struct{})}
	l := start(t, store, runner(t, store, g), dispatch.Options{})
	if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	store.deaf.Store(true)
	store.releases.Store(1 << 40) // only its silence tells
	other := start(t, memo, runner(t, memo, script.New(script.Reply{Text: "other"}).Model("script/x")), dispatch.Options{Claim: true})
	events, _ := follow(t, other, key(1), 0)
	if end := endOf(t, events); end.Text != "other" {
		t.Errorf("end: %+v", end)
	}
	last := events[len(events)-1].Seq
	store.deaf.Store(false)
	<-store.beats
	store.releases.Store(0)
	if _, err := l.Submit(t.Context(), key(2), prompt(key(2), "hi")); err != nil {
		t.Fatal(err)
	}
	close(g.next)
	events, _ = follow(t, l, key(2), 0)
	if end := endOf(t, events); end.Text != "one" {
		t.Errorf("end: %+v", end)
	}
	if sum, err := memo.Summary(t.Context(), key(1)); err != nil || sum.Last != last {
		t.Errorf("the session that another worker has ended went on: %+v, %v", sum, err)
	}
}

// TestPromptWaitsForASlot: without a sweep, nobody would come back to a prompt
// that found no slot.
func TestPromptWaitsForASlot(t *testing.T) {
	store := memory.New(memory.Options{})
	g := &gated{pieces: []string{"one"}, next: make(chan struct{})}
	l := start(t, store, runner(t, store, g), dispatch.Options{Slots: 1})
	if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := l.Submit(ctx, key(2), prompt(key(2), "hi")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with all slots taken: %v", err)
	}
	var second sync.WaitGroup
	second.Go(func() {
		if _, err := l.Submit(t.Context(), key(3), prompt(key(3), "hi")); err != nil {
			t.Error(err)
		}
	})
	close(g.next)
	second.Wait()
	events, _ := follow(t, l, key(3), 0)
	if end := endOf(t, events); end.Text != "one" {
		t.Errorf("end: %+v", end)
	}
}

// TestCloseDuringRuns closes worker after worker in the middle of things: the
// last one finishes all, and no prompt is answered twice.
func TestCloseDuringRuns(t *testing.T) {
	const streams = 40
	store := memory.New(memory.Options{})
	s := script.New(script.Reply{Text: "one two three four five", Gap: 300 * time.Microsecond})
	var posts sync.WaitGroup
	for w := range 5 {
		l, err := dispatch.NewLocal(t.Context(), store, runner(t, store, s.Model("script/x")), dispatch.Options{Claim: true, Slots: 16})
		if err != nil {
			t.Fatal(err)
		}
		for i := w; i < streams; i += 5 {
			posts.Go(func() {
				if _, err := l.Submit(t.Context(), key(i), prompt(key(i), "hi")); err != nil {
					t.Error(err)
				}
			})
		}
		grace, cancel := context.WithTimeout(t.Context(), time.Duration(w)*time.Millisecond)
		if err := l.Close(grace); err != nil {
			t.Fatal(err)
		}
		cancel()
	}
	posts.Wait()
	l := start(t, store, runner(t, store, s.Model("script/x")), dispatch.Options{Claim: true})
	for i := range streams {
		events, _ := follow(t, l, key(i), 0)
		checkOrder(t, events, 0)
		waitIdle(t, store, key(i))
		ends := 0
		for e, err := range store.Read(t.Context(), key(i), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Type == "loop.end" {
				ends++
			}
		}
		if end := endOf(t, events); ends != 1 || end.Reason != session.ReasonDone && end.Reason != session.ReasonPoisoned {
			t.Errorf("%d ends, the first %+v", ends, end)
		}
	}
}
