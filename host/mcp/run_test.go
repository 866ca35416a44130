package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	toolmcp "github.com/rosterrun/roster/tool/mcp"
)

// writes is a run that asks for a permission: to write a file.
func writes() []script.Reply {
	return []script.Reply{
		{Text: "Writing.", Tools: []script.Call{{Name: "write", Input: `{"path":"new.txt","content":"x"}`}}},
		{When: script.When{Contains: "bytes"}, Text: "written"},
		{Text: "not written"},
	}
}

func TestPermissionIsAskedByTheClient(t *testing.T) {
	for _, x := range []struct {
		name   string
		result *sdk.ElicitResult
		err    error
		answer string
		denied int
	}{
		{"once", &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "once"}}, nil, "written", 0},
		{"always", &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "always"}}, nil, "written", 0},
		{"no", &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "no"}}, nil, "not written", 1},
		{"declined", &sdk.ElicitResult{Action: "decline"}, nil, "not written", 1},
		{"closed", &sdk.ElicitResult{Action: "cancel"}, nil, "not written", 1},
		{"nonsense", &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "sure"}}, nil, "not written", 1},
		{"empty", &sdk.ElicitResult{Action: "accept"}, nil, "not written", 1},
		{"failing client", nil, errors.New("no window"), "not written", 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := newSite(t, nil, writes()...)
			asked := make(chan *sdk.ElicitParams, 5)
			c := s.connect(&sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
				asked <- r.Params
				return x.result, x.err
			}})
			out, res := call(t, c, "echo", args{"prompt": "write"})
			if out.Answer != x.answer || out.Denied != x.denied {
				t.Errorf("%+v %q", out, textOf(res))
			}
			q := wait(t, asked)
			if !strings.Contains(q.Message, "echo asks to use write:\n  write new.txt") {
				t.Errorf("asked %q", q.Message)
			}
			if len(asked) > 0 {
				t.Errorf("asked again: %+v", <-asked)
			}
			grants, err := s.app.Grants()
			if err != nil || (len(grants) == 1) != (x.name == "always") {
				t.Errorf("grants %+v %v", grants, err)
			}
			for _, g := range grants {
				if g.By != "mcp:test" {
					t.Errorf("given by %q", g.By)
				}
			}
		})
	}
}

func TestQuestionIsAskedByTheClient(t *testing.T) {
	s := newSite(t, nil,
		script.Reply{Tools: []script.Call{{Name: "ask_user", Input: `{"question":"Which colour?","options":["red","blue"]}`}}},
		script.Reply{When: script.When{Contains: "blue"}, Text: "It is blue."},
		script.Reply{Text: "Nobody said."})
	c := s.connect(&sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		if !strings.Contains(r.Params.Message, "Which colour?") || !strings.Contains(r.Params.Message, "2 blue") {
			t.Errorf("asked %q", r.Params.Message)
		}
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"answer": "blue"}}, nil
	}})
	if out, _ := call(t, c, "echo", args{"prompt": "paint"}); out.Answer != "It is blue." {
		t.Errorf("%+v", out)
	}
}

func TestNobodyToAsk(t *testing.T) {
	s := newSite(t, nil, writes()...)
	out, _ := call(t, s.connect(nil), "echo", args{"prompt": "write"})
	if out.Answer != "not written" || out.Denied != 1 {
		t.Errorf("%+v", out)
	}
}

// TestSomebodyElseAnswers: the question at the client is taken back.
func TestSomebodyElseAnswers(t *testing.T) {
	s := newSite(t, nil, writes()...)
	taken := make(chan error, 1)
	c := s.connect(&sdk.ClientOptions{ElicitationHandler: func(ctx context.Context, _ *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		list, err := s.app.Approvals(ctx, session.Key{})
		if err != nil || len(list) != 1 {
			t.Errorf("approvals %+v %v", list, err)
			return nil, errors.New("no approval")
		}
		if _, err := s.app.Answer(ctx, "", list[0].ID, view.Answer{Answer: session.AnswerOnce, By: "other"}); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		taken <- ctx.Err()
		return nil, ctx.Err()
	}})
	if out, _ := call(t, c, "echo", args{"prompt": "write"}); out.Answer != "written" {
		t.Errorf("%+v", out)
	}
	wait(t, taken)
}

