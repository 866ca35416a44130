package acp_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

// TestTurn: a client sees all that a run does, is asked, and gets the answer.
func TestTurn(t *testing.T) {
	s := newSite(t,
		script.Reply{Text: "Let me write.", Tools: []script.Call{
			{Name: "todo", Input: `{"todos": [{"content": "Write it", "status": "in_progress"}, {"content": "Read it", "status": "pending"}]}`},
			{Name: "write", Input: `{"path": "new.txt", "content": "hello\n"}`},
			{Name: "read", Input: `{"path": "missing.txt"}`},
		}},
		script.Reply{Text: "Now edit.", Tools: []script.Call{{Name: "edit", Input: `{"path": "new.txt", "old": "hello", "new": "bye"}`}}},
		script.Reply{Text: "Done."},
	)
	e := s.edit(roster.ACPOptions{Profile: "worker"})
	begun := e.new()
	if stop := e.say(begun.SessionId, "go"); stop != sdk.StopReasonEndTurn {
		t.Errorf("it stopped: %s", stop)
	}
	if text := e.text(); text != "Let me write.Now edit.Done." {
		t.Errorf("said %q", text)
	}
	path := filepath.Join(s.dir, "new.txt")
	if got, _ := os.ReadFile(path); string(got) != "bye\n" {
		t.Errorf("the file: %q", got)
	}
	if len(e.asked) != 1 || *e.asked[0].ToolCall.Title != "write new.txt" || e.asked[0].ToolCall.Content[0].Diff.NewText != "hello\n" {
		t.Fatalf("asked %+v", e.asked)
	}
	call := e.asked[0].ToolCall.ToolCallId
	known := slices.ContainsFunc(e.updates, func(u sdk.SessionUpdate) bool { return u.ToolCall != nil && u.ToolCall.ToolCallId == call })
	seen := e.seen()
	for _, want := range []string{
		`"sessionUpdate":"plan"`, `{"content":"Write it","priority":"medium","status":"in_progress"}`,
		`"kind":"edit"`, `"oldText":"hello"`, `"newText":"bye"`, `"locations":[{"path":"` + path, `"status":"failed"`, `"status":"completed"`,
		`"sessionUpdate":"available_commands_update"`, `"name":"greet"`,
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("%s is not in\n%s", want, seen)
		}
	}
	if !known {
		t.Errorf("the call that was asked for was not told of: %s", call)
	}
}

// TestRefusals: what a client does not plainly allow is refused.
func TestRefusals(t *testing.T) {
	cancelled := func(context.Context, sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		return sdk.RequestPermissionOutcome{Cancelled: &sdk.RequestPermissionOutcomeCancelled{}}
	}
	for name, answer := range map[string]func(context.Context, sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome{
		"no": choose("no"), "never": choose("no-session"), "made up": choose("yes"), "an answer of a question": choose("option-0"), "closed": cancelled,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, script.Reply{Tools: []script.Call{{Name: "write", Input: `{"path": "new.txt", "content": "x"}`}}}, script.Reply{Text: "Well."})
			e := s.edit(roster.ACPOptions{Profile: "worker"})
			e.answer = answer
			if stop := e.say(e.new().SessionId, "go"); stop != sdk.StopReasonEndTurn || e.text() != "Well." {
				t.Errorf("%s %q", stop, e.text())
			}
			if _, err := os.Stat(filepath.Join(s.dir, "new.txt")); err == nil {
				t.Error("it was written")
			}
		})
	}
}

// TestQuestions: a question with options is chosen from, and one without is answered
// by the next prompt.
func TestQuestions(t *testing.T) {
	s := newSite(t,
		script.Reply{Tools: []script.Call{{Name: "ask_user", Input: `{"question": "Which?", "options": ["red", "blue"]}`}}},
		script.Reply{Tools: []script.Call{{Name: "ask_user", Input: `{"question": "What name?"}`}}},
		script.Reply{When: script.When{Contains: "Ada"}, Text: "Thanks, Ada."},
	)
	e := s.edit(roster.ACPOptions{Profile: "worker"})
	e.answer = choose("option-1")
	id := e.new().SessionId
	if stop := e.say(id, "go"); stop != sdk.StopReasonEndTurn || !strings.Contains(e.text(), "What name?") {
		t.Fatalf("%s %q", stop, e.text())
	}
	if seen := e.seen(); !strings.Contains(seen, "blue") {
		t.Errorf("the first answer: %s", seen)
	}
	if stop := e.say(id, "Ada"); stop != sdk.StopReasonEndTurn || e.text() != "Thanks, Ada." {
		t.Errorf("%s %q", stop, e.text())
	}
	if got := s.reason(id); got != session.ReasonDone {
		t.Errorf("it ended: %s", got)
	}
}

