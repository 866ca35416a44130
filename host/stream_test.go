package host_test

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/model/script"
)

const hello = `{"message":"hello","agentId":"echo"}`

func TestStream(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Hello there, friend.", Delay: 50 * time.Millisecond, Usage: &script.Usage{Input: 50, Output: 7}})
	r := s.stream(t.Context(), http.MethodPost, "/stream", hello)
	id := r.res.Header.Get("X-Session-Id")
	frames := r.rest()
	if len(frames) == 0 || frames[len(frames)-1].name != "loop.end" {
		t.Fatalf("the stream does not end with loop.end: %v", names(frames))
	}
	stored := s.stored(id)
	text := ""
	for _, f := range frames {
		switch {
		case f.id != "":
			if stored[f.id] != f.raw {
				t.Errorf("event %s is\n%s, stored is\n%s", f.id, f.raw, stored[f.id])
			}
			delete(stored, f.id)
		case f.name == "delta":
			if int(f.data["offset"].(float64)) != len(text) || f.data["session"] != id || f.data["attempt"] != 1.0 || f.data["message"] == "" {
				t.Errorf("delta %s after %d bytes", f.raw, len(text))
			}
			text += f.data["text"].(string)
		case f.name == "context_usage":
			if f.data["inputTokens"] != 50.0 || f.data["outputTokens"] != 7.0 || f.data["budgetUsedPct"] != 5.0 {
				t.Errorf("context_usage %s", f.raw)
			}
		default:
			t.Errorf("live event %s", f.name)
		}
	}
	if len(stored) != 0 {
		t.Errorf("not in the stream: %v", stored)
	}
	if text != "Hello there, friend." {
		t.Errorf("deltas make %q", text)
	}
	if !slices.Contains(names(frames), "context_usage") {
		t.Error("no context_usage")
	}
}

// TestCutAndResume cuts the connection at many points in the middle of
// messages, connects again, and holds the union against the log.
func TestCutAndResume(t *testing.T) {
	const words = 40
	s := newSite(t,
		script.Reply{Text: slow(words, 0).Text, Gap: time.Millisecond, Tools: []script.Call{{Name: "read", Input: `{"path":"roster.yaml"}`}}},
		slow(words, time.Millisecond))
	ctx, cut := context.WithCancel(t.Context())
	defer cut()
	r := s.stream(ctx, http.MethodPost, "/stream", hello)
	id := r.res.Header.Get("X-Session-Id")
	c := newClient(t)
	for n := 5; ; n = 7 {
		c.live = map[string]bool{}
		for i := 0; i < n && !c.ended; i++ {
			if f, ok := r.next(); ok {
				c.take(f)
			}
		}
		cut()
		r.res.Body.Close()
		if c.ended {
			break
		}
		ctx, cut = context.WithCancel(t.Context())
		defer cut()
		r = s.stream(ctx, http.MethodGet, "/sessions/"+id+"/events", "", "Last-Event-ID", c.last)
	}
	stored := s.stored(id)
	if len(c.seen) != len(stored) {
		t.Errorf("saw %d events, %d are stored", len(c.seen), len(stored))
	}
	for id, data := range c.seen {
		if stored[id] != data {
			t.Errorf("event %s is\n%s, stored is\n%s", id, data, stored[id])
		}
	}
	if c.partials == 0 {
		t.Error("never came in the middle of a message")
	}
	if c.messages != 2 {
		t.Errorf("%d messages of the assistant, want 2", c.messages)
	}
}

// client keeps what a page would show.
type client struct {
	t        *testing.T
	seen     map[string]string // stored events by id
	text     map[string]string // shown for each message
	live     map[string]bool   // messages of which pieces came on this connection
	last     string
	messages int
	partials int
	ended    bool
}

func newClient(t *testing.T) *client {
	return &client{t: t, seen: map[string]string{}, text: map[string]string{}, live: map[string]bool{}}
}

func (c *client) take(f frame) {
	c.t.Helper()
	if f.id != "" {
		if _, twice := c.seen[f.id]; twice {
			c.t.Errorf("event %s came twice", f.id)
		}
		c.seen[f.id], c.last = f.raw, f.id
	}
	id, _ := f.data["message"].(string)
	switch f.name {
	case "delta":
		if at := int(f.data["offset"].(float64)); at != len(c.text[id]) {
			c.t.Errorf("a delta at %d after %d bytes", at, len(c.text[id]))
		}
		c.text[id] += f.data["text"].(string)
		c.live[id] = true
	case "message.partial":
		c.partials++
		c.live[id] = true
		c.text[id] = f.data["text"].(string)
	case "message":
		c.check(f.data["data"].(map[string]any))
	case "loop.end":
		c.ended = true
	}
}

// check holds the text that is shown against the stored message.
func (c *client) check(m map[string]any) {
	c.t.Helper()
	if m["role"] != "assistant" {
		return
	}
	c.messages++
	var text string
	for _, p := range m["parts"].([]any) {
		if part := p.(map[string]any); part["type"] == "text" {
			text += part["text"].(string)
		}
	}
	shown := c.text[m["id"].(string)]
	if !strings.HasPrefix(text, shown) || c.live[m["id"].(string)] && text != shown {
		c.t.Errorf("shown is %.200q (%d bytes), stored %.200q (%d bytes)", shown, len(shown), text, len(text))
	}
}

