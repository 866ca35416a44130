package uitest

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/identity/key"
)

// newGuarded is a desk whose server wants a key of everybody.
func newGuarded(t *testing.T, files map[string]string) *desk {
	t.Helper()
	return newDesk(t, files, func(o *roster.Options) { o.Flags = map[string]string{"server.auth.kind": "keys"} })
}

// issue makes a key, as who has the machine does.
func (d *desk) issue(name string, roles identity.Role) (text, id string) {
	d.Helper()
	store, err := d.app.APIKeys(d.Context())
	if err != nil {
		d.Fatal(err)
	}
	text, k, err := key.Issue(d.Context(), store, key.Request{Tenant: roster.LocalTenant, Name: name, Roles: roles, By: "cli"})
	if err != nil {
		d.Fatal(err)
	}
	return text, k.ID
}

func (d *desk) revoke(id string) {
	d.Helper()
	store, err := d.app.APIKeys(d.Context())
	if err == nil {
		_, err = store.RevokeKey(d.Context(), roster.LocalTenant, id, time.Now())
	}
	if err != nil {
		d.Fatal(err)
	}
}

func (p *tab) login(key string) {
	p.Helper()
	p.shows("This server wants to know who you are.")
	p.do(chromedp.SendKeys(chromedp.CSS("#key"), key+kb.Enter))
	p.until(`document.querySelector("nav[aria-label=Pages]")`)
}