// TestAnsweredElsewhere: the client's question is taken back when somebody else has
// answered.
func TestAnsweredElsewhere(t *testing.T) {
	s := newSite(t, script.Reply{Tools: []script.Call{{Name: "write", Input: `{"path": "new.txt", "content": "x"}`}}}, script.Reply{Text: "Done."})
	e := s.edit(roster.ACPOptions{Profile: "worker"})
	id := e.new().SessionId
	e.answer = func(ctx context.Context, _ sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		list, err := s.app.Approvals(ctx, session.Key{Tenant: "local", Stream: string(id)})
		if err == nil {
			_, err = s.app.Answer(ctx, "local", list[0].ID, view.Answer{Answer: session.AnswerOnce, By: "another"})
		}
		if err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		return sdk.RequestPermissionOutcome{Cancelled: &sdk.RequestPermissionOutcomeCancelled{}}
	}
	if e.say(id, "go"); e.text() != "Done." {
		t.Errorf("said %q", e.text())
	}
}

// TestCancel ends a run that writes, one that asks, and one that has only begun.
func TestCancel(t *testing.T) {
	t.Run("at work", func(t *testing.T) {
		gate := make(chan struct{})
		s := openSite(t, gated{script.New(script.Reply{Text: "never"}).Model("fake/text"), gate})
		e := s.edit(roster.ACPOptions{Profile: "worker"})
		id := e.new().SessionId
		ended := make(chan sdk.StopReason, 1)
		go func() { ended <- e.say(id, "go") }()
		if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil { // it may come first: then it is void
			t.Fatal(err)
		}
		for stop := sdk.StopReason(""); stop == ""; {
			select {
			case stop = <-ended:
				if stop != sdk.StopReasonCancelled {
					t.Errorf("it stopped: %s", stop)
				}
			default:
				if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
					t.Fatal(err)
				}
			}
		}
		close(gate)
		if stop := e.say(id, "again"); stop != sdk.StopReasonEndTurn || e.text() != "never" {
			t.Errorf("after it: %s %q", stop, e.text())
		}
	})
	t.Run("asking", func(t *testing.T) {
		s := newSite(t, script.Reply{Tools: []script.Call{{Name: "write", Input: `{"path": "new.txt", "content": "x"}`}}})
		e := s.edit(roster.ACPOptions{Profile: "worker"})
		id := e.new().SessionId
		e.answer = func(ctx context.Context, _ sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
			if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
				t.Error(err)
			}
			<-ctx.Done() // the question is taken back
			return sdk.RequestPermissionOutcome{Cancelled: &sdk.RequestPermissionOutcomeCancelled{}}
		}
		if stop := e.say(id, "go"); stop != sdk.StopReasonCancelled {
			t.Errorf("it stopped: %s", stop)
		}
	})
	t.Run("the request", func(t *testing.T) {
		s := openSite(t, gated{script.New().Model("fake/text"), make(chan struct{})})
		e := s.edit(roster.ACPOptions{Profile: "worker"})
		id := e.new().SessionId
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = e.Prompt(ctx, sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("go")}})
		}()
		for range s.app.Follow(t.Context(), session.Key{Stream: string(id)}, 0) {
			break // it is stored
		}
		cancel()
		<-ended
		if got := s.reason(id); got != session.ReasonCancelled {
			t.Errorf("it ended: %s", got)
		}
	})
}

