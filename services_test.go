package roster

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/session"
)

// document is an OpenAPI document of operations by their ids.
func document(server string, ids ...string) string {
	var paths []string
	for _, id := range ids {
		paths = append(paths, fmt.Sprintf(`"/%s":{"get":{"operationId":%q,"responses":{}}}`, id, id))
	}
	return fmt.Sprintf(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":%q}],"paths":{%s}}`, server, strings.Join(paths, ","))
}

// TestServices: what of services is offered, what is fetched and when, and what is
// said of the rest.
func TestServices(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path+" "+r.Header.Get("If-None-Match")+r.Header.Get("Authorization"))
		w.Header().Set("ETag", `"v1"`)
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, document("/v1", "get"))
	}))
	defer s.Close()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "ws")
	many := make([]string, 101)
	for i := range many {
		many[i] = fmt.Sprintf("op%d", i)
	}
	for name, text := range map[string]string{
		"one.json": document("https://x.example", "get", "b_c"), "two.json": document("https://x.example", "c"), "many.json": document("https://x.example", many...),
		"off.json": document("https://y.example", "get"), "bad.json": "{",
		"roster.yaml": `
openapi:
  a: {spec: one.json, hosts: [x.example], auth: {bearer-env: ODDLY_NAMED}}
  a_b: {spec: two.json, hosts: [x.example]}
  many: {spec: many.json, hosts: [x.example]}
  few: {spec: many.json, hosts: [x.example], operations: ["op10*"]}
  off: {spec: off.json, hosts: [x.example]}
  bad: {spec: bad.json}
  gone: {spec: gone.json}
  far: {spec: "` + s.URL + `/api.json", auth: {bearer-env: ODDLY_NAMED}}
`,
		"profiles/p.md": "---\ndescription: d\nmodel: builtin/demo\ntools: [read, a, a_b, many, few, off, bad, gone, far]\nopenapi: {own: {spec: one.json, hosts: [x.example], headers: {X: \"${MINE}\"}}}\n---\nx\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"XDG_STATE_HOME": top + "/state", "ROSTER_HOME": top + "/home", "ODDLY_NAMED": "planted-value-1", "MINE": "planted-value-2"}
	open := func(trust bool) *App {
		app, _, err := Open(dir, Options{Trust: trust, Getenv: func(name string) string { return env[name] }})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { app.Close(t.Context()) })
		return app
	}
	app := open(true)
	shown, ds, err := app.Tools(t.Context(), "p", session.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, tool := range shown.Tools {
		why[tool.Name] = tool.Reason
		if tool.Offered {
			why[tool.Name] = "offered"
		}
	}
	for name, want := range map[string]string{
		"a_get": "offered", "a_b_c": "both have a tool", "many": "101 operations, and at most 100", "few_op10": "offered", "few_op100": "offered",
		"off_get": `hosts: ["y.example"]`, "bad": "bad.json", "gone": "gone.json", "far": "the first run fetches it",
	} {
		if !strings.Contains(why[name], want) {
			t.Errorf("%s: %q, want %q", name, why[name], want)
		}
	}
	if told := fmt.Sprint(ds); !strings.Contains(told, profile.CodeServiceTools) || !strings.Contains(told, profile.CodeServiceSpec) || strings.Contains(told, "planted") {
		t.Error(told)
	}
	if len(asked) > 0 {
		t.Errorf("looking at tools asked for %v", asked)
	}
	for _, name := range []string{"ODDLY_NAMED", "MINE"} {
		if !slices.Contains(app.keyVariables(), name) {
			t.Errorf("%s is not kept from commands", name)
		}
	}
	if got := app.redact("x planted-value-1 planted-value-2"); strings.Contains(got, "planted") {
		t.Error(got)
	}

	compile := func(app *App) []string {
		b, err := app.compile(t.Context(), "p", session.Overrides{}, true)
		if err != nil {
			t.Fatal(err)
		}
		if data, _, _ := b.Spec.Encode(); strings.Contains(string(data), "planted") {
			t.Errorf("a secret stands in the log: %s", data)
		}
		return b.ToolNames()
	}
	for range 2 {
		if names := compile(app); !slices.Contains(names, "far_get") || !slices.Contains(names, "a_get") || slices.Contains(names, "a_b_c") {
			t.Error(names)
		}
	}
	if got := strings.Join(asked, ","); got != "/api.json " {
		t.Errorf("a run asks for %q", got)
	}
	list := app.Config().Services
	far := slices.IndexFunc(list, func(e service.Entry) bool { return e.Name == "far" })
	about := app.documentFile(&list[far]) + ".json"
	var known fetched
	data, err := os.ReadFile(about)
	if err != nil || json.Unmarshal(data, &known) != nil {
		t.Fatal(err)
	}
	known.At = known.At.Add(-2 * time.Hour)
	data, _ = json.Marshal(known)
	if err := os.WriteFile(about, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if names := compile(open(true)); !slices.Contains(names, "far_get") {
		t.Error(names)
	}
	if got := strings.Join(asked, ","); got != `/api.json ,/api.json "v1"` {
		t.Errorf("an hour later a run asks for %q", got)
	}

	asked = nil
	if names := compile(open(false)); slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "a_") || strings.HasPrefix(n, "far") }) {
		t.Errorf("nobody has trusted the workspace, and it has %v", names)
	}
	if len(asked) > 0 {
		t.Errorf("an untrusted workspace asks for %v", asked)
	}
}