// asks is what the server answers to who has a key.
func (d *desk) asks(method, path, key, body string) int {
	d.Helper()
	r, err := http.NewRequestWithContext(d.Context(), method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		d.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// pressIn clicks the button with a name in the row whose head begins with a text.
func (p *tab) pressIn(row, name string) {
	p.Helper()
	find := `[...[...document.querySelectorAll("main tr")].find((r) => r.querySelector("th[scope=row]")?.innerText.startsWith(` + quote(row) + `))
		.querySelectorAll("button")].find((b) => b.innerText === ` + quote(name) + ` && !b.disabled)`
	p.until(find)
	evaluate[chromedp.Void](p, find+`.click()`)
}

// column is what the cells of a column of the page's table say.
func (p *tab) column(n string) []string {
	p.Helper()
	return evaluate[[]string](p, `[...document.querySelectorAll("main tbody tr > :nth-child(`+n+`)")].map((c) => c.innerText.split("\n")[0].trim())`)
}

// TestKeysAreMade: an administrator makes a key, which is shown once, puts another in its
// place, and revokes that; the audit log says who did it, and what was refused.
func TestKeysAreMade(t *testing.T) {
	d, axe := newGuarded(t, map[string]string{"profiles/clerk.md": clerk}), axeCore(t)
	admin, _ := d.issue("chief", identity.Admin)
	d.show("/keys")
	d.login(admin)
	shown := func(text string) string {
		d.Helper()
		d.shows("It is shown this once")
		d.until(`document.querySelector("input[aria-label=Key]")`)
		key := evaluate[string](d.tab, `document.querySelector("input[aria-label=Key]").value`)
		d.fine(axe, missing)
		d.press("main button", "I have it")
		d.until(`!document.querySelector("input[aria-label=Key]")`)
		return key
	}
	d.fill("Name", "ci")
	d.press("main button", "Make it")
	first := shown("ci")
	if got := d.asks("GET", "/profiles", first, ""); got != http.StatusOK || !strings.HasPrefix(first, "rk_") {
		t.Errorf("the new key %.3s… gets %d", first, got)
	}
	d.pressIn("ci", "Rotate")
	d.do(chromedp.SetValue(chromedp.CSS("main tbody select"), "0"))
	d.pressIn("ci", "Make the new one")
	second := shown("ci")
	if old, now := d.asks("GET", "/profiles", first, ""), d.asks("GET", "/profiles", second, ""); old != http.StatusUnauthorized || now != http.StatusOK {
		t.Errorf("after the change the old key gets %d, and the new one %d", old, now)
	}
	if got := d.asks("POST", "/keys", second, `{"name":"more","roles":["admin"]}`); got != http.StatusForbidden {
		t.Errorf("a runner makes a key of an administrator: %d", got)
	}
	d.pressIn("ci", "Revoke")
	d.pressIn("ci", "Leave it")
	d.pressIn("ci", "Revoke")
	d.pressIn("ci", "Revoke ci for good")
	d.until(`document.querySelector("main tbody").innerText.match(/revoked/g)?.length === 2`)
	if got := d.asks("GET", "/profiles", second, ""); got != http.StatusUnauthorized {
		t.Errorf("the revoked key gets %d", got)
	}
	if strings.Contains(evaluate[string](d.tab, `document.documentElement.outerHTML`), second) {
		t.Error("the key is still in the page")
	}
	d.fine(axe, missing)
	d.audited(axe)
}

// audited looks at the audit log after TestKeysAreMade.
func (d *desk) audited(axe string) {
	d.Helper()
	d.press("nav a", "Audit")
	d.until(`document.querySelectorAll("main tbody tr").length >= 4`)
	// what is about keys is stored before the answer, and what was refused soon after
	if got, want := slices.Sorted(slices.Values(d.column("3"))), []string{"createKey", "createKey", "revokeKey", "rotateKey"}; !slices.Equal(got, want) {
		d.Errorf("the audit log has %q, not %q", got, want)
	}
	d.fine(axe, missing)
	rows := func(want ...string) {
		d.Helper()
		d.until(`[...document.querySelectorAll("main tbody tr > :nth-child(3)")].map((c) => c.innerText.split("\n")[0].trim()).join() === ` + quote(strings.Join(want, ",")))
	}
	d.fill("User", "chief")
	rows("revokeKey", "rotateKey", "createKey")
	d.fill("Action", "rotateKey")
	rows("rotateKey")
	d.show("/keys")
	d.press("nav a", "Audit")
	d.click("main input[type=checkbox]")
	rows("createKey")
	d.shows("403")
	d.fine(axe, missing)
}

const asking = `replies:
  - tools: [{name: bash, input: {command: "echo twelve > counted.txt"}}]
  - text: "Counted."
`

const asker = "---\nname: asker\ndescription: Asks first.\ntools: [bash]\npermission: {bash: ask}\n---\nCount.\n"

// TestViewer: who may only look sees no pages of administrators, and what he tries all the
// same is refused in words that say which role it takes, and not lost.
func TestViewer(t *testing.T) {
	d, axe := newGuarded(t, map[string]string{"profiles/asker.md": asker, "roster.yaml": keeperConfig, "scripts/keeper.yaml": asking}), axeCore(t)
	runner, _ := d.issue("runner", identity.Runner)
	if got := d.asks("POST", "/sessions", runner, `{"agentId":"asker","message":"Count.","approvals":"wait"}`); got != http.StatusCreated && got != http.StatusAccepted && got != http.StatusOK {
		t.Fatalf("the session begins with %d", got)
	}
	viewer, _ := d.issue("guest", identity.Viewer)
	d.show("/keys")
	d.login(viewer)
	for _, page := range []string{"/keys", "/audit"} {
		d.show(page)
		d.shows("This page is for the role admin. Your key has viewer")
		d.fine(axe, missing)
	}
	if nav := evaluate[string](d.tab, `document.querySelector("nav").innerText`); strings.Contains(nav, "Keys") || strings.Contains(nav, "Audit") || !strings.Contains(nav, "Approvals") {
		t.Errorf("a viewer is offered %q", nav)
	}

	d.show("/new/asker")
	d.fill("Prompt", "Count it all.")
	d.press("main button", "Begin")
	d.shows("role runner")
	d.left("Prompt", "Count it all.")
	d.fine(axe, missing)

	d.show("/approvals")
	d.fill("Message to the model", "Only once.")
	d.press("main button", "Once")
	d.shows("role approver")
	d.left("Message to the model", "Only once.")
	d.fine(axe, missing)
	d.press("main a", "Session of asker")
	d.fill("Message", "Faster, please.")
	d.press("main button", "Steer")
	d.shows("role runner")
	d.left("Message", "Faster, please.")
	d.press("main button", "Cancel")
	d.until(`performance.getEntriesByType("resource").some((e) => e.name.endsWith("/cancel"))`)
	d.shows("role runner")
	d.fine(axe, missing)

	d.show("/profiles/asker/edit")
	d.typeOver(strings.Replace(asker, "Count.", "Count all.", 1))
	d.press("main button", "Save")
	d.shows("role editor")
	if text := evaluate[string](d.tab, inEditor+`.querySelector(".cm-content").innerText`); !strings.Contains(text, "Count all.") || d.read("profiles/asker.md") != asker {
		t.Errorf("the editor has %q", text)
	}
	d.fine(axe, missing)
}

// left says what stands in the field with a label.
func (p *tab) left(label, want string) {
	p.Helper()
	p.until(`[...document.querySelectorAll("main input, main textarea")].find((e) => (e.ariaLabel ?? e.labels[0]?.textContent ?? "").trim() === ` + quote(label) + `).value === ` + quote(want))
}

// TestKeyIsRevoked: a page that is open when its key is revoked asks for another one,
// whether somebody does something or not, and goes on where it was.
func TestKeyIsRevoked(t *testing.T) {
	d, axe := newGuarded(t, map[string]string{"profiles/asker.md": asker, "roster.yaml": keeperConfig, "scripts/keeper.yaml": asking}), axeCore(t)
	first, id := d.issue("ann", identity.Runner)
	second, _ := d.issue("ann", identity.Runner)
	d.show("/new/asker")
	d.login(first)
	idle := open(t, d.url)
	idle.show("/profiles")
	idle.login(first)
	idle.shows("Asks first.")
	d.fill("Prompt", "Count it all.")
	d.revoke(id)
	d.press("main button", "Begin")
	d.shows("The server does not take this key.")
	d.fine(axe, missing)
	d.login(second)
	d.until(`document.querySelector("main textarea")`)
	d.left("Prompt", "Count it all.")
	d.press("main button", "Begin")
	d.shows("echo twelve > counted.txt")
	d.fine(axe, missing)
	idle.shows("The server does not take this key.") // its stream ends within 15 seconds
	idle.wrong("the console", idle.told(missing))
}