func TestCancelEndsTheRun(t *testing.T) {
	s := newSite(t, nil, script.Reply{Text: "one two three", Delay: forever})
	ctx, cancel := context.WithCancel(t.Context())
	began := make(chan struct{}, 10)
	c := s.connect(&sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { began <- struct{}{} }})
	ended := make(chan error, 1)
	go func() {
		p := &sdk.CallToolParams{Name: "echo", Arguments: args{"prompt": "x"}}
		p.SetProgressToken("p")
		_, err := c.CallTool(ctx, p)
		ended <- err
	}()
	wait(t, began)
	cancel()
	if err := wait(t, ended); err == nil {
		t.Error("a call that was cancelled has an answer")
	}
	if end := s.end(t); end.Reason != session.ReasonCancelled {
		t.Errorf("the run ended: %+v", end)
	}
}

// TestClientGoesAway: the run goes on without it, and another client gets its
// answer.
func TestClientGoesAway(t *testing.T) {
	gate := make(chan struct{})
	s := gatedSite(t, gate, script.Reply{Text: "late answer"})
	began := make(chan struct{}, 10)
	c := s.connect(&sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { began <- struct{}{} }})
	go func() {
		p := &sdk.CallToolParams{Name: "echo", Arguments: args{"prompt": "x"}, Meta: sdk.Meta{toolmcp.KeyOfCall: "c1"}}
		p.SetProgressToken("p")
		_, _ = c.CallTool(context.Background(), p)
	}()
	wait(t, began)
	s.hangUp()
	close(gate)
	if end := s.end(t); end.Reason != session.ReasonDone {
		t.Fatalf("the run ended: %+v", end)
	}
	c = s.connect(nil)
	res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: args{"prompt": "x"}, Meta: sdk.Meta{toolmcp.KeyOfCall: "c1"}})
	if err != nil || textOf(res) != "late answer" {
		t.Errorf("the same call once more: %+v %v", res, err)
	}
	if n := s.sessions(t); n != 1 {
		t.Errorf("%d sessions: the call was run twice", n)
	}
	res, err = c.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo", Arguments: args{"prompt": "other"}, Meta: sdk.Meta{toolmcp.KeyOfCall: "c1"}})
	if err != nil || !res.IsError || !strings.Contains(textOf(res), "was used before") {
		t.Errorf("another call with its key: %+v %v", res, err)
	}
}

func TestServerStops(t *testing.T) {
	gate := make(chan struct{})
	s := gatedSite(t, gate, script.Reply{Text: "late answer"})
	began := make(chan struct{}, 10)
	c := s.connect(&sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { began <- struct{}{} }})
	ended := make(chan string, 1)
	go func() {
		p := &sdk.CallToolParams{Name: "echo", Arguments: args{"prompt": "x"}}
		p.SetProgressToken("p")
		res, err := c.CallTool(context.Background(), p)
		if err != nil {
			ended <- err.Error()
			return
		}
		ended <- textOf(res)
	}()
	wait(t, began)
	s.server.Close() // and does not wait for the run
	wait(t, ended)
	close(gate)
	if end := s.end(t); end.Reason != session.ReasonDone {
		t.Errorf("the run ended: %+v", end)
	}
}

func TestBusySession(t *testing.T) {
	gate := make(chan struct{})
	s := gatedSite(t, gate, script.Reply{Text: "one"}, script.Reply{Text: "two"})
	began := make(chan struct{}, 10)
	c := s.connect(&sdk.ClientOptions{ProgressNotificationHandler: func(context.Context, *sdk.ProgressNotificationClientRequest) { began <- struct{}{} }})
	done := make(chan answered, 1)
	go func() {
		out, _ := call(t, c, "echo", args{"prompt": "x"})
		done <- out
	}()
	wait(t, began)
	_, res := call(t, c, "echo", args{"prompt": "y", "session": s.newest(t)})
	if !res.IsError || !strings.Contains(textOf(res), "wait for its answer") {
		t.Errorf("%q", textOf(res))
	}
	close(gate)
	if out := wait(t, done); out.Answer != "one" {
		t.Errorf("%+v", out)
	}
}
