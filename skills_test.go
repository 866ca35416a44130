package roster_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// skilled opens a workspace with a skill of its own and one of the user's.
func skilled(t *testing.T, trusted bool) (app *roster.App, ws, user string) {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, user = top+"/ws", top+"/user"
	write(t, ws, "profiles/worker.md", "---\ndescription: d\nmodel: builtin/demo\n---\nYou work.\n")
	write(t, ws, "skills/notes/SKILL.md", "---\ndescription: Writes notes\nallowed-tools: Bash(touch *)\n---\nWrite.\n")
	write(t, user, ".claude/skills/mine/SKILL.md", "---\ndescription: Of my own\nallowed-tools: Bash(ls *)\n---\nDo.\n")
	env := map[string]string{"HOME": user, "ROSTER_HOME": top + "/home", "XDG_STATE_HOME": top + "/state"}
	if app, _, err = roster.Open(ws, roster.Options{Trust: trusted, Getenv: func(name string) string { return env[name] }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := app.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return app, ws, user
}

// TestSkillsOfASpec: what a profile may use stands in its spec, with the rules that
// count, and follows the files.
func TestSkillsOfASpec(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		app, ws, _ := skilled(t, trusted)
		s, ds, err := app.Resolve(t.Context(), "worker", session.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Skills) != 2 || s.Skills[0].Name != "mine" || s.Skills[1].Name != "notes" {
			t.Fatalf("skills %+v", s.Skills)
		}
		if len(s.Skills[0].Allowed) != 1 || len(s.Skills[1].Allowed) > 0 != trusted {
			t.Errorf("trusted %v: allowed %v and %v", trusted, s.Skills[0].Allowed, s.Skills[1].Allowed)
		}
		inert := slices.ContainsFunc(ds, func(d profile.Diagnostic) bool { return d.Code == profile.CodeExecuting })
		if inert == trusted {
			t.Errorf("trusted %v: %v", trusted, ds)
		}
		survey := app.Survey()
		if len(survey.Allows) != 1 || survey.Allows[0].At.File != "skills/notes/SKILL.md" {
			t.Errorf("the survey has %+v", survey.Allows)
		}
		write(t, ws, "skills/more/SKILL.md", "---\ndescription: More\n---\nx\n")
		if s, _, err = app.Resolve(t.Context(), "worker", session.Overrides{}); err != nil || len(s.Skills) != 3 {
			t.Errorf("with another one: %v, %+v", err, s.Skills)
		}
		if s, _, err = app.Resolve(t.Context(), "worker", session.Overrides{Flags: map[string]string{"skills": "[]"}}); err != nil || s.Skills != nil {
			t.Errorf("with none: %v, %+v", err, s.Skills)
		}
	}
}

// TestSkillsOverHTTP reads and writes them.
func TestSkillsOverHTTP(t *testing.T) {
	app, ws, _ := skilled(t, true)
	server := httptest.NewServer(app.Handler())
	defer server.Close()
	call := func(method, path, revision, body string) (int, string, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if revision != "" {
			req.Header.Set("If-Match", `"`+revision+`"`)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, resp.Header.Get("X-Roster-Revision"), string(data)
	}
	wants := func(what string, status int, body string, wantStatus int, wantBody string) {
		t.Helper()
		if status != wantStatus || !strings.Contains(body, wantBody) {
			t.Errorf("%s: %d %s", what, status, body)
		}
	}
	status, _, body := call("GET", "/skills", "", "")
	wants("list", status, body, 200, `"name":"mine"`)
	status, _, body = call("GET", "/skills?profile=worker", "", "")
	wants("those of a profile", status, body, 200, `"name":"notes"`)
	if strings.Contains(body, "roster-profiles") {
		t.Errorf("the profile has a skill that it does not name: %s", body)
	}
	status, _, body = call("GET", "/skills?profile=nobody", "", "")
	wants("those of nobody", status, body, 404, "ProfileNotFound")
	status, revision, body := call("GET", "/skills/notes", "", "")
	wants("one", status, body, 200, `"body":"Write."`)
	wants("the whole of it", status, body, 200, `Write.\n","revision":"`+revision)
	status, _, body = call("GET", "/skills/nose", "", "")
	wants("none", status, body, 404, `"code":"SkillNotFound"`)

	text := func(s string) string {
		b, err := json.Marshal(map[string]string{"text": "---\ndescription: d\n---\n" + s})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	status, _, body = call("PUT", "/skills/notes", "", text("x"))
	wants("without its revision", status, body, 409, "SkillExists")
	status, _, body = call("PUT", "/skills/notes", "0", text("x"))
	wants("with another", status, body, 412, "RevisionMismatch")
	status, next, body := call("PUT", "/skills/notes", revision, text("Write more."))
	wants("with it", status, body, 200, `"body":"Write more."`)
	if next == revision || next == "" {
		t.Errorf("revision %q after %q", next, revision)
	}
	status, _, body = call("PUT", "/skills/new", "", text("New."))
	wants("a new one", status, body, 201, `"file":"skills/new/SKILL.md"`)
	if _, err := os.Stat(ws + "/skills/new/SKILL.md"); err != nil {
		t.Error(err)
	}
	status, _, body = call("PUT", "/skills/mine", "0", text("x"))
	wants("the user's", status, body, 403, "ReadOnly")
	status, _, body = call("PUT", "/skills/bad", "", `{"text":"no frontmatter"}`)
	wants("what does not load", status, body, 400, `"diagnostics":[{`)
	status, _, body = call("PUT", "/skills/..%2F..%2Fup", "", text("x"))
	wants("a path", status, body, 400, "none for a skill")
	status, _, body = call("PUT", "/skills/none", "", `{}`)
	wants("without a text", status, body, 400, "MissingField")
}
