package roster_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/rig/ledger"
)

// rigJob stores a job of the rig, and gives its id.
func rigJob(t *testing.T, app *roster.App, state ledger.State, path string) string {
	t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	store, err := app.Ledger(t.Context())
	if err == nil {
		err = store.Queue(t.Context(), app.RigKey("rig"), []ledger.Job{{ID: id, Knot: "a-loom/review", Event: "created", Path: path, State: state}})
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestRigOverHTTP asks for what a rig is, and changes its jobs.
func TestRigOverHTTP(t *testing.T) {
	w := openWorld(t)
	write(t, w.dir, "main/rig/a-loom/bad.md", "---\ntimeout: never\n---\n")
	dead, queued := rigJob(t, w.app, ledger.Dead, "in/dead.md"), rigJob(t, w.app, ledger.Queued, "in/queued.md")
	const job = "/rigs/rig/jobs/"
	for _, c := range []struct {
		name, method, path string
		status             int
		want               string
	}{
		{"all", "get", "/rigs", 200, `"queued":1,"running":0,"done":0,"dead":1`},
		{"one", "get", "/rigs/rig", 200, `{"id":"a-loom/bad","file":"rig/a-loom/bad.md","status":"refused"`},
		{"what is wrong", "get", "/rigs/rig/check", 200, `"summary":{"loaded":1,"refused":1,`},
		{"the graph", "get", "/rigs/rig/graph", 200, `"id":"knot:rig/a-loom/review"`},
		{"as text", "get", "/rigs/rig/graph?format=text", 200, "a-loom/review\n  from "},
		{"as Mermaid", "get", "/rigs/rig/graph?format=mermaid", 200, "flowchart LR"},
		{"as a picture", "get", "/rigs/rig/graph?format=svg", 200, "<svg "},
		{"as something else", "get", "/rigs/rig/graph?format=png", 400, `"field":"format"`},
		{"answers", "get", "/rigs/rig/tie-offs?knot=a-loom%2Freview&answers=true&limit=1", 200, `"answer":"` + marked + `"`},
		{"a list of answers", "get", "/rigs/rig/tie-offs", 200, `"event":"created","path":"in/a.md"`},
		{"answers of no knot", "get", "/rigs/rig/tie-offs?knot=nobody", 404, "KnotNotFound"},
		{"too many answers", "get", "/rigs/rig/tie-offs?limit=0", 400, `"field":"limit"`},
		{"answers or not", "get", "/rigs/rig/tie-offs?answers=1", 400, `"field":"answers"`},
		{"jobs", "get", "/rigs/rig/jobs", 200, "in/queued.md"},
		{"jobs of states", "get", "/rigs/rig/jobs?state=dead,done&knot=a-loom%2Freview", 200, `[{"id":"` + dead},
		{"a page", "get", "/rigs/rig/jobs?limit=1", 200, `"before":2`},
		{"the next page", "get", "/rigs/rig/jobs?limit=1&before=2", 200, dead},
		{"no such state", "get", "/rigs/rig/jobs?state=asleep", 400, `"field":"state"`},
		{"too many", "get", "/rigs/rig/jobs?limit=1001", 400, `"field":"limit"`},
		{"no number", "get", "/rigs/rig/jobs?before=x", 400, `"field":"before"`},
		{"no text", "get", "/rigs/rig/jobs?path=a%00b", 400, `"field":"path"`},
		{"a job", "get", job + dead, 200, "in/dead.md"},
		{"no id", "get", job + "a%00b", 404, "JobNotFound"},
		{"no such job", "get", job + noStream, 404, "JobNotFound"},
		{"no such rig", "get", "/rigs/other-rig", 404, "RigNotFound"},
		{"no name of a rig", "get", "/rigs/profiles/check", 404, "RigNotFound"},
		{"a way out", "get", "/rigs/..%2Fx-rig/graph", 404, "RigNotFound"},
		{"a job of no rig", "get", "/rigs/other-rig/jobs/" + dead, 404, "RigNotFound"},
		{"replay of one that is not dead", "post", job + queued + "/replay", 409, "is queued: this takes one that is dead\",\"code\":\"JobState\""},
		{"replay of none", "post", job + noStream + "/replay", 404, "JobNotFound"},
		{"replay", "post", job + dead + "/replay", 200, `"state":"queued"`},
		{"drop", "delete", job + queued, 204, ""},
		{"drop again", "delete", job + queued, 404, "JobNotFound"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			a := w.send(owner, call{method: c.method, path: c.path})
			if a.Status != c.status || !strings.Contains(a.Body, c.want) {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			svg := strings.HasSuffix(c.path, "=svg")
			if policy := a.Header.Get("Content-Security-Policy"); svg && !strings.HasPrefix(policy, "default-src 'none'; ") {
				t.Errorf("the policy is %q", policy)
			}
			if tag := a.Header.Get("ETag"); tag != "" {
				if again := w.send(owner, call{method: c.method, path: c.path, header: map[string]string{"If-None-Match": tag}}); again.Status != 304 || again.Body != "" {
					t.Errorf("with its ETag: %d %s", again.Status, again.Body)
				}
			}
			if kind := a.Header.Get("Content-Type"); (kind == "image/svg+xml") != svg {
				t.Errorf("it is %s", kind)
			}
		})
	}
	w.t = t
}

// TestAskKnotOverHTTP: a knot is asked to work on files of its folder, once for each key.
func TestAskKnotOverHTTP(t *testing.T) {
	w := openWorld(t)
	for name, text := range map[string]string{
		"main/rig/a-loom/daily.md": "---\nagent-profile-ref: reviewer\nschedule: 0 3 * * *\n---\nLook around.\n",
		"main/rig/a-loom/quiet.md": "---\nagent-profile-ref: reviewer\nschedule: 0 3 * * *\ntime-zone: UTC\nquiet-hours: " + today() + " 00:00-24:00\n---\nLook around.\n",
		"main/in/a.md":             "Read me.\n", "main/in/b.md": "Read me too.\n", "main/in/.secret": "No.\n", "main/other/a.md": "Not me.\n",
		"main/rig/a-loom/read.md": "---\nagent-profile-ref: reviewer\nstrand-dir: in\n---\nReview.\n",
	} {
		write(t, w.dir, name, text)
	}
	for _, c := range []struct {
		name, rig, body, key string
		status               int
		want                 string
	}{
		{"a file", "rig", `{"knot":"a-loom/read","path":"in/a.md"}`, "", 202, `"knot":"a-loom/read","event":"asked","path":"in/a.md","state":"queued"`},
		{"none", "rig", `{"knot":"daily"}`, "", 202, `"knot":"a-loom/daily","event":"asked","state":"queued"`},
		{"with a key", "rig", `{"knot":"read","path":"in/b.md"}`, "k", 202, `"seq":3,`},
		{"the same again", "rig", `{"knot":"a-loom/read","path":"in/b.md"}`, "k", 202, `"seq":3,`},
		{"another with that key", "rig", `{"knot":"read","path":"in/a.md"}`, "k", 422, "IdempotencyConflict"},
		{"a knot that rests", "rig", `{"knot":"quiet"}`, "", 409, "its quiet hours"},
		{"no knot", "rig", `{"path":"in/a.md"}`, "", 400, `"field":"knot"`},
		{"no such knot", "rig", `{"knot":"a-loom/reed","path":"in/a.md"}`, "", 404, "did you mean a-loom/read"},
		{"no such rig", "x-rig", `{"knot":"read","path":"in/a.md"}`, "", 404, "RigNotFound"},
		{"no file", "rig", `{"knot":"read"}`, "", 400, "works on files: name one"},
		{"no such file", "rig", `{"knot":"read","path":"in/none.md"}`, "", 400, "there is no such file"},
		{"a hidden file", "rig", `{"knot":"read","path":"in/.secret"}`, "", 400, "it is no strand (hidden)"},
		{"a file of another folder", "rig", `{"knot":"read","path":"other/a.md"}`, "", 400, "outside of the knot's folder"},
		{"a file for a knot without a folder", "rig", `{"knot":"daily","path":"in/a.md"}`, "", 400, "outside of the knot's folder"},
		{"a way out", "rig", `{"knot":"read","path":"in/../../../etc/passwd"}`, "", 400, "outside of the knot's folder"},
		{"of the machine", "rig", `{"knot":"read","path":"/etc/passwd"}`, "", 400, "outside of the knot's folder"},
		{"no text", "rig", `{"knot":"read","path":"in/\u0000a"}`, "", 400, `"field":"path"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t = t
			a := w.send(owner, call{method: "post", path: "/rigs/" + c.rig + "/jobs", body: c.body, header: map[string]string{"Idempotency-Key": c.key}})
			if a.Status != c.status || !strings.Contains(a.Body, c.want) {
				t.Errorf("%d %s", a.Status, a.Body)
			}
			if at := a.Header.Get("Location"); (c.status == 202) != strings.HasPrefix(at, "/rigs/rig/jobs/") {
				t.Errorf("Location is %q", at)
			}
		})
	}
	w.t = t
	if a := w.send(owner, call{method: "get", path: "/rigs/rig/jobs"}); strings.Count(a.Body, `"event":"asked"`) != 3 {
		t.Error(a.Body)
	}
}

// today names the days around this one: tests may run at midnight.
func today() string {
	now := time.Now().UTC()
	return now.AddDate(0, 0, -1).Format("Mon") + " " + now.Format("Mon") + " " + now.AddDate(0, 0, 1).Format("Mon")
}

// TestTenantsHaveTheirOwnRigs: with folders of their own, each sees the rigs in his.
func TestTenantsHaveTheirOwnRigs(t *testing.T) {
	app, dir := estate(t, func(string) []script.Reply { return nil })
	write(t, dir, "main/rig/a-loom/host.md", "---\nagent-profile-ref: worker\nstrand-dir: in\n---\nx\n")
	write(t, dir, "roots/acme/rig/a-loom/review.md", "---\nagent-profile-ref: worker\nstrand-dir: in\n---\nx\n")
	write(t, dir, "roots/globex/globex-rig/a-loom/other.md", "---\nagent-profile-ref: worker\nstrand-dir: in\n---\nx\n")
	acme, err := app.Tenant("acme")
	if err != nil {
		t.Fatal(err)
	}
	id := rigJob(t, acme, ledger.Dead, "in/a.md")
	ask := asks(t, app)
	for tenant, want := range map[string]string{"acme": "rig", "globex": "globex-rig"} {
		code, body := ask("GET", "/rigs?tenantId="+tenant, "")
		var all []view.Rig
		if err := json.Unmarshal([]byte(body), &all); code != 200 || err != nil || len(all) != 1 || all[0].Name != want || len(all[0].Knots) != 1 {
			t.Errorf("%s: %d %s", tenant, code, body)
		}
	}
	for path, want := range map[string]int{
		"/rigs/rig/jobs/" + id + "?tenantId=acme": http.StatusOK, "/rigs/rig/jobs/" + id + "?tenantId=globex": http.StatusNotFound,
		"/rigs/globex-rig/jobs/" + id + "?tenantId=globex": http.StatusNotFound, "/rigs/rig?tenantId=globex": http.StatusNotFound,
		"/rigs": http.StatusForbidden,
	} {
		if code, body := ask("GET", path, ""); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
}
