package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"
	"go.uber.org/goleak"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
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

const worker = `---
name: worker
title: Worker
description: Works.
model: fake/text
tools: [read, write, edit, bash, todo, ask_user, switch_profile]
permission: {bash: allow, read: allow, edit: allow}
---
Work.
`

const planner = `---
name: planner
description: Plans.
model: fake/text
tools: [todo]
---
Plan.
`

// site is a real workspace with an in-memory store and a script for a model.
type site struct {
	t     testing.TB
	dir   string
	app   *roster.App
	store session.Backend
}

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

func newSite(t testing.TB, replies ...script.Reply) *site {
	t.Helper()
	return openSite(t, script.New(replies...).Model("fake/text"))
}

func openSite(t testing.TB, m model.Model) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), store: memory.New(memory.Options{})}
	for name, text := range map[string]string{
		"roster.yaml": config, "profiles/worker.md": worker, "profiles/planner.md": planner,
		"profiles/helper.md":    "---\nname: helper\ndescription: Helps.\nmode: subagent\nmodel: fake/text\n---\nHelp.\n",
		"commands/greet.md":     "---\ndescription: Greets.\n---\nGreet $ARGUMENTS.\n",
		".claude/commands/x.md": "---\ndescription: Another.\n---\nDo it.\n",
	} {
		s.write(name, text)
	}
	var err error
	s.app, _, err = roster.Open(s.dir, roster.Options{
		State: t.TempDir(), Backend: s.store, Trust: true, Claim: true,
		Models: map[string]model.Model{"fake/text": m},
		Getenv: func(name string) string { return map[string]string{"ROSTER_HOME": filepath.Join(s.dir, "home")}[name] },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.app.Close(context.Background()); err != nil {
			t.Error(err)
		}
		s.store.Close()
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

// reason waits for the end of a session's loop.
func (s *site) reason(id sdk.SessionId) session.Reason {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	for batch, err := range s.app.Follow(ctx, session.Key{Stream: string(id)}, 0) {
		if err != nil {
			s.t.Fatal(err)
		}
		for i := range batch {
			if batch[i].Type == "loop.end" {
				body, err := batch[i].Decode()
				if err != nil {
					s.t.Fatal(err)
				}
				return body.(*session.LoopEnd).Reason
			}
		}
	}
	s.t.Fatal("the run does not end")
	return ""
}

// serve begins a connection. hangUp ends it, and waits for that.
func (s *site) serve(o roster.ACPOptions) (to io.Writer, from io.Reader, hangUp func()) {
	s.t.Helper()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := s.app.ServeACP(context.Background(), o, in, out)
		out.Close()
		ended <- err
	}()
	hangUp = sync.OnceFunc(func() {
		client.Close()
		go io.Copy(io.Discard, answers)
		if err := <-ended; err != nil {
			s.t.Errorf("ServeACP: %v", err)
		}
	})
	s.t.Cleanup(hangUp)
	return client, answers, hangUp
}

// editor is a client by the protocol's library.
type editor struct {
	sdk.Client // nothing else is asked of it
	*sdk.ClientSideConnection
	t      testing.TB
	dir    string
	hangUp func()
	answer func(context.Context, sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome

	mu      sync.Mutex
	updates []sdk.SessionUpdate
	asked   []sdk.RequestPermissionRequest
	came    chan struct{}
}

func (e *editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	e.updates = append(e.updates, n.Update)
	e.mu.Unlock()
	select {
	case e.came <- struct{}{}:
	default:
	}
	return nil
}

func (e *editor) RequestPermission(ctx context.Context, r sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, r)
	e.mu.Unlock()
	return sdk.RequestPermissionResponse{Outcome: e.answer(ctx, r)}, nil
}

func choose(id string) func(context.Context, sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
	return func(context.Context, sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		return sdk.RequestPermissionOutcome{Selected: &sdk.RequestPermissionOutcomeSelected{OptionId: sdk.PermissionOptionId(id)}}
	}
}

func (s *site) edit(o roster.ACPOptions) *editor {
	s.t.Helper()
	e := &editor{t: s.t, dir: s.dir, answer: choose("once"), came: make(chan struct{}, 1)}
	to, from, hangUp := s.serve(o)
	e.hangUp = hangUp
	e.ClientSideConnection = sdk.NewClientSideConnection(e, to, from)
	res, err := e.Initialize(s.t.Context(), sdk.InitializeRequest{ProtocolVersion: 1, ClientInfo: &sdk.Implementation{Name: "test", Version: "1"}})
	if err != nil || !res.AgentCapabilities.LoadSession || res.ProtocolVersion != 1 {
		s.t.Fatalf("%+v %v", res, err)
	}
	return e
}

func (e *editor) new() sdk.NewSessionResponse {
	e.t.Helper()
	res, err := e.NewSession(e.t.Context(), sdk.NewSessionRequest{Cwd: e.dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		e.t.Fatal(err)
	}
	return res
}

func (e *editor) say(id sdk.SessionId, text string) sdk.StopReason {
	e.t.Helper()
	res, err := e.Prompt(e.t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)}})
	if err != nil {
		e.t.Fatalf("%s: %v", text, err)
	}
	return res.StopReason
}

// until waits until an update is there that is wanted.
func (e *editor) until(want func(sdk.SessionUpdate) bool) {
	e.t.Helper()
	late := time.After(20 * time.Second)
	for {
		e.mu.Lock()
		ok := slices.ContainsFunc(e.updates, want)
		e.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-e.came:
		case <-late:
			e.t.Fatalf("it does not come; the updates: %s", e.seen())
		}
	}
}

// seen are the updates, one a line, and forgets them.
func (e *editor) seen() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, u := range e.updates {
		text, err := json.Marshal(u)
		if err != nil {
			e.t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	e.updates = nil
	return b.String()
}

// text is what was said, of the updates.
func (e *editor) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	for _, u := range e.updates {
		if c := u.AgentMessageChunk; c != nil && c.Content.Text != nil {
			b.WriteString(c.Content.Text.Text)
		}
	}
	return b.String()
}

// raw is a client that keeps no rules.
type raw struct {
	t    testing.TB
	to   io.Writer
	from *bufio.Reader
}

func (s *site) raw() (*raw, func()) {
	s.t.Helper()
	to, from, hangUp := s.serve(roster.ACPOptions{Profile: "worker"})
	return &raw{s.t, to, bufio.NewReader(from)}, hangUp
}

func (r *raw) send(lines ...string) {
	r.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(r.to, l+"\n"); err != nil {
			r.t.Fatal(err)
		}
	}
}

// until reads up to a line that has the text.
func (r *raw) until(text string) string {
	r.t.Helper()
	for {
		line, err := r.from.ReadString('\n')
		if err != nil {
			r.t.Fatalf("%q does not come: %v", text, err)
		}
		if !json.Valid([]byte(line)) {
			r.t.Errorf("not JSON: %q", line)
		}
		if strings.Contains(line, text) {
			return line
		}
	}
}
