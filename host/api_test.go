package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

func TestProfiles(t *testing.T) {
	s := newSite(t)
	a := s.get("/profiles")
	want := `{"name":"fast","provider":"fake","model":"text","tools":["fs"],"system_prompt":"Be fast.\n"}`
	if a.status != 200 || !strings.Contains(a.body, want) {
		t.Errorf("%d %s\nwant %s in it", a.status, a.body, want)
	}
	if n := a.header.Get(host.HeaderDiagnostics); n == "" || n == "0" {
		t.Errorf("%s is %q", host.HeaderDiagnostics, n)
	}
	if one := s.get("/profiles/fast"); one.status != 200 || one.body != want {
		t.Errorf("one: %d %s", one.status, one.body)
	}
	tag := a.header.Get("ETag")
	for _, header := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		if again := s.get("/profiles", "If-None-Match", header); again.status != 304 || again.body != "" {
			t.Errorf("If-None-Match %s: %d %s", header, again.status, again.body)
		}
	}
	if other := s.get("/profiles", "If-None-Match", `"x"`); other.status != 200 {
		t.Errorf("another tag: %d", other.status)
	}
	if a := s.get("/profiles/team%2Fecho"); a.status != 200 || !strings.Contains(a.body, `"name":"team/echo","provider":"fake","model":"text","tools":["read"]`) {
		t.Errorf("name with a slash: %d %s", a.status, a.body)
	}
	var verbose []struct {
		Name, Dialect, Revision string
		Source                  struct{ File string }
	}
	s.get("/profiles?verbose").into(t, &verbose)
	if v := verbose[0]; v.Name != "echo" || v.Dialect != "roster" || v.Source.File != "profiles/echo.md" || v.Revision == "" {
		t.Errorf("verbose %+v", v)
	}
	var ds []profile.Diagnostic
	s.get("/profiles/-/diagnostics").into(t, &ds)
	if !slices.ContainsFunc(ds, func(d profile.Diagnostic) bool { return d.File == "profiles/broken.md" && d.Name == "InvalidYAML" }) {
		t.Errorf("diagnostics %+v", ds)
	}
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	s := newSite(t)
	for _, path := range []string{"/health", "/ready", "/profiles", "/profiles/fast", "/sessions"} {
		got, head := s.get(path), s.do("HEAD", path, "")
		if head.status != got.status || head.body != "" || head.header.Get("ETag") != got.header.Get("ETag") {
			t.Errorf("%s: %d %q, want %d and no body", path, head.status, head.body, got.status)
		}
	}
}

