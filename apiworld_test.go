package roster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/internal/apitest"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/store/memory"
)

// marked is what only the owner of a session may read.
const marked = "MARK-OF-THE-OWNER"

// world is a server with two tenants, and all that the operations of the document
// need to be asked for.
type world struct {
	t    testing.TB
	app  *roster.App
	dir  string
	url  string
	http *http.Client
	doc  *apitest.Document
	n    int // of what was made, for names

	sessions []string // of the owner
}

// caller is who asks: a tenant and roles.
type caller struct {
	tenant string
	roles  identity.Role
}

const everyRole = identity.Viewer | identity.Runner | identity.Approver | identity.Editor | identity.Admin

var (
	owner    = caller{roster.LocalTenant, everyRole} // whose the rigs of a shared workspace are
	stranger = caller{"globex", everyRole}
)

func openWorld(t testing.TB) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, doc: apitest.Open()}
	for name, text := range map[string]string{
		"main/roster.yaml":                           "providers:\n  fake: {api: script, base-url: none.yaml, models: {text: {context-window: 100000}}}\n",
		"main/profiles/reviewer.md":                  "---\nname: reviewer\ndescription: Reviews.\nmodel: fake/text\ntools: [read, ask_user]\n---\nBe brief.\n",
		"main/a.env":                                 "A=1\n",
		"main/rig/tie-offs/a-loom/tie-off-review.md": "## review triggered by created in/a.md\n\n---\njob: \"j1\"\ntime: 2026-01-01T00:00:00Z\n---\n\n" + marked + "\n\n<!-- roster job=j1 sha256=" + strings.Repeat("0", 64) + " -->\n",
		"main/" + marked + "/in.md":                  "Read me.\n",
		"main/rig/a-loom/review.md":                  "---\nagent-profile-ref: reviewer\nstrand-dir: " + marked + "\n---\nReview.\n",
	} {
		write(t, dir, name, text)
	}
	replies := &script.Script{Loop: true, Replies: []script.Reply{
		{When: script.When{Contains: "ASK"}, Tools: []script.Call{{Name: "ask_user", Input: `{"question":"Which ` + marked + `?"}`}}},
		{When: script.When{Contains: "LOOK"}, Tools: []script.Call{{Name: "read", Input: `{"path":"a.env"}`}}},
		{Text: "done"},
	}}
	store := memory.New(memory.Options{})
	w.app, _, err = roster.Open(filepath.Join(dir, "main"), roster.Options{
		State: filepath.Join(dir, "state"), Backend: store, Claim: true, Trust: true, Metrics: true, Log: slog.New(slog.DiscardHandler),
		Getenv: env{"ROSTER_HOME": filepath.Join(dir, "home"), "HOME": dir}.get,
		Models: map[string]model.Model{"fake/text": replies.Model("fake/text")},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.serve()
	t.Cleanup(func() {
		if err := w.app.Close(context.Background()); err != nil {
			t.Error(err)
		}
		store.Close()
	})
	return w
}

func (w *world) serve() {
	w.t.Helper()
	deps := w.app.HostDeps()
	deps.Identify = func(r *http.Request) (identity.Caller, error) {
		tenant, roles, ok := strings.Cut(r.Header.Get("X-Caller"), ":")
		if !ok {
			return identity.Caller{}, &host.Error{Status: http.StatusUnauthorized, Code: "Unauthorized", Message: "who are you?"}
		}
		c := identity.Caller{Tenant: tenant, User: "user-of-" + tenant}
		if roles != "" {
			var err error
			if c.Roles, err = identity.ParseRoles(roles); err != nil {
				return c, err
			}
		}
		return c, nil
	}
	l, err := host.Listen(w.t.Context(), "127.0.0.1:0", host.Access{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.url, w.http = "http://"+l.Addr().String(), &http.Client{Transport: &http.Transport{}, Timeout: 20 * time.Second}
	w.run(host.Server(l.Addr().String(), host.New(deps)), l)
}

func (w *world) run(srv *http.Server, l net.Listener) {
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	w.t.Cleanup(func() {
		w.http.CloseIdleConnections()
		if err := srv.Shutdown(context.Background()); err != nil {
			w.t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			w.t.Error(err)
		}
	})
}

// call is a request.
type call struct {
	method, path, body string
	header             map[string]string
	ids                []string // that are the owner's, in the path or the body
	live               bool
}

// send asks as somebody, and holds the answer against the document.
func (w *world) send(who caller, c call) apitest.Answer {
	w.t.Helper()
	a, err := w.ask(who, c)
	if err != nil {
		w.t.Fatalf("%s %s: %v", c.method, c.path, err)
	}
	if err := w.doc.Check(c.method, c.path, a); err != nil {
		w.t.Errorf("%v\nthe body was %.300q", err, c.body)
	}
	return a
}

func (w *world) ask(who caller, c call) (a apitest.Answer, err error) {
	ctx, cancel := context.WithCancel(w.t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, strings.ToUpper(c.method), w.url+c.path, strings.NewReader(c.body))
	if err != nil {
		return a, err
	}
	r.Header.Set("X-Caller", who.tenant+":"+who.roles.String())
	if c.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, value := range c.header {
		r.Header.Set(name, value)
	}
	res, err := w.http.Do(r)
	if err != nil {
		return a, err
	}
	defer res.Body.Close()
	a.Status, a.Header = res.StatusCode, res.Header
	if c.live && res.StatusCode < 300 {
		return a, nil // it would not end
	}
	data, err := io.ReadAll(res.Body)
	a.Body = string(data)
	return a, err
}

// made sends a request of the owner that has to succeed.
func (w *world) made(method, path, body string, header ...string) apitest.Answer {
	w.t.Helper()
	c := call{method: method, path: path, body: body, header: map[string]string{}}
	for i := 0; i+1 < len(header); i += 2 {
		c.header[header[i]] = header[i+1]
	}
	a := w.send(owner, c)
	if a.Status >= 300 {
		w.t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
	return a
}

// begin makes a session whose prompt holds a text, and gives what /chat answers.
func (w *world) begin(text string) (id string, approvals []string) {
	w.t.Helper()
	a := w.made("post", "/chat", `{"agentId":"reviewer","approvals":"wait","message":"`+text+` `+marked+`"}`)
	var out struct {
		SessionID string
		Approvals []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(a.Body), &out); err != nil || out.SessionID == "" {
		w.t.Fatalf("%v: %s", err, a.Body)
	}
	w.sessions = append(w.sessions, out.SessionID)
	for _, one := range out.Approvals {
		approvals = append(approvals, one.ID)
	}
	return out.SessionID, approvals
}

// fresh is a name that nothing has.
func (w *world) fresh(prefix string) string {
	w.n++
	return fmt.Sprintf("%s%d", prefix, w.n)
}

// profile makes a profile.
func (w *world) profile() string {
	w.t.Helper()
	name := w.fresh("made")
	w.made("post", "/profiles/"+name, `{"description":"d","model":"fake/text","system_prompt":"x"}`)
	return name
}

// callOf is how an operation is asked for so that the owner is answered with 2xx: as
// the document says, with parameters that name what was made for it.
func (w *world) callOf(path, method string, o apitest.Operation) call {
	w.t.Helper()
	c := call{method: method, path: path, header: map[string]string{}, live: o.Live}
	if o.Body != nil {
		for kind, content := range o.Body.Content {
			c.body = string(content.Example)
			c.header["Content-Type"] = kind
		}
	}
	w.prepare(&c, path, o)
	for _, p := range o.Parameters {
		if p.In == "path" && strings.Contains(c.path, "{"+p.Name+"}") {
			w.t.Fatalf("%s: say in apiworld_test.go what stands for {%s} of %s %s", o.ID, p.Name, method, path)
		}
	}
	return c
}

func (c *call) set(name, value string) {
	c.path = strings.ReplaceAll(c.path, "{"+name+"}", url.PathEscape(value))
}

// prepare makes what an operation is about.
func (w *world) prepare(c *call, path string, o apitest.Operation) {
	w.t.Helper()
	switch {
	case strings.HasPrefix(path, "/sessions/{id}"), o.ID == "importSession":
		w.prepareSession(c, o)
	case path == "/approvals/{id}":
		_, asks := w.begin("LOOK")
		c.set("id", asks[0])
		c.ids = asks[:1]
	case strings.HasPrefix(path, "/profiles/{name}"):
		w.prepareProfile(c, o)
	case strings.HasPrefix(path, "/skills/{name}"):
		name := w.fresh("skill")
		c.body = strings.ReplaceAll(c.body, "tidy", name)
		if o.ID != "putSkill" {
			w.made("put", "/skills/"+name, `{"text":"---\nname: `+name+`\ndescription: d\n---\nx\n"}`)
		}
		c.set("name", name)
	case strings.HasPrefix(path, "/mcp-servers/{name}"):
		name := w.fresh("server")
		if o.ID != "createServer" {
			w.made("put", "/mcp-servers/"+name, `{"url":"`+w.url+`/mcp","headers":{"X-Caller":"`+owner.tenant+`:runner"}}`)
		}
		c.set("name", name)
	case strings.HasPrefix(path, "/rigs/{rig}"):
		w.prepareRig(c, path)
	case path == "/v1/models/{model}":
		c.set("model", "reviewer")
	case strings.Contains(path, "a2a"):
		c.set("name", "reviewer")
	case strings.HasPrefix(path, "/keys/{id}"):
		var k struct{ ID string }
		if err := json.Unmarshal([]byte(w.made("post", "/keys", `{"name":"`+w.fresh("key")+`","roles":["runner"]}`).Body), &k); err != nil {
			w.t.Fatal(err)
		}
		c.set("id", k.ID)
		c.ids = []string{k.ID}
	case path == "/models/{ref}":
		c.set("ref", "fake/text")
	}
	switch o.ID {
	case "mcpPost":
		c.header["Accept"] = "application/json, text/event-stream"
	case "createNamedProfile":
		c.body = strings.Replace(c.body, "quick", w.fresh("named"), 1)
	case "profileSource":
		c.path += "?path=profiles/reviewer.md"
	case "putProfileSource":
		name := w.profile()
		c.body = strings.Replace(c.body, "made", name, 1)
		c.path += "?path=profiles/" + name + ".md"
		c.header["If-Match"] = "*"
	case "profilePermit":
		c.path += "?tool=read&subject=a.txt"
	}
}

func (w *world) prepareSession(c *call, o apitest.Operation) {
	w.t.Helper()
	say := "hello"
	if o.ID == "answerQuestion" {
		say = "ASK"
	}
	id, _ := w.begin(say)
	c.ids = []string{id}
	c.set("id", id)
	c.set("turn", "1")
	switch o.ID {
	case "sessionEvents":
		c.path += "?until=idle"
		c.live = false
	case "importSession":
		c.body = w.made("get", "/sessions/"+id+"/export", "").Body
		w.made("delete", "/sessions/"+id, "")
		c.ids, w.sessions = nil, w.sessions[:len(w.sessions)-1] // whose text it is may have it
	}
}

// prepareRig names the rig and, where the path takes a job, one that has failed.
func (w *world) prepareRig(c *call, path string) {
	w.t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	j := ledger.Job{
		ID: id, Knot: "a-loom/review", Event: "created", Path: marked + "/a.md", Content: []byte(marked), State: ledger.Dead, Error: marked,
	}
	store, err := w.app.Ledger(w.t.Context())
	if err == nil {
		err = store.Queue(w.t.Context(), w.app.RigKey("rig"), []ledger.Job{j})
	}
	if err != nil {
		w.t.Fatal(err)
	}
	c.set("rig", "rig")
	c.body = strings.ReplaceAll(c.body, "in/a.md", marked+"/in.md")
	c.ids = []string{"rig"}
	if strings.Contains(path, "{id}") {
		c.set("id", id)
		c.ids = append(c.ids, id)
	}
}

func (w *world) prepareProfile(c *call, o apitest.Operation) {
	w.t.Helper()
	if o.ID == "createProfile" {
		c.set("name", w.fresh("created"))
		return
	}
	name := w.profile()
	c.set("name", name)
	switch o.ID {
	case "putProfile":
		c.header["If-Match"] = "*"
	case "rollbackProfile":
		w.made("put", "/profiles/"+name, `{"temperature":0.7}`, "If-Match", "*")
		var versions []struct {
			Revision string
			Current  bool
		}
		if err := json.Unmarshal([]byte(w.made("get", "/profiles/"+name+"/history", "").Body), &versions); err != nil || len(versions) < 2 {
			w.t.Fatalf("%v: %+v", err, versions)
		}
		c.body = `{"revision":"` + versions[len(versions)-1].Revision + `"}`
	}
}
