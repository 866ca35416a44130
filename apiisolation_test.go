package roster_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/apitest"
)

// TestTenantsAreApart asks for each operation of the document as another tenant, in
// each role, with the ids of the owner: nothing is found, and nothing of the owner's is
// said. The owner is answered with success after that, so nothing was changed either.
func TestTenantsAreApart(t *testing.T) {
	w := openWorld(t)
	w.eachOperation(func(path, method string, o apitest.Operation) {
		t.Run(o.ID, func(t *testing.T) {
			w.t = t
			c := w.callOf(path, method, o)
			for _, v := range variants(c, o, w) {
				for _, role := range []identity.Role{0, identity.Viewer, identity.Runner, identity.Approver, identity.Editor, identity.Admin, everyRole} {
					w.foreign(caller{stranger.tenant, role}, v, o)
				}
			}
			if len(c.ids) == 0 && method != "get" {
				return // the strangers have asked for things of their own
			}
			if a := w.send(owner, c); a.Status >= 300 && !slices.Contains(otherProtocols, o.ID) {
				t.Errorf("the owner: %s %s %s: %d %s", method, c.path, c.body, a.Status, a.Body)
			}
		})
	})
	w.t = t
}

// variants are a call, and the same in which a session of the owner's is named by
// other means.
func variants(c call, o apitest.Operation, w *world) []call {
	all := []call{c}
	var body map[string]any
	if json.Unmarshal([]byte(c.body), &body) != nil || len(c.ids) > 0 {
		return all
	}
	const ask = `{"agentId":"reviewer","message":"x",`
	if w.doc.Fits(o.Method, o.Path, ask+`"sessionId":"`+noStream+`"}`) != nil || w.doc.Fits(o.Method, o.Path, ask+`"other":1}`) == nil {
		return all // it takes no session, or anything
	}
	id, _ := w.begin("hello")
	body["sessionId"] = id
	named, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	c.body, c.ids = string(named), []string{id}
	return append(all, c)
}

const noStream = "01890000-0000-7000-8000-000000000000"

// foreign asks as somebody else than the owner, also in the owner's name.
func (w *world) foreign(who caller, c call, o apitest.Operation) {
	w.t.Helper()
	a := w.send(who, c)
	w.silent(who, c, a)
	public := len(o.Roles) == 0
	switch {
	case public:
	case who.roles == 0:
		w.refused(who, c, a, 403)
	case len(c.ids) > 0:
		w.refused(who, c, a, 403, 404)
	}
	if public {
		return
	}
	named := c
	named.path += map[bool]string{true: "&", false: "?"}[strings.Contains(c.path, "?")] + "tenantId=" + owner.tenant
	a = w.send(who, named)
	w.silent(who, named, a)
	w.refused(who, named, a, 403)
	if strings.HasPrefix(c.body, "{") && c.header["Content-Type"] == "application/json" && o.ID != "mcpPost" {
		inBody := c
		inBody.body = strings.TrimSuffix(strings.TrimSpace(c.body), "}")
		if strings.TrimSpace(strings.TrimPrefix(inBody.body, "{")) != "" {
			inBody.body += ","
		}
		inBody.body += `"tenantId":"` + owner.tenant + `"}`
		a = w.send(who, inBody)
		w.silent(who, inBody, a)
		other := strings.TrimSuffix(inBody.body, "}") + `,"other":1}`
		if w.doc.Fits(o.Method, o.Path, inBody.body) == nil && w.doc.Fits(o.Method, o.Path, other) != nil { // else it means nothing
			w.refused(who, inBody, a, 403, 404)
		}
	}
}

func (w *world) refused(who caller, c call, a apitest.Answer, status ...int) {
	w.t.Helper()
	if !slices.Contains(status, a.Status) {
		w.t.Errorf("%s as %s: %s %s %.200s: %d, want one of %v: %.300s", who.roles, who.tenant, c.method, c.path, c.body, a.Status, status, a.Body)
	}
}

var auditTarget = regexp.MustCompile(`"target":"[^"]*",`)

// ownTargets leaves out of an audit log what it was that strangers have asked for: the
// ids are those that they sent. All of its entries have to be theirs.
func (w *world) ownTargets(who caller, log string) string {
	w.t.Helper()
	var page struct {
		Entries []struct{ TenantID string }
	}
	if err := json.Unmarshal([]byte(log), &page); err != nil {
		w.t.Errorf("the audit log: %v", err)
	}
	for _, e := range page.Entries {
		if e.TenantID != who.tenant {
			w.t.Errorf("%s sees an entry of %q: %.300s", who.tenant, e.TenantID, log)
		}
	}
	return auditTarget.ReplaceAllString(log, "")
}

// silent holds that an answer says nothing of the owner's but what was asked for.
func (w *world) silent(who caller, c call, a apitest.Answer) {
	w.t.Helper()
	said := a.Body
	if strings.HasPrefix(c.path, "/audit") && a.Status == 200 {
		said = w.ownTargets(who, said)
	}
	for _, id := range c.ids {
		said = strings.ReplaceAll(said, id, "")
	}
	for name, values := range maps.All(a.Header) {
		said += "\n" + name + ": " + strings.Join(values, " ")
	}
	for _, what := range []string{marked, "user-of-" + owner.tenant} {
		if strings.Contains(said, what) {
			w.t.Errorf("%s as %s: %s %s says %s: %.300s", who.roles, who.tenant, c.method, c.path, what, a.Body)
		}
	}
	for _, id := range w.sessions {
		if strings.Contains(said, id) {
			w.t.Errorf("%s as %s: %s %s names the owner's session %s: %.300s", who.roles, who.tenant, c.method, c.path, id, a.Body)
		}
	}
}

// TestKeysOfTwoTenantsAreTheirOwn: the same Idempotency-Key is another one elsewhere.
func TestKeysOfTwoTenantsAreTheirOwn(t *testing.T) {
	w := openWorld(t)
	c := call{method: "post", path: "/chat", body: `{"agentId":"reviewer","message":"` + marked + `"}`, header: map[string]string{"Idempotency-Key": "one"}}
	first := w.send(owner, c)
	if again := w.send(owner, c); first.Status != 200 || again.Body != first.Body {
		t.Fatalf("the owner: %d %s, %s", first.Status, first.Body, again.Body)
	}
	c.body = `{"agentId":"reviewer","message":"mine"}`
	if a := w.send(stranger, c); a.Status != 200 || a.Header.Get("X-Session-Id") == first.Header.Get("X-Session-Id") {
		t.Errorf("the stranger: %d %s", a.Status, a.Body)
	}
	if a := w.send(owner, c); a.Status != 422 || !strings.Contains(a.Body, "a different body, or by another user") {
		t.Errorf("the owner with another body: %d %s", a.Status, a.Body)
	}
}

// TestMetricsAreForTheHostsOwnAdmin: they name the profiles and the costs of all tenants,
// which an admin of one of them is not told.
func TestMetricsAreForTheHostsOwnAdmin(t *testing.T) {
	w := openWorld(t)
	c := call{method: "get", path: "/metrics"}
	if a, err := w.ask(stranger, c); err != nil || a.Status != 403 || !strings.Contains(a.Body, "ForeignIdentity") || !strings.Contains(a.Body, "all tenants together") {
		t.Errorf("the stranger: %d %s", a.Status, a.Body)
	}
	if a, err := w.ask(owner, c); err != nil || a.Status != 200 || !strings.Contains(a.Body, "roster_") {
		t.Errorf("the owner: %d %.300s", a.Status, a.Body)
	}
}