func TestProfileNotFoundIsExact(t *testing.T) {
	s := newSite(t)
	want := `{"error":"profile not found: unknown","code":"ProfileNotFound"}`
	if a := s.get("/profiles/unknown"); a.status != 404 || a.body != want {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := s.post("/chat", `{"message":"x","agentId":"unknown"}`); a.status != 404 || a.body != want {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestAProfileThatDoesNotLoadSaysWhy(t *testing.T) {
	s := newSite(t)
	for _, c := range []struct{ name, profile, code, at, text string }{
		{"invalid YAML", "broken", "InvalidYAML", "P141 profiles/broken.md:2:7", "is not closed"},
		{"a parent that is not there", "orphan", "ProfileNotFound", "P166 profiles/orphan.md:4:10", "orphan extends nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for route, a := range map[string]answer{
				"GET":     s.get("/profiles/" + c.profile),
				"verbose": s.get("/profiles/" + c.profile + "?verbose"),
				"chat":    s.post("/chat", `{"message":"x","agentId":"`+c.profile+`"}`),
				"stream":  s.post("/stream", `{"message":"x","agentId":"`+c.profile+`"}`),
				"PUT":     s.do("PUT", "/profiles/"+c.profile, `{"model":"x"}`, "If-Match", "*"),
			} {
				e := a.wantError(t, 404, c.code)
				if len(e.Diagnostics) == 0 || !strings.Contains(e.Error, c.text) {
					t.Fatalf("%s: %s", route, a.body)
				}
				d := e.Diagnostics[0]
				if at := fmt.Sprintf("%s %s:%d:%d", d.Code, d.File, d.Line, d.Column); at != c.at || !strings.Contains(d.Message, c.text) {
					t.Errorf("%s: the diagnostic is %s: %s", route, at, d.Message)
				}
			}
		})
	}
}

func TestSecretsAreNotShown(t *testing.T) {
	s := newSite(t)
	s.write("agent.toml", "[agent.profile]\nname = \"secretive\"\nsystem_prompt = \"x\"\n[provider]\nmodel = \"m\"\nprovider = \"openai\"\nbase_url = \"https://me:hunter2@example.org/v1\"\n[provider.headers]\nAuthorization = \"Bearer hunter2\"\nX-Api-Key = \"hunter2\"\n")
	a := s.get("/profiles/secretive?verbose")
	if a.status != 200 || strings.Contains(a.body, "hunter2") || !strings.Contains(a.body, "@example.org/v1") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

const noSession = "01890000-0000-7000-8000-000000000000"

func TestErrors(t *testing.T) {
	s := newSite(t, script.Reply{Text: "hi"})
	id := s.chat(hello).SessionID
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		code, field              string
	}{
		{"no route", "GET", "/nothing", "", 404, "NoRoute", ""},
		{"wrong method", "DELETE", "/profiles", "", 405, "WrongMethod", ""},
		{"name of a path", "GET", "/profiles/..%2F..%2Fetc%2Fpasswd", "", 404, "ProfileNotFound", ""},
		{"broken profile", "POST", "/chat", `{"message":"x","agentId":"broken"}`, 404, "InvalidYAML", ""},
		{"verbose what", "GET", "/profiles?verbose=maybe", "", 400, "InvalidField", "verbose"},

		{"empty body", "POST", "/chat", "", 400, "MalformedBody", ""},
		{"no JSON", "POST", "/chat", "{", 400, "MalformedBody", ""},
		{"more than JSON", "POST", "/chat", hello + "x", 400, "MalformedBody", ""},
		{"a list", "POST", "/chat", "[]", 400, "MalformedBody", ""},
		{"name that is not UTF-8", "GET", "/profiles/%FF", "", 404, "ProfileNotFound", ""},
		{"not UTF-8", "POST", "/chat", "{\"message\":\"\xff\"}", 400, "MalformedBody", ""},
		{"no message", "POST", "/chat", `{"agentId":"echo"}`, 400, "MissingField", "message"},
		{"blank message", "POST", "/chat", `{"agentId":"echo","message":" \n"}`, 400, "MissingField", "message"},
		{"no profile", "POST", "/chat", `{"message":"x"}`, 400, "MissingField", "agentId"},
		{"wrong type", "POST", "/chat", `{"message":7}`, 400, "InvalidField", "message"},
		{"unknown field", "POST", "/chat", `{"mesage":"x"}`, 400, "InvalidField", "mesage"},
		{"field twice", "POST", "/chat", `{"message":"x","message":"y"}`, 400, "InvalidField", "message"},
		{"tenant", "POST", "/chat", `{"message":"x","agentId":"echo","tenantId":"../x"}`, 400, "InvalidField", "tenantId"},
		{"user", "POST", "/chat", `{"message":"x","agentId":"echo","userId":"a b"}`, 400, "InvalidField", "userId"},
		{"session id", "POST", "/chat", `{"message":"x","sessionId":"1"}`, 400, "InvalidField", "sessionId"},
		{"profile's name", "POST", "/chat", `{"message":"x","agentId":"../x"}`, 400, "InvalidField", "agentId"},
		{"on busy", "POST", "/chat", `{"message":"x","agentId":"echo","onBusy":"wait"}`, 400, "InvalidField", "onBusy"},
		{"approvals", "POST", "/chat", `{"message":"x","agentId":"echo","approvals":"perhaps"}`, 400, "InvalidField", "approvals"},
		{"model twice", "POST", "/chat", `{"message":"x","agentId":"echo","model":"a/b","overrides":{"model":"a/c"}}`, 400, "InvalidField", "model"},
		{"attachment", "POST", "/chat", `{"message":"x","agentId":"echo","attachments":[{"mediaType":"text/html","data":""}]}`, 400, "InvalidField", "attachments"},
		{"override", "POST", "/chat", `{"message":"x","agentId":"echo","overrides":{"temperature":"hot"}}`, 400, "SchemaValidation", ""},
		{"override unknown", "POST", "/chat", `{"message":"x","agentId":"echo","overrides":{"temprature":1}}`, 400, "SchemaValidation", ""},
		{"unknown model", "POST", "/chat", `{"message":"x","agentId":"echo","model":"anthropic/claude-sonnet-4-6x"}`, 400, "UnknownModel", ""},
		{"unknown provider", "POST" /**/, "/chat", `{"message":"x","agentId":"echo","model":"fak/text"}`, 400, "UnknownProvider", ""},
		{"profile with unknown model", "POST", "/stream", `{"message":"x","agentId":"nomodel"}`, 400, "UnknownModel", ""},
		{"missing key", "POST", "/chat", `{"message":"x","agentId":"echo","model":"anthropic/claude-sonnet-4-5"}`, 503, "MissingKey", ""},
		{"session not there", "POST", "/chat", `{"message":"x","sessionId":"` + noSession + `"}`, 404, "SessionNotFound", ""},
		{"session of another tenant", "POST", "/chat", `{"message":"x","tenantId":"other","sessionId":"` + id + `"}`, 404, "SessionNotFound", ""},
		{"two sessions", "POST", "/sessions/" + id + "/prompt", `{"message":"x","sessionId":"` + noSession + `"}`, 400, "InvalidField", "sessionId"},

		{"get session", "GET", "/sessions/x", "", 400, "InvalidField", "id"},
		{"get no session", "GET", "/sessions/" + noSession, "", 404, "SessionNotFound", ""},
		{"get session of another tenant", "GET", "/sessions/" + id + "?tenantId=other", "", 404, "SessionNotFound", ""},
		{"messages of another tenant", "GET", "/sessions/" + id + "/messages?tenantId=other", "", 404, "SessionNotFound", ""},
		{"messages, full of what", "GET", "/sessions/" + id + "/messages?full=no", "", 400, "InvalidField", "full"},
		{"events of another tenant", "GET", "/sessions/" + id + "/events?tenantId=other", "", 404, "SessionNotFound", ""},
		{"prompt of another tenant", "POST", "/sessions/" + id + "/prompt", `{"message":"x","tenantId":"other"}`, 404, "SessionNotFound", ""},
		{"steer of another tenant", "POST", "/sessions/" + id + "/steer", `{"message":"x","tenantId":"other"}`, 404, "SessionNotFound", ""},
		{"followup of another tenant", "POST", "/sessions/" + id + "/followup", `{"message":"x","tenantId":"other"}`, 404, "SessionNotFound", ""},
		{"cancel of another tenant", "POST", "/sessions/" + id + "/cancel", `{"tenantId":"other"}`, 404, "SessionNotFound", ""},
		{"empty steer", "POST", "/sessions/" + id + "/steer", `{}`, 400, "MissingField", "message"},
		{"list profile", "GET", "/sessions?profile=..%2Fx", "", 400, "InvalidField", "profile"},
		{"list status", "GET", "/sessions?status=lost", "", 400, "InvalidField", "status"},
		{"list limit", "GET", "/sessions?limit=0", "", 400, "InvalidField", "limit"},
		{"list before", "GET", "/sessions?before=x", "", 400, "InvalidField", "before"},
		{"list tenant", "GET", "/sessions?tenantId=a/b", "", 400, "InvalidField", "tenantId"},
		{"events after", "GET", "/sessions/" + id + "/events?after=x", "", 400, "InvalidField", "after"},
		{"events after the last", "GET", "/sessions/" + id + "/events?after=999", "", 400, "InvalidField", "after"},
		{"events until", "GET", "/sessions/" + id + "/events?until=later", "", 400, "InvalidField", "until"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.do(c.method, c.path, c.body)
			if e := a.wantError(t, c.status, c.code); e.Field != c.field {
				t.Errorf("field %q, want %q: %s", e.Field, c.field, a.body)
			}
		})
	}
	if a := s.do("DELETE", "/profiles", ""); !slices.Equal(a.header.Values("Allow"), []string{"GET", "HEAD", "POST"}) {
		t.Errorf("Allow is %q", a.header.Values("Allow"))
	}
	if a := s.get("/sessions/"+id+"/events", "Last-Event-ID", "-1"); a.status != 400 {
		t.Errorf("Last-Event-ID -1: %d", a.status)
	}
}

