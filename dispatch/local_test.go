package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func text(s string) []message.Part { return []message.Part{message.Text{Text: s}} }

func prompt(k session.Key, s string) session.Post {
	return session.Post{Events: []session.Event{{
		Session: k.Stream, Chain: "c", Time: time.Now().UTC(), Body: &session.Prompt{Parts: text(s), Profile: "p", Shared: true},
	}}}
}

func post(k session.Key, b session.Body) session.Post {
	return session.Post{Events: []session.Event{{Session: k.Stream, Time: time.Now().UTC(), Body: b}}}
}

// runner runs streams with the engine and one model.
func runner(t *testing.T, store session.Backend, m model.Model) dispatch.Runner {
	b, err := engine.Compile(&spec.Spec{Name: "p", Retry: spec.Retry{Max: 1, Base: 1}}, m, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	return func(ctx context.Context, j *dispatch.Job) iter.Seq2[session.Event, error] {
		return func(yield func(session.Event, error) bool) {
			st := session.NewState(j.Key)
			for e, err := range j.Store.Read(ctx, j.Key, 0) {
				if err == nil {
					err = st.Apply(&e)
				}
				if err != nil {
					yield(session.Event{}, err)
					return
				}
			}
			for st.Root.Runnable() {
				cancelled, steered, release := j.Loop(st.Last)
				d := engine.Deps{Store: j.Store, Blobs: store, Cancelled: cancelled, Steered: steered}
				for e, err := range engine.Run(ctx, d, b, st, j.Lease) {
					if !yield(e, err) || err != nil {
						release()
						return
					}
				}
				release()
			}
		}
	}
}

func start(t *testing.T, store session.Backend, r dispatch.Runner, o dispatch.Options) *dispatch.Local {
	t.Helper()
	l, err := dispatch.NewLocal(t.Context(), store, r, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// follow reads until a loop has ended and returns what was shown: the events,
// and the text put together from deltas.
func follow(t *testing.T, l *dispatch.Local, k session.Key, after int64) (events []session.Event, shown string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for batch, err := range l.Follow(ctx, k, after) {
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			switch b := e.Body.(type) {
			case *session.Delta:
				shown = shown[:b.Offset] + b.Text
			case *session.Partial:
				shown = b.Text
			case *session.Reset:
				shown = ""
			}
			if e.Seq > 0 {
				events = append(events, e)
			}
		}
		if events != nil && events[len(events)-1].Type == "loop.end" {
			return events, shown
		}
	}
	t.Fatal("the range ended")
	return nil, ""
}

func endOf(t *testing.T, events []session.Event) *session.LoopEnd {
	t.Helper()
	body, err := events[len(events)-1].Decode() // it may come from the store
	if err != nil {
		t.Fatal(err)
	}
	return body.(*session.LoopEnd)
}

func checkOrder(t *testing.T, events []session.Event, after int64) {
	t.Helper()
	for _, e := range events {
		if after++; e.Seq != after {
			t.Fatalf("event %d where %d belongs", e.Seq, after)
		}
	}
}

func key(i int) session.Key { return session.Key{Tenant: "t", Stream: fmt.Sprint("s", i)} }

func TestManyStreamsAndReaders(t *testing.T) {
	store := memory.New(memory.Options{})
	s := script.New(script.Reply{Text: "one two three four five"})
	l := start(t, store, runner(t, store, s.Model("script/x")), dispatch.Options{Slots: 7, Claim: true})
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if _, err := l.Submit(t.Context(), key(i), prompt(key(i), "hi")); err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				all.Go(func() {
					events, shown := follow(t, l, key(i), 0)
					checkOrder(t, events, 0)
					if shown != "" && shown != "one two three four five" {
						t.Errorf("shown %q", shown)
					}
				})
			}
		})
	}
	all.Wait()
}

// TestReaderInTheMiddle attaches a second reader while a message is being
// written: both end up with the whole text.
func TestReaderInTheMiddle(t *testing.T) {
	store := memory.New(memory.Options{})
	g := &gated{pieces: []string{"one ", "two ", "three"}, next: make(chan struct{})}
	l := start(t, store, runner(t, store, g), dispatch.Options{})
	if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	g.next <- struct{}{}
	g.next <- struct{}{} // the first piece has been taken in by now
	first, stopFirst := iter.Pull2(l.Follow(t.Context(), key(1), 0))
	defer stopFirst()
	second, stopSecond := iter.Pull2(l.Follow(t.Context(), key(1), 0))
	defer stopSecond()
	readers := []*reading{{next: first}, {next: second}}
	for _, r := range readers {
		r.step(t) // both read before the last piece comes
	}
	g.next <- struct{}{}
	for i, r := range readers {
		for !r.ended {
			r.step(t)
		}
		if r.shown != "one two three" {
			t.Errorf("reader %d was shown %q", i, r.shown)
		}
	}
}

