package dispatch_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// TestMessagesThatAreWrittenTogether: the pieces of two children's messages come
// in turns; a reader gets all of both, and one who comes in the middle all so
// far of both.
func TestMessagesThatAreWrittenTogether(t *testing.T) {
	store := memory.New(memory.Options{})
	begin, half, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	l := start(t, store, func(ctx context.Context, j *dispatch.Job) iter.Seq2[session.Event, error] {
		return func(yield func(session.Event, error) bool) {
			<-begin
			last := j.Posted[0].Seq
			add := func(in string, depth int, b session.Body) {
				e := session.Event{Session: in, Depth: depth, Loop: in, Time: time.Now().UTC(), Body: b}
				var err error
				if last, err = j.Store.Append(ctx, j.Key, j.Lease, last, []session.Event{e}); err != nil {
					yield(session.Event{}, err)
				}
			}
			add(j.Key.Stream, 0, &session.LoopStart{})
			children := []string{j.Key.Stream + "_1", j.Key.Stream + "_2"}
			for i, word := range strings.Split("one two three four", " ") {
				if i == 2 {
					close(half)
					<-goOn
				}
				for _, c := range children {
					offset := []int{0, 3, 6, 11}[i]
					yield(session.Event{Session: c, Depth: 1, Type: "delta", Body: &session.Delta{Message: "m" + c, Attempt: 1, Offset: offset, Text: word}}, nil)
				}
			}
			for _, c := range children {
				add(c, 1, &session.Message{ID: "m" + c, Role: "assistant", Parts: text("onetwothreefour")})
			}
			add(j.Key.Stream, 0, &session.Message{ID: "u", Role: "user", Source: "prompt", Post: 1})
			add(j.Key.Stream, 0, &session.LoopEnd{Reason: session.ReasonDone})
		}
	}, dispatch.Options{})
	if _, err := l.Submit(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	read := func(after int64, ready chan<- struct{}) map[string]string {
		texts := map[string]string{}
		for batch, err := range l.Follow(t.Context(), key(1), after) {
			if err != nil {
				t.Error(err)
				return nil
			}
			for _, e := range batch {
				switch b := e.Body.(type) {
				case *session.Delta:
					texts[e.Session] += b.Text
				case *session.Partial:
					texts[e.Session] += "[" + b.Text + "]"
				}
				if e.Type == "loop.end" {
					return texts
				}
			}
			if ready != nil {
				close(ready)
				ready = nil
			}
		}
		return nil
	}
	first := make(chan map[string]string, 1)
	attached := make(chan struct{})
	go func() { first <- read(0, attached) }()
	<-attached
	close(begin)
	<-half
	late := make(chan map[string]string, 1)
	attached = make(chan struct{})
	go func() { late <- read(2, attached) }()
	<-attached
	close(goOn)
	for who, got := range map[string]map[string]string{"onetwothreefour": <-first, "[onetwo]threefour": <-late} {
		for _, c := range []string{key(1).Stream + "_1", key(1).Stream + "_2"} {
			if got[c] != who {
				t.Errorf("%s: %q, want %q", c, got[c], who)
			}
		}
	}
}