func TestSessions(t *testing.T) {
	s := newSite(t, script.Reply{Text: "1"}, script.Reply{Text: "2"})
	var ids []string
	for range 3 {
		ids = append(ids, s.chat(hello).SessionID)
	}
	s.chat(`{"message":"x","agentId":"echo","tenantId":"other"}`)
	type view struct {
		ID, Profile, Status, Title string
		Turns, Last                int
	}
	var page []view
	a := s.get("/sessions?limit=2")
	a.into(t, &page)
	if len(page) != 2 || page[0].ID != ids[2] || page[1].ID != ids[1] {
		t.Fatalf("first page %s", a.body)
	}
	if v := page[0]; v.Profile != "echo" || v.Status != "idle" || v.Title != "hello" || v.Turns != 1 || v.Last == 0 {
		t.Errorf("session %+v", v)
	}
	next, _, _ := strings.Cut(strings.TrimPrefix(a.header.Get("Link"), "<"), ">")
	a = s.get(next)
	a.into(t, &page)
	if len(page) != 1 || page[0].ID != ids[0] || a.header.Get("Link") != "" {
		t.Errorf("second page %s, Link %s", a.body, a.header.Get("Link"))
	}
	if a := s.get("/sessions?profile=echo"); strings.Count(a.body, `"profile":"echo"`) != len(ids) {
		t.Errorf("of the profile %s", a.body)
	}
	if a := s.get("/sessions?profile=nobody"); a.body != "[]" {
		t.Errorf("of nobody %s", a.body)
	}
	if a := s.get("/sessions?status=failed"); a.body != "[]" {
		t.Errorf("failed sessions %s", a.body)
	}
	if a := s.get("/sessions/" + ids[0]); a.status != 200 || !strings.Contains(a.body, `"id":"`+ids[0]+`"`) {
		t.Errorf("one: %d %s", a.status, a.body)
	}
}

