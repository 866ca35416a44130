package seed_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/seed"
	"github.com/rosterrun/roster/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

// served is a seeded workspace behind its HTTP interface.
type served struct {
	*testing.T
	url string
}

func (s *served) get(path string, into any) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil || resp.StatusCode != http.StatusOK {
		s.Fatalf("GET %s: %s, %v", path, resp.Status, err)
	}
}

func serve(t *testing.T, o seed.Options) *served {
	t.Helper()
	app, err := roster.NewApp(roster.Options{Dir: o.Dir, State: o.State, Getenv: o.Getenv, Trust: true})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(app)
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		server.Close()
		if err := app.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &served{t, server.URL}
}

// options are those of a small workspace.
func options(t *testing.T) seed.Options {
	home := t.TempDir()
	return seed.Options{
		Dir: filepath.Join(t.TempDir(), "shop"), State: t.TempDir(), Sessions: 20, Events: 300, Profiles: 50,
		Getenv: func(name string) string {
			return map[string]string{"ROSTER_HOME": home, "PATH": os.Getenv("PATH")}[name]
		},
	}
}

type listed struct {
	ID, Profile, Status string
	Children            int
	Last                int64
	Usage               struct{ Cost float64 }
	Created             time.Time
	Origin              string
}

// TestMake makes a small workspace, and looks over HTTP for all that it promises.
func TestMake(t *testing.T) {
	o := options(t)
	made, err := seed.Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, o)
	t.Run("sessions", func(t *testing.T) { (&served{t, s.url}).sessions(made) })
	t.Run("approvals", func(t *testing.T) { (&served{t, s.url}).approvals(made) })
	t.Run("profiles", func(t *testing.T) { (&served{t, s.url}).profiles(o) })
	t.Run("events", func(t *testing.T) { (&served{t, s.url}).events() })
	t.Run("usage", func(t *testing.T) { (&served{t, s.url}).usage() })
	t.Run("the rest", func(t *testing.T) { (&served{t, s.url}).rest() })
}

func (s *served) sessions(made seed.Made) {
	var all []listed
	s.get("/sessions?limit=1000", &all)
	counts, children, forks := map[string]int{}, 0, 0
	for _, one := range all {
		counts[one.Status]++
		if one.Children > 0 {
			children++
		}
		if one.Origin != "" {
			forks++
		}
		if one.ID == made.Long && (one.Last < 300 || one.Usage.Cost < 0.01) {
			s.Errorf("the long session is %+v", one)
		}
	}
	if len(all) != made.Sessions || counts["waiting"] != made.Waiting || counts["waiting"] < 4 || counts["failed"] < 2 || counts["idle"] < 20 || counts["running"] != 0 {
		s.Errorf("%d sessions by status: %v; made was %+v", len(all), counts, made)
	}
	var of []listed
	s.get("/sessions?limit=1000&profile=team/accountant", &of)
	if len(of) == 0 || slices.ContainsFunc(of, func(l listed) bool { return l.Profile != "team/accountant" }) {
		s.Errorf("the accountant has %+v", of)
	}
	if children < 1 || forks < 1 {
		s.Errorf("%d sessions have children, %d are forks", children, forks)
	}
}

func (s *served) approvals(made seed.Made) {
	var open []struct{ Tool, Child, Question string }
	s.get("/approvals", &open)
	tools := map[string]int{}
	for _, a := range open {
		tools[a.Tool]++
	}
	if len(open) != made.Waiting || tools["bash"] < 1 || tools["edit"] < 1 || tools["ask_user"] < 1 || tools["task"] < 1 {
		s.Errorf("%d approvals are open: %v", len(open), tools)
	}
}

func (s *served) profiles(o seed.Options) {
	var list []struct{ Dialect, Title string }
	s.get("/profiles?verbose=file", &list)
	dialects := map[string]int{}
	for _, p := range list {
		dialects[p.Dialect]++
	}
	if len(list) != 30+o.Profiles+1 || len(dialects) < 8 {
		s.Errorf("%d profiles: %v", len(list), dialects)
	}
	var found []struct{ File, Severity string }
	s.get("/profiles/-/diagnostics", &found)
	refused := map[string]bool{}
	for _, d := range found {
		if d.Severity == "error" {
			refused[d.File] = true
		}
	}
	if len(refused) != 2 {
		s.Errorf("refused are %v", refused)
	}
}

