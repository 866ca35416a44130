package roster_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// TestOwnIdentify: a program that the App is part of says who its users are, from any
// address, and nobody comes in of whom it does not.
func TestOwnIdentify(t *testing.T) {
	store := memory.New(memory.Options{})
	t.Cleanup(func() { store.Close() })
	var log bytes.Buffer
	o := resolving(simple("greeter"))
	o.Backend = store
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	o.Identify = func(r *http.Request) (identity.Caller, error) {
		switch r.Header.Get("X-Session-Cookie") {
		case "ann":
			return identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Runner}, nil
		case "bob":
			return identity.Caller{Tenant: "acme", User: "bob", Roles: identity.Viewer}, nil
		case "roleless":
			return identity.Caller{Tenant: "acme"}, nil
		case "nowhere":
			return identity.Caller{Roles: identity.Admin}, nil
		case "odd":
			return identity.Caller{Tenant: "acme", User: "../root", Roles: identity.Admin}, nil
		case "paused":
			return identity.Caller{}, &host.Error{Status: http.StatusPaymentRequired, Code: "Unpaid", Message: "pay first"}
		}
		return identity.Caller{Tenant: "acme", Roles: identity.Admin}, errors.New("the cookie SECRET is of nobody")
	}
	app := newCoded(t, o)
	for _, c := range []struct {
		who, method, path string
		status            int
		code              string
	}{
		{"ann", "POST", "/chat", 200, ""},
		{"bob", "POST", "/chat", 403, "MissingRole"},
		{"bob", "GET", "/profiles", 200, ""},
		{"roleless", "GET", "/profiles", 403, "MissingRole"},
		{"bob", "GET", "/whoami", 200, ""},
		{"roleless", "GET", "/whoami", 403, "MissingRole"},
		{"", "GET", "/whoami", 401, "InvalidCredentials"},
		{"nowhere", "GET", "/profiles", 500, "AuthUnavailable"},
		{"odd", "GET", "/profiles", 500, "AuthUnavailable"},
		{"paused", "GET", "/profiles", 402, "Unpaid"},
		{"", "GET", "/profiles", 401, "InvalidCredentials"},
		{"", "GET", "/health", 200, ""},
		{"ann", "GET", "/profiles?tenantId=other", 403, "ForeignIdentity"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://192.0.2.1"+c.path, strings.NewReader(`{"agentId":"greeter","message":"hi"}`))
		r.RemoteAddr = "192.0.2.7:4711"
		r.Header.Set("X-Session-Cookie", c.who)
		w := httptest.NewRecorder()
		app.ServeHTTP(w, r)
		if w.Code != c.status || c.code != "" && !strings.Contains(w.Body.String(), `"code":"`+c.code+`"`) || strings.Contains(w.Body.String(), "SECRET") {
			t.Errorf("%s %s %s: %d %s", c.who, c.method, c.path, w.Code, w.Body)
		}
		if want := `"tenantId":"acme","userId":"bob","roles":["viewer"],"auth":true,"version":"`; c.path == "/whoami" && w.Code == 200 && !strings.Contains(w.Body.String(), want) {
			t.Errorf("bob is %s", w.Body)
		}
	}
	if !strings.Contains(log.String(), "the cookie SECRET is of nobody") {
		t.Errorf("why nobody was let in is not logged:\n%s", log.String())
	}
	used, err := store.Usage(t.Context(), "acme", session.UsageQuery{By: []session.UsageBy{session.ByUser}})
	if err != nil || len(used) != 1 || used[0].User != "ann" {
		t.Errorf("used: %+v, %v", used, err)
	}
}
