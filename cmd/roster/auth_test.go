package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// guarded is a server that asks callers for keys.
type guarded struct {
	*workspace
	url string
}

func newGuarded(t *testing.T, config string) *guarded {
	w := newWorkspace(t)
	w.write("roster.yaml", "defaults: {model: builtin/demo}\n"+config)
	_, url := w.served(w.command("serve", "--addr", "127.0.0.1:0", "--json", "--quiet", "--auth", "keys"))
	return &guarded{w, url}
}

// key makes one on the machine itself.
func (g *guarded) key(args ...string) (text, id string) {
	g.t.Helper()
	out, code := g.roster(append([]string{"keys", "add", "--json"}, args...)...)
	var k struct{ Key, ID string }
	if err := json.Unmarshal([]byte(out), &k); err != nil || code != 0 {
		g.t.Fatalf("keys add %v: %d %s", args, code, out)
	}
	return k.Key, k.ID
}

// ask sends a request with a key; empty: without one.
func (g *guarded) ask(key, method, path, body string) (int, string) {
	g.t.Helper()
	r, err := http.NewRequestWithContext(g.t.Context(), method, g.url+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		g.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func (g *guarded) want(key, method, path, body string, status int, says string) string {
	g.t.Helper()
	code, got := g.ask(key, method, path, body)
	if code != status || !strings.Contains(got, says) {
		g.t.Errorf("%s %s %s: %d %s, want %d and %q", method, path, body, code, got, status, says)
	}
	return got
}

const prompt = `{"agentId":"worker","message":"hello"}`

// TestServeWithKeys: keys that are made, rotated and revoked on the machine are what a
// server that runs lets in, at once.
func TestServeWithKeys(t *testing.T) {
	g := newGuarded(t, "")
	g.want("", "GET", "/profiles", "", 401, "MissingCredentials")
	g.want("", "GET", "/health", "", 200, "ok")
	admin, _ := g.key("root", "--role", "admin")
	runner, id := g.key("ann", "--tenant", "acme", "--role", "runner")
	viewer, _ := g.key("eve", "--tenant", "acme", "--role", "viewer")
	other, _ := g.key("bob", "--tenant", "globex", "--role", "admin")

	var chat struct{ SessionID string }
	if err := json.Unmarshal([]byte(g.want(runner, "POST", "/chat", prompt, 200, "sessionId")), &chat); err != nil {
		t.Fatal(err)
	}
	g.want(viewer, "GET", "/sessions/"+chat.SessionID, "", 200, chat.SessionID)
	g.want(viewer, "POST", "/chat", prompt, 403, "this takes the role runner, and you have viewer")
	g.want(runner, "POST", "/profiles/new", `{"model":"builtin/demo","system_prompt":"x"}`, 403, "MissingRole")
	g.want(runner, "GET", "/keys", "", 403, "MissingRole")
	for _, key := range []string{admin, other} {
		g.want(key, "GET", "/sessions/"+chat.SessionID, "", 404, "SessionNotFound")
		g.want(key, "DELETE", "/keys/"+id, "", 404, "KeyNotFound")
		g.want(key, "POST", "/chat", `{"agentId":"worker","message":"x","tenantId":"acme"}`, 403, "ForeignIdentity")
	}
	g.want(runner, "POST", "/chat", `{"agentId":"worker","message":"x","userId":"eve"}`, 403, "ForeignIdentity")

	// Rotated with a time for the old one, and revoked.
	out, code := g.roster("keys", "rotate", id, "--grace", "1h")
	rotated := strings.TrimSpace(out)
	if code != 0 || !strings.HasPrefix(rotated, "rk_") {
		t.Fatalf("%d %s", code, out)
	}
	g.want(runner, "GET", "/profiles", "", 200, "worker")
	g.want(rotated, "GET", "/profiles", "", 200, "worker")
	if _, code := g.roster("keys", "revoke", id); code != 0 {
		t.Fatal(code)
	}
	refused := g.want(runner, "GET", "/profiles", "", 401, "InvalidCredentials")
	short, _ := g.key("brief", "--expires", "300ms")
	for late, code := time.Now().Add(patience), 0; code != 401 && time.Now().Before(late); {
		code, _ = g.ask(short, "GET", "/profiles", "")
	}
	for _, key := range []string{short, "rk_" + strings.Repeat("a", 40), "nonsense"} {
		got := g.want(key, "GET", "/profiles", "", 401, "InvalidCredentials")
		if before, _, _ := strings.Cut(refused, `"requestId"`); !strings.HasPrefix(got, before) {
			t.Errorf("%s, want %s", got, before)
		}
	}
	g.want(rotated, "GET", "/profiles", "", 200, "worker")

	// The client has the same key.
	if r := g.run([]string{"ROSTER_KEY=" + rotated}, "--server", g.url, "list"); r.code != 0 || !strings.Contains(r.stdout, "worker") {
		t.Errorf("%+v", r)
	}
	g.audited(other, admin, chat.SessionID)
	g.fromAfar(other)
}

// fromAfar makes, rotates and revokes a key of its own tenant, and reads the log, with
// the commands and the server.
func (g *guarded) fromAfar(admin string) {
	g.t.Helper()
	at := func(code int, says string, args ...string) result {
		r := g.run([]string{"ROSTER_KEY=" + admin, "ROSTER_SERVER=" + g.url}, args...)
		if r.code != code || !strings.Contains(r.stdout+r.stderr, says) {
			g.t.Errorf("%v: %+v, want %d and %q", args, r, code, says)
		}
		return r
	}
	made := strings.TrimSpace(at(0, "of far in the tenant globex", "keys", "add", "far", "--role", "viewer").stdout)
	g.want(made, "GET", "/profiles", "", 200, "")
	at(1, "credentials are not", "keys", "add", "far", "--tenant", "acme")
	at(2, "--tenant is for this machine", "keys", "list", "--tenant", "acme")
	var all []struct{ ID, Name, TenantID string }
	if err := json.Unmarshal([]byte(at(0, "", "keys", "list", "--json").stdout), &all); err != nil || len(all) != 2 || all[0].Name != "far" || all[1].TenantID != "globex" {
		g.t.Fatalf("the keys of globex: %+v, %v", all, err)
	}
	next := strings.TrimSpace(at(0, "", "keys", "rotate", all[0].ID, "--grace", "1h").stdout)
	g.want(next, "GET", "/profiles", "", 200, "")
	at(0, "is revoked", "keys", "revoke", all[0].ID)
	g.want(made, "GET", "/profiles", "", 401, "InvalidCredentials")
	at(1, "roster keys list shows them", "keys", "revoke", "0123456789abcdef")
	at(0, "201", "audit", "--action", "createKey")
	at(0, "403 ForeignIdentity", "audit", "--refused", "--since", "today")
	at(2, "--tenant is for this machine", "audit", "--tenant", "acme")
	// Who is not known is of no tenant, and is seen here alone.
	here := g.run(nil, "audit", "--refused", "--limit", "1000")
	if !strings.Contains(here.stdout, "401 MissingCredentials") || !strings.Contains(here.stdout, "acme") || !strings.Contains(here.stdout, "globex") {
		g.t.Errorf("%+v", here)
	}
	if far := at(0, "", "audit", "--refused"); strings.Contains(far.stdout, "401") || strings.Contains(far.stdout, "acme ") {
		g.t.Errorf("globex is shown %+v", far)
	}
}

// audited holds that each tenant's administrator sees what was done there, and that
// no key stands in the log.
func (g *guarded) audited(other, admin, id string) {
	g.t.Helper()
	boss, _ := g.key("boss", "--tenant", "acme", "--role", "admin")
	for late := time.Now().Add(patience); ; {
		_, got := g.ask(boss, "GET", "/audit?limit=1000", "")
		if strings.Contains(got, `"action":"chat"`) && strings.Contains(got, `"code":"MissingRole"`) && strings.Contains(got, `"action":"revokeKey"`) {
			if strings.Contains(got, "globex") || strings.Contains(got, "rk_") {
				g.t.Errorf("the log of acme: %s", got)
			}
			break
		}
		if time.Now().After(late) {
			g.t.Fatalf("the log of acme: %s", got)
		}
	}
	if _, got := g.ask(other, "GET", "/audit", ""); strings.Contains(got, "acme") && strings.Contains(got, `"tenantId":"acme"`) {
		g.t.Errorf("the log of globex: %s", got)
	}
}

// TestServeWithLimits: what roster.yaml says holds each key.
func TestServeWithLimits(t *testing.T) {
	g := newGuarded(t, "server: {limits: {key: {requests-per-minute: 3}, tenant: {tokens-per-day: 1}}}\n")
	ann, _ := g.key("ann", "--role", "runner")
	bob, _ := g.key("bob", "--role", "runner")
	g.want(ann, "POST", "/chat", prompt, 200, "done")
	g.want(ann, "GET", "/profiles", "", 200, "")
	g.want(ann, "GET", "/profiles", "", 200, "")
	g.want(ann, "GET", "/profiles", "", 429, "you may make 3 requests a minute")
	for late := time.Now().Add(patience); ; { // what was spent is looked at every two seconds
		code, got := g.ask(bob, "POST", "/chat", prompt)
		if code == 429 && strings.Contains(got, "BudgetSpent") && strings.Contains(got, "your tenant may use 1 tokens a day") {
			break
		}
		if time.Now().After(late) || code != 200 {
			bob, _ = g.key("bob", "--role", "runner")
		}
		if time.Now().After(late) {
			t.Fatalf("%d %s", code, got)
		}
	}
}

// TestServeKeepsTenantsApart: with folders of their own, and keys, each has his.
func TestServeKeepsTenantsApart(t *testing.T) {
	w := newWorkspace(t)
	w.write("roster.yaml", "server: {tenants: {acme: acme, globex: globex}}\n")
	for _, tenant := range []string{"acme", "globex"} {
		w.write(tenant+"/profiles/"+tenant+".md", "---\nname: only-"+tenant+"\ndescription: d\nmodel: builtin/demo\n---\nx\n")
	}
	_, url := w.served(w.command("serve", "--addr", "127.0.0.1:0", "--json", "--quiet", "--auth", "keys"))
	g := &guarded{w, url}
	acme, _ := g.key("a", "--tenant", "acme", "--role", "admin")
	nobody, _ := g.key("n", "--tenant", "initech", "--role", "admin")
	if got := g.want(acme, "GET", "/profiles", "", 200, "only-acme"); strings.Contains(got, "globex") || strings.Contains(got, "worker") {
		t.Error(got)
	}
	g.want(acme, "GET", "/profiles?tenantId=globex", "", 403, "ForeignIdentity")
	g.want(acme, "GET", "/profiles/only-globex", "", 404, "ProfileNotFound")
	g.want(acme, "POST", "/chat", `{"agentId":"only-globex","message":"x"}`, 404, "ProfileNotFound")
	g.want(acme, "POST", "/chat", `{"agentId":"only-acme","message":"x"}`, 200, "done")
	g.want(nobody, "GET", "/profiles", "", 403, "UnknownTenant")
}

const refusesOpen = `roster: cannot listen on "0.0.0.0:7788": other machines could reach it, and nobody is asked who they are. Make a key, and have callers show one:
  roster keys add me --role admin
  roster serve --addr 0.0.0.0:7788 --auth keys --tls-cert cert.pem --tls-key key.pem
or stay on this machine: roster serve --addr 127.0.0.1:7788
`

// TestServeRefuses: what would leave a server open keeps it from starting, and is said.
func TestServeRefuses(t *testing.T) {
	for _, c := range []struct {
		name, config, args, says string
		env                      []string
	}{
		{"no auth in the open", "", "--addr 0.0.0.0:7788", refusesOpen, nil},
		{"no auth, with a certificate that is not there", "", "--addr 0.0.0.0:7788 --tls-cert a.pem --tls-key b.pem", "the certificate of the server: ", nil},
		{"no auth behind a proxy", "", "--addr 0.0.0.0:7788 --insecure-http", "nobody is asked who they are", nil},
		{"every address", "", "--addr :7788", "nobody is asked who they are", nil},
		{"keys without TLS", "", "--addr 0.0.0.0:7788 --auth keys", "--insecure-http\n", nil},
		{"half a certificate", "", "--tls-cert a.pem", "server.tls takes both cert and key", nil},
		{"auth that nobody trusts", "server: {auth: {kind: keys}}\n", "", "nobody would be asked who they are: roster.yaml:1:10: server.auth has no effect", []string{"ROSTER_TRUST=0"}},
		{"limits that nobody trusts", "server: {limits: {key: {running: 1}}}\n", "--auth keys", "callers would not be held to their limits", []string{"ROSTER_TRUST=0"}},
		{"another kind", "", "--auth key", `did you mean "keys"?`, nil},
		{"a provider that is not named", "", "--auth oidc", "server.auth.oidc.issuer is missing", nil},
		{"pages of others where nobody is asked", "server: {origins: [\"https://a.example\"]}\n", "", "server.origins lets pages of other servers in", nil},
		{"none over keys, in the open", "server: {auth: {kind: keys}}\n", "--auth none --addr 0.0.0.0:7788", "nobody is asked who they are", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorkspace(t)
			w.write("roster.yaml", c.config)
			r := w.run(c.env, append([]string{"serve"}, strings.Fields(c.args)...)...)
			if r.code == 0 || !strings.Contains(r.stderr, c.says) || c.says == refusesOpen && r.stderr != c.says {
				t.Errorf("exit code %d\n%s", r.code, r.stderr)
			}
		})
	}
}
