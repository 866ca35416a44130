package host_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/audit"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// TestStreamEndsWithItsKey: a stream that is open when its key is revoked does not
// stay so.
func TestStreamEndsWithItsKey(t *testing.T) {
	var revoked atomic.Bool
	s := openSite(t, siteOptions{change: func(d *host.Deps) {
		d.PingEvery = 5 * time.Millisecond
		d.Identify = func(*http.Request) (identity.Caller, error) {
			if revoked.Load() {
				return identity.Caller{}, &host.Error{Status: http.StatusUnauthorized, Code: "InvalidCredentials", Message: "no"}
			}
			return identity.Caller{Tenant: "acme", User: "ann", Key: "k1", Roles: identity.Viewer}, nil
		}
	}})
	res := s.open(t.Context(), "GET", "/events", "")
	defer res.Body.Close()
	pings := make([]byte, 3*len(": ping\n\n"))
	if _, err := io.ReadFull(res.Body, pings); err != nil || !strings.Contains(string(pings), "ping") {
		t.Fatalf("%v: %q", err, pings)
	}
	revoked.Store(true)
	ended := make(chan error, 1)
	go func() { _, err := io.Copy(io.Discard, res.Body); ended <- err }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("the stream is still open")
	}
}

// TestCallsEndWithTheirKey: whoever waits for an answer when his key is revoked is told
// that it is, and not that the server failed.
func TestCallsEndWithTheirKey(t *testing.T) {
	for name, c := range map[string]struct{ path, body string }{
		"chat":                 {"/chat", hello},
		"completions":          {"/v1/chat/completions", `{"model":"echo","messages":[{"role":"user","content":"hello"}]}`},
		"streamed completions": {"/v1/chat/completions", `{"model":"echo","stream":true,"messages":[{"role":"user","content":"hello"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			var revoked atomic.Bool
			m := newByTemperature()
			s := openSite(t, siteOptions{model: m, change: func(d *host.Deps) {
				d.PingEvery = 5 * time.Millisecond
				d.Identify = func(*http.Request) (identity.Caller, error) {
					if revoked.Load() {
						return identity.Caller{}, &host.Error{Status: http.StatusUnauthorized, Code: "InvalidCredentials", Message: "the key is not taken"}
					}
					return identity.Caller{Tenant: "acme", User: "ann", Key: "k1", Roles: identity.Runner}, nil
				}
			}})
			go func() {
				<-m.asked
				revoked.Store(true)
			}()
			a := s.post(c.path, c.body)
			close(m.may)
			if !strings.Contains(a.body, "the key is not taken; what has begun goes on") || strings.Contains(a.body, "context canceled") {
				t.Errorf("%d %s", a.status, a.body)
			}
			if begun := a.status == http.StatusOK && strings.Contains(c.body, "stream"); a.status != http.StatusUnauthorized && !begun {
				t.Errorf("the status is %d", a.status)
			}
		})
	}
}

// TestAuditHasWhoIsNamed: where nobody is asked who he is, the entry is of the tenant
// and the user that the body names.
func TestAuditHasWhoIsNamed(t *testing.T) {
	store := memory.New(memory.Options{})
	log := audit.NewLog(func(context.Context) (audit.Store, error) { return store, nil }, slog.New(slog.DiscardHandler))
	s := openSite(t, siteOptions{replies: []script.Reply{{Text: "hi"}}, change: func(d *host.Deps) { d.Audit = log }})
	s.chat(`{"message":"hello","agentId":"echo","tenantId":"acme","userId":"ann"}`)
	s.post("/chat", hello, "Origin", "https://evil.example").wantError(t, http.StatusForbidden, "ForbiddenOrigin")
	log.Close()
	list, err := log.Entries(t.Context(), "acme", audit.Query{})
	if err != nil || len(list) != 1 || list[0].User != "ann" || list[0].Action != "chat" || list[0].Status != 200 || list[0].Target != "POST /chat" {
		t.Errorf("%+v, %v", list, err)
	}
	all, err := store.Recorded(t.Context(), audit.AllTenants, audit.Query{Refused: true})
	if err != nil || len(all) != 1 || all[0].Tenant != "" || all[0].Code != "ForbiddenOrigin" || all[0].Address != "127.0.0.1" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestOtherMachinesAreNotAnswered: by what name they call the server does not matter
// where nobody is asked who he is.
func TestOtherMachinesAreNotAnswered(t *testing.T) {
	asked := func(*http.Request) (identity.Caller, error) {
		return identity.Caller{}, &host.Error{Status: http.StatusUnauthorized, Code: "Unauthorized", Message: "who are you?"}
	}
	for _, c := range []struct {
		from string
		who  func(*http.Request) (identity.Caller, error)
		want int
	}{
		{"127.0.0.1:1", nil, 200}, {"[::1]:1", nil, 200}, {"[::ffff:127.0.0.1]:1", nil, 200}, {"@", nil, 200}, {"", nil, 200},
		{"192.0.2.1:1", nil, 403}, {"[2001:db8::1]:1", nil, 403}, {"[fe80::1%eth0]:1", nil, 403}, {"10.0.0.1:1", nil, 403},
		{"192.0.2.1:1", asked, 200},
	} {
		h := host.New(host.Deps{Identify: c.who})
		r := httptest.NewRequest("GET", "http://localhost/health", nil)
		r.RemoteAddr = c.from
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.want || c.want == 403 && !strings.Contains(w.Body.String(), "ForbiddenAddress") {
			t.Errorf("%q: %d %s", c.from, w.Code, w.Body)
		}
		h.Shutdown()
	}
}

// TestFailuresSayNothingOfTheMachine: where callers are asked who they are, what a
// failure says of files stays in the log.
func TestFailuresSayNothingOfTheMachine(t *testing.T) {
	broken := errors.New("open /srv/secret/state/roster.db: no space left on device")
	s := openSite(t, siteOptions{change: func(d *host.Deps) {
		d.Identify = func(*http.Request) (identity.Caller, error) {
			return identity.Caller{Tenant: "acme", Roles: identity.Runner}, nil
		}
		d.Backend = func(context.Context) (session.Backend, error) { return nil, broken }
		d.Submit = func(context.Context, host.Ask) (host.Submitted, error) { return host.Submitted{}, broken }
		d.Steer = func(context.Context, session.Key, []message.Part) error { return broken }
	}})
	for _, a := range []answer{s.get("/ready"), s.get("/sessions"), s.post("/chat", hello), s.post("/stream", hello)} {
		if a.status < 500 || strings.Contains(a.body, "secret") {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

// everybody is let in as the same caller.
func everybody(*http.Request) (identity.Caller, error) {
	return identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Admin}, nil
}
