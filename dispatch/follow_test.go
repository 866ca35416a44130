package dispatch_test

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// TestNoPieceOfAStoredMessage: a reader that lags finds a gap, which the store
// fills, and gets no piece of a message after the message.
func TestNoPieceOfAStoredMessage(t *testing.T) {
	store := memory.New(memory.Options{})
	begin, written := make(chan struct{}), make(chan struct{})
	l := start(t, store, func(ctx context.Context, j *dispatch.Job) iter.Seq2[session.Event, error] {
		return func(yield func(session.Event, error) bool) {
			last := j.Posted[0].Seq
			add := func(s session.Store, b session.Body) {
				e := session.Event{Session: j.Key.Stream, Loop: "l", Time: time.Now().UTC(), Body: b}
				var err error
				if last, err = s.Append(ctx, j.Key, j.Lease, last, []session.Event{e}); err != nil {
					yield(session.Event{}, err)
				}
			}
			<-begin
			add(store, &session.LoopStart{}) // committed, and not shown yet
			for i := range 8 {
				id := fmt.Sprint("m", i)
				yield(session.Event{Type: "delta", Body: &session.Delta{Message: id, Text: "text"}}, nil)
				add(j.Store, &session.Message{ID: id, Role: "assistant", Parts: text("text")})
			}
			add(j.Store, &session.Message{ID: "u", Role: "user", Source: "prompt", Post: 1})
			add(j.Store, &session.LoopEnd{Reason: session.ReasonDone})
			close(written)
		}
	}, dispatch.Options{})
	if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	next, stop := iter.Pull2(l.Follow(t.Context(), key(1), 0))
	defer stop()
	first, err, _ := next()
	if err != nil {
		t.Fatal(err)
	}
	close(begin)
	<-written
	events, stored := first, map[string]bool{}
	for events[len(events)-1].Type != "loop.end" {
		batch, err, ok := next()
		if err != nil || !ok {
			t.Fatal(err)
		}
		events = append(events, batch...)
	}
	var last int64
	for _, e := range events {
		body, err := e.Decode()
		if err != nil {
			t.Fatal(err)
		}
		switch b := body.(type) {
		case *session.Message:
			stored[b.ID] = true
		case *session.Delta:
			if stored[b.Message] {
				t.Errorf("a piece of %s comes after it", b.Message)
			}
		}
		if e.Seq > 0 {
			if last++; e.Seq != last {
				t.Fatalf("event %d where %d belongs", e.Seq, last)
			}
		}
	}
}

// TestBigEvent: a reader that keeps up is not told that it fell behind because
// one event is bigger than what is kept for slow ones.
func TestBigEvent(t *testing.T) {
	store := memory.New(memory.Options{})
	g := &gated{pieces: []string{"one"}, next: make(chan struct{})}
	l := start(t, store, runner(t, store, g), dispatch.Options{})
	if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	goOn := sync.OnceFunc(func() { close(g.next) })
	defer goOn()
	var last string
	for batch, err := range l.Follow(t.Context(), key(1), 0) {
		if err != nil {
			t.Fatal(err)
		}
		newest := batch[len(batch)-1].Type
		if newest == "turn.request" && last != newest {
			if _, err := l.Submit(t.Context(), key(1), post(key(1), &session.Followup{Parts: text(strings.Repeat("x", 2<<20))})); err != nil {
				t.Fatal(err)
			}
		}
		if last = newest; newest == "followup" {
			break
		}
	}
	goOn()
	waitIdle(t, store, key(1))
}

// TestCutReaders has readers that leave at random moments and come back with
// the last number that they have seen, while messages are posted and answers
// break off: each gets every stored event once, and no text that is not in the
// message.
func TestCutReaders(t *testing.T) {
	store := memory.New(memory.Options{})
	s := script.New(
		script.Reply{Text: "half of an ans", Gap: 100 * time.Microsecond, Error: &script.Failure{Kind: model.Cut}},
		script.Reply{Text: "a first answer of some words", Gap: 200 * time.Microsecond}, script.Reply{Text: "and a second one"}, script.Reply{Text: "a third"},
	)
	l := start(t, store, runner(t, store, s.Model("script/x")), dispatch.Options{Claim: true})
	var all sync.WaitGroup
	for i := range 60 {
		k := key(i)
		all.Go(func() {
			if _, err := l.Submit(t.Context(), k, prompt(k, "hi")); err != nil {
				t.Error(err)
				return
			}
			for range 3 {
				all.Go(func() { (&cutReader{t: t, l: l, k: k, open: map[int64]bool{}}).read() })
			}
			for range 2 {
				if _, err := l.Submit(t.Context(), k, post(k, &session.Steer{Parts: text("more")})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// cutReader is a reader that leaves every now and then.
type cutReader struct {
	t       *testing.T
	l       *dispatch.Local
	k       session.Key
	seq     int64
	open    map[int64]bool // posts that are not answered
	message string         // that is being shown, and its text
	text    string
}

func (r *cutReader) read() {
	ctx, cancel := context.WithTimeout(r.t.Context(), 20*time.Second)
	defer cancel()
	for posts := 0; posts < 3 || len(r.open) > 0; {
		r.message, r.text = "", ""
		left := rand.IntN(6)
		for batch, err := range r.l.Follow(ctx, r.k, r.seq) {
			if err != nil {
				r.t.Errorf("%s: %v", r.k, err)
				return
			}
			for i := range batch {
				if r.see(&batch[i]); session.Inbound(batch[i].Type) {
					posts++
				}
			}
			if left--; left < 0 || posts == 3 && len(r.open) == 0 {
				break
			}
		}
	}
}

func (r *cutReader) see(e *session.Event) {
	if e.Seq > 0 {
		if r.seq++; e.Seq != r.seq {
			r.t.Errorf("%s: event %d where %d belongs", r.k, e.Seq, r.seq)
		}
	}
	body, err := e.Decode()
	if err != nil {
		r.t.Error(err)
	}
	switch b := body.(type) {
	case *session.Prompt, *session.Steer:
		r.open[e.Seq] = true
	case *session.Delta:
		if b.Offset > 0 && (b.Message != r.message || b.Offset != len(r.text)) {
			r.t.Errorf("%s: a piece at %d of %s after %d bytes of %s", r.k, b.Offset, b.Message, len(r.text), r.message)
		}
		r.message, r.text = b.Message, r.text[:min(b.Offset, len(r.text))]+b.Text
	case *session.Partial:
		r.message, r.text = b.Message, b.Text
	case *session.Reset:
		r.message, r.text = b.Message, ""
	case *session.Message:
		delete(r.open, b.Post)
		if b.ID == r.message && !strings.HasPrefix(message.PartsText(b.Parts), r.text) {
			r.t.Errorf("%s: shown %q, stored %q", r.k, r.text, message.PartsText(b.Parts))
		}
	}
}

// TestReaderAfterTheRun: who posts and reads gets the pieces of the answer, also
// if the run is over before he has come to read.
func TestReaderAfterTheRun(t *testing.T) {
	store := memory.New(memory.Options{})
	s := script.New(script.Reply{Text: "a whole answer"})
	s.Loop = true
	l := start(t, store, runner(t, store, s.Model("script/s")), dispatch.Options{})
	for i := range 12 { // more than are kept
		if _, err := l.Submit(t.Context(), key(i), prompt(key(i), "hi")); err != nil {
			t.Fatal(err)
		}
		waitIdle(t, store, key(i))
		events, shown := follow(t, l, key(i), 0)
		if shown != "a whole answer" || endOf(t, events).Reason != session.ReasonDone {
			t.Errorf("session %d: shown %q", i, shown)
		}
	}
}
