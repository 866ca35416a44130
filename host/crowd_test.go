package host_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/model/script"
)

// TestManyReadersOfOneSession come and leave at any time while it runs: what each
// is shown of stored events is what is stored, and the pieces and the use of the
// context are those of the one who is there from the beginning.
func TestManyReadersOfOneSession(t *testing.T) {
	s := openSite(t, siteOptions{model: (&script.Script{
		Replies: []script.Reply{{Text: strings.Repeat("word ", 30), Gap: 300 * time.Microsecond, Usage: &script.Usage{Input: 50, Output: 7}}}, Loop: true,
	}).Model("fake/text")})
	id := s.chat(hello).SessionID
	const turns, readers = 6, 12
	shown := make([][]frame, readers)
	var all sync.WaitGroup
	for i := range readers {
		all.Go(func() {
			after := "0"
			for ends := 0; ends < turns+1; {
				r := s.stream(t.Context(), http.MethodGet, fmt.Sprintf("/sessions/%s/events?after=%s", id, after), "")
				for n := 0; ends < turns+1 && (i == 0 || n < 20*i); n++ {
					f, ok := r.next()
					if !ok {
						break
					}
					if shown[i] = append(shown[i], f); f.id != "" {
						after = f.id
					}
					if f.name == "loop.end" {
						ends++
					}
				}
				r.res.Body.Close()
			}
		})
	}
	for range turns {
		s.chat(fmt.Sprintf(`{"message":"again","sessionId":%q}`, id))
	}
	all.Wait()
	stored := s.stored(id)
	usage := of(shown[0], "context_usage")
	if len(usage) != turns+1 {
		t.Errorf("context_usage %d times", len(usage))
	}
	for i, frames := range shown {
		c := newClient(t)
		for _, f := range frames {
			if f.id == "" {
				continue
			}
			if c.take(f); stored[f.id] != f.raw {
				t.Errorf("reader %d: event %s is\n%s, stored is\n%s", i, f.id, f.raw, stored[f.id])
			}
		}
		if len(c.seen) != len(stored) {
			t.Errorf("reader %d: %d events of %d", i, len(c.seen), len(stored))
		}
		for _, raw := range of(frames, "context_usage") {
			if !slices.Contains(usage, raw) {
				t.Errorf("reader %d: context_usage %s", i, raw)
			}
		}
	}
}

// of lists the events of a name.
func of(frames []frame, name string) (raw []string) {
	for _, f := range frames {
		if f.name == name {
			raw = append(raw, f.raw)
		}
	}
	return raw
}
