package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

func slow(words int, gap time.Duration) script.Reply {
	return script.Reply{Text: strings.TrimSpace(strings.Repeat("word ", words)), Gap: gap}
}

// cutter is a transport whose streams break after some bytes, more each time.
type cutter struct {
	next  http.RoundTripper
	after int
	cuts  atomic.Int64
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.next.RoundTrip(r)
	if err == nil && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		n := c.cuts.Add(1)
		res.Body = &cutBody{res.Body, c.after + int(n)*97}
	}
	return res, err
}

type cutBody struct {
	io.ReadCloser
	left int
}

func (b *cutBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// TestStreamThatIsCut breaks the connection again and again, in the middle of
// messages and of events.
func TestStreamThatIsCut(t *testing.T) {
	s := newSite(t,
		script.Reply{Text: slow(30, 0).Text, Gap: time.Millisecond, Tools: []script.Call{{Name: "read", Input: `{"path":"roster.yaml"}`}}},
		slow(60, time.Millisecond)).start()
	transport := &cutter{next: &http.Transport{DisableKeepAlives: true}, after: 1500}
	c := s.client(client.Options{HTTPClient: &http.Client{Transport: transport}, Reconnects: 50})
	events, live := collect(t, c.Stream(t.Context(), client.Prompt{Profile: "echo", Message: "hello"}))
	end := whole(t, events)
	if end.Reason != session.ReasonDone || live == 0 {
		t.Errorf("%+v, %d live events", end, live)
	}
	if n := transport.cuts.Load(); n < 4 {
		t.Errorf("only %d connections", n)
	}
	if events[0].Type != "prompt" {
		t.Errorf("it begins with %s", events[0].Type)
	}
	all, _ := collect(t, c.Events(t.Context(), events[0].Session, client.EventsOptions{UntilIdle: true}))
	whole(t, all)
	if all[0].Seq != 1 || all[len(all)-1].Seq != events[len(events)-1].Seq {
		t.Errorf("stored are %d to %d, shown was up to %d", all[0].Seq, all[len(all)-1].Seq, events[len(events)-1].Seq)
	}
	n := 0
	for _, e := range all {
		if e.Type == "prompt" {
			n++
		}
	}
	if n != 1 {
		t.Errorf("the prompt ran %d times", n)
	}
}

// TestServerThatIsStartedAnew stops the server in the middle of runs, and starts it
// again: another process in all that counts.
func TestServerThatIsStartedAnew(t *testing.T) {
	s := newSite(t, slow(150, 3*time.Millisecond)).start()
	var begun, done sync.WaitGroup
	for range 4 {
		begun.Add(1)
		done.Go(func() {
			c := s.client(client.Options{Reconnects: 200})
			first := sync.OnceFunc(begun.Done)
			var events []client.Event
			for e, err := range c.Stream(t.Context(), client.Prompt{Profile: "echo", Message: "hello"}) {
				if err != nil {
					t.Errorf("after %d events: %v", len(events), err)
					first()
					return
				}
				if e.Seq > 0 {
					events = append(events, e)
				}
				if e.Type == "delta" {
					first()
				}
			}
			if end := whole(t, events); end.Reason != session.ReasonDone {
				t.Errorf("%+v", end)
			}
		})
	}
	begun.Wait()
	for range 2 {
		s.stop()
		s.start()
	}
	done.Wait()
}

// TestStreamOfASecondPrompt follows a prompt that waits behind another one.
func TestStreamOfASecondPrompt(t *testing.T) {
	s := newSite(t, slow(40, 2*time.Millisecond), script.Reply{Text: "The second."}).start()
	c := s.client(client.Options{})
	var second sync.WaitGroup
	for e, err := range c.Stream(t.Context(), client.Prompt{Profile: "echo", Message: "one"}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type != "turn.start" {
			continue
		}
		second.Go(func() {
			events, _ := collect(t, c.Stream(t.Context(), client.Prompt{Session: e.Session, Message: "two", OnBusy: "queue"}))
			if end := whole(t, events); end.Text != "The second." {
				t.Errorf("the answer to the second prompt is %q", end.Text)
			}
		})
		second.Wait()
	}
}

// TestEvents shows a session that goes on, and ends with its reader.
func TestEvents(t *testing.T) {
	s := newSite(t, script.Reply{Text: "One."}, script.Reply{Text: "Two."}).start()
	c := s.client(client.Options{})
	a, err := c.Chat(t.Context(), client.Prompt{Profile: "echo", Message: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var ends, last int64
	for e, err := range c.Events(ctx, a.SessionID, client.EventsOptions{After: 2}) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			break
		}
		if e.Seq > 0 {
			if last > 0 && e.Seq != last+1 || last == 0 && e.Seq != 3 {
				t.Errorf("event %d follows event %d", e.Seq, last)
			}
			last = e.Seq
		}
		if e.Type != "loop.end" {
			continue
		}
		if ends++; ends == 2 {
			leave()
			continue
		}
		if _, err := c.Prompt(t.Context(), a.SessionID, client.Prompt{Message: "again"}); err != nil {
			t.Fatal(err)
		}
	}
	if ends != 2 {
		t.Errorf("%d runs", ends)
	}
}

// frames answers with an event stream that a test has written.
func frames(texts ...string) func(http.Handler) http.Handler {
	var n atomic.Int64
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			i := min(int(n.Add(1)), len(texts)) - 1
			io.WriteString(w, strings.ReplaceAll(texts[i], "LAST", r.Header.Get("Last-Event-ID")))
		})
	}
}

