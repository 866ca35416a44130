package openaichat

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/internal/wire/wiretest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

func TestRenderGolden(t *testing.T) {
	r := wiretest.Conversation()
	wiretest.Golden(t, "conversation.golden.json", wiretest.Render(t, New(Config{Provider: "fake", Model: "small", BaseURL: "http://localhost/v1"}), r))
	r.Params.ToolChoice = "none"
	wiretest.Golden(t, "no-tools.golden.json", wiretest.Render(t, New(Config{Provider: "openai", Model: "gpt-5"}), r))
	wiretest.Golden(t, "smallest.golden.json", wiretest.Render(t, New(Config{Provider: "fake", Model: "small"}), &model.Request{
		Messages: []*message.Message{wiretest.Text(message.User, "hi")},
	}))
}

func TestParams(t *testing.T) {
	schema := &model.Schema{Name: "answer", JSON: []byte(`{"type":"object"}`)}
	for _, c := range []struct {
		params model.Params
		want   string
	}{
		{model.Params{}, `"include_usage":true},"messages":[]}`},
		{model.Params{Thinking: model.ThinkingOff}, `,"reasoning_effort":"none"`},
		{model.Params{Thinking: model.ThinkingHigh}, `,"reasoning_effort":"high"`},
		{model.Params{Schema: schema}, `,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"},"strict":false}}`},
	} {
		if b := wiretest.Render(t, New(Config{Model: "small"}), &model.Request{Params: c.params}); !strings.Contains(string(b), c.want) {
			t.Errorf("%s, want %s", b, c.want)
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		name, said string
		r          *model.Request
	}{
		{"a schema that is none", "tool read", &model.Request{Prefix: &model.Prefix{Tools: []*model.ToolDef{{Name: "read", Schema: []byte("{")}}}}},
		{"an answer's schema that is none", "schema answer", &model.Request{Params: model.Params{Schema: &model.Schema{Name: "answer", JSON: []byte("[]")}}}},
		{"not a number", "temperature", &model.Request{Params: model.Params{Temperature: &nan}}},
		{"an image that was not loaded", "sha256-1", wiretest.Request(wiretest.Say(message.User, message.Image{Blob: "sha256-1"}))},
		{"a call of the user", "m1", wiretest.Request(wiretest.Say(message.User, message.ToolCall{}))},
		{"text of a tool", "m1", wiretest.Request(wiretest.Text(message.Tool, "x"))},
		{"an unknown role", "system", wiretest.Request(wiretest.Text("system", "x"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := wiretest.Collect(t.Context(), New(Config{Provider: "fake", Model: "small"}), c.r)
			if e := model.AsError(err); e == nil || e.Kind != model.BadRequest || !strings.Contains(e.Message, c.said) {
				t.Errorf("got %v, want a refusal that says %q", err, c.said)
			}
		})
	}
}

// sent is a message as a provider reads it.
type sent struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	Call string `json:"tool_call_id"`
}

// TestRenderAny: any conversation is valid JSON in which every text, call and
// result is found again in its order, and it renders the same each time.
func TestRenderAny(t *testing.T) {
	m := New(Config{Provider: "fake", Model: "small"})
	rapid.Check(t, func(t *rapid.T) {
		r := wiretest.Requests().Draw(t, "request")
		b, err := m.Render(r)
		if err != nil {
			t.Fatal(err)
		}
		var body struct{ Messages []sent }
		if err := json.Unmarshal(b, &body); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		for _, msg := range r.Messages {
			fresh := wiretest.Say(msg.Role, msg.Parts...)
			fresh.ID = msg.ID
			kept, _ := m.Wire(msg)
			if again, _ := m.Wire(fresh); !bytes.Equal(kept, again) {
				t.Fatalf("%s and %s", kept, again)
			}
		}
		checkSent(t, r, body.Messages)
	})
}

func checkSent(t *rapid.T, r *model.Request, got []sent) {
	next := func(role string) sent {
		if len(got) == 0 || got[0].Role != role {
			t.Fatalf("want a message of %s next, got %+v", role, got)
		}
		m := got[0]
		got = got[1:]
		return m
	}
	if len(r.Prefix.System) > 0 {
		if m := next("system"); m.Content != wiretest.Clean(strings.Join(r.Prefix.System, "\n\n")) {
			t.Fatalf("system is %q", m.Content)
		}
	}
	for _, msg := range r.Messages {
		switch msg.Role {
		case message.User:
			if len(msg.Parts) > 0 {
				next("user")
			}
		case message.Assistant:
			if msg.Text() != "" || len(msg.Calls()) > 0 {
				checkAnswer(t, msg, next("assistant"))
			}
		case message.Tool:
			images := false
			for _, p := range msg.Parts {
				res := p.(message.ToolResult)
				if m := next("tool"); m.Call != res.Call || m.Content != wiretest.Clean(message.PartsText(res.Parts)) {
					t.Fatalf("got %+v, want %+v", m, res)
				}
				images = images || len(imagesOf(res)) > 0
			}
			if images {
				next("user")
			}
		}
	}
	if r.Tail != "" {
		if m := next("user"); m.Content != wiretest.Clean(r.Tail) {
			t.Fatalf("tail is %q", m.Content)
		}
	}
	if len(got) > 0 {
		t.Fatalf("more was sent: %+v", got)
	}
}

func checkAnswer(t *rapid.T, want *message.Message, got sent) {
	calls := want.Calls()
	if want.Text() != "" && got.Content != wiretest.Clean(want.Text()) || len(got.Calls) != len(calls) {
		t.Fatalf("got %+v, want %+v", got, want.Parts)
	}
	for i, c := range calls {
		var args string
		_ = json.Unmarshal(got.Calls[i].Function.Arguments, &args)
		if got.Calls[i].ID != c.ID || !wire.IsObject([]byte(args)) || wire.IsObject(c.Input) && args != string(c.Input) {
			t.Fatalf("call %+v with %q, want %+v", got.Calls[i], args, c)
		}
	}
}

func TestNames(t *testing.T) {
	m := New(Config{Provider: "openrouter", Model: "openai/gpt-5"})
	if m.Name() != "openrouter/openai/gpt-5" || m.Renderer() != "openai-chat/1" {
		t.Errorf("got %s and %s", m.Name(), m.Renderer())
	}
}
