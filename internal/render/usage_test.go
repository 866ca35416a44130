package render

import (
	"testing"

	"github.com/rosterrun/roster/message"
)

func TestUsage(t *testing.T) {
	for _, c := range []struct {
		name string
		u    message.Usage
		want string
	}{
		{"no cache", message.Usage{Input: 1000, Output: 2}, "1,000 tokens in, 2 out, $0.0000"},
		{"read", message.Usage{Input: 10, CacheRead: 90, Output: 2, Cost: 0.5}, "100 tokens in, 2 out, 90 of them from the cache, $0.5000"},
		{"written", message.Usage{Input: 10, CacheWrite: 90, Output: 2}, "100 tokens in, 2 out, 90 of them written to the cache, $0.0000"},
		{"both", message.Usage{Input: 10, CacheRead: 60, CacheWrite: 30, Output: 2, Estimated: true}, "100 tokens in, 2 out, 60 of them from the cache and 30 written to it, $0.0000 (estimated)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Usage(c.u); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
