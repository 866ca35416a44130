package uitest

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/identity"
)

// ready is when a page has all that it asked for.
const ready = `document.querySelector("main").innerText.trim() !== "" && !document.querySelector("main").innerText.includes("Loading…")`

// missing is what browsers say of an answer that is none.
const missing = "log error: Failed to load resource"

// look is what there must be on a page.
type look struct {
	name  string // of its picture; empty: its address
	texts []string
	says  []string // how what its console may be told begins
}

func has(texts ...string) look { return look{texts: texts} }

// known are pages of the seeded workspace.
func known(t *testing.T) map[string]look {
	fixer := "/profiles/fixer/"
	return map[string]look{
		"/profiles":                                  has("2 files do not load", "profiles/broken-yaml.md", "api-architect"),
		"/profiles/fixer":                            has("Finds the cause of a fault", "acme/large", "profiles/fixer.md", "system-prompt", "New session"),
		fixer + "prompt":                             has("Find the cause first. Change as little as will do.", "tokens", "Tools"),
		fixer + "sessions":                           has("Add supplier", "waiting"),
		fixer + "state":                              has("Add supplier", "leave to call edit", "Steering queue"),
		fixer + "capabilities":                       has("bash", "edit", "todo", "Not offered"),
		"/profiles/reviewer/skills":                  has("Skills that it may use", "review", "How changes are reviewed here."),
		"/profiles/tracker/connections":              has("MCP servers", "issues"),
		fixer + "permissions":                        has("What would happen?", "Include (allow)", "src/**", "sh tests/*"),
		fixer + "introspection":                      has("There is nothing here yet"),
		fixer + "history":                            has("current", "profiles/fixer.md"),
		"/profiles/no-such-profile":                  {texts: []string{"ProfileNotFound"}, says: []string{missing}},
		"/delegation":                                has("lead", "researcher", "archivist", "ask"),
		"/diagnostics":                               has("profiles/broken-yaml.md", "profiles/stock.toml", "agent.goal is not a known key"),
		"/new/fixer":                                 has("Default model", "acme / large", "Attach files", "Begin"),
		"/sessions":                                  has("Case ", "deployer", "waiting", "failed", "$"),
		"/sessions/" + newest(t, "fixer", "idle"):    {name: "session-fixer", texts: []string{"fixer", "tokens in"}},
		"/sessions/" + newest(t, "reviewer", "idle"): {name: "session", texts: []string{"Two findings, the first one has to be mended.", "acme/large"}},
		"/sessions/" + newest(t, "fixer", "waiting"): {name: "session-waiting", texts: []string{"Add supplier", "docs/suppliers.md", "+| Supplier", "Once", "By the rule"}},
		"/approvals":                                 has("Which customers get it first?", "those nearby", "Deny", "Once", "By the rule task archivist in profiles/lead.md:"),
		"/rig":                                       has("reviews-loom/review", "by fast-reviewer", "event:reviews-loom/review:Keep", "mail-loom/answer", "of $20.00 spent today", "of $10.00 spent today"),
		"/rig/rig/graph":                             has("reviews-loom/review → tie-off-review.md"),
		"/rig/rig/jobs":                              has("inbox/note-1.md"),
		"/rig/rig/dead":                              has("mail/note-3.md", "mail-loom/answer"),
		"/rig/rig/tie-offs":                          has("The note is clear, and says what to buy."),
		"/usage":                                     has("Cost by day", "Cost by profile", "archivist", "acme/small", "Your tenant, cost a month", "$300"),
		"/models":                                    has("acme/large", "north/reason"),
		"/doctor":                                    has("roster.yaml"),
		"/keys":                                      has("There is no key yet.", "Make a key"),
		"/audit":                                     has("Nothing is noted."),
		"/edit/profiles%2Fbroken-yaml.md":            {name: "edit", texts: []string{"refused", "profiles/broken-yaml.md:", "Save"}},
		"/no-such-page":                              has("There is no such page."),
	}
}

