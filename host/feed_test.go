package host_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

// stored reads the log of the tenant as GET /events would show it: session/number
// → data.
func (s *site) fed(tenant string) (order []string, data map[string]string) {
	s.t.Helper()
	store, err := s.app.Backend(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	data = map[string]string{}
	for f, err := range store.ReadFeed(s.t.Context(), tenant, session.Position{}) {
		if err != nil {
			s.t.Fatal(err)
		}
		name := fmt.Sprint(f.Key.Stream, "/", f.Event.Seq)
		order, data[name] = append(order, name), string(f.Event.AppendJSON(nil))
	}
	return order, data
}

func fedName(f frame) string {
	return fmt.Sprint(session.StreamOf(f.data["session"].(string)), "/", f.data["seq"])
}

func TestFeed(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"}, script.Reply{Text: "two"}, script.Reply{Text: "three"})
	s.chat(hello) // before anybody reads
	live := s.stream(t.Context(), http.MethodGet, "/events", "")
	a, b := s.chat(hello).SessionID, s.chat(hello).SessionID
	s.chatElsewhere()
	order, data := s.fed("local")
	own := slices.IndexFunc(order, func(name string) bool { return strings.HasPrefix(name, a) })
	for _, want := range order[own:] {
		f, ok := live.next()
		if !ok || fedName(f) != want || f.raw != data[want] || f.id == "" || f.name != f.data["type"] {
			t.Fatalf("got %s %s, want %s", f.id, f.raw, want)
		}
	}
	if len(order[own:]) < 10 || !strings.HasPrefix(order[len(order)-1], b) {
		t.Errorf("feed %v", order)
	}
	all := s.stream(t.Context(), http.MethodGet, "/events?after=0", "")
	for _, want := range order {
		if f, _ := all.next(); fedName(f) != want {
			t.Fatalf("got %s, want %s", f.raw, want)
		}
	}
	live.res.Body.Close()
	all.res.Body.Close()
}

// chatElsewhere has a session of another tenant.
func (s *site) chatElsewhere() {
	s.chat(`{"message":"hello","agentId":"echo","tenantId":"other","model":"fake/text"}`)
}

func TestFeedResumes(t *testing.T) {
	dir := t.TempDir()
	open := func() (*site, func()) {
		store, err := sqlite.Open(t.Context(), filepath.Join(dir, "roster.db"), sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := openSite(t, siteOptions{store: store, model: (&script.Script{Replies: []script.Reply{slow(30, 0)}, Loop: true}).Model("fake/text")})
		return s, func() { s.stop(); store.Close() }
	}
	s, stop := open()
	var seen []string
	last := "0"
	for range 4 { // servers
		var writers sync.WaitGroup
		for range 3 {
			writers.Go(func() {
				for range 4 {
					s.chat(hello)
				}
			})
		}
		for range 5 { // connections
			seen, last = s.readFeed(t, seen, last, rand.IntN(16)) // fewer in all than are written
		}
		writers.Wait()
		stop()
		s, stop = open()
	}
	order, _ := s.fed("local")
	seen, _ = s.readFeed(t, seen, last, len(order)-len(seen))
	if !slices.Equal(seen, order) {
		t.Errorf("seen %d events, stored are %d; or others", len(seen), len(order))
	}
	stop()
}

// readFeed reads n events after the last one, and leaves.
func (s *site) readFeed(t *testing.T, seen []string, last string, n int) ([]string, string) {
	r := s.stream(t.Context(), http.MethodGet, "/events", "", "Last-Event-ID", last)
	defer r.res.Body.Close()
	for range n {
		f, ok := r.next()
		if !ok {
			t.Fatal("the stream ended")
		}
		seen, last = append(seen, fedName(f)), f.id
	}
	return seen, last
}

func TestFeedRefuses(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"}, script.Reply{Text: "two"})
	s.chat(hello)
	s.chatElsewhere()
	r := s.stream(t.Context(), http.MethodGet, "/events?after=0&type=loop.end", "")
	f, _ := r.next()
	r.res.Body.Close()
	other := newSite(t, script.Reply{Text: "one"})
	for name, c := range map[string]struct {
		of           *site
		path, header string
		field        string
	}{
		"a word":                  {s, "/events?after=yesterday", "", "after"},
		"a number":                {s, "/events?after=7", "", "after"},
		"a header":                {s, "/events", "x", "Last-Event-ID"},
		"binary":                  {s, "/events?after=%00%ff", "", "after"},
		"a long one":              {s, "/events?after=" + strings.Repeat("A", 5000), "", "after"},
		"one cut off":             {s, "/events?after=" + f.id[1:], "", "after"},
		"one of another tenant":   {s, "/events?tenantId=other&after=" + f.id, "", "after"},
		"one of another store":    {other, "/events?after=" + f.id, "", "after"},
		"a type that is not":      {s, "/events?type=loop.end,loop.over", "", "type"},
		"a type that is live":     {s, "/events?type=delta", "", "type"},
		"a tenant with bad names": {s, "/events?tenantId=../x", "", "tenantId"},
	} {
		t.Run(name, func(t *testing.T) {
			header := []string{}
			if c.header != "" {
				header = append(header, "Last-Event-ID", c.header)
			}
			if e := c.of.get(c.path, header...).wantError(t, http.StatusBadRequest, "InvalidField"); e.Field != c.field {
				t.Errorf("field %q: %s", e.Field, e.Error)
			}
		})
	}
}

// TestFeedOfTypes shows some types alone, and how far it has come where there was
// none of them.
func TestFeedOfTypes(t *testing.T) {
	s := openSite(t, siteOptions{
		replies: []script.Reply{{Text: "one"}, {Text: "two"}},
		change:  func(d *host.Deps) { d.PingEvery = 5 * time.Millisecond },
	})
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Second)
	defer leave()
	r := s.stream(ctx, http.MethodGet, "/events?type=loop.start,loop.end", "")
	res := s.open(ctx, http.MethodGet, "/events?type=revert", "")
	lines := bufio.NewScanner(res.Body)
	lines.Scan()
	begun := lines.Text()
	s.chat(hello)
	for _, want := range []string{"loop.start", "loop.end"} {
		if f, _ := r.next(); f.name != want {
			t.Errorf("got %s, want %s", f.raw, want)
		}
	}
	r.res.Body.Close()
	order, _ := s.fed("local")
	for id := begun; ; {
		if line := lines.Text(); strings.HasPrefix(line, "id: ") {
			id = line
		}
		if id != begun { // it has come on without an event
			rest := s.stream(ctx, http.MethodGet, "/events", "", "Last-Event-ID", strings.TrimPrefix(id, "id: "))
			s.chat(hello)
			if f, _ := rest.next(); slices.Index(order, fedName(f)) == 0 {
				t.Errorf("it begins again with %s", f.raw)
			}
			rest.res.Body.Close()
			break
		}
		if !lines.Scan() {
			t.Fatal("the stream ended without another position")
		}
	}
	res.Body.Close()
}

func TestFeedTellsASlowReader(t *testing.T) {
	big := strings.Repeat("x", 60_000)
	s := openSite(t, siteOptions{model: (&script.Script{Replies: []script.Reply{{Text: big}}, Loop: true}).Model("fake/text"), small: true})
	r := s.stream(t.Context(), http.MethodGet, "/events", "")
	for range 40 {
		s.chat(hello)
	}
	frames := r.rest() // begins to read only now
	end := frames[len(frames)-1]
	if end.name != "fell_behind" || end.id != "" || end.data["from"] != frames[len(frames)-2].id {
		t.Fatalf("it ends with %.200s after %s", end.raw, frames[len(frames)-2].id)
	}
	order, _ := s.fed("local")
	next := s.stream(t.Context(), http.MethodGet, "/events?after="+end.data["from"].(string), "")
	for i := len(frames) - 1; i < len(order); i++ {
		if f, _ := next.next(); fedName(f) != order[i] {
			t.Fatalf("event %d is %.100s, want %s", i, f.raw, order[i])
		}
	}
	next.res.Body.Close()
}

func TestShutdownEndsTheFeed(t *testing.T) {
	s := newSite(t)
	r := s.stream(t.Context(), http.MethodGet, "/events", "")
	s.host.Shutdown()
	if left := r.rest(); len(left) != 0 {
		t.Errorf("after the shutdown came %v", names(left))
	}
}
