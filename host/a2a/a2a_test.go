package a2a_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	proto "github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
	"go.uber.org/goleak"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const config = `
providers:
  fake:
    api: script
    base-url: replies.yaml
    models: {text: {context-window: 100000}}
`

const worker = `---
name: worker
title: Worker
description: Works.
model: fake/text
tools: [write, ask_user]
---
Work.
`

// gated is a model that answers when the gate is closed.
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

// site is a server over a real workspace and database.
type site struct {
	t     *testing.T
	dir   string
	state string
	app   *roster.App
	host  *host.Host
	url   string
	http  *http.Client
	close func()
}

func newSite(t *testing.T, m model.Model) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), state: t.TempDir()}
	for name, text := range map[string]string{"roster.yaml": config, "profiles/worker.md": worker, "profiles/other.md": strings.Replace(worker, "name: worker", "name: other\nmode: primary", 1)} {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.open(m)
	t.Cleanup(func() { s.close() })
	return s
}

func scripted(replies ...script.Reply) model.Model { return script.New(replies...).Model("fake/text") }

// open begins the server.
func (s *site) open(m model.Model) {
	s.t.Helper()
	store, err := sqlite.Open(s.t.Context(), filepath.Join(s.state, "roster.db"), sqlite.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	s.app, _, err = roster.Open(s.dir, roster.Options{
		State: s.state, Backend: store, Trust: true, Claim: true, Models: map[string]model.Model{"fake/text": m},
		Getenv: func(name string) string { return map[string]string{"ROSTER_HOME": filepath.Join(s.dir, "home")}[name] },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	h := s.app.Handler()
	s.host = h
	srv := httptest.NewServer(h)
	s.url, s.http = srv.URL, &http.Client{Transport: &http.Transport{}}
	s.close = func() {
		h.Shutdown()
		s.http.CloseIdleConnections()
		srv.Close()
		if err := s.app.Close(context.Background()); err != nil {
			s.t.Error(err)
		}
		store.Close()
	}
}

// client is that of the protocol's library, made from the agent's card.
func (s *site) client(name string) *a2aclient.Client {
	s.t.Helper()
	card, err := agentcard.NewResolver(s.http).Resolve(s.t.Context(), s.url+"/a2a/"+name)
	if err != nil {
		s.t.Fatal(err)
	}
	c, err := a2aclient.NewFromCard(s.t.Context(), card, a2aclient.WithJSONRPCTransport(s.http))
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

func user(text string, of *proto.Task) *proto.MessageSendParams {
	m := proto.NewMessage(proto.MessageRoleUser, proto.TextPart{Text: text})
	if of != nil {
		m = proto.NewMessageForTask(proto.MessageRoleUser, of, proto.TextPart{Text: text})
	}
	return &proto.MessageSendParams{Message: m}
}

func (s *site) send(c *a2aclient.Client, p *proto.MessageSendParams) *proto.Task {
	s.t.Helper()
	res, err := c.SendMessage(s.t.Context(), p)
	if err != nil {
		s.t.Fatal(err)
	}
	return res.(*proto.Task)
}

func text(parts proto.ContentParts) string {
	var b strings.Builder
	for _, p := range parts {
		if t, ok := p.(proto.TextPart); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func answer(t *proto.Task) string {
	if len(t.Artifacts) == 0 {
		return ""
	}
	return text(t.Artifacts[len(t.Artifacts)-1].Parts)
}

// TestSend: a message is answered, a context goes on, and the task is there after a
// restart.
func TestSend(t *testing.T) {
	s := newSite(t, scripted(script.Reply{Text: "First answer."}, script.Reply{Text: "Second."}))
	c := s.client("worker")
	task := s.send(c, user("hello", nil))
	if task.Status.State != proto.TaskStateCompleted || answer(task) != "First answer." || len(task.History) != 1 {
		t.Fatalf("%+v", task)
	}
	next := user("more", nil)
	next.Message.ContextID = task.ContextID
	second := s.send(c, next)
	if second.ContextID != task.ContextID || second.ID == task.ID || answer(second) != "Second." {
		t.Errorf("%+v", second)
	}
	if again := s.send(c, next); again.ID != second.ID { // the same message
		t.Errorf("sent again: %+v", again)
	}
	s.close()
	s.open(scripted())
	c = s.client("worker")
	got, err := c.GetTask(t.Context(), &proto.TaskQueryParams{ID: task.ID})
	if err != nil || got.Status.State != proto.TaskStateCompleted || answer(got) != "First answer." {
		t.Errorf("after a restart: %+v %v", got, err)
	}
	if _, err := s.client("other").GetTask(t.Context(), &proto.TaskQueryParams{ID: task.ID}); !errors.Is(err, proto.ErrTaskNotFound) {
		t.Errorf("another agent's task: %v", err)
	}
	if _, err := c.SendMessage(t.Context(), user("x", task)); !errors.Is(err, proto.ErrUnsupportedOperation) {
		t.Errorf("to a task that has ended: %v", err)
	}
}

// TestStream: the pieces that a client puts together are the answer, however long,
// and a second look gives the same.
func TestStream(t *testing.T) {
	long := strings.Repeat("Über \"alles\"\n", 20_000)
	s := newSite(t, scripted(script.Reply{Text: long}))
	c := s.client("worker")
	var id proto.TaskID
	read := func(events iter.Seq2[proto.Event, error]) {
		t.Helper()
		got, last := map[proto.ArtifactID]string{}, proto.TaskState("")
		for e, err := range events {
			if err != nil {
				t.Fatal(err)
			}
			switch e := e.(type) {
			case *proto.Task:
				id = e.ID
			case *proto.TaskArtifactUpdateEvent:
				if !e.Append {
					got[e.Artifact.ID] = ""
				}
				got[e.Artifact.ID] += text(e.Artifact.Parts)
			case *proto.TaskStatusUpdateEvent:
				if last = e.Status.State; e.Final != e.Status.State.Terminal() {
					t.Errorf("final %v in %s", e.Final, e.Status.State)
				}
			}
		}
		if last != proto.TaskStateCompleted || len(got) != 1 {
			t.Fatalf("%s, %d artifacts", last, len(got))
		}
		for _, all := range got {
			if all != long {
				t.Errorf("%d bytes of %d, or others", len(all), len(long))
			}
		}
	}
	read(c.SendStreamingMessage(t.Context(), user("go", nil)))
	read(c.ResubscribeToTask(t.Context(), &proto.TaskIDParams{ID: id}))
}

// TestAsked: a task waits for an approval and for an answer, and a message to it is
// that.
func TestAsked(t *testing.T) {
	s := newSite(t, scripted(
		script.Reply{Text: "Let me.", Tools: []script.Call{{Name: "write", Input: `{"path": "new.txt", "content": "x"}`}}},
		script.Reply{Tools: []script.Call{{Name: "ask_user", Input: `{"question": "What name?"}`}}},
		script.Reply{When: script.When{Contains: "Ada"}, Text: "Thanks."},
	))
	c := s.client("worker")
	task := s.send(c, user("go", nil))
	if task.Status.State != proto.TaskStateInputRequired || !strings.Contains(text(task.Status.Message.Parts), "write new.txt") {
		t.Fatalf("%+v", task)
	}
	for _, vague := range []string{"sure", "yes", "once always"} {
		if _, err := c.SendMessage(t.Context(), user(vague, task)); !errors.Is(err, proto.ErrInvalidParams) {
			t.Errorf("%q: %v", vague, err)
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "new.txt")); err == nil {
		t.Fatal("it was written")
	}
	asked := s.send(c, user("once", task))
	if asked.ID != task.ID || asked.Status.State != proto.TaskStateInputRequired || !strings.Contains(text(asked.Status.Message.Parts), "What name?") {
		t.Fatalf("%+v", asked.Status)
	}
	if done := s.send(c, user("Ada", task)); done.Status.State != proto.TaskStateCompleted || answer(done) != "Thanks." {
		t.Errorf("%+v", done)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "new.txt")); err != nil {
		t.Error(err)
	}
}

// TestCancel ends a task, once. A client that has gone away did not.
func TestCancel(t *testing.T) {
	s := newSite(t, gated{scripted(), make(chan struct{})})
	c := s.client("worker")
	no := false
	p := user("go", nil)
	p.Config = &proto.MessageSendConfig{Blocking: &no}
	task := s.send(c, p)
	if task.Status.State.Terminal() {
		t.Fatalf("%+v", task.Status)
	}
	ctx, leave := context.WithTimeout(t.Context(), 20*time.Second)
	for range c.ResubscribeToTask(ctx, &proto.TaskIDParams{ID: task.ID}) {
		break
	}
	leave()
	busy := user("another", nil)
	busy.Message.ContextID = task.ContextID
	if _, err := c.SendMessage(t.Context(), busy); !errors.Is(err, proto.ErrInvalidRequest) {
		t.Errorf("while it is at work: %v", err)
	}
	got, err := c.CancelTask(t.Context(), &proto.TaskIDParams{ID: task.ID})
	if err != nil || got.Status.State != proto.TaskStateCanceled {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := c.CancelTask(t.Context(), &proto.TaskIDParams{ID: task.ID}); !errors.Is(err, proto.ErrTaskNotCancelable) {
		t.Errorf("again: %v", err)
	}
}

// asking is a model that says that it was asked, and gives no answer.
type asking struct {
	gated
	asked chan struct{}
}

func (m asking) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	m.asked <- struct{}{}
	return m.gated.Stream(ctx, r)
}

// TestShutdown: one who waits for an answer when the server ends is told that it does.
func TestShutdown(t *testing.T) {
	m := asking{gated{scripted(script.Reply{Text: "done"}), make(chan struct{})}, make(chan struct{})}
	s := newSite(t, m)
	go func() {
		<-m.asked
		s.host.Shutdown()
	}()
	_, err := s.client("worker").SendMessage(t.Context(), user("go", nil))
	close(m.gate)
	if !errors.Is(err, proto.ErrServerError) || !strings.Contains(err.Error(), "the server shuts down") {
		t.Errorf("it is told %v", err)
	}
}

// TestFailure: a run that fails is a task that failed, with the reason.
func TestFailure(t *testing.T) {
	s := newSite(t, scripted(script.Reply{Error: &script.Failure{Status: 401}}))
	task := s.send(s.client("worker"), user("go", nil))
	if task.Status.State != proto.TaskStateFailed || !strings.Contains(text(task.Status.Message.Parts), "The run failed") {
		t.Errorf("%+v", task.Status)
	}
}

// TestCards: the only primary profile is the agent of the server.
func TestCards(t *testing.T) {
	s := newSite(t, scripted())
	card, err := agentcard.NewResolver(s.http).Resolve(t.Context(), s.url)
	if err != nil || card.URL != s.url+"/a2a/other" || card.Name != "Worker" || !card.Capabilities.Streaming {
		t.Errorf("%+v %v", card, err)
	}
	if _, err := agentcard.NewResolver(s.http).Resolve(t.Context(), s.url+"/a2a/nobody"); err == nil {
		t.Error("the card of nobody")
	}
}

// TestHostileRequests: whatever comes has an answer that is an error, and none begins
// a run.
func TestHostileRequests(t *testing.T) {
	s := newSite(t, scripted())
	send := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	for name, body := range map[string]string{
		"nothing": "", "garbage": "garbage", "binary": "\x00\xff", "deep": strings.Repeat("[", 1<<20), "too large": `{"x":"` + strings.Repeat("x", 9<<20) + `"}`,
		"no method": `{"jsonrpc":"2.0","id":1}`, "another version": `{"jsonrpc":"1.0","id":1,"method":"tasks/get"}`, "an unknown method": send("tasks/steal", "{}"),
		"no parameters": `{"jsonrpc":"2.0","id":1,"method":"message/send"}`, "null": send("message/send", "null"), "other types": send("message/send", `{"message":7}`),
		"no message": send("message/send", "{}"), "no parts": send("message/send", `{"message":{"role":"user","messageId":"1","parts":[]}}`),
		"data":         send("message/send", `{"message":{"role":"user","messageId":"1","parts":[{"kind":"data","data":{}}]}}`),
		"an address":   send("message/send", `{"message":{"role":"user","messageId":"1","parts":[{"kind":"file","file":{"uri":"file:///etc/passwd"}}]}}`),
		"a context":    send("message/send", `{"message":{"role":"user","messageId":"1","contextId":"../../x","parts":[{"kind":"text","text":"x"}]}}`),
		"a task":       send("message/send", `{"message":{"role":"user","messageId":"1","taskId":"../../x","parts":[{"kind":"text","text":"x"}]}}`),
		"push":         send("tasks/pushNotificationConfig/set", `{"taskId":"x","pushNotificationConfig":{"url":"http://127.0.0.1/"}}`),
		"no such task": send("tasks/get", `{"id":"00000000-0000-7000-8000-000000000000.1"}`), "a sign": send("tasks/get", `{"id":"00000000-0000-7000-8000-000000000000.+1"}`),
		"a stream of nothing": send("tasks/resubscribe", `{"id":"x"}`),
	} {
		res, err := s.http.Post(s.url+"/a2a/worker", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		data, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode >= 500 || !strings.Contains(string(data), `"error":`) {
			t.Errorf("%s: %d %.300s %v", name, res.StatusCode, data, err)
		}
	}
	store, err := s.app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for sum := range store.List(t.Context(), "local", session.Query{}) {
		t.Errorf("a run began: %+v", sum)
	}
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.url+"/a2a/worker", strings.NewReader(send("tasks/get", `{"id":"x"}`)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", "http://evil.example")
	res, err := s.http.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another origin: %d", res.StatusCode)
	}
}
