package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/client"
)

// feed reads the feed until it has n events, each as session and number.
func feed(t *testing.T, c *client.Client, o client.FeedOptions, n int) (got []string, position string) {
	t.Helper()
	for f, err := range c.Feed(t.Context(), o) {
		if err != nil {
			t.Fatal(err)
		}
		got, position = append(got, fmt.Sprint(f.Session, " ", f.Seq)), f.Position
		if len(got) == n {
			break
		}
	}
	return got, position
}

// TestFeedThatIsCut reads all sessions over connections that break, and over another
// start of the server: no event is lost and none comes twice.
func TestFeedThatIsCut(t *testing.T) {
	s := newSite(t, slow(20, time.Millisecond), slow(20, 0), slow(20, 0)).start()
	cut := &cutter{next: &http.Transport{DisableKeepAlives: true}, after: 300}
	c := s.client(client.Options{HTTPClient: &http.Client{Transport: cut}, Reconnects: 100})
	plain := s.client(client.Options{})
	var want []string
	say := func() {
		events, _ := collect(t, plain.Stream(t.Context(), client.Prompt{Profile: "echo", Message: "hello"}))
		for _, e := range events {
			want = append(want, fmt.Sprint(e.Session, " ", e.Seq))
		}
	}
	say()
	say()
	got, position := feed(t, c, client.FeedOptions{After: client.FeedFromStart}, len(want))
	if !slices.Equal(got, want) || cut.cuts.Load() < 4 {
		t.Errorf("over %d connections\n%q, want\n%q", cut.cuts.Load(), got, want)
	}

	n := len(want)
	s.stop()
	s.start()
	say()
	if got, _ := feed(t, c, client.FeedOptions{After: position}, len(want)-n); !slices.Equal(got, want[n:]) {
		t.Errorf("after the restart\n%q, want\n%q", got, want[n:])
	}
	ends, _ := feed(t, c, client.FeedOptions{After: client.FeedFromStart, Types: []string{"loop.end", "loop.start"}}, 6)
	if len(ends) != 6 {
		t.Errorf("%q", ends)
	}
}

// TestFeedRefused: what is no position of the feed, or no type of events, is an error
// that ends it.
func TestFeedRefused(t *testing.T) {
	c := newSite(t).start().client(client.Options{})
	for field, o := range map[string]client.FeedOptions{"after": {After: "x"}, "type": {Types: []string{"delta"}}} {
		n := 0
		for _, err := range c.Feed(t.Context(), o) {
			var refused *client.Error
			if n++; !errors.As(err, &refused) || refused.Status != 400 || !strings.HasPrefix(refused.Field, field) {
				t.Errorf("%+v: %v", o, err)
			}
		}
		if n != 1 {
			t.Errorf("%+v: %d events", o, n)
		}
	}
}