// TestLoad: what was said is said again, in another connection, and goes on.
func TestLoad(t *testing.T) {
	s := newSite(t,
		script.Reply{Text: "First.", Tools: []script.Call{{Name: "read", Input: `{"path": "profiles/worker.md"}`}}},
		script.Reply{Text: "Second."}, script.Reply{Text: "Third."},
	)
	e := s.edit(roster.ACPOptions{Profile: "worker"})
	id := e.new().SessionId
	e.say(id, "hello there")
	e.hangUp()
	e = s.edit(roster.ACPOptions{Profile: "planner"})
	list, err := e.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: &s.dir})
	if err != nil || len(list.Sessions) != 1 || list.Sessions[0].SessionId != id || *list.Sessions[0].Title != "hello there" {
		t.Errorf("listed %+v %v", list, err)
	}
	res, err := e.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: s.dir, McpServers: []sdk.McpServer{}})
	if err != nil || res.Modes.CurrentModeId != "worker" {
		t.Fatalf("%+v %v", res, err)
	}
	if e.text() != "First.Second." {
		t.Errorf("said again: %q", e.text())
	}
	if seen := e.seen(); !strings.Contains(seen, "user_message_chunk") || !strings.Contains(seen, "hello there") || !strings.Contains(seen, `"title":"read profiles/worker.md"`) || !strings.Contains(seen, `"status":"completed"`) {
		t.Errorf("shown again: %s", seen)
	}
	if e.say(id, "more"); e.text() != "Third." {
		t.Errorf("said %q", e.text())
	}
}

// TestLeft: a client that goes away ends no run; the next one is shown how it goes on,
// and asked what it asks.
func TestLeft(t *testing.T) {
	s := newSite(t, script.Reply{Tools: []script.Call{{Name: "write", Input: `{"path": "new.txt", "content": "x"}`}}}, script.Reply{Text: "Done."}, script.Reply{Text: "More."})
	e := s.edit(roster.ACPOptions{Profile: "worker"})
	id := e.new().SessionId
	asked := make(chan struct{})
	e.answer = func(ctx context.Context, _ sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		close(asked)
		<-ctx.Done()
		return sdk.RequestPermissionOutcome{Cancelled: &sdk.RequestPermissionOutcomeCancelled{}}
	}
	gone := make(chan error, 1)
	go func() {
		_, err := e.Prompt(context.Background(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("go")}})
		gone <- err
	}()
	<-asked
	e.hangUp()
	if err := <-gone; err == nil {
		t.Error("the prompt was answered")
	}
	e = s.edit(roster.ACPOptions{Profile: "worker"})
	if _, err := e.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: s.dir, McpServers: []sdk.McpServer{}}); err != nil {
		t.Fatal(err)
	}
	e.until(func(u sdk.SessionUpdate) bool {
		return u.AgentMessageChunk != nil && strings.Contains(u.AgentMessageChunk.Content.Text.Text, "Done.")
	})
	if got := s.reason(id); got != session.ReasonDone || len(e.asked) != 1 {
		t.Errorf("it ended: %s, after %d questions", got, len(e.asked))
	}
	e.seen()
	if e.say(id, "more"); e.text() != "More." {
		t.Errorf("said %q", e.text())
	}
}

// TestModes: the modes are the profiles, and the permission mode is an option.
func TestModes(t *testing.T) {
	s := newSite(t, script.Reply{Text: "One."},
		script.Reply{Tools: []script.Call{{Name: "write", Input: `{"path": "new.txt", "content": "x"}`}}}, script.Reply{Text: "Two."})
	e := s.edit(roster.ACPOptions{})
	begun := e.new()
	var names []string
	for _, m := range begun.Modes.AvailableModes {
		names = append(names, string(m.Id)+"="+m.Name)
	}
	if begun.Modes.CurrentModeId != "planner" || !slices.Equal(names, []string{"planner=planner", "worker=Worker"}) {
		t.Errorf("modes: %s of %q", begun.Modes.CurrentModeId, names)
	}
	e.say(begun.SessionId, "go")
	if _, err := e.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: begun.SessionId, ModeId: "worker"}); err != nil {
		t.Error(err)
	}
	if _, err := e.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: begun.SessionId, ModeId: "../x"}); err == nil {
		t.Error("a mode that is not there is taken")
	}
	set := func(value string) error {
		_, err := e.SetSessionConfigOption(t.Context(), sdk.SetSessionConfigOptionRequest{ValueId: &sdk.SetSessionConfigOptionValueId{
			SessionId: begun.SessionId, ConfigId: "permission-mode", Value: sdk.SessionConfigValueId(value),
		}})
		return err
	}
	if err := set("bypass"); err == nil {
		t.Error("everything is allowed, and nobody has said so when the program was started")
	}
	if err := set("accept-edits"); err != nil {
		t.Error(err)
	}
	e.say(begun.SessionId, "write")
	if _, err := os.Stat(filepath.Join(s.dir, "new.txt")); err != nil || len(e.asked) > 0 {
		t.Errorf("written: %v, after %d questions", err, len(e.asked))
	}
}