// events looks for each kind of event that there is to be.
func (s *served) events() {
	var all []listed
	s.get("/sessions?limit=1000", &all)
	var kinds []string
	for _, one := range all {
		if one.Status != "waiting" { // its events do not end
			kinds = append(kinds, s.kinds(one.ID)...)
		}
	}
	for _, kind := range []string{
		"steer", "followup", "cancel", "compaction", "branch", "error", "retry", "limit", "todo", "plan", "scratchpad", "permission.asked", "permission.resolved",
		"input.answered", "files.changed", "files.undone", "loop.waiting",
		"tool ok", "tool error", "tool denied", "thinking", "end done", "end limit", "end cancelled", "end error",
	} {
		if !slices.Contains(kinds, kind) {
			s.Errorf("there is no %s", kind)
		}
	}
}

// kinds are the types of a session's events, with what became of calls and loops.
func (s *served) kinds(id string) (kinds []string) {
	var messages []struct {
		Parts []struct{ Type string }
	}
	s.get("/sessions/"+url.PathEscape(id)+"/messages?full=1", &messages)
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Type == "thinking" {
				kinds = append(kinds, "thinking")
			}
		}
	}
	for _, e := range s.log(id) {
		kinds = append(kinds, e.Type)
		switch e.Type {
		case "tool.after":
			kinds = append(kinds, "tool "+e.member("outcome"))
		case "loop.end":
			kinds = append(kinds, "end "+e.member("reason"))
		}
	}
	return kinds
}

type logged struct {
	Type string
	Data json.RawMessage
}

// member is a text of an event's data.
func (e *logged) member(name string) (text string) {
	var all map[string]json.RawMessage
	if json.Unmarshal(e.Data, &all) == nil {
		_ = json.Unmarshal(all[name], &text) // else it is none
	}
	return text
}

// log reads the stored events of a session that is at rest.
func (s *served) log(id string) (events []logged) {
	resp, err := http.Get(s.url + "/sessions/" + url.PathEscape(id) + "/events?until=idle")
	if err != nil {
		s.Fatal(err)
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var e logged
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			s.Fatal(err)
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil || len(events) == 0 {
		s.Fatalf("session %s has %d events: %v", id, len(events), err)
	}
	return events
}

func (s *served) usage() {
	for by, least := range map[string]int{"day": 10, "model": 3, "user": 4, "profile": 10} {
		var used struct {
			Rows []struct{ Usage struct{ Cost float64 } }
		}
		s.get("/usage?by="+by, &used)
		if len(used.Rows) < least || used.Rows[least-1].Usage.Cost == 0 {
			s.Errorf("by %s there are %d: %v", by, len(used.Rows), used.Rows)
		}
	}
}

func (s *served) rest() {
	var jobs struct{ Jobs []struct{ State string } }
	s.get("/rigs/rig/jobs", &jobs)
	states := map[string]int{}
	for _, j := range jobs.Jobs {
		states[j.State]++
	}
	var who struct {
		TenantID, Workspace, Version string
		Roles                        []string
		Auth                         bool
	}
	s.get("/whoami", &who)
	if who.TenantID != "local" || who.Workspace != "shop" || who.Version == "" || len(who.Roles) != 5 || who.Auth {
		s.Errorf("the caller is %+v", who)
	}
	if states["done"] < 4 || states["dead"] < 2 {
		s.Errorf("jobs: %v", states)
	}
	var skills, servers []struct{ Name string }
	s.get("/skills", &skills)
	s.get("/mcp-servers?profile=tracker", &servers)
	var commands struct{ Commands []struct{ Name string } }
	s.get("/commands", &commands)
	if len(skills) < 3 || len(servers) != 1 || len(commands.Commands) < 3 {
		s.Errorf("%d skills, %d servers, %d commands", len(skills), len(servers), len(commands.Commands))
	}
}

// TestMakeTwice refuses a folder that has a workspace.
func TestMakeTwice(t *testing.T) {
	o := options(t)
	if err := os.MkdirAll(o.Dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, "roster.yaml"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if made, err := seed.Make(t.Context(), o); err == nil || made != (seed.Made{}) {
		t.Errorf("%+v, %v", made, err)
	}
}