func TestPromptFollowupSteer(t *testing.T) {
	s := newSite(t, script.Reply{Text: "1"}, script.Reply{Text: "2"}, script.Reply{Text: "3"}, script.Reply{Text: "4"})
	id := s.chat(hello).SessionID
	var accepted struct {
		SessionID string
		Seq       int64
	}
	a := s.post("/sessions/"+id+"/prompt", `{"message":"more"}`)
	a.into(t, &accepted)
	if a.status != 202 || accepted.SessionID != id || accepted.Seq == 0 {
		t.Fatalf("prompt: %d %s", a.status, a.body)
	}
	for _, what := range []string{"followup", "steer"} {
		s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle", "").rest()
		if a := s.post("/sessions/"+id+"/"+what, `{"message":"`+what+`"}`); a.status != 202 {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
	}
	frames := s.stream(t.Context(), http.MethodGet, "/sessions/"+id+"/events?until=idle", "").rest()
	ends := 0
	for _, f := range frames {
		if f.name == "loop.end" {
			ends++
		}
	}
	if ends != 4 {
		t.Errorf("%d loops ended, want 4: %v", ends, names(frames))
	}
}

func TestHealthAndReady(t *testing.T) {
	s := newSite(t)
	if a := s.get("/health"); a.status != 200 || a.body != `{"status":"ok"}` {
		t.Errorf("health: %d %s", a.status, a.body)
	}
	if a := s.get("/ready"); a.status != 200 || a.body != `{"status":"ready"}` {
		t.Errorf("ready: %d %s", a.status, a.body)
	}
	for _, c := range []struct {
		part   string
		change func(*host.Deps)
	}{
		{"store", func(d *host.Deps) {
			d.Backend = func(context.Context) (session.Backend, error) { return nil, errors.New("disk full") }
		}},
		{"catalog", func(d *host.Deps) {
			d.Profiles = func(context.Context) ([]*profile.Profile, []profile.Diagnostic, error) {
				return nil, nil, errors.New("no folder")
			}
		}},
	} {
		t.Run(c.part, func(t *testing.T) {
			s := openSite(t, siteOptions{change: c.change})
			if e := s.get("/ready").wantError(t, 503, "NotReady"); e.Part != c.part {
				t.Errorf("part %q", e.Part)
			}
		})
	}
}

func TestChain(t *testing.T) {
	s := newSite(t, script.Reply{Text: "1"})
	const id = "0af7651916cd43dd8448eb211c80319c"
	for _, c := range []struct{ name, header, want string }{
		{"given", "00-" + id + "-b7ad6b7169203331-01", id},
		{"zero", "00-" + strings.Repeat("0", 32) + "-b7ad6b7169203331-01", ""},
		{"garbage", "x", ""},
		{"none", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.post("/chat", hello, "Traceparent", c.header)
			chain := a.header.Get("X-Chain-Id")
			if len(chain) != 32 || c.want != "" && chain != c.want || c.want == "" && chain == id {
				t.Errorf("X-Chain-Id %q", chain)
			}
			var got answered
			a.into(t, &got)
			for seq, data := range s.stored(got.SessionID) {
				var e struct{ ChainID string }
				if err := json.Unmarshal([]byte(data), &e); err != nil || e.ChainID != chain {
					t.Errorf("event %s has chainId %q, want %q", seq, e.ChainID, chain)
				}
			}
		})
	}
}