// TestPrompts: what a prompt may hold, commands among it.
func TestPrompts(t *testing.T) {
	s := newSite(t,
		script.Reply{When: script.When{Contains: "Greet Ada."}, Text: "Hello."},
		script.Reply{When: script.When{Contains: "@file:///a.go:\npackage a"}, Text: "Seen."},
	)
	e := s.edit(roster.ACPOptions{Profile: "worker"})
	id := e.new().SessionId
	if e.say(id, "/greet Ada"); e.text() != "Hello." {
		t.Errorf("said %q", e.text())
	}
	e.seen()
	prompt := func(blocks ...sdk.ContentBlock) error {
		_, err := e.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: blocks})
		return err
	}
	text := sdk.ResourceBlock(sdk.EmbeddedResourceResource{TextResourceContents: &sdk.TextResourceContents{Uri: "file:///a.go", Text: "package a"}})
	if err := prompt(sdk.TextBlock("look at"), text, sdk.ImageBlock("iVBORw0KGgo=", "image/png")); err != nil || e.text() != "Seen." {
		t.Errorf("%v %q", err, e.text())
	}
	for name, blocks := range map[string][]sdk.ContentBlock{
		"nothing": {}, "blanks": {sdk.TextBlock(" \n")}, "sound": {sdk.AudioBlock("AAAA", "audio/wav")},
		"no image": {sdk.ImageBlock("AAAA", "image/tiff")}, "no base64": {sdk.ImageBlock("*", "image/png")},
		"other bytes": {sdk.ResourceBlock(sdk.EmbeddedResourceResource{BlobResourceContents: &sdk.BlobResourceContents{Uri: "file:///a", Blob: "AAAA"}})},
	} {
		if err := prompt(blocks...); err == nil || !strings.Contains(err.Error(), "-32602") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestFailures: a run that fails is an error with its reason, and one that a limit
// ends says so.
func TestFailures(t *testing.T) {
	s := newSite(t, script.Reply{Error: &script.Failure{Status: 401}}, script.Reply{Text: "More", Tools: []script.Call{{Name: "bash", Input: `{"command": "true"}`}}}, script.Reply{Text: "Summary."})
	e := s.edit(roster.ACPOptions{Profile: "worker", Flags: map[string]string{"limits.turns": "1"}})
	id := e.new().SessionId
	if _, err := e.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{sdk.TextBlock("go")}}); err == nil || !strings.Contains(err.Error(), "model.") {
		t.Errorf("it failed: %v", err)
	}
	if stop := e.say(id, "again"); stop != sdk.StopReasonMaxTurnRequests || !strings.Contains(e.text(), "limit on turns") {
		t.Errorf("it stopped: %s %q", stop, e.text())
	}
}

// TestPlaces: only the workspace is served, and what would execute is not taken from
// a client.
func TestPlaces(t *testing.T) {
	s := newSite(t)
	e := s.edit(roster.ACPOptions{Profile: "worker"})
	s.write("sub/x", "")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(s.dir, link); err != nil {
		t.Fatal(err)
	}
	for cwd, ok := range map[string]bool{
		s.dir: true, s.dir + "/sub": true, link: true, s.dir + "/sub/../..": false, s.dir + "x": false, "/": false, "sub": false, s.dir + "/none": false, "": false,
	} {
		_, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: cwd, McpServers: []sdk.McpServer{}})
		if (err == nil) != ok {
			t.Errorf("%q: %v", cwd, err)
		}
	}
	if _, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: s.dir, McpServers: []sdk.McpServer{}, AdditionalDirectories: []string{"/etc"}}); err == nil {
		t.Error("a further directory is taken")
	}
	res, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: s.dir, McpServers: []sdk.McpServer{
		{Stdio: &sdk.McpServerStdio{Name: "mine", Command: "touch", Args: []string{filepath.Join(s.dir, "started")}, Env: []sdk.EnvVariable{}}},
	}})
	if err != nil || len(res.Meta) != 1 {
		t.Errorf("%+v %v", res, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "started")); err == nil {
		t.Error("the client's server was started")
	}
	for _, id := range []string{"", "x", "../../etc", "00000000-0000-7000-8000-000000000000"} {
		if _, err := e.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: sdk.SessionId(id), Cwd: s.dir, McpServers: []sdk.McpServer{}}); err == nil {
			t.Errorf("session %q is loaded", id)
		}
	}
}
