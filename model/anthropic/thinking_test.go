package anthropic

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/model"
)

func TestThinking(t *testing.T) {
	const adaptive = `"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":`
	for _, c := range []struct {
		model  string
		params model.Params
		want   string // behind max_tokens and stream
	}{
		{"claude-opus-5", model.Params{}, ``},
		{"claude-opus-5", model.Params{Thinking: model.ThinkingHigh}, adaptive + `"high"}`},
		{"claude-opus-5", model.Params{Thinking: model.ThinkingMinimal}, adaptive + `"low"}`},
		{"claude-opus-5", model.Params{Thinking: model.ThinkingOff}, `"thinking":{"type":"disabled"}`},
		{"claude-haiku-5-5", model.Params{Thinking: model.ThinkingOff}, `"thinking":{"type":"disabled"}`},
		{"claude-opus-4-7", model.Params{Thinking: model.ThinkingMedium}, adaptive + `"medium"}`},
		{"claude-opus-4-7", model.Params{Thinking: model.ThinkingOff}, ``},
		{"claude-haiku-4-5-20251001", model.Params{Thinking: model.ThinkingHigh}, `"thinking":{"type":"enabled","budget_tokens":24576}`},
		{"claude-sonnet-4-20250514", model.Params{Thinking: model.ThinkingLow}, `"thinking":{"type":"enabled","budget_tokens":2048}`},
		{"claude-haiku-4-5", model.Params{Thinking: model.ThinkingHigh, MaxTokens: 4000}, `"thinking":{"type":"enabled","budget_tokens":2976}`},
		{"claude-haiku-4-5", model.Params{Thinking: model.ThinkingHigh, MaxTokens: 2000}, ``},
		{"claude-haiku-4-5", model.Params{Thinking: model.ThinkingOff}, ``},
		{"claude-opus-5", model.Params{Schema: &model.Schema{Name: "a", JSON: []byte(`{"type":"object"}`)}}, `"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}}`},
		{"claude-opus-5", model.Params{Thinking: model.ThinkingLow, Schema: &model.Schema{Name: "a", JSON: []byte(`{}`)}}, adaptive + `"low","format":{"type":"json_schema","schema":{}}}`},
	} {
		m := New(Config{Model: c.model, MaxOutput: 64000})
		b, err := m.Render(&model.Request{Params: c.params})
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(b), `"stream":true`)
		got, _, _ := strings.Cut(rest, `,"messages"`)
		if got = strings.TrimPrefix(got, ","); got != c.want {
			t.Errorf("%s %+v:\n%s, want\n%s", c.model, c.params, got, c.want)
		}
	}
	if _, err := New(Config{Model: "claude-opus-5"}).Render(&model.Request{Params: model.Params{Schema: &model.Schema{Name: "a", JSON: []byte(`7`)}}}); err == nil {
		t.Error("a schema that is none was sent")
	}
}