func TestPanicIsAnAnswer(t *testing.T) {
	log := newSyncBuffer()
	s := openSite(t, siteOptions{change: func(d *host.Deps) {
		d.Profile = func(context.Context, string) (*profile.Profile, error) { panic("boom") }
		d.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}})
	a := s.get("/profiles/echo")
	if e := a.wantError(t, 500, "Internal"); e.RequestID == "" || e.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("error %+v", e)
	}
	s.get("/health") // answered after the panic was logged
	for _, want := range []string{"panic=boom", "request=" + a.header.Get("X-Request-Id"), "status=500"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log.String())
		}
	}
}

func TestFork(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"}, script.Reply{Text: "two"})
	var first struct{ SessionID string }
	s.post("/chat", `{"message":"hi","agentId":"echo"}`).into(t, &first)
	path := "/sessions/" + first.SessionID + "/fork"
	a := s.post(path, "")
	var fork struct{ SessionID, Origin string }
	a.into(t, &fork)
	if a.status != 201 || fork.Origin != first.SessionID || fork.SessionID == first.SessionID {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var v struct{ Origin, Why, Status, Profile string }
	s.get("/sessions/"+fork.SessionID).into(t, &v)
	if v.Origin != first.SessionID || v.Why != "fork" || v.Status != "idle" || v.Profile != "echo" {
		t.Errorf("the fork is %+v", v)
	}
	if got, want := s.get("/sessions/"+fork.SessionID+"/messages").body, s.get("/sessions/"+first.SessionID+"/messages").body; got != want {
		t.Errorf("the fork says %s, want %s", got, want)
	}
	if a := s.post("/chat", `{"message":"more","sessionId":"`+fork.SessionID+`"}`); !strings.Contains(a.body, `"text":"two"`) {
		t.Errorf("the fork goes on with %s", a.body)
	}
	s.post(path, `{"message":"nothing"}`).wantError(t, 404, "MessageNotFound")
	s.post(path, `{"tenantId":"other"}`).wantError(t, 404, "SessionNotFound")
	s.post("/sessions/0197a1f4-0000-7000-8000-000000000000/fork", "").wantError(t, 404, "SessionNotFound")
}

func TestGoingBack(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"}, script.Reply{Text: "two"})
	var first struct{ SessionID string }
	s.post("/chat", `{"message":"hi","agentId":"echo"}`).into(t, &first)
	path := "/sessions/" + first.SessionID
	s.post("/chat", `{"message":"more","sessionId":"`+first.SessionID+`"}`)
	type msg struct {
		ID   string
		Sent bool
	}
	var before []msg
	s.get(path+"/tree").into(t, &before)
	if len(before) != 4 || !before[3].Sent {
		t.Fatalf("the tree is %+v", before)
	}
	var back struct{ SessionID, Message string }
	s.post(path+"/revert", "").into(t, &back)
	if back.SessionID != first.SessionID || back.Message != before[1].ID {
		t.Errorf("taken back to %+v", back)
	}
	s.post(path+"/revert", `{"message":"`+before[3].ID+`"}`).into(t, &back)
	if back.Message != before[3].ID {
		t.Errorf("gone back to %+v", back)
	}
	a := s.post(path+"/rerun", `{"message":"`+before[0].ID+`"}`)
	var accepted struct {
		SessionID string
		Seq       int64
	}
	if a.into(t, &accepted); a.status != 202 || accepted.SessionID != first.SessionID || accepted.Seq == 0 {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.get(path + "/events?until=idle")
	var after []msg
	s.get(path+"/tree").into(t, &after)
	if len(after) != 6 || after[3].Sent || !after[5].Sent {
		t.Errorf("the tree is %+v", after)
	}
	s.post(path+"/revert", `{"message":"nothing"}`).wantError(t, 404, "MessageNotFound")
	s.post(path+"/rerun", `{"message":"`+after[1].ID+`"}`).wantError(t, 404, "MessageNotFound")
	s.post(path+"/rerun", `{"onBusy":"queue"}`).wantError(t, 400, "InvalidField")
	s.post(path+"/revert", `{"tenantId":"other"}`).wantError(t, 404, "SessionNotFound")
	s.post(path+"/rerun", `{"tenantId":"other"}`).wantError(t, 404, "SessionNotFound")
}

func TestUndoOverHTTP(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"})
	var first struct{ SessionID string }
	s.post("/chat", `{"message":"hi","agentId":"echo"}`).into(t, &first)
	path := "/sessions/" + first.SessionID + "/undo"
	var out view.Undo
	if s.post(path, `{"dryRun":true}`).into(t, &out); out.ID != first.SessionID || !out.DryRun || out.Files == nil || out.Plan == "" {
		t.Errorf("%+v", out)
	}
	s.post(path, "").into(t, &out)
	s.post(path, `{"plan":"another"}`).wantError(t, 409, "OtherPlan")
	s.post(path, `{"dry":true}`).wantError(t, 400, "InvalidField")
	s.post(path, `{"tenantId":"other"}`).wantError(t, 404, "SessionNotFound")
}

func TestFindingAndRemovingSessions(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"})
	var first struct{ SessionID string }
	s.post("/chat", `{"message":"of zebras","agentId":"echo"}`).into(t, &first)
	s.post("/chat", `{"message":"of lions","agentId":"echo"}`)
	var list []struct {
		ID, Match string
		Seq       int64
	}
	s.get("/sessions?q=ZEBRAS").into(t, &list)
	if len(list) != 1 || list[0].ID != first.SessionID || list[0].Match != "of zebras" || list[0].Seq != 1 {
		t.Errorf("found %+v", list)
	}
	s.get("/sessions?q=").wantError(t, 400, "InvalidField")
	s.get("/sessions?q=zebras&tenantId=other").into(t, &list)
	if len(list) != 0 {
		t.Errorf("the other tenant finds %+v", list)
	}
	path := "/sessions/" + first.SessionID
	s.do("DELETE", path+"?tenantId=other", "").wantError(t, 404, "SessionNotFound")
	if a := s.do("DELETE", path, ""); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	s.get(path).wantError(t, 404, "SessionNotFound")
	s.do("DELETE", path, "").wantError(t, 404, "SessionNotFound")
}

func TestRequestOfATurn(t *testing.T) {
	s := newSite(t, script.Reply{Text: "one"}, script.Reply{Text: "two"})
	var first struct{ SessionID string }
	s.post("/chat", `{"message":"hi","agentId":"echo"}`).into(t, &first)
	var fork struct{ SessionID string }
	s.post("/sessions/"+first.SessionID+"/fork", "").into(t, &fork)
	s.post("/chat", `{"message":"more","sessionId":"`+fork.SessionID+`"}`)
	for id, want := range map[string][]string{first.SessionID: {"hi"}, fork.SessionID: {"hi", "one", "more"}} {
		var sent struct {
			Session, Model, Differs string
			Turn                    int
			Body                    struct {
				Messages []struct{ Parts []struct{ Text string } }
			}
		}
		s.get("/sessions/"+id+"/requests/1").into(t, &sent)
		var got []string
		for _, m := range sent.Body.Messages {
			got = append(got, m.Parts[0].Text)
		}
		if sent.Session != id || sent.Turn != 1 || sent.Model != "fake/text" || sent.Differs != "" || !slices.Equal(got, want) {
			t.Errorf("%+v, want the messages %q", sent, want)
		}
	}
	path := "/sessions/" + first.SessionID + "/requests/"
	s.get(path+"2").wantError(t, 404, "NoRequest")
	s.get(path+"0").wantError(t, 400, "InvalidField")
	s.get(path+"x").wantError(t, 400, "InvalidField")
	s.get("/sessions/0197a1f4-0000-7000-8000-000000000000/requests/1").wantError(t, 404, "SessionNotFound")
}
