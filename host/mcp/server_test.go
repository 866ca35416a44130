package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/host/mcp"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const config = `
providers:
  fake:
    api: script
    base-url: replies.yaml
    models: {text: {context-window: 100000}}
`

const echo = `---
name: echo
title: Echo
description: Says what it hears.
model: fake/text
tools: [read, write, todo, ask_user]
---
Be brief.
`

// site is a server over a real workspace, with an in-memory store and a script
// for a model.
type site struct {
	t      testing.TB
	dir    string
	app    *roster.App
	store  session.Backend
	server *mcp.Server
	hangUp func() // breaks the connection of the newest client
}

func newSite(t testing.TB, files map[string]string, replies ...script.Reply) *site {
	t.Helper()
	return openSite(t, files, script.New(replies...).Model("fake/text"))
}

// gatedSite has a model that answers when the gate is closed.
func gatedSite(t testing.TB, gate chan struct{}, replies ...script.Reply) *site {
	t.Helper()
	return openSite(t, nil, gated{script.New(replies...).Model("fake/text"), gate})
}

type gated struct {
	model.Model
	gate chan struct{}
}

func (g gated) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		select {
		case <-g.gate:
			g.Model.Stream(ctx, r)(yield)
		case <-ctx.Done():
			yield(model.Chunk{}, ctx.Err())
		}
	}
}

// forever is longer than any test.
const forever = time.Hour

func openSite(t testing.TB, files map[string]string, m model.Model) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir()}
	all := map[string]string{"roster.yaml": config, "profiles/echo.md": echo}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		s.write(name, text)
	}
	store := memory.New(memory.Options{})
	s.store = store
	var err error
	s.app, _, err = roster.Open(s.dir, roster.Options{
		State: t.TempDir(), Backend: store, Trust: true, Claim: true,
		Models: map[string]model.Model{"fake/text": m},
		Getenv: func(name string) string { return map[string]string{"ROSTER_HOME": filepath.Join(s.dir, "home")}[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.server = s.app.MCP(nil)
	t.Cleanup(func() {
		s.server.Close()
		if err := s.app.Close(context.Background()); err != nil {
			t.Error(err)
		}
		store.Close()
	})
	return s
}

func (s *site) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// newest is the id of the newest session.
func (s *site) newest(t testing.TB) string {
	t.Helper()
	for sum, err := range s.store.List(t.Context(), "local", session.Query{Limit: 1}) {
		if err != nil {
			t.Fatal(err)
		}
		return sum.Key.Stream
	}
	t.Fatal("there is no session")
	return ""
}

func (s *site) sessions(t testing.TB) (n int) {
	t.Helper()
	for _, err := range s.store.List(t.Context(), "local", session.Query{Limit: 1000}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// end waits for the end of the newest session's loop.
func (s *site) end(t testing.TB) *session.LoopEnd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for batch, err := range s.app.Follow(ctx, session.Key{Stream: s.newest(t)}, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			if batch[i].Type != "loop.end" {
				continue
			}
			body, err := batch[i].Decode()
			if err != nil {
				t.Fatal(err)
			}
			return body.(*session.LoopEnd)
		}
	}
	t.Fatal("the run does not end")
	return nil
}

// connect is a client that talks by lines.
func (s *site) connect(o *sdk.ClientOptions) *sdk.ClientSession {
	s.t.Helper()
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.server.Serve(context.Background(), toServer, fromServer)
		fromServer.Close()
		ended <- err
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).
		Connect(s.t.Context(), &sdk.IOTransport{Reader: toClient, Writer: fromClient}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.hangUp = func() { fromClient.Close(); toClient.Close() }
	s.t.Cleanup(func() {
		c.Close()
		if err := <-ended; err != nil {
			s.t.Errorf("Serve: %v", err)
		}
	})
	return c
}

// overHTTP is a client of the HTTP interface.
func (s *site) overHTTP(o *sdk.ClientOptions) (*sdk.ClientSession, string) {
	s.t.Helper()
	h := s.app.Handler()
	srv := httptest.NewServer(h)
	client := &http.Client{Transport: &http.Transport{}}
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).
		Connect(s.t.Context(), &sdk.StreamableClientTransport{Endpoint: srv.URL + "/mcp", HTTPClient: client}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		c.Close()
		h.Shutdown()
		srv.Close()
		client.CloseIdleConnections()
	})
	return c, srv.URL
}

// answered is what a tool answers, for programs.
type answered struct {
	Session, Profile, Answer, Reason, Limit string
	Denied, Cut                             int
	Usage                                   struct {
		Output int `json:"output_tokens"`
	}
	Error struct{ Code, Error string }
}

type args map[string]any

func call(t testing.TB, c *sdk.ClientSession, tool string, in args) (answered, *sdk.CallToolResult) {
	t.Helper()
	p := &sdk.CallToolParams{Name: tool, Arguments: in}
	p.SetProgressToken("p")
	res, err := c.CallTool(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var out answered
	if res.StructuredContent != nil {
		data, err := json.Marshal(res.StructuredContent)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, &out); err != nil {
			t.Fatal(err)
		}
	}
	return out, res
}

func textOf(res *sdk.CallToolResult) string {
	var all []string
	for _, c := range res.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}

func TestToolsAreProfiles(t *testing.T) {
	s := newSite(t, map[string]string{
		"profiles/team/deep.one.md": "---\nname: team/deep.one\nmodel: fake/text\n---\nx\n",
		"profiles/a/b.md":           "---\nname: a/b\nmodel: fake/text\ndescription: one\n---\nx\n",
		"profiles/a_b.md":           "---\nname: a_b\nmodel: fake/text\ndescription: two\n---\nx\n",
		"profiles/hidden.md":        "---\nname: hidden\nhidden: true\nmodel: fake/text\n---\nx\n",
		"profiles/long.md":          "---\nname: " + strings.Repeat("long", 30) + "\nmodel: fake/text\ndescription: " + strings.Repeat("ü", 3000) + "\n---\nx\n",
	})
	c := s.connect(nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]*sdk.Tool{}
	var names []string
	for _, tool := range list.Tools {
		got[tool.Name] = tool
		names = append(names, tool.Name)
		if len(tool.Name) > 64 || len(tool.Description) > 2048 {
			t.Errorf("%s has %d bytes, its description %d", tool.Name, len(tool.Name), len(tool.Description))
		}
		if tool.InputSchema == nil || tool.OutputSchema == nil {
			t.Errorf("%s has no schema", tool.Name)
		}
	}
	if e := got["echo"]; e == nil || e.Title != "Echo" || e.Description != "Says what it hears." {
		t.Errorf("echo is %+v", e)
	}
	// Names that would be one have a digest, whichever comes first.
	if len(names) != 5 || got["team_deep_one"] == nil || got["hidden"] != nil || got["a_b"] != nil || got["a_b_"+digest("a/b")] == nil || got["a_b_"+digest("a_b")] == nil {
		t.Errorf("tools are %q", names)
	}
}

func digest(name string) string { return session.Digest([]byte(name))[:8] }

func TestCallAndGoOn(t *testing.T) {
	for _, way := range []string{"lines", "HTTP"} {
		t.Run(way, func(t *testing.T) {
			s := newSite(t, nil,
				script.Reply{Text: "Looking.", Tools: []script.Call{{Name: "todo", Input: `{"items":[{"text":"a","status":"open"}]}`}}},
				script.Reply{Text: "first"}, script.Reply{Text: "second"})
			told := make(chan string, 100)
			o := &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
					told <- r.Params.Message
				},
			}
			var c *sdk.ClientSession
			if way == "HTTP" {
				c, _ = s.overHTTP(o)
			} else {
				c = s.connect(o)
			}
			one, res := call(t, c, "echo", args{"prompt": "hello"})
			if res.IsError || textOf(res) != "first" || one.Answer != "first" || one.Reason != "done" || one.Profile != "echo" || one.Usage.Output == 0 {
				t.Fatalf("first answer %+v %q", one, textOf(res))
			}
			two, _ := call(t, c, "echo", args{"prompt": "more", "session": one.Session})
			if two.Answer != "second" || two.Session != one.Session {
				t.Errorf("second answer %+v", two)
			}
			for _, want := range []string{"turn 1", "todo", "turn 2"} { // they may come after the answer
				if got := wait(t, told); !strings.HasPrefix(got, want) {
					t.Errorf("progress %q, want %q", got, want)
				}
			}
		})
	}
}

func TestCallsThatFail(t *testing.T) {
	const noSession = "01a20249-4d1a-7d5a-9cec-ea1fb330be1f"
	s := newSite(t, map[string]string{"profiles/nomodel.md": "---\nname: nomodel\nmodel: nothing/none\n---\nx\n"})
	c := s.connect(nil)
	for _, x := range []struct {
		name, tool string
		in         args
		want       string
	}{
		{"no prompt", "echo", args{}, "prompt is missing"},
		{"blank prompt", "echo", args{"prompt": " \n"}, "prompt is missing"},
		{"misspelt", "echo", args{"prmpt": "x"}, `unknown field "prmpt"`},
		{"session of another form", "echo", args{"prompt": "x", "session": "../x"}, "is not the id of a session"},
		{"session that is not there", "echo", args{"prompt": "x", "session": noSession}, "session not found: " + noSession},
		{"a key that gives rights", "echo", args{"prompt": "x", "overrides": args{"permission-mode": "bypass"}}, `unknown field "permission-mode"`},
		{"override of a wrong kind", "echo", args{"prompt": "x", "overrides": args{"thinking": "much"}}, "thinking"},
		{"model that is not there", "nomodel", args{"prompt": "x"}, "nothing"},
	} {
		t.Run(x.name, func(t *testing.T) {
			out, res := call(t, c, x.tool, x.in)
			if !res.IsError || !strings.Contains(textOf(res), x.want) {
				t.Errorf("%+v %q, want %q", out, textOf(res), x.want)
			}
		})
	}
	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "nobody"}); err == nil {
		t.Error("a tool that is not there was called")
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	long := strings.Repeat("ü", 40<<10) // 80 KiB
	s := newSite(t, map[string]string{"profiles/short.md": "---\nname: short\nmodel: fake/text\ntools: [todo]\nlimits: {turns: 1}\n---\nx\n"},
		script.Reply{When: script.When{Contains: "fail"}, Error: &script.Failure{Status: 400}},
		script.Reply{When: script.When{Contains: "long"}, Text: long},
		script.Reply{When: script.When{Contains: "limit"}, Text: "half", Tools: []script.Call{{Name: "todo", Input: `{"items":[]}`}}})
	c := s.connect(nil)
	if out, res := call(t, c, "echo", args{"prompt": "fail"}); !res.IsError || out.Reason != "error" || out.Error.Code == "" || !strings.Contains(textOf(res), "The run failed: ") {
		t.Errorf("failed: %+v %q", out, textOf(res))
	}
	if out, res := call(t, c, "short", args{"prompt": "limit"}); !res.IsError || out.Reason != "limit" || out.Answer != "half" || !strings.Contains(textOf(res), "limit on turns") {
		t.Errorf("limit: %+v %q", out, textOf(res))
	}
	out, res := call(t, c, "echo", args{"prompt": "long"})
	if res.IsError || out.Cut != len(long)-64<<10 || !strings.HasPrefix(long, out.Answer) || len(out.Answer) != 64<<10 || !strings.Contains(textOf(res), "roster://sessions/"+out.Session) {
		t.Errorf("long: cut %d, %d bytes", out.Cut, len(out.Answer))
	}
}

func TestProfilesChange(t *testing.T) {
	s := newSite(t, nil, script.Reply{Text: "ok"})
	changed := make(chan struct{}, 10)
	c := s.connect(&sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }})
	has := func(name string) bool {
		list, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if tool.Name == name {
				return true
			}
		}
		return false
	}
	if has("late") {
		t.Fatal("a profile that is not there is a tool")
	}
	s.write("profiles/late.md", strings.Replace(echo, "name: echo", "name: late", 1))
	wait(t, changed)
	if !has("late") {
		t.Error("a new profile is no tool")
	}
	if err := os.Remove(filepath.Join(s.dir, "profiles/late.md")); err != nil {
		t.Fatal(err)
	}
	wait(t, changed)
	if has("late") {
		t.Error("a profile that is gone is a tool")
	}
}

func wait[T any](t testing.TB, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came within 20 s")
	}
	return v
}

func TestOffer(t *testing.T) {
	s := newSite(t, map[string]string{"profiles/hidden.md": "---\nname: hidden\nhidden: true\nmodel: fake/text\n---\nx\n"})
	s.server.Close()
	s.server = s.app.MCP(func(p *profile.Profile) bool { return p.Name == "hidden" })
	list, err := s.connect(nil).ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 1 || list.Tools[0].Name != "hidden" {
		t.Errorf("tools %+v, %v", list, err)
	}
}
