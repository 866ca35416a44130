package host_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// byParameter takes a caller who may do all but administer for what he says he is.
func byParameter(r *http.Request) (identity.Caller, error) {
	c := identity.Local()
	if r.URL.Query().Get("as") != "admin" {
		c.Roles &^= identity.Admin
	}
	return c, nil
}

// TestExecutingKeysNeedAdmin: what executes is refused in bodies of callers that
// are no administrators, and all else is not.
func TestExecutingKeysNeedAdmin(t *testing.T) {
	s := openSite(t, siteOptions{change: func(d *host.Deps) { d.Identify = byParameter }})
	const hooks = `"hooks":{"before-loop":[{"command":"touch ran"}]}`
	for _, c := range []struct{ name, path, body, field string }{
		{"a profile", "/profiles/x", `{"description":"d","system_prompt":"x",` + hooks + `}`, "hooks.before-loop"},
		{"a profile by its body", "/profiles", `{"name":"x","description":"d","sandbox":"none"}`, "sandbox"},
		{"variables", "/profiles/x?dialect=config", `{"provider":"fake","model":"text","system_prompt":"Say ${HOME}."}`, "system_prompt"},
		{"overrides", "/chat", `{"message":"x","agentId":"echo","overrides":{` + hooks + `}}`, "hooks.before-loop"},
		{"dotted overrides", "/stream", `{"message":"x","agentId":"echo","overrides":{"model-config.base_url":"https://x.example"}}`, "model-config.base-url"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := s.post(c.path, c.body).wantError(t, http.StatusForbidden, "ExecutingKey")
			if e.Field != c.field {
				t.Errorf("field %q, want %q", e.Field, c.field)
			}
		})
	}
	if got := s.post("/profiles/plain", `{"provider":"fake","model":"text","system_prompt":"Say ${HOME}."}`); got.status != http.StatusCreated {
		t.Errorf("a plain profile: %d %s", got.status, got.body)
	}
	if got := s.post("/profiles/x?as=admin", `{"description":"d","system_prompt":"x",`+hooks+`}`); got.status != http.StatusCreated {
		t.Fatalf("an administrator: %d %s", got.status, got.body)
	}
	// What was saved is the workspace's: it has no effect yet.
	p, err := s.app.Catalog().Get("x")
	if err != nil {
		t.Fatal(err)
	}
	if _, inert := s.app.Trust().Strip(p); len(inert) != 1 || inert[0].State != trust.Untrusted {
		t.Errorf("inert: %v", inert)
	}
	var all []profile.Diagnostic
	s.get("/profiles/-/diagnostics").into(t, &all)
	found := false
	for _, d := range all {
		found = found || d.Name == "ExecutingKey" && strings.Contains(d.Hint, "roster trust")
	}
	if !found {
		t.Errorf("not reported: %+v", all)
	}
	if _, err := os.Stat(filepath.Join(s.app.Dir(), "ran")); err == nil {
		t.Error("it ran")
	}
}

// TestRollbackNeedsAdmin: an earlier version that executes what the current one
// does not is for administrators, like a body that does.
func TestRollbackNeedsAdmin(t *testing.T) {
	s := openSite(t, siteOptions{change: func(d *host.Deps) { d.Identify = byParameter }})
	if got := s.post("/profiles/x?as=admin", `{"description":"d","system_prompt":"x","hooks":{"before-loop":[{"command":"touch ran"}]}}`); got.status != http.StatusCreated {
		t.Fatalf("%d %s", got.status, got.body)
	}
	revisions := func() []struct{ Revision string } {
		var all []struct{ Revision string }
		s.get("/profiles/x/history").into(t, &all)
		return all
	}
	back := func(query, revision string) answer {
		return s.post("/profiles/x/rollback"+query, `{"revision":"`+revision+`"}`)
	}
	first := revisions()[0].Revision
	put := func(body string) {
		t.Helper()
		if got := s.do(http.MethodPut, "/profiles/x?as=admin", body, "If-Match", "*"); got.status != http.StatusOK {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	put(`{"description":"other"}`)
	if got := back("", first); got.status != http.StatusOK {
		t.Errorf("with what it has already: %d %s", got.status, got.body)
	}
	put(`{"hooks":null}`)
	with := s.file("profiles/x.md")
	if e := back("", first).wantError(t, http.StatusForbidden, "ExecutingKey"); e.Field != "hooks.before-loop" {
		t.Errorf("field %q", e.Field)
	}
	if s.file("profiles/x.md") != with {
		t.Error("the file was changed")
	}
	if got := back("?as=admin", first); got.status != http.StatusOK {
		t.Errorf("an administrator: %d %s", got.status, got.body)
	}
}