const turn = "event: turn.start\nid: N\ndata: {\"v\":1,\"seq\":N,\"session\":\"s\",\"depth\":0,\"time\":\"2026-01-01T00:00:00Z\",\"type\":\"turn.start\",\"data\":{}}\n\n"

func numbered(ns ...string) (all string) {
	for _, n := range ns {
		all += strings.ReplaceAll(turn, "N", n)
	}
	return all
}

// TestWhatIsNoStream has a server that does not hold to the rules.
func TestWhatIsNoStream(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		seqs  []int64
		want  string // of the error
	}{
		{"doubled", []string{numbered("1", "2", "2", "1", "3") + "event: stream.failed\ndata: {\"error\":\"gone\"}\n\n"}, []int64{1, 2, 3}, "gone"},
		{"a gap that heals", []string{numbered("1", "3"), numbered("2", "3") + "event: stream.failed\ndata: {\"error\":\"gone\"}\n\n"}, []int64{1, 2, 3}, "gone"},
		{"a gap that stays", []string{numbered("1", "3")}, []int64{1}, "leaves out the events between 1 and 3"},
		{"behind", []string{numbered("1") + "event: fell_behind\ndata: {\"from\":1}\n\n", numbered("2") + "event: stream.failed\ndata: {\"error\":\"gone\"}\n\n"}, []int64{1, 2}, "gone"},
		{"no JSON", []string{"event: message\nid: 1\ndata: {\n\n"}, nil, "cannot be read"},
		{"another type", []string{"event: message\nid: 1\ndata: [1]\n\n"}, nil, "cannot be read"},
		{"no number", []string{"event: message\nid: x\ndata: {\"v\":1,\"type\":\"message\",\"data\":{}}\n\n"}, nil, "has no number"},
		{"a wrong delta", []string{"event: delta\ndata: {\"offset\":\"x\"}\n\n"}, nil, "cannot be read"},
		{"endless", []string{"event: message\nid: 1\ndata: " + strings.Repeat("x", 33<<20) + "\n\n"}, nil, "longer than"},
		{"nothing", []string{""}, nil, "cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSite(t)
			s.handle = frames(c.texts...)
			cl := s.start().client(client.Options{Backoff: time.Millisecond, Reconnects: 2})
			var seqs []int64
			for e, err := range cl.Events(t.Context(), "s", client.EventsOptions{}) {
				if err != nil {
					if !strings.Contains(err.Error(), c.want) {
						t.Errorf("the error is %v, want %q", err, c.want)
					}
					break
				}
				seqs = append(seqs, e.Seq)
			}
			if len(seqs) != len(c.seqs) {
				t.Errorf("events %v, want %v", seqs, c.seqs)
			}
		})
	}
}

// TestSilence has a server whose stream dies without a word.
func TestSilence(t *testing.T) {
	s := newSite(t)
	s.handle = func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		})
	}
	c := s.start().client(client.Options{Silence: 20 * time.Millisecond, Reconnects: 1})
	for _, err := range c.Events(t.Context(), "s", client.EventsOptions{}) {
		if err == nil || !strings.Contains(err.Error(), "nothing came for 20ms") {
			t.Errorf("%v", err)
		}
	}
}
