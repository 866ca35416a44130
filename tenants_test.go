package roster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
	"github.com/rosterrun/roster/trust"
)

// estate opens a workspace that serves the tenants acme and globex, each from a
// folder of its own. Profiles may do anything, as far as it depends on the user.
func estate(t *testing.T, replies func(dir string) []script.Reply) (app *roster.App, dir string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "home/roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\ndefaults:\n  permission: {\"*\": allow}\n")
	write(t, dir, "main/roster.yaml", "policy: {permission: {grep: deny}}\nserver: {tenants: {acme: ../roots/acme, globex: {root: ../roots/globex}}}\n")
	write(t, dir, "main/profiles/worker.md", "---\nmodel: bench/m\n---\nThe host's.\n")
	for _, tenant := range []string{"acme", "globex"} {
		write(t, dir, "roots/"+tenant+"/profiles/worker.md", "---\nmodel: bench/m\n---\nFor "+tenant+".\n")
		write(t, dir, "roots/"+tenant+"/secret.txt", "secret of "+tenant+"\n")
	}
	app, _, err = roster.Open(filepath.Join(dir, "main"), roster.Options{
		State: filepath.Join(dir, "state"), Getenv: env{"ROSTER_HOME": filepath.Join(dir, "home"), "HOME": dir, "XDG_DATA_HOME": filepath.Join(dir, "data")}.get,
		Backend: memory.New(memory.Options{}), Trust: true, Claim: true, Log: slog.New(slog.DiscardHandler),
		Models: map[string]model.Model{"bench/m": script.New(replies(dir)...).Model("bench/m")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return app, dir
}

// asks sends requests to a server.
func asks(t *testing.T, app *roster.App) func(method, path, body string) (int, string) {
	t.Helper()
	h := app.Handler()
	server := httptest.NewServer(h)
	client := server.Client()
	t.Cleanup(func() { h.Shutdown(); client.CloseIdleConnections(); server.Close() })
	return func(method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(data)
	}
}

// TestTenantsHaveTheirOwnProfiles: what one sees and changes is his, and nobody is
// served the host's workspace.
func TestTenantsHaveTheirOwnProfiles(t *testing.T) {
	app, dir := estate(t, func(string) []script.Reply { return []script.Reply{{Text: "done"}, {Text: "done"}} })
	ask := asks(t, app)
	if code, body := ask("POST", "/profiles/extra?tenantId=acme", `{"model":"bench/m","system_prompt":"Extra.","description":"x"}`); code != 201 {
		t.Fatalf("%d %s", code, body)
	}
	if _, err := os.Stat(filepath.Join(dir, "roots/acme/profiles/extra.md")); err != nil {
		t.Error(err)
	}
	for tenant, want := range map[string][2]string{"acme": {"For acme.", "Extra."}, "globex": {"For globex.", ""}} {
		code, body := ask("GET", "/profiles?tenantId="+tenant, "")
		other := map[string]string{"acme": "For globex.", "globex": "For acme."}[tenant]
		if code != 200 || !strings.Contains(body, want[0]) || !strings.Contains(body, want[1]) || strings.Contains(body, other) || strings.Contains(body, "The host's.") {
			t.Errorf("%s: %d %s", tenant, code, body)
		}
	}
	if code, body := ask("GET", "/profiles/extra?tenantId=globex", ""); code != 404 {
		t.Errorf("another's profile: %d %s", code, body)
	}
	for _, path := range []string{"/profiles", "/profiles/worker", "/sessions", "/approvals", "/profiles?tenantId=initech", "/profiles?tenantId=local"} {
		if code, body := ask("GET", path, ""); code != 403 || !strings.Contains(body, `"UnknownTenant"`) {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for _, body := range []string{`{"message":"x","agentId":"worker"}`, `{"message":"x","agentId":"worker","tenantId":"initech"}`} {
		if code, got := ask("POST", "/chat", body); code != 403 || !strings.Contains(got, `"UnknownTenant"`) {
			t.Errorf("%s: %d %s", body, code, got)
		}
	}
	// The body names the tenant.
	code, body := ask("POST", "/chat", `{"message":"x","agentId":"extra","tenantId":"acme"}`)
	if code != 200 || !strings.Contains(body, `"text":"done"`) {
		t.Errorf("%d %s", code, body)
	}
	var chat struct{ SessionID string }
	if err := json.Unmarshal([]byte(body), &chat); err != nil {
		t.Fatal(err)
	}
	if code, body := ask("GET", "/sessions/"+chat.SessionID+"?tenantId=globex", ""); code != 404 || strings.Contains(body, "extra") {
		t.Errorf("another's session: %d %s", code, body)
	}
	if code, body := ask("POST", "/sessions/"+chat.SessionID+"/prompt", `{"message":"x","tenantId":"globex"}`); code != 404 {
		t.Errorf("a prompt to it: %d %s", code, body)
	}
	// Who works on the machine itself is in the host's workspace.
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("x")})
	if err != nil {
		t.Fatal(err)
	}
	if end := wait(t, app, sub); end.Text != "done" {
		t.Errorf("%+v", end)
	}
	var unknown *roster.UnknownTenantError
	if _, err := app.Submit(t.Context(), roster.Ask{Key: session.Key{Tenant: "acme"}, Profile: "worker", Parts: text("x")}); !errors.As(err, &unknown) {
		t.Errorf("a tenant's prompt in the host's workspace: %v", err)
	}
}

// TestTenantsToolsStayInTheirFolder: no rule of anybody's lets a tenant's tools
// reach beyond it, and the host's policy holds there too.
func TestTenantsToolsStayInTheirFolder(t *testing.T) {
	app, dir := estate(t, func(string) []script.Reply { return nil })
	other := filepath.Join(dir, "roots/globex/secret.txt")
	if err := os.Symlink(other, filepath.Join(dir, "roots/acme/link")); err != nil {
		t.Fatal(err)
	}
	acme, err := app.Tenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ tool, subject, want string }{
		{"read", "secret.txt", "allow"}, {"read", other, "deny"}, {"read", "link", "deny"}, {"read", "../globex/secret.txt", "deny"},
		{"write", "own.txt", "allow"}, {"write", other, "deny"}, {"edit", "../globex/secret.txt", "deny"},
		{"glob", filepath.Dir(other), "deny"}, {"read", filepath.Join(dir, "main/profiles/worker.md"), "deny"},
		{"grep", "secret", "deny"}, // by the host's policy
		{"bash", "cat secret.txt", "allow"}, {"bash", "cat < " + other, "deny"},
	} {
		p, _, err := acme.Permit(t.Context(), "worker", session.Overrides{}, c.tool, c.subject)
		if got := p.Effect.String(); err != nil && c.want != "deny" || err == nil && got != c.want {
			t.Errorf("%s %s: %s (%v), want %s", c.tool, c.subject, got, err, c.want)
		}
	}
	s, _, err := acme.Resolve(t.Context(), "worker", session.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Sandbox.Kind != "bubblewrap" {
		t.Errorf("its commands run in %q", s.Sandbox.Kind)
	}
	write(t, dir, "roots/acme/profiles/bare.md", "---\nmodel: bench/m\nsandbox: none\n---\nx\n")
	if s, _, err = acme.Resolve(t.Context(), "bare", session.Overrides{}); err == nil && s.Sandbox.Kind != "bubblewrap" {
		t.Errorf("a profile takes the wall away: %q", s.Sandbox.Kind)
	}
}

// TestTenantsCommandsSeeTheirFolderAlone runs commands that look for what is not
// the tenant's, in a workspace that would let them read all of the machine.
func TestTenantsCommandsSeeTheirFolderAlone(t *testing.T) {
	app, dir := estate(t, func(dir string) []script.Reply {
		line := fmt.Sprintf("cat secret.txt; cat %[1]s/roots/globex/secret.txt %[1]s/state/* %[1]s/home/roster.yaml %[1]s/main/roster.yaml; ls %[1]s/roots/globex; cat ../globex/secret.txt; touch %[1]s/roots/globex/made; echo end", dir)
		input, err := json.Marshal(map[string]string{"command": line})
		if err != nil {
			t.Fatal(err)
		}
		return []script.Reply{calls("bash", string(input)), {Text: "done"}}
	})
	write(t, dir, "roots/acme/profiles/reader.md", "---\nmodel: bench/m\nsandbox: {kind: none, read: [/]}\n---\nx\n")
	acme, err := app.Tenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	reader, err := acme.Catalog().Get("reader")
	if err != nil {
		t.Fatal(err)
	}
	items := trust.OfProfile(reader)
	if err := (trust.Files{Home: filepath.Join(dir, "home")}).Trust(t.Context(), acme.Dir(), items); err != nil {
		t.Fatal(err)
	}
	if s, _, err := acme.Resolve(t.Context(), "reader", session.Overrides{}); err != nil || len(items) == 0 || !slices.Contains(s.Sandbox.Read, "/") {
		t.Fatalf("what is trusted has no effect: %v, %+v", err, items)
	}
	code, body := asks(t, app)("POST", "/chat", `{"message":"look","agentId":"reader","tenantId":"acme"}`)
	if code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	var chat struct{ SessionID string }
	if err := json.Unmarshal([]byte(body), &chat); err != nil {
		t.Fatal(err)
	}
	log := events(t, app, session.Key{Tenant: "acme", Stream: chat.SessionID})
	if !strings.Contains(log, "secret of acme") || !strings.Contains(log, "\\nend") {
		t.Errorf("the command did not run: %s", log)
	}
	for _, other := range []string{"secret of globex", "default-permission", "providers:", "tenants:"} {
		if strings.Contains(log, other) {
			t.Errorf("it saw %q: %s", other, log)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "roots/globex/made")); err == nil {
		t.Error("it wrote where another tenant is")
	}
}

// events are those of a session as one text.
func events(t *testing.T, app *roster.App, k session.Key) string {
	t.Helper()
	store, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for e, err := range store.Read(t.Context(), k, 0) {
		if err != nil {
			t.Fatal(err)
		}
		b.Write(e.AppendJSON(nil))
		b.WriteByte('\n')
	}
	return b.String()
}

// TestTenantsStayApart: where tenants had folders of their own when the server began,
// nobody is served the host's workspace, also if the file does not name them any more.
func TestTenantsStayApart(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "main/roster.yaml", "server: {tenants: {acme: acme}}\n")
	write(t, dir, "main/profiles/hosts.md", "---\nmodel: bench/m\n---\nThe host's.\n")
	write(t, dir, "main/acme/profiles/own.md", "---\nmodel: bench/m\n---\nFor acme.\n")
	o := roster.Options{
		State: filepath.Join(dir, "state"), Getenv: env{"ROSTER_HOME": filepath.Join(dir, "home"), "HOME": dir}.get,
		Backend: memory.New(memory.Options{}), Log: slog.New(slog.DiscardHandler),
	}
	app, _, err := roster.Open(filepath.Join(dir, "main"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ask := asks(t, app)
	if code, body := ask("GET", "/profiles?tenantId=acme", ""); code != 200 || !strings.Contains(body, "For acme.") {
		t.Fatalf("%d %s", code, body)
	}
	write(t, dir, "main/roster.yaml", "providers: {p: {api: openai-chat, base-url: \"http://127.0.0.1:1\"}}\n")
	if err := (trust.Files{Home: filepath.Join(dir, "home")}).Trust(t.Context(), app.Dir(), app.Config().Executing); err != nil {
		t.Fatal(err)
	}
	if code, body := ask("GET", "/profiles?tenantId=acme", ""); code != 403 || strings.Contains(body, "The host's.") {
		t.Errorf("%d %s", code, body)
	}
}

// TestTenantThatIsGone: a caller who is asked who he is reads nothing of the folders of
// the machine when his own cannot be served.
func TestTenantThatIsGone(t *testing.T) {
	app, dir := estate(t, func(string) []script.Reply { return nil })
	if err := os.RemoveAll(filepath.Join(dir, "roots/acme")); err != nil {
		t.Fatal(err)
	}
	deps := app.HostDeps()
	for _, c := range []struct {
		who   identity.Caller
		names bool
	}{{identity.Caller{Tenant: "acme", Roles: identity.Admin}, false}, {identity.Caller{Tenant: "acme", Roles: identity.Admin, Open: true}, true}} {
		_, _, err := deps.Profiles(identity.With(t.Context(), c.who))
		if err == nil || strings.Contains(err.Error(), dir) != c.names {
			t.Errorf("%+v: %v", c.who, err)
		}
	}
}
