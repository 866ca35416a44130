package openairesponses

import (
	"context"
	"iter"
	"strconv"
	"testing"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

func BenchmarkReadOnly(b *testing.B) {
	body, err := New(Config{}).Render(request(text(message.User, "hi")))
	if err != nil {
		b.Fatal(err)
	}
	wiretest.BenchReadOnly(b, body, "20-deltas.sse")
}

// BenchmarkStream20 is one streamed call of 20 deltas. Its target is 45 µs of
// CPU and 60 allocations beyond BenchmarkReadOnly.
func BenchmarkStream20(b *testing.B) {
	m, r := at(b, wiretest.StartProcess(b, "20-deltas.sse")), request(text(message.User, "hi"))
	wiretest.BenchStream(b, 20, func(ctx context.Context) iter.Seq2[model.Chunk, error] {
		return m.Stream(ctx, r)
	})
}

// BenchmarkBody puts a turn's body together when all but one message were sent
// before.
func BenchmarkBody(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			m, r := New(Config{}), request()
			for i := range n {
				r.Messages = append(r.Messages, text([]message.Role{message.User, message.Assistant}[i%2], "some words"))
			}
			b.ReportAllocs()
			for b.Loop() {
				r.Messages[n-1] = text(message.User, "new words")
				if _, err := m.body(r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