// reading is one who puts together what is shown.
type reading struct {
	next  func() ([]session.Event, error, bool)
	shown string
	ended bool
}

func (r *reading) step(t *testing.T) {
	t.Helper()
	batch, err, ok := r.next()
	if err != nil || !ok {
		t.Fatalf("the range ended: %v", err)
	}
	for _, e := range batch {
		switch b := e.Body.(type) {
		case *session.Delta:
			r.shown = r.shown[:b.Offset] + b.Text
		case *session.Partial:
			r.shown = b.Text
		}
		r.ended = r.ended || e.Type == "loop.end"
	}
}

// gated writes one piece for each value in next.
type gated struct {
	pieces []string
	next   chan struct{}
}

func (g *gated) Name() string { return "test/gated" }
func (g *gated) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for _, p := range g.pieces {
			select {
			case <-g.next:
			case <-ctx.Done():
				yield(model.Chunk{}, ctx.Err())
				return
			}
			if !yield(model.Chunk{Text: p}, nil) {
				return
			}
		}
		yield(model.Chunk{Done: &message.Message{Role: message.Assistant, Parts: text(strings.Join(g.pieces, ""))}, Stop: "stop"}, nil)
	}
}

func TestCancelReachesTheModel(t *testing.T) {
	store := memory.New(memory.Options{})
	g := &gated{pieces: []string{"never ending", "x"}, next: make(chan struct{})}
	l := start(t, store, runner(t, store, g), dispatch.Options{})
	if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	g.next <- struct{}{}
	if _, err := l.Submit(t.Context(), key(1), post(key(1), &session.Cancel{})); err != nil {
		t.Fatal(err)
	}
	events, _ := follow(t, l, key(1), 0)
	end := endOf(t, events)
	if end.Reason != session.ReasonCancelled || end.Text != "never ending" {
		t.Errorf("end: %+v", end)
	}
}

// TestTakeover lets the work of a worker that is gone be done by another.
func TestTakeover(t *testing.T) {
	store := memory.New(memory.Options{})
	locks := t.TempDir()
	k := key(1)
	stuck := &gated{pieces: []string{"x"}, next: make(chan struct{})}
	first, err := dispatch.NewLocal(t.Context(), store, runner(t, store, stuck), dispatch.Options{LockDir: locks})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Submit(t.Context(), k, prompt(k, "hi")); err != nil {
		t.Fatal(err)
	}
	grace, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if err := first.Close(grace); err != nil { // hands over in the middle of the answer
		t.Fatal(err)
	}
	s := script.New(script.Reply{Text: "answer"})
	second := start(t, store, runner(t, store, s.Model("script/x")), dispatch.Options{LockDir: locks, Claim: true})
	events, _ := follow(t, second, k, 0)
	checkOrder(t, events, 0)
	if end := endOf(t, events); end.Text != "answer" {
		t.Errorf("end: %+v", end)
	}
}

func TestSlowReaderFallsBehind(t *testing.T) {
	store := memory.New(memory.Options{})
	g := &gated{pieces: strings.SplitAfter(strings.Repeat("word ", 9000), " "), next: make(chan struct{})}
	l := start(t, store, runner(t, store, g), dispatch.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := l.Submit(ctx, key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	g.next <- struct{}{}
	next, stop := iter.Pull2(l.Follow(ctx, key(1), 0))
	defer stop()
	if _, err, _ := next(); err != nil { // it reads once, and then no more
		t.Fatal(err)
	}
	close(g.next) // the other pieces come at once
	waitIdle(t, store, key(1))
	_, err, _ := next()
	var behind *dispatch.FellBehind
	if !errors.As(err, &behind) {
		t.Fatalf("the reader got %v after %d pieces that it did not read", err, len(g.pieces)-1)
	}
	events, _ := follow(t, l, key(1), behind.From)
	checkOrder(t, events, behind.From)
}

// waitIdle waits until nothing is left to do on the stream.
func waitIdle(t *testing.T, store session.Store, k session.Key) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for range 20_000 {
		sum, err := store.Summary(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		if !sum.Runnable() {
			return
		}
		<-tick.C
	}
	t.Fatal("the stream is still running")
}

func TestSubmitAfterClose(t *testing.T) {
	store := memory.New(memory.Options{})
	l, err := dispatch.NewLocal(t.Context(), store, runner(t, store, script.New().Model("script/x")), dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	posted, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi"))
	if err != nil || posted.Lease != nil {
		t.Errorf("a post after close is stored and not run: %+v, %v", posted, err)
	}
}
