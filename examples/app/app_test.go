package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	helper "github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
)

func TestMain(m *testing.M) {
	helper.Main()
	goleak.VerifyTestMain(m)
}

// open serves a copy of the workspace.
func open(t *testing.T, change func(*roster.Options)) *roster.App {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("workspace")); err != nil {
		t.Fatal(err)
	}
	o := options(dir, "builtin/demo")
	home := t.TempDir()
	o.State, o.Log, o.Getenv = t.TempDir(), nil, func(name string) string {
		return map[string]string{"ROSTER_HOME": home}[name]
	}
	if change != nil {
		change(&o)
	}
	app, err := roster.NewApp(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// TestServed asks over HTTP, with the stand-in that needs no key.
func TestServed(t *testing.T) {
	server := httptest.NewServer(open(t, nil))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	resp, err := http.Post(server.URL+"/chat", "application/json", strings.NewReader(`{"agentId": "analytics", "message": "What is net of returns?"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var chat struct{ Text, StopReason string }
	if err := json.NewDecoder(resp.Body).Decode(&chat); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v", resp.Status, err)
	}
	if !strings.Contains(chat.Text, "Sales are net of returns") || chat.StopReason != "done" {
		t.Errorf("%+v", chat)
	}
}

// replies are those of the model: of the lead, and of the researcher, who is told to look
// it up.
const replies = `replies:
  - {when: {contains: LOOK IT UP}, text: It says so.}
  - tools:
      - {name: read, input: {path: sales.csv}}
      - {name: knowledge_search, input: {query: returns}}
      - {name: skill, input: {name: report}}
  - tools:
      - {name: read, input: {path: ../roster.yaml}}
      - {name: task, input: {profile: researcher, description: returns, prompt: LOOK IT UP}}
  - {text: "South, in Q2."}
`

// TestCapabilities has a model use each capability: the file tools in their folder, the
// knowledge base, the skill, and the researcher, whose profile is a file.
func TestCapabilities(t *testing.T) {
	var offered []string
	var head string
	app := open(t, func(o *roster.Options) { o.Defaults.Model = "script:lead.yaml" })
	if err := os.WriteFile(filepath.Join(app.Dir(), "lead.yaml"), []byte(replies), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := app.Prompt(t.Context(), "analytics", session.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Tools {
		offered = append(offered, d.Name)
	}
	for _, name := range []string{"read", "glob", "grep", "knowledge_search", "skill", "task"} {
		if !strings.Contains(strings.Join(offered, " "), name) {
			t.Errorf("%s is not offered: %v", name, offered)
		}
	}
	for _, name := range []string{"write", "bash", "switch_profile"} {
		if strings.Contains(strings.Join(offered, " "), name) {
			t.Errorf("%s is offered", name)
		}
	}
	sub, err := app.Submit(t.Context(), roster.Ask{
		Profile: "analytics", Key: session.Key{Tenant: "acme"}, Headless: true, Parts: []message.Part{message.Text{Text: "Which region sold most?"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]string{}
	watch := roster.Watch{Post: sub.Post}
	var end *session.LoopEnd
	for batch, err := range app.Follow(t.Context(), sub.Key, sub.After()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			e := &batch[i]
			body, err := e.Decode()
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := body.(*session.ToolAfter); ok && e.Depth == 0 {
				outcomes[b.Tool] += string(b.Outcome) + " "
			}
			if e.Type == "turn.request" && head == "" && e.Depth == 0 {
				if r, err := app.Request(t.Context(), sub.Key, sub.Key.Stream, 1, ""); err == nil {
					head = string(r.Body)
				}
			}
			if end = watch.See(e); end != nil {
				break
			}
		}
		if end != nil {
			break
		}
	}
	if end.Text != "South, in Q2." || !strings.Contains(head, "The year of Acme begins in April.") {
		t.Errorf("%+v; asked as %s", end, head)
	}
	for name, want := range map[string]string{"read": "ok denied ", "knowledge_search": "ok ", "skill": "ok ", "task": "ok "} {
		if outcomes[name] != want {
			t.Errorf("%s: %s", name, outcomes[name])
		}
	}
}
