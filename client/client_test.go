package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/client"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const config = `
providers:
  fake:
    api: script
    base-url: replies.yaml
    models: {text: {context-window: 1000}}
`

const echo = `---
name: echo
description: Says it again
model: fake/text
tools: [read, write, ask_user]
permission: [{tool: write, effect: ask}]
---
Be brief.
`

const skill = "---\nname: release\ndescription: Makes a release\n---\nTag it.\n"

// site is a server over a real workspace, with a script for a model. It can be
// stopped and started anew at its address.
type site struct {
	t      testing.TB
	dir    string
	state  string
	model  model.Model
	addr   string
	handle func(http.Handler) http.Handler // nil: as it is

	app  *roster.App
	stop func()
}

func newSite(t testing.TB, replies ...script.Reply) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), state: t.TempDir(), model: script.New(replies...).Model("fake/text"), addr: "127.0.0.1:0"}
	for name, text := range map[string]string{
		"roster.yaml": config, "profiles/echo.md": echo, "profiles/broken.md": "---\nname: [\n---\n",
		"skills/release/SKILL.md": skill, ".claude/commands/hello.md": "Say hello to $ARGUMENTS\n",
		"rig/a-loom/review.md": "---\nagent-profile-ref: echo\nstrand-dir: in\n---\nReview.\n",
		"in/c.md":              "Read me.\n",
	} {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// start serves the workspace until stop.
func (s *site) start() *site {
	s.t.Helper()
	app, _, err := roster.Open(s.dir, roster.Options{
		State: s.state, Models: map[string]model.Model{"fake/text": s.model}, Claim: true, Trust: true,
		Getenv: func(name string) string { return map[string]string{"ROSTER_HOME": filepath.Join(s.dir, "home")}[name] },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := app.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	l, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.app, s.addr = app, l.Addr().String()
	srv := host.Server(s.addr, app.Handler())
	if s.handle != nil {
		srv.Handler = s.handle(srv.Handler)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l) // ends with ErrServerClosed
	}()
	s.stop = sync.OnceFunc(func() {
		if err := srv.Shutdown(context.Background()); err != nil {
			s.t.Error(err)
		}
		<-served
		if err := app.Close(context.Background()); err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(func() { s.stop() })
	return s
}

// client is one of the site's; it waits little between its tries.
func (s *site) client(o client.Options) *client.Client {
	s.t.Helper()
	if o.Backoff == 0 {
		o.Backoff = 10 * time.Millisecond
	}
	c, err := client.New("http://"+s.addr, o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.Close)
	return c
}

// collect reads a stream to its end.
func collect(t testing.TB, events func(func(client.Event, error) bool)) (stored []client.Event, live int) {
	t.Helper()
	for e, err := range events {
		if err != nil {
			t.Fatalf("after %d events: %v", len(stored), err)
		}
		if e.Seq == 0 {
			live++
			continue
		}
		stored = append(stored, e)
	}
	return stored, live
}

// whole fails if events are lost or doubled, and returns the end of the last loop.
func whole(t testing.TB, events []client.Event) *session.LoopEnd {
	t.Helper()
	for i := range events {
		if i > 0 && events[i].Seq != events[i-1].Seq+1 {
			t.Fatalf("event %d follows event %d", events[i].Seq, events[i-1].Seq)
		}
	}
	if len(events) == 0 {
		t.Fatal("no events")
	}
	end, ok := events[len(events)-1].Body.(*session.LoopEnd)
	if !ok {
		t.Fatalf("the last event is %s", events[len(events)-1].Type)
	}
	return end
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		name, url string
		options   client.Options
		fine      bool
	}{
		{"plain", "http://127.0.0.1:7788", client.Options{}, true},
		{"below a path", "https://example.com/roster/", client.Options{Key: "k"}, true},
		{"a key on this machine", "http://localhost:7788", client.Options{Key: "k"}, true},
		{"a key on IPv6", "http://[::1]:7788", client.Options{Key: "k"}, true},
		{"a key in the clear", "http://example.com", client.Options{Key: "k"}, false},
		{"a key in the clear, as is wanted", "http://example.com", client.Options{Key: "k", AllowHTTP: true}, true},
		{"no scheme", "127.0.0.1:7788", client.Options{}, false},
		{"another scheme", "ftp://example.com", client.Options{}, false},
		{"empty", "", client.Options{}, false},
		{"a password", "http://me:secret@127.0.0.1", client.Options{}, false},
		{"a query", "http://127.0.0.1?x", client.Options{}, false},
		{"a key with a line break", "http://127.0.0.1", client.Options{Key: "a\nb"}, false},
	} {
		if _, err := client.New(c.url, c.options); (err == nil) != c.fine {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestChat(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Hello there.", Usage: &script.Usage{Input: 50, Output: 7}}).start()
	c := s.client(client.Options{})
	p := client.Prompt{Profile: "echo", Message: "hello", IdempotencyKey: "once"}
	a, err := c.Chat(t.Context(), p)
	if err != nil || a.Text != "Hello there." || a.StopReason != session.ReasonDone || a.Usage.Input != 50 {
		t.Fatalf("%+v, %v", a, err)
	}
	again, err := c.Chat(t.Context(), p)
	if err != nil || again.SessionID != a.SessionID {
		t.Errorf("the same prompt again: %+v, %v", again, err)
	}
	p.Message = "something else"
	_, err = c.Chat(t.Context(), p)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 422 || refused.Code != "IdempotencyConflict" {
		t.Errorf("another prompt with the same key: %v", err)
	}
}

func TestErrors(t *testing.T) {
	s := newSite(t).start()
	c := s.client(client.Options{})
	_, err := c.Profile(t.Context(), "nobody")
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Status != 404 || refused.Code != "ProfileNotFound" || !errors.Is(err, profile.ProfileNotFound) || refused.RequestID == "" {
		t.Errorf("a profile that is not there: %#v", err)
	}
	if _, err = c.Session(t.Context(), "0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11"); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("a session that is not there: %v", err)
	}
	_, err = c.Chat(t.Context(), client.Prompt{Message: "hello"})
	if !errors.As(err, &refused) || refused.Status != 400 || refused.Field != "agentId" {
		t.Errorf("a prompt for nobody: %v", err)
	}
	for _, name := range []string{"", ".", ".."} {
		if _, err := c.Session(t.Context(), name); err == nil || errors.As(err, &refused) && refused.Status == 0 {
			t.Errorf("session %q: %v", name, err)
		}
		if err := c.DeleteProfile(t.Context(), name, ""); err == nil {
			t.Errorf("profile %q was removed", name)
		}
	}
	if _, err := c.Session(t.Context(), "../profiles"); !errors.As(err, &refused) || refused.Status != 400 {
		t.Errorf("a session with a slash: %v", err)
	}
}

// TestAnswersThatAreNotOurs has other servers, and proxies, answer.
func TestAnswersThatAreNotOurs(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		status int // 0: no *Error
	}{
		{"a page", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>Welcome</html>") }, 0},
		{"an error page", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusForbidden)
			io.WriteString(w, "<html>No</html>")
		}, 403},
		{"a redirect", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://example.invalid/", http.StatusFound)
		}, 302},
		{"a bad gateway", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, 502},
		{"half an answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, `[{"name"`)
		}, 0},
	} {
		s := newSite(t)
		s.handle = func(http.Handler) http.Handler { return c.answer }
		cl := s.start().client(client.Options{Key: "secret"})
		var refused *client.Error
		_, err := cl.Profiles(t.Context())
		if err == nil || errors.As(err, &refused) != (c.status > 0) || refused != nil && refused.Status != c.status {
			t.Errorf("%s: %v", c.name, err)
		}
		for _, err := range cl.Events(t.Context(), "0198c6de-5d1b-7c3a-9d5e-2f6a1c0b7e11", client.EventsOptions{}) {
			if err == nil {
				t.Errorf("%s: an event", c.name)
			}
		}
	}
}

// TestTimeout has a server that never answers.
func TestTimeout(t *testing.T) {
	s := newSite(t)
	s.handle = func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then it is seen that the client leaves
			<-r.Context().Done()
		})
	}
	c := s.start().client(client.Options{Timeout: 20 * time.Millisecond, Retries: -1})
	var none *client.Unanswered
	if _, err := c.Profiles(t.Context()); !errors.As(err, &none) {
		t.Errorf("a request: %v", err)
	}
	for _, err := range c.Stream(t.Context(), client.Prompt{Profile: "echo", Message: "hello"}) {
		if !errors.As(err, &none) {
			t.Errorf("a stream: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := c.Chat(ctx, client.Prompt{Profile: "echo", Message: "hello"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a chat that is left: %v", err)
	}
}

// TestRepeats has a proxy refuse some requests before they reach the server.
func TestRepeats(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Hello."})
	var mu sync.Mutex
	asked := map[string]int{}
	s.handle = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			asked[r.Method+" "+r.URL.Path]++
			n := asked[r.Method+" "+r.URL.Path]
			mu.Unlock()
			if n <= 2 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	c := s.start().client(client.Options{})
	if _, err := c.Profiles(t.Context()); err != nil {
		t.Errorf("a read: %v", err)
	}
	if _, err := c.Chat(t.Context(), client.Prompt{Profile: "echo", Message: "hello"}); err != nil {
		t.Errorf("a prompt: %v", err)
	}
	if _, err := c.CreateProfile(t.Context(), "new", map[string]any{"system_prompt": "x"}, ""); err == nil || asked["POST /profiles/new"] != 1 {
		t.Errorf("a change was sent %d times: %v", asked["POST /profiles/new"], err)
	}
}

// TestWaits: whoever is asked to come later says so, once a second or more passes.
func TestWaits(t *testing.T) {
	s := newSite(t)
	refuse := true
	s.handle = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if refuse {
				refuse = false
				w.Header().Set("Retry-After", "1")
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusTooManyRequests)
				_, _ = w.Write([]byte(`{"error":"you may make 3 requests a minute","code":"TooManyRequests"}`))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	var told []string
	c := s.start().client(client.Options{Waits: func(why error, pause time.Duration) {
		told = append(told, fmt.Sprint(pause.Round(time.Second), " ", why))
	}})
	if _, err := c.Profiles(t.Context()); err != nil {
		t.Error(err)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "1s ") || !strings.Contains(told[0], "3 requests a minute") {
		t.Errorf("told %q", told)
	}
}

// TestKey has a server that wants to know who asks.
func TestKey(t *testing.T) {
	s := newSite(t, script.Reply{Text: "Hello."})
	s.handle = func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret" {
				w.WriteHeader(http.StatusUnauthorized)
				io.WriteString(w, `{"error":"who are you","code":"Unauthenticated"}`)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	s.start()
	var refused *client.Error
	if _, err := s.client(client.Options{}).Profiles(t.Context()); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("without a key: %v", err)
	}
	c := s.client(client.Options{Key: "secret", Tenant: "acme", User: "ann"})
	a, err := c.Chat(t.Context(), client.Prompt{Profile: "echo", Message: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Session(t.Context(), a.SessionID); err != nil {
		t.Error(err)
	}
	other := s.client(client.Options{Key: "secret", Tenant: "other"})
	if _, err := other.Session(t.Context(), a.SessionID); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("another tenant's session: %v", err)
	}
}