// newest is the id of the newest session of a profile that has a status.
func newest(t *testing.T, profile, status string) string {
	var list []struct{ ID string }
	get(t, "/sessions?limit=1&status="+status+"&profile="+url.QueryEscape(profile), &list)
	if len(list) == 0 {
		t.Fatalf("%s has no session that is %s", profile, status)
	}
	return list[0].ID
}

func get(t *testing.T, path string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, shop+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s, %v", path, resp.Status, err)
	}
}

// TestPages looks at the pages that are known here, and at all others that the page
// itself links to in its navigation and its tabs.
func TestPages(t *testing.T) {
	known := known(t)
	all := linked(t)
	for path := range known {
		all = append(all, path)
	}
	slices.Sort(all)
	axe := axeCore(t)
	all = slices.Compact(all)
	checkPictures(t, known, all)
	p := open(t, shop)
	for _, path := range all {
		t.Run(strings.TrimPrefix(path, "/"), func(t *testing.T) {
			name := named(path, known[path])
			p.TB = t
			p.do(chromedp.Navigate("about:blank")) // each page is loaded anew
			p.told()
			p.theme("light")
			p.size(1600, 900)
			p.show(path)
			p.until(ready)
			for _, text := range known[path].texts {
				p.shows(text)
			}
			p.wrong("the console", p.told(known[path].says...))
			p.wrong("the policy", p.refused())
			p.wrong("the width", p.tooWide())
			p.size(1280, 800)
			p.wrong("axe, in light", p.barriers(axe))
			p.picture(name, "light")
			p.theme("dark")
			p.wrong("axe, in dark", p.barriers(axe))
			p.picture(name, "dark")
			p.size(360, 740)
			p.wrong("the width", p.tooWide())
			p.wrong("axe, on a phone", p.barriers(axe))
			p.picture(name, "phone-dark")
			p.theme("light")
			p.picture(name, "phone-light")
		})
	}
}

// linked are the pages of the navigation, and the tabs of a profile.
func linked(t *testing.T) []string {
	p := open(t, shop)
	p.show("/profiles/fixer")
	p.until(`document.querySelector("nav[aria-label='Parts of fixer'] a")`)
	links := evaluate[[]string](p, `[...document.querySelectorAll("nav a")].map((a) => a.getAttribute("href"))`)
	for i, link := range links {
		links[i] = strings.TrimPrefix(link, "#")
		if !strings.HasPrefix(links[i], "/") {
			t.Errorf("the page has a link to %q", link)
		}
	}
	if len(links) < 10 {
		t.Errorf("the page links to %q", links)
	}
	return links
}

// TestLogin: a server that wants to know who asks is told with a key.
func TestLogin(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "roster.yaml"), []byte("defaults: {model: builtin/demo}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := serve(roster.Options{
		Dir: dir, State: t.TempDir(), Getenv: options(t.TempDir()).Getenv,
		Identify: func(r *http.Request) (identity.Caller, error) {
			if r.Header.Get("Authorization") != "Bearer sesame" {
				return identity.Caller{}, errors.New("that is not the key")
			}
			return identity.Caller{Tenant: "acme", User: "ann", Roles: identity.Viewer}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	p, axe := open(t, s.url), axeCore(t)
	p.show("/profiles")
	p.shows("This server wants to know who you are.")
	p.wrong("axe", p.barriers(axe))
	for _, wrong := range []string{"open", "rk_2gdm…"} { // the one in a header, the other in none
		p.do(chromedp.SendKeys(chromedp.CSS("#key"), wrong+kb.Enter))
		p.until(`sessionStorage.getItem("roster-key") === ` + quote(wrong))
		p.shows("The server does not take this key.")
		p.wrong("axe", p.barriers(axe))
	}
	p.do(chromedp.SendKeys(chromedp.CSS("#key"), "sesame"+kb.Enter))
	p.shows("There is no profile yet.")
	p.wrong("the console", p.told(missing))
	p.wrong("the policy", p.refused())
}
