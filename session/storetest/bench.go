package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// BenchTurn measures what a text turn awaits of a store, with clients that each
// have a session: a prompt that claims the stream, and the seven events that
// answer it.
func BenchTurn(b *testing.B, s session.Store, clients int) {
	b.ReportAllocs()
	var wg sync.WaitGroup
	work := make(chan struct{})
	for i := range clients {
		wg.Go(func() {
			k := session.Key{Tenant: "local", Stream: fmt.Sprintf("01890a5d-ac96-774b-bcce-%012d", i)}
			for range work {
				if err := turn(s, k); err != nil {
					b.Error(err)
				}
			}
		})
	}
	before := cpu()
	b.ResetTimer()
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	wg.Wait()
	b.ReportMetric(float64((cpu()-before).Microseconds())/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "turns/s")
}

// cpu is the time that this process has worked.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func turn(s session.Store, k session.Key) error {
	ctx := context.Background()
	prompt := envelope(&session.Prompt{Parts: words("What does this file do?"), Profile: "reviewer", Shared: true})
	done, err := s.Post(ctx, k, session.Post{Events: []session.Event{prompt}, Worker: "worker"})
	if err != nil {
		return err
	}
	_, err = s.Append(ctx, k, *done.Lease, done.Last, []session.Event{
		envelope(&session.LoopStart{Number: 1, Why: "prompt", Profile: "reviewer", Model: "fake/text"}),
		envelope(&session.Message{ID: "01890a5d-ac96-774b-bcce-b302099a8057", Role: message.User, Source: "prompt", Post: done.First}),
		envelope(&session.TurnStart{}),
		envelope(&session.TurnRequest{Message: "01890a5d-ac96-774b-bcce-b302099a8058", Attempt: 1, Messages: 1, Digest: strings.Repeat("0", 64)}),
		envelope(&session.Message{ID: "01890a5d-ac96-774b-bcce-b302099a8058", Role: message.Assistant, Parts: words(strings.Repeat("some words ", 20))}),
		envelope(&session.Usage{Usage: message.Usage{Input: 100, Output: 50}, Model: "fake/text"}),
		envelope(&session.LoopEnd{Reason: session.ReasonDone, Text: strings.Repeat("some words ", 20)}),
	})
	return err
}

func words(s string) []message.Part { return []message.Part{message.Text{Text: s}} }

func envelope(body session.Body) session.Event {
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	return session.Event{Session: id, Loop: id, Turn: 1, Agent: id, Chain: id, Time: time.Now(), Body: body}
}
