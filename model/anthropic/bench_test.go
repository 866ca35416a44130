package anthropic

import (
	"testing"

	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/model"
)

func BenchmarkReadOnly(b *testing.B) { wiretest.BenchReadOnly(b, New(Config{})) }

// BenchmarkStream20 is one streamed call of 20 deltas. Its target is 45 µs of
// CPU and 60 allocations beyond BenchmarkReadOnly.
func BenchmarkStream20(b *testing.B) {
	wiretest.BenchStream20(b, func(url string) model.Model { return at(b, url) })
}

// BenchmarkBody puts a turn's body together when all but one message were sent
// before.
func BenchmarkBody(b *testing.B) {
	m := New(Config{})
	wiretest.BenchBody(b, func(r *model.Request) error {
		_, err := m.body(r)
		return err
	})
}
