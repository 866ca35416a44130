package openairesponses

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
	m := New(Config{Provider: "openai", Model: "gpt-5"})
	wiretest.Golden(t, "conversation.golden.json", wiretest.Render(t, m, wiretest.Signed(signer, "rs_1:gAAAAB")))
	r := wiretest.Conversation()
	r.Params.ToolChoice, r.Params.Thinking = "none", model.ThinkingHigh
	r.Params.Schema = &model.Schema{Name: "answer", JSON: []byte(`{"type":"object"}`), Strict: true}
	wiretest.Golden(t, "no-tools.golden.json", wiretest.Render(t, m, r))
	wiretest.Golden(t, "smallest.golden.json", wiretest.Render(t, m, &model.Request{
		Params:   model.Params{Thinking: model.ThinkingOff},
		Messages: []*message.Message{wiretest.Text(message.User, "hi")},
	}))
}

// TestPhasesGoBack: what a model said of its texts is sent with them, and nothing
// is where nothing was said.
func TestPhasesGoBack(t *testing.T) {
	r := wiretest.Request(wiretest.Say(message.Assistant,
		message.Text{Text: "I look.", Phase: message.Commentary}, message.ToolCall{ID: "c", Name: "list"}), wiretest.Text(message.Assistant, "Four."))
	b := string(wiretest.Render(t, New(Config{Model: "small"}), r))
	for _, want := range []string{`{"role":"assistant","content":"I look.","phase":"commentary"}`, `{"role":"assistant","content":"Four."}`} {
		if !strings.Contains(b, want) {
			t.Errorf("%s has no %s", b, want)
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
		{"an image of the assistant", "m1", wiretest.Request(wiretest.Say(message.Assistant, message.Image{}))},
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

// sent is an input item as the provider reads it.
type sent struct {
	Role      string `json:"role"`
	Type      string `json:"type"`
	Content   any    `json:"content"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Output    any    `json:"output"`
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
		var body struct {
			Input        []sent
			Instructions string
		}
		if err := json.Unmarshal(b, &body); err != nil {
			t.Fatalf("%v in %s", err, b)
		}
		if body.Instructions != wiretest.Clean(strings.Join(r.Prefix.System, "\n\n")) {
			t.Fatalf("instructions %q", body.Instructions)
		}
		for _, msg := range r.Messages {
			fresh := wiretest.Say(msg.Role, msg.Parts...)
			fresh.ID = msg.ID
			kept, _ := m.Wire(msg)
			if again, _ := m.Wire(fresh); !bytes.Equal(kept, again) {
				t.Fatalf("%s and %s", kept, again)
			}
		}
		checkSent(t, r, body.Input)
	})
}

func checkSent(t *rapid.T, r *model.Request, got []sent) {
	next := func(role, kind string) sent {
		if len(got) == 0 || got[0].Role != role || got[0].Type != kind {
			t.Fatalf("want a %s%s next, got %+v", role, kind, got)
		}
		m := got[0]
		got = got[1:]
		return m
	}
	for _, msg := range r.Messages {
		if msg.Role == message.User && len(msg.Parts) > 0 {
			next("user", "")
			continue
		}
		for _, p := range msg.Parts {
			switch p := p.(type) {
			case message.Text:
				if p.Text == "" {
					continue
				}
				if m := next("assistant", ""); m.Content != wiretest.Clean(p.Text) {
					t.Fatalf("got %+v, want %+v", m, p)
				}
			case message.ToolCall:
				m := next("", "function_call")
				if m.CallID != p.ID || !wire.IsObject([]byte(m.Arguments)) || wire.IsObject(p.Input) && m.Arguments != string(p.Input) {
					t.Fatalf("got %+v, want %+v", m, p)
				}
			case message.ToolResult:
				m := next("", "function_call_output")
				if s, ok := m.Output.(string); m.CallID != p.Call || ok && s != wiretest.Clean(message.PartsText(p.Parts)) || ok == hasImage(p.Parts) {
					t.Fatalf("got %+v, want %+v", m, p)
				}
			}
		}
	}
	if r.Tail != "" {
		if m := next("user", ""); m.Content != wiretest.Clean(r.Tail) {
			t.Fatalf("tail is %q", m.Content)
		}
	}
	if len(got) > 0 {
		t.Fatalf("more was sent: %+v", got)
	}
}

// TestReasoningOfOthers: what another protocol has signed is not sent.
func TestReasoningOfOthers(t *testing.T) {
	for by, want := range map[string]bool{signer: true, "anthropic": false, "": false} {
		w, err := New(Config{}).Wire(wiretest.Say(message.Assistant, message.Thinking{Text: "Hm.", Signature: "sig", By: by}, message.Text{Text: "Four."}))
		if err != nil || bytes.Contains(w, []byte("reasoning")) != want {
			t.Errorf("by %q: %s, %v", by, w, err)
		}
	}
}

func TestNames(t *testing.T) {
	m := New(Config{Provider: "openai", Model: "gpt-5"})
	if m.Name() != "openai/gpt-5" || m.Renderer() != "openai-responses/1" {
		t.Errorf("got %s and %s", m.Name(), m.Renderer())
	}
}
