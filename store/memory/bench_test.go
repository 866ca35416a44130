package memory_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// BenchmarkAppend measures a batch of six events beyond their encoding.
func BenchmarkAppend(b *testing.B) {
	k := session.Key{Tenant: "t", Stream: "s"}
	s, lease := start(b, k)
	batch, last := turn(), int64(1)
	b.ReportAllocs()
	for b.Loop() {
		if last > 60_000 { // bounds the memory that a long run takes
			s, lease = start(b, k)
			last = 1
		}
		var err error
		if last, err = s.Append(context.Background(), k, lease, last, batch); err != nil {
			b.Fatal(err)
		}
	}
}

func start(b *testing.B, k session.Key) (*memory.Store, session.Lease) {
	b.Helper()
	s := memory.New(memory.Options{})
	evs := []session.Event{{Body: &session.Prompt{Parts: []message.Part{message.Text{Text: "hello"}}}}}
	done, err := s.Post(context.Background(), k, session.Post{Events: evs, Worker: "w"})
	if err != nil {
		b.Fatal(err)
	}
	return s, *done.Lease
}

// turn is what a text turn appends, already encoded.
func turn() []session.Event {
	text := []message.Part{message.Text{Text: strings.Repeat("some words ", 20)}}
	bodies := []session.Body{
		&session.LoopStart{Number: 1, Why: "prompt", Profile: "p", Spec: strings.Repeat("0", 64)},
		&session.Message{ID: "m1", Role: message.User, Source: "steer", Post: 1},
		&session.TurnStart{},
		&session.TurnRequest{Message: "m2", Attempt: 1, Messages: 1, Head: "m1", Digest: strings.Repeat("0", 64)},
		&session.Message{ID: "m2", Parent: "m1", Role: message.Assistant, Parts: text},
		&session.Usage{Usage: message.Usage{Input: 10, Output: 20}, Model: "m"},
	}
	evs := make([]session.Event, len(bodies))
	for i, body := range bodies {
		evs[i] = session.Event{Session: "s", Loop: "l", Turn: 1, Agent: "a", Chain: "c", Time: time.Now(), Body: body}
		evs[i].Encode()
	}
	return evs
}
