package roster_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/store/memory"
)

// desk is a server over a workspace that has nothing but what a test writes.
type desk struct {
	t   *testing.T
	dir string
	url string
}

func openDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: t.TempDir()}
	write(t, d.dir, "roster.yaml", "providers:\n  fake: {api: script, base-url: none.yaml}\n")
	app, _, err := roster.Open(d.dir, roster.Options{
		State: t.TempDir(), Backend: memory.New(memory.Options{}), Claim: true, Trust: true, Log: slog.New(slog.DiscardHandler),
		Getenv: env{"ROSTER_HOME": filepath.Join(d.dir, "home"), "HOME": d.dir}.get,
		Models: map[string]model.Model{"fake/text": script.New(script.Reply{Text: "one"}, script.Reply{Text: "two"}).Model("fake/text")},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := app.Handler()
	server := httptest.NewServer(h)
	d.url = server.URL
	t.Cleanup(func() {
		h.Shutdown()
		http.DefaultClient.CloseIdleConnections()
		server.Close()
		if err := app.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *desk) ask(method, path, body string, header ...string) (int, string, http.Header) {
	d.t.Helper()
	r, err := http.NewRequestWithContext(d.t.Context(), method, d.url+path, strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return res.StatusCode, string(data), res.Header
}

// fastFile is the document's example of a profile's file.
const fastFile = `---
name: fast
provider: openai
model: gpt-4o
tools:
- fs
system-prompt: |
  You are a fast reviewer. Keep responses concise and direct.
---

# Fast Profile

Lightweight profile for quick reviews.
`

const (
	fastJSON   = `{"name":"fast","provider":"openai","model":"gpt-4o","tools":["fs"],"system_prompt":"You are a fast reviewer. Keep responses concise and direct.\n"}`
	fastBody   = `{"provider":"openai","model":"gpt-4o","tools":["fs"],"system_prompt":"You are a fast reviewer."}`
	fastFolder = "rig/profiles/"
)

// TestSharedAgentProfilesHTTP holds the HTTP interface against the document "Shared
// Agent Profiles": each line of it that says something of HTTP is a row.
func TestSharedAgentProfilesHTTP(t *testing.T) {
	for _, c := range []struct {
		says         string
		file         bool // the example is there
		method, path string
		body         string
		status       int
		want         string // exactly; of an error, the member error
	}{
		{"GET /profiles → 200", true, "GET", "/profiles", "", 200, "[" + fastJSON + "]"},
		{"GET /profiles of none → 200", false, "GET", "/profiles", "", 200, "[]"},
		{"GET /profiles/:name → 200", true, "GET", "/profiles/fast", "", 200, fastJSON},
		{"GET /profiles/:name → 404", true, "GET", "/profiles/unknown", "", 404, "profile not found: unknown"},
		{"POST /profiles/:name → 201", false, "POST", "/profiles/fast", fastBody, 201, `{"created":true}`},
		{"POST /profiles with the name in the body", false, "POST", "/profiles", `{"name":"fast",` + fastBody[1:], 201, `{"created":true}`},
		{"tools are optional", false, "POST", "/profiles/fast", `{"provider":"openai","model":"gpt-4o","system_prompt":"x"}`, 201, `{"created":true}`},
		{"POST → 400: provider", false, "POST", "/profiles/fast", `{"provider":"","model":"gpt-4o","tools":["fs"],"system_prompt":"x"}`, 400, "provider must not be empty"},
		{"whitespace alone is empty: provider", false, "POST", "/profiles/fast", `{"provider":" \n","model":"gpt-4o","tools":["fs"],"system_prompt":"x"}`, 400, "provider must not be empty"},
		{"POST → 400: model", false, "POST", "/profiles/fast", `{"provider":"openai","model":"","tools":["fs"],"system_prompt":"x"}`, 400, "model must not be empty"},
		{"POST → 400: system_prompt", false, "POST", "/profiles/fast", `{"provider":"openai","model":"gpt-4o","tools":["fs"],"system_prompt":" "}`, 400, "system_prompt must not be empty"},
		{"POST /profiles → 400: name", false, "POST", "/profiles", `{"name":" ",` + fastBody[1:], 400, "name must not be empty"},
		{"DELETE /profiles/:name → 204", true, "DELETE", "/profiles/fast", "", 204, ""},
		{"DELETE /profiles/:name → 404", false, "DELETE", "/profiles/fast", "", 404, "profile not found: fast"},
	} {
		t.Run(c.says, func(t *testing.T) {
			d := openDesk(t)
			if c.file {
				write(t, d.dir, fastFolder+"fast.md", fastFile)
			}
			status, got, header := d.ask(c.method, c.path, c.body)
			if status >= 400 {
				var e struct{ Error, Code string }
				if err := json.Unmarshal([]byte(got), &e); err != nil || e.Code == "" {
					t.Errorf("%v: %s", err, got)
				}
				got = e.Error
			}
			if status != c.status || got != c.want {
				t.Errorf("%d %s\nwant %d %s", status, got, c.status, c.want)
			}
			if kind := header.Get("Content-Type"); got != "" && kind != "application/json" {
				t.Errorf("the answer is %q", kind)
			}
		})
	}
}

// TestSharedAgentProfilesOnDisk: what is made over HTTP is a file of the document's
// form, its folder is made with the first, and what is edited there is read at once.
func TestSharedAgentProfilesOnDisk(t *testing.T) {
	d := openDesk(t)
	if status, body, _ := d.ask("POST", "/profiles/fast", fastBody); status != 201 {
		t.Fatalf("%d %s", status, body)
	}
	path := filepath.Join(d.dir, fastFolder, "fast.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"---\n", "name: fast\n", "provider: openai\n", "model: gpt-4o\n", "tools:", "system-prompt:"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the file lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "system_prompt") {
		t.Errorf("the file has system_prompt:\n%s", text)
	}
	write(t, d.dir, fastFolder+"fast.md", strings.Replace(string(text), "gpt-4o", "gpt-4o-mini", 1))
	if _, body, _ := d.ask("GET", "/profiles/fast", ""); !strings.Contains(body, `"model":"gpt-4o-mini"`) {
		t.Errorf("what was edited: %s", body)
	}
	write(t, d.dir, fastFolder+"broken.md", "no frontmatter")
	write(t, d.dir, fastFolder+"notes.txt", "no profile")
	if _, body, _ := d.ask("GET", "/profiles", ""); strings.Count(body, `"name"`) != 1 {
		t.Errorf("with files that are no profiles: %s", body)
	}
	if status, _, _ := d.ask("DELETE", "/profiles/fast", ""); status != 204 {
		t.Errorf("delete: %d", status)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file: %v", err)
	}
}

// TestProfileContractRoutes holds the routes that the document "Profile Contract
// Reference" names against it: a request is answered by the profile that it asks for,
// its events have the id of the route's trace, and the stream says how much of the
// profile's context window is used.
func TestProfileContractRoutes(t *testing.T) {
	d := openDesk(t)
	write(t, d.dir, "profiles/analytics.md", "---\nname: analytics\ndescription: d\nmodel: fake/text\n---\nCount.\n")
	const trace = "0af7651916cd43dd8448eb211c80319c"
	parent := []string{"Traceparent", "00-" + trace + "-b7ad6b7169203331-01"}
	status, body, header := d.ask("POST", "/stream", `{"agentId":"analytics","tenantId":"acme","userId":"ann","message":"How many?"}`, parent...)
	if status != 200 || header.Get("Content-Type") != "text/event-stream" || header.Get("X-Chain-Id") != trace || header.Get("X-Session-Id") == "" {
		t.Fatalf("%d %v %s", status, header, body)
	}
	stored := 0
	for _, line := range strings.Split(body, "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.Contains(data, `"seq":`) {
			stored++
			if !strings.Contains(data, `"chainId":"`+trace+`"`) || !strings.Contains(data, `"depth":0`) {
				t.Errorf("an event of another chain: %s", data)
			}
		}
	}
	usage := body[max(strings.Index(body, "event: context_usage"), 0):]
	if stored == 0 || !strings.Contains(usage, `"budgetUsedPct":`) || !strings.Contains(usage, `"inputTokens":`) {
		t.Errorf("%d events, %s", stored, body)
	}
	session := header.Get("X-Session-Id")
	status, body, _ = d.ask("POST", "/chat", `{"sessionId":"`+session+`","tenantId":"acme","userId":"ann","message":"And now?"}`)
	if status != 200 || !strings.Contains(body, `"sessionId":"`+session+`"`) || !strings.Contains(body, `"text":"two"`) {
		t.Errorf("%d %s", status, body)
	}
	if status, body, _ := d.ask("POST", "/chat", `{"sessionId":"`+session+`","tenantId":"other","message":"And now?"}`); status != 404 {
		t.Errorf("another tenant: %d %s", status, body)
	}
	if status, body, _ := d.ask("POST", "/chat", `{"agentId":"nobody","message":"x"}`); status != 404 || !strings.Contains(body, `"error":"profile not found: nobody"`) {
		t.Errorf("no profile: %d %s", status, body)
	}
}
