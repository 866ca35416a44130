package host_test

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// TestPostInTheMiddleOfAMessage connects again when a post has come between
// the pieces of a message.
func TestPostInTheMiddleOfAMessage(t *testing.T) {
	s := newSite(t, slow(100, 2*time.Millisecond), slow(3, 0))
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	first := s.stream(ctx, http.MethodPost, "/stream", hello)
	id := first.res.Header.Get("X-Session-Id")
	c := newClient(t)
	for f, ok := first.next(); ok && f.name != "delta"; f, ok = first.next() {
		c.take(f)
	}
	cut()
	first.res.Body.Close()
	if a := s.post("/sessions/"+id+"/steer", `{"message":"shorter"}`); a.status != http.StatusAccepted {
		t.Fatalf("steer: %d %s", a.status, a.body)
	}
	c.text = map[string]string{}
	for _, f := range s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle", "", "Last-Event-ID", c.last).rest() {
		c.take(f)
	}
	if stored := s.stored(id); len(c.seen) != len(stored) || !c.ended {
		t.Errorf("saw %d of %d events, ended %v", len(c.seen), len(stored), c.ended)
	}
}
