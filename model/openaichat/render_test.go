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
	"github.com/rosterrun/roster/model/quirk"
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

// TestQuirks looks at what a server is sent that differs from others.
func TestQuirks(t *testing.T) {
	thought := func(s string) message.Part { return message.Thinking{Text: s} }
	call := message.ToolCall{ID: "call_abc", Name: "list"}
	schema := &model.Schema{Name: "answer", JSON: []byte(`{"type":"object"}`)}
	bare := &model.Request{}
	for _, c := range []struct {
		name   string
		quirks quirk.Set
		r      *model.Request
		want   string // in the body
		not    string // in it; empty: nothing
	}{
		{"the answer's bound", quirk.Set{quirk.MaxTokens: quirk.NewMaxTokens}, &model.Request{Params: model.Params{MaxTokens: 7}}, `,"max_completion_tokens":7`, `"max_tokens"`},
		{"usage not asked for", quirk.Set{quirk.StreamUsage: quirk.No}, bare, `"stream":true,"messages"`, "stream_options"},
		{"developer", quirk.Set{quirk.SystemRole: quirk.Developer}, wiretest.Request(), `{"role":"developer","content":"You are brief.`, `"system"`},
		{"a switch", quirk.Set{quirk.Thinking: quirk.Switch}, &model.Request{Params: model.Params{Thinking: model.ThinkingLow}}, `,"thinking":{"type":"enabled"}`, "effort"},
		{"switched off", quirk.Set{quirk.Thinking: quirk.Switch}, &model.Request{Params: model.Params{Thinking: model.ThinkingOff}}, `,"thinking":{"type":"disabled"}`, "effort"},
		{"not told to think", quirk.Set{quirk.Thinking: quirk.Never}, &model.Request{Params: model.Params{Thinking: model.ThinkingLow}}, "{", "low"},
		{"nothing said of thinking", quirk.Set{quirk.Thinking: quirk.Switch}, bare, "{", "thinking"},
		{"any object", quirk.Set{quirk.Schema: quirk.JSONObject}, &model.Request{Params: model.Params{Schema: schema}, Tail: "2 turns"},
			`"response_format":{"type":"json_object"},"messages":[{"role":"user","content":"2 turns\n\nWhen you give your final answer, give one JSON value`, "json_schema"},
		{"in words", quirk.Set{quirk.Schema: quirk.Words}, &model.Request{Params: model.Params{Schema: schema}}, `JSON Schema:\n{\"type\":\"object\"}"}]}`, "response_format"},
		{"reasoning back", quirk.Set{quirk.Reasoning: quirk.ReasoningContent},
			wiretest.Request(wiretest.Say(message.Assistant, thought("Look."), message.Text{Text: "I look."}, call)), `"content":"I look.","reasoning_content":"Look.","tool_calls"`, ""},
		{"reasoning that was not there", quirk.Set{quirk.Reasoning: quirk.ReasoningContent},
			wiretest.Request(wiretest.Say(message.Assistant, call)), `{"role":"assistant","reasoning_content":"","tool_calls"`, ""},
		{"reasoning of another", quirk.Set{quirk.Reasoning: quirk.ReasoningContent},
			wiretest.Request(wiretest.Say(message.Assistant, message.Thinking{Text: "secret", Signature: "s", By: "anthropic"}, message.Text{Text: "x"})), `{"role":"assistant","content":"x"}`, "secret"},
		{"no reasoning", nil, wiretest.Request(wiretest.Say(message.Assistant, thought("Look."), message.Text{Text: "x"})), `{"role":"assistant","content":"x"}`, "Look."},
		{"short ids", quirk.Set{quirk.CallIDs: quirk.Nine},
			wiretest.Request(wiretest.Say(message.Assistant, call), wiretest.Say(message.Tool, message.ToolResult{Call: "call_abc"})), `"tool_call_id":"`, "call_abc"},
		{"ids that are short", quirk.Set{quirk.CallIDs: quirk.Nine},
			wiretest.Request(wiretest.Say(message.Assistant, message.ToolCall{ID: "aB3456789"})), `{"id":"aB3456789"`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := string(wiretest.Render(t, New(Config{Model: "small", BaseURL: "http://localhost/v1", Quirks: c.quirks}), c.r))
			if !strings.Contains(b, c.want) || c.not != "" && strings.Contains(b, c.not) {
				t.Errorf("%s\nwant %s, and no %q", b, c.want, c.not)
			}
		})
	}
	t.Run("one id for a call and its result", func(t *testing.T) {
		f := formOf(quirk.Set{quirk.CallIDs: quirk.Nine})
		if a, b := f.id("call_1"), f.id("call_2"); a == b || !isNine(a) || !isNine(b) || a != f.id("call_1") || f.id(a) != a {
			t.Errorf("ids %q and %q", a, b)
		}
	})
	t.Run("forms are kept apart", func(t *testing.T) {
		r := wiretest.Request(wiretest.Say(message.Assistant, call), wiretest.Say(message.Tool, message.ToolResult{Call: "call_abc"}))
		plain := New(Config{Model: "small", BaseURL: "http://localhost/v1"})
		first := wiretest.Render(t, plain, r)
		other := New(Config{Model: "small", BaseURL: "https://api.mistral.ai/v1"})
		if bytes.Equal(wiretest.Render(t, other, r), first) || !bytes.Equal(wiretest.Render(t, plain, r), first) {
			t.Error("one server is sent the form of another")
		}
		if got := other.Renderer(); got != "openai-chat/1 stream-usage=no call-ids=nine" {
			t.Errorf("renderer %s", got)
		}
	})
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
	m := New(Config{Provider: "openrouter", Model: "openai/gpt-5", BaseURL: "https://openrouter.ai/api/v1"})
	if m.Name() != "openrouter/openai/gpt-5" || m.Renderer() != "openai-chat/1" {
		t.Errorf("got %s and %s", m.Name(), m.Renderer())
	}
}