func TestPartialForWhoComesInTheMiddle(t *testing.T) {
	s := newSite(t, slow(100, 2*time.Millisecond))
	first := s.stream(t.Context(), http.MethodPost, "/stream", hello)
	id := first.res.Header.Get("X-Session-Id")
	deltas := 0
	last := ""
	for deltas < 20 {
		f, ok := first.next()
		if !ok {
			t.Fatal("the stream ended early")
		}
		if f.name == "delta" {
			deltas++
		}
		if f.id != "" {
			last = f.id
		}
	}
	c := newClient(t)
	second := s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle&after="+last, "")
	for _, f := range second.rest() {
		c.take(f)
	}
	if c.partials != 1 || c.messages != 1 || !c.ended {
		t.Errorf("partials %d, messages %d, ended %v", c.partials, c.messages, c.ended)
	}
	first.rest()
}

func TestAttemptIsTakenBack(t *testing.T) {
	s := newSite(t,
		script.Reply{Delay: 300 * time.Millisecond, Text: "half of", Error: &script.Failure{Kind: "cut"}}, // the reader is there by then
		script.Reply{Text: "a whole answer"})
	got := names(s.stream(t.Context(), http.MethodPost, "/stream", `{"message":"x","agentId":"echo","overrides":{"retry":{"base":"1ms"}}}`).rest())
	if !slices.Contains(got, "message.reset") || got[len(got)-1] != "loop.end" {
		t.Errorf("events %v", got)
	}
}

func TestLeavingDoesNotEndTheRun(t *testing.T) {
	s := newSite(t, slow(50, 2*time.Millisecond))
	ctx, leave := context.WithCancel(t.Context())
	r := s.stream(ctx, http.MethodPost, "/stream", hello)
	id := r.res.Header.Get("X-Session-Id")
	r.next()
	leave()
	r.res.Body.Close()
	frames := s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle", "").rest()
	end := frames[len(frames)-1]
	if end.name != "loop.end" || end.data["data"].(map[string]any)["reason"] != "done" {
		t.Errorf("the run ended with %s", end.raw)
	}
}

func TestSlowReaderIsTold(t *testing.T) {
	s := openSite(t, siteOptions{replies: []script.Reply{slow(60_000, 0)}, small: true})
	r := s.stream(t.Context(), http.MethodPost, "/stream", hello)
	id := r.res.Header.Get("X-Session-Id")
	other := s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle", "")
	c := newClient(t)
	fast := other.rest()
	if end := fast[len(fast)-1]; end.name != "loop.end" && end.name != "fell_behind" {
		t.Fatalf("the other reader ends with %s", end.raw)
	}
	frames := r.rest() // begins to read only now
	end := frames[len(frames)-1]
	if end.name != "fell_behind" || end.id != "" {
		t.Fatalf("the stream of a slow reader ends with %.200s", end.raw)
	}
	for _, f := range frames[:len(frames)-1] {
		c.take(f)
	}
	from, ok := end.data["from"].(float64)
	if !ok || int(from) != len(c.seen) {
		t.Fatalf("fell_behind %s after %d stored events", end.raw, len(c.seen))
	}
	for range 100 { // it may fall behind again: nothing paces the model
		c.live = map[string]bool{}
		for _, f := range s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle", "", "Last-Event-ID", c.last).rest() {
			c.take(f)
		}
		if c.ended {
			break
		}
	}
	if stored := s.stored(id); len(c.seen) != len(stored) || !c.ended {
		t.Errorf("saw %d of %d events, ended %v", len(c.seen), len(stored), c.ended)
	}
}

func TestPing(t *testing.T) {
	s := openSite(t, siteOptions{
		replies: []script.Reply{{Text: "late", Delay: 100 * time.Millisecond}},
		change:  func(d *host.Deps) { d.PingEvery = 5 * time.Millisecond },
	})
	a := s.post("/stream", hello)
	if n := strings.Count(a.body, "\n\n: ping\n\n"); n < 2 {
		t.Errorf("%d pings in %q", n, a.body)
	}
}

func TestHeaderComesBeforeTheFirstEvent(t *testing.T) {
	s := newSite(t, script.Reply{Text: "late", Delay: time.Hour})
	r := s.stream(t.Context(), http.MethodPost, "/stream", hello) // returns when the header is there
	id := r.res.Header.Get("X-Session-Id")
	if id == "" {
		t.Error("no X-Session-Id")
	}
	if a := s.post("/sessions/"+id+"/cancel", ""); a.status != http.StatusAccepted {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
	frames := r.rest()
	if end := frames[len(frames)-1]; end.data["data"].(map[string]any)["reason"] != "cancelled" {
		t.Errorf("the stream ends with %s", end.raw)
	}
}

func TestUntilIdleOfAnIdleSession(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"})
	id := s.chat(hello).SessionID
	all := s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle", "").rest()
	last := all[len(all)-1]
	if last.name != "loop.end" || len(all) != len(s.stored(id))+1 { // and context_usage
		t.Errorf("events %v", names(all))
	}
	if none := s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle&after="+last.id, "").rest(); len(none) != 0 {
		t.Errorf("after the end came %v", names(none))
	}
}

func TestShutdownEndsStreams(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"})
	id := s.chat(hello).SessionID
	r := s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events", "")
	for f, ok := r.next(); ok && f.name != "loop.end"; f, ok = r.next() {
	}
	s.host.Shutdown()
	if left := r.rest(); len(left) != 0 {
		t.Errorf("after the shutdown came %v", names(left))
	}
	if e := s.get("/ready").wantError(t, 503, "ShuttingDown"); e.Part != "server" {
		t.Errorf("part %q", e.Part)
	}
}
