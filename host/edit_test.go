package host_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
)

const seedBody = `{"provider":"openai","model":"gpt-4o","tools":["fs"],"system_prompt":"You are a fast reviewer.\nBe direct."}`

func (s *site) file(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.app.Dir(), name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s *site) write(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(s.app.Dir(), name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.app.Dir(), name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// TestProfilesAreMadeReadAndDeleted is exact to the byte where the seed is.
func TestProfilesAreMadeReadAndDeleted(t *testing.T) {
	s := newSite(t)
	a := s.post("/profiles/quick", seedBody)
	if a.status != 201 || a.body != `{"created":true}` || a.header.Get("Location") != "/profiles/quick" {
		t.Fatalf("%d %s %v", a.status, a.body, a.header)
	}
	want := `{"name":"quick",` + seedBody[1:]
	got := s.get("/profiles/quick")
	if got.status != 200 || got.body != want || got.header.Get("ETag") != a.header.Get("ETag") || got.header.Get(host.HeaderRevision) == "" {
		t.Errorf("%d %s\nwant %s", got.status, got.body, want)
	}
	if list := s.get("/profiles"); !strings.Contains(list.body, want) {
		t.Errorf("the list lacks it: %s", list.body)
	}
	if text, want := s.file("rig/profiles/quick.md"), "---\nname: quick\nprovider: openai\nmodel: gpt-4o\ntools: [fs]\nsystem-prompt: |-\n  You are a fast reviewer.\n  Be direct.\n---\n"; text != want {
		t.Errorf("the file is\n%s\nwant\n%s", text, want)
	}
	if again := s.post("/profiles/quick", seedBody); again.status != 409 || again.body != `{"error":"profile exists: quick, in rig/profiles/quick.md","code":"ProfileExists"}` {
		t.Errorf("%d %s", again.status, again.body)
	}
	if again := s.do("POST", "/profiles/quick", seedBody, "If-None-Match", "*"); again.status != 412 {
		t.Errorf("If-None-Match: %d %s", again.status, again.body)
	}
	if d := s.do("DELETE", "/profiles/quick", ""); d.status != 204 || d.body != "" {
		t.Errorf("%d %s", d.status, d.body)
	}
	gone := `{"error":"profile not found: quick","code":"ProfileNotFound"}`
	for _, method := range []string{"DELETE", "GET"} {
		if d := s.do(method, "/profiles/quick", ""); d.status != 404 || d.body != gone {
			t.Errorf("%s: %d %s", method, d.status, d.body)
		}
	}
	if a := s.post("/profiles/team%2Fnew", `{"description":"d","system_prompt":"Be brief.","top_p":0.5,"limits":{"turns":3}}`); a.status != 201 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if text, want := s.file("profiles/team/new.md"), "---\nname: team/new\ndescription: d\ntop-p: 0.5\nlimits:\n  turns: 3\n---\nBe brief."; text != want {
		t.Errorf("the file is\n%q\nwant\n%q", text, want)
	}
	if a := s.post("/profiles", `{"name":"other","provider":"openai","model":"m","system_prompt":"x"}`); a.status != 201 || a.body != `{"created":true}` {
		t.Errorf("%d %s", a.status, a.body)
	}
	if got := s.get("/profiles/other"); !strings.Contains(got.body, `"tools":[]`) {
		t.Errorf("%s", got.body)
	}
	if a := s.post("/profiles/there?dialect=opencode", `{"description":"d","system_prompt":"x"}`); a.status != 201 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if text, want := s.file(".opencode/agents/there.md"), "---\ndescription: d\n---\nx"; !strings.HasSuffix(text, want[4:]) {
		t.Errorf("the file is %q", text)
	}
}

func TestProfilesAreRefused(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code, field, text        string
	}{
		{"no provider", "POST", "/profiles/x", `{"model":"m","system_prompt":"p"}`, 400, "EmptyProvider", "provider", "provider must not be empty"},
		{"blank provider", "POST", "/profiles/x", `{"provider":" ","model":"m","system_prompt":"p"}`, 400, "EmptyProvider", "provider", "provider must not be empty"},
		{"blank provider natively", "POST", "/profiles/x?dialect=roster", `{"provider":"","model":"m"}`, 400, "EmptyProvider", "provider", "provider must not be empty"},
		{"blank model", "POST", "/profiles/x", `{"provider":"p","model":"","system_prompt":"p"}`, 400, "EmptyModel", "model", "model must not be empty"},
		{"no prompt", "POST", "/profiles/x", `{"provider":"p","model":"m"}`, 400, "MissingSystemPrompt", "system_prompt", "system_prompt must not be empty"},
		{"blank prompt", "POST", "/profiles/x", `{"provider":"p","model":"m","system_prompt":" "}`, 400, "MissingSystemPrompt", "system_prompt", "system_prompt must not be empty"},
		{"nothing", "POST", "/profiles/x", `{}`, 400, "EmptyProvider", "provider", "provider must not be empty; model must not be empty; system_prompt must not be empty"},
		{"no description", "POST", "/profiles/x?dialect=opencode", `{"system_prompt":"p"}`, 400, "SchemaValidation", "description", "description must not be empty"},
		{"an unknown key", "POST", "/profiles/x", `{"provider":"p","model":"m","system_prompt":"p","temprature":1}`, 400, "SchemaValidation", "temprature", `temprature is not a key of profiles (did you mean "temperature"?)`},
		{"a wrong value", "POST", "/profiles/x", `{"top_p":7}`, 400, "SchemaValidation", "top_p", ""},
		{"a wrong type", "POST", "/profiles/x", `{"limits":"many"}`, 400, "SchemaValidation", "limits", ""},
		{"another name", "POST", "/profiles/x", `{"name":"y"}`, 400, "SchemaValidation", "name", ""},
		{"a name that is a path", "POST", "/profiles/..%2F..%2Fx", seedBody, 400, "SchemaValidation", "name", ""},
		{"a name that is a path in the body", "POST", "/profiles", `{"name":"../x"}`, 400, "SchemaValidation", "name", ""},
		{"no name", "POST", "/profiles", `{"provider":"p"}`, 400, "MissingName", "name", "name must not be empty"},
		{"a name that is no text", "POST", "/profiles", `{"name":7}`, 400, "InvalidField", "name", ""},
		{"a dialect that there is not", "POST", "/profiles/x?dialect=word", seedBody, 400, "SchemaValidation", "", ""},
		{"a key twice", "POST", "/profiles/x", `{"model":"a","model":"b"}`, 400, "InvalidField", "model", ""},
		{"a key in two spellings", "POST", "/profiles/x", `{"top_p":0.1,"topP":0.2}`, 400, "InvalidYAML", "topP", ""},
		{"no object", "POST", "/profiles/x", `[]`, 400, "MalformedBody", "", ""},
		{"no JSON", "POST", "/profiles/x", `{`, 400, "MalformedBody", "", ""},
		{"null", "POST", "/profiles/x", `null`, 400, "MalformedBody", "", ""},
		{"many keys", "POST", "/profiles/x", "{" + manyKeys() + `"a":1}`, 400, "MalformedBody", "", ""},
		{"a name that a broken file claims", "POST", "/profiles/broken", seedBody, 409, "ProfileExists", "", ""},
		{"without If-Match", "PUT", "/profiles/echo", `{}`, 428, "MissingIfMatch", "If-Match", ""},
		{"delete a path", "DELETE", "/profiles/..%2Fx", "", 404, "ProfileNotFound", "", ""},
		{"history of nothing", "GET", "/profiles/none/history", "", 404, "ProfileNotFound", "", ""},
		{"rollback without a revision", "POST", "/profiles/echo/rollback", `{}`, 400, "MissingField", "revision", ""},
		{"rollback to nothing", "POST", "/profiles/echo/rollback", `{"revision":"ffffffff"}`, 404, "RevisionNotFound", "", ""},
		{"check of a path that leaves", "POST", "/profiles/-/check", `{"path":"../x.md","text":""}`, 400, "InvalidField", "path", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := s.do(c.method, c.path, c.body).wantError(t, c.status, c.code)
			if e.Field != c.field || c.text != "" && e.Error != c.text {
				t.Errorf("field %q, error %q", e.Field, e.Error)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(s.app.Dir(), "rig/profiles/x.md")); err == nil {
		t.Error("a file was written")
	}
}

func TestPutChangesWhatTheClientHasSeen(t *testing.T) {
	s := newSite(t)
	const file = "profiles/echo.md"
	s.write(file, "---\nname: echo\n# cheap\nmodel: fake/text # one\ndescription: d\ntemperature: 0.5\ncolour: red\n---\nBe brief.\n")
	put := func(tag, body string) answer { return s.do(http.MethodPut, "/profiles/echo", body, "If-Match", tag) }

	first := s.get("/profiles/echo")
	a := put(first.header.Get("ETag"), `{"model":"fake/other","temperature":null,"system_prompt":"Be long.\n"}`)
	if want := `{"name":"echo","provider":"fake","model":"other","tools":["*"],"system_prompt":"Be long.\n"}`; a.status != 200 || a.body != want {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if got, want := s.file(file), "---\nname: echo\n# cheap\nmodel: fake/other # one\ndescription: d\ncolour: red\n---\nBe long.\n"; got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
	put(first.header.Get("ETag"), `{"model":"x"}`).wantError(t, 412, "RevisionMismatch")

	// Each name for what is there now.
	for _, tag := range []string{a.header.Get("ETag"), `"` + a.header.Get(host.HeaderRevision) + `"`, s.get("/profiles/echo?verbose").header.Get("ETag"), `"x", ` + a.header.Get("ETag"), "*"} {
		if a := put(tag, `{}`); a.status != 200 {
			t.Errorf("If-Match %s: %d %s", tag, a.status, a.body)
		}
	}
	put(`W/`+a.header.Get("ETag"), `{}`).wantError(t, 412, "RevisionMismatch")

	// An edit of what the brief answer does not show.
	s.write(file, strings.Replace(s.file(file), "description: d", "description: e", 1))
	put(a.header.Get("ETag"), `{"model":"x"}`).wantError(t, 412, "RevisionMismatch")
	s.do(http.MethodDelete, "/profiles/echo", "", "If-Match", a.header.Get("ETag")).wantError(t, 412, "RevisionMismatch")

	// An edit of a comment is kept.
	now := s.get("/profiles/echo")
	s.write(file, strings.Replace(s.file(file), "# cheap", "# dear", 1))
	if a := put(now.header.Get("ETag"), `{"model":"x"}`); a.status != 200 || !strings.Contains(s.file(file), "# dear\nmodel: x # one\n") {
		t.Errorf("%d %s\n%s", a.status, a.body, s.file(file))
	}

	s.write(file, "---\nname: [\n---\n")
	if e := put("*", `{"model":"x"}`).wantError(t, 404, "InvalidYAML"); e.Error == "" {
		t.Error("no message")
	}
	s.do(http.MethodPut, "/profiles/none", `{}`, "If-Match", "*").wantError(t, 404, "ProfileNotFound")
}

func TestOneOfManyPutsWins(t *testing.T) {
	s := newSite(t)
	tag := s.get("/profiles/echo").header.Get("ETag")
	var won, lost atomic.Int64
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			switch a := s.do(http.MethodPut, "/profiles/echo", fmt.Sprintf(`{"title":"title %d"}`, i), "If-Match", tag); a.status {
			case 200:
				won.Add(1)
			case 412:
				lost.Add(1)
			default:
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 11 {
		t.Errorf("%d won, %d lost", won.Load(), lost.Load())
	}
}

func TestHistoryAndRollback(t *testing.T) {
	s := newSite(t)
	before := s.file("profiles/echo.md")
	a := s.do(http.MethodPut, "/profiles/echo", `{"temperature":0.25}`, "If-Match", "*")
	var all []struct {
		Revision, Message, Source string
		Current                   bool
	}
	s.get("/profiles/echo/history").into(t, &all)
	if len(all) != 2 || !all[0].Current || all[1].Current || all[1].Source != "saves" {
		t.Fatalf("%+v", all)
	}
	var change struct{ Diff string }
	s.get("/profiles/echo/diff").into(t, &change)
	if !strings.Contains(change.Diff, "+temperature: 0.25") {
		t.Errorf("the change is %q", change.Diff)
	}
	s.get("/profiles/echo/diff?from="+all[0].Revision+"&to="+all[1].Revision).into(t, &change)
	if !strings.Contains(change.Diff, "-temperature: 0.25") {
		t.Errorf("the way back is %q", change.Diff)
	}
	s.get("/profiles/echo/diff?to=beef").wantError(t, 404, "RevisionNotFound")
	s.write(".git/HEAD", "nothing")
	if got := s.get("/profiles/echo/history"); got.status != 200 || got.header.Get(host.HeaderNote) != `"its history in git cannot be read, or not all of it: HEAD names no commit"` {
		t.Errorf("%d %v", got.status, got.header)
	}
	back := fmt.Sprintf(`{"revision":%q}`, all[1].Revision)
	s.do("POST", "/profiles/echo/rollback", back, "If-Match", `"x"`).wantError(t, 412, "RevisionMismatch")
	if b := s.do("POST", "/profiles/echo/rollback", back, "If-Match", a.header.Get("ETag")); b.status != 200 || s.file("profiles/echo.md") != before {
		t.Errorf("%d %s\n%s", b.status, b.body, s.file("profiles/echo.md"))
	}
}

func TestCheckOfAText(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct{ name, body, want string }{
		{"good", `{"path":"profiles/a.md","text":"---\ndescription: d\n---\nx\n"}`, `{"path":"profiles/a.md","status":"loaded","dialect":"roster","name":"a","diagnostics":[]}`},
		{"without a path", `{"text":"---\nname: b\ndescription: d\n---\nx\n"}`, `"path":"profile.md","status":"loaded"`},
		{"another dialect", `{"path":".claude/agents/a.md","text":"---\nname: a\ndescription: d\n---\nx\n"}`, `"dialect":"claude","name":"a"`},
		{"bad", `{"path":"profiles/a.md","text":"x"}`, `"code":"P101","name":"MissingFrontmatter","file":"profiles/a.md","line":1`},
		{"no profile", `{"path":"README.txt","text":"x"}`, `"status":"ignored"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if a := s.post("/profiles/-/check", c.body); a.status != 200 || !strings.Contains(a.body, c.want) {
				t.Errorf("%d %s", a.status, a.body)
			}
		})
	}
}

func manyKeys() string {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return b.String()
}

func TestPromptOfAProfile(t *testing.T) {
	s := newSite(t)
	var p struct {
		Layers []struct{ Name, Text string }
		System []string
		Tokens int
	}
	s.get("/profiles/echo/prompt").into(t, &p)
	if len(p.Layers) < 2 || p.Layers[0].Name != "profile" || p.System[0] != p.Layers[0].Text || p.Tokens == 0 {
		t.Errorf("%+v", p)
	}
	s.do("GET", "/profiles/none/prompt", "").wantError(t, 404, "ProfileNotFound")
}

func TestPermitOfAProfile(t *testing.T) {
	s := newSite(t)
	var p struct {
		Effect, Step string
		Rule         struct{ Tool, Subject, Layer string }
		Parts        []struct{ Tool, Subject, Effect string }
	}
	s.get("/profiles/echo/permit?tool=bash&subject=ls%20%7C%20rm%20x").into(t, &p)
	if p.Effect != "ask" || p.Step != "rule" || p.Rule.Layer != "builtin" || len(p.Parts) != 2 || p.Parts[1].Subject != "rm x" {
		t.Errorf("%+v", p)
	}
	var tools view.Tools
	s.get("/profiles/echo/tools").into(t, &tools)
	if len(tools.Tools) == 0 || tools.Tools[0].Name != "read" || tools.Name != "echo" {
		t.Errorf("tools: %+v", tools)
	}
	var targets []view.Target
	s.get("/profiles/echo/targets").into(t, &targets)
	if len(targets) != len(tools.Targets) || targets == nil {
		t.Errorf("targets: %+v, with the tools %+v", targets, tools.Targets)
	}
	s.do("GET", "/profiles/none/tools", "").wantError(t, 404, "ProfileNotFound")
	s.do("GET", "/profiles/none/targets", "").wantError(t, 404, "ProfileNotFound")
	s.do("GET", "/profiles/none/permit?tool=read", "").wantError(t, 404, "ProfileNotFound")
	s.do("GET", "/profiles/echo/permit", "").wantError(t, 400, "MissingField")
}
