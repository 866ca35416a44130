package catalog

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/source"
)

// The forms are those that the servers named answer in.
func TestParseReport(t *testing.T) {
	for name, tc := range map[string]struct {
		text    string
		want    []Reported
		without int
	}{
		"Ollama": {
			`{"models":[{"name":"llama3.2:latest","model":"llama3.2:latest","modified_at":"2026-05-04T17:37:44.706015396-07:00","size":3826793677,"digest":"fe938a131f40","details":{"format":"gguf","family":"llama","families":null,"parameter_size":"3.2B","quantization_level":"Q4_K_M"}}]}`,
			[]Reported{{ID: "llama3.2:latest"}}, 0,
		},
		"vLLM": {
			`{"object":"list","data":[{"id":"Qwen/Qwen3-8B","object":"model","created":1763700000,"owned_by":"vllm","root":"Qwen/Qwen3-8B","parent":null,"max_model_len":40960,"permission":[{"id":"modelperm-1"}]}]}`,
			[]Reported{{ID: "Qwen/Qwen3-8B", ContextWindow: 40960}}, 0,
		},
		"llama.cpp": {
			`{"models":[{"name":"m.gguf","model":"m.gguf","type":"model"}],"object":"list","data":[{"id":"m.gguf","object":"model","created":1763700000,"owned_by":"llamacpp","meta":{"vocab_type":2,"n_vocab":151936,"n_ctx_train":40960}}]}`,
			[]Reported{{ID: "m.gguf"}}, 0,
		},
		"a gateway": {
			`{"data":[{"id":"meta/llama-4","name":"Meta: Llama 4","context_length":1048576,"architecture":{"modality":"text->text"},"pricing":{"prompt":"0.00000015"},"top_provider":{"context_length":1048576,"max_completion_tokens":16384,"is_moderated":false}}]}`,
			[]Reported{{ID: "meta/llama-4", ContextWindow: 1048576, MaxOutput: 16384}}, 0,
		},
		"a gateway that says null": {
			`{"data":[{"id":"a","context_length":null,"top_provider":{"max_completion_tokens":null}}]}`,
			[]Reported{{ID: "a"}}, 0,
		},
		"none": {`{"object":"list","data":[]}`, nil, 0},
		"names that nobody can write, and figures that cannot be": {
			`{"data":[{"id":""},{"id":"two words"},{"id":"line\nbreak"},{"id":"\u202eevil"},{"id":"` + strings.Repeat("x", 300) + `"},{"id":"ok","context_length":-5},{"id":"ok"},{"id":"big","context_length":900000000000}]}`,
			[]Reported{{ID: "ok"}, {ID: "big"}}, 5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, without, err := ParseReport([]byte(tc.text))
			if diff := cmp.Diff(tc.want, got); diff != "" || without != tc.without || err != nil {
				t.Errorf("without %d, %v\n%s", without, err, diff)
			}
		})
	}
	for _, text := range []string{"", "<html>", "[]", "{}", `{"data":{}}`, `{"data":[1]}`, `{"data":[` + strings.Repeat(`{},`, maxReported) + `{}]}`} {
		if got, _, err := ParseReport([]byte(text)); err == nil {
			t.Errorf("ParseReport(%.20q) = %v", text, got)
		}
	}
}

// A report adds models and figures; it takes nothing away, and what a person has
// declared stays.
func TestReports(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	o := declared()
	o.Reports = func() []Report {
		return []Report{
			{Provider: "fake", BaseURL: "http://127.0.0.1:9999/v1", At: at, Models: []Reported{
				{ID: "text", ContextWindow: 7, MaxOutput: 7}, {ID: "gpt-5", ContextWindow: 5000}, {ID: "more", ContextWindow: 9000}, {ID: "claude-opus-5-5"},
			}},
			{Provider: "gateway", BaseURL: "http://127.0.0.1:1/moved", At: at, Models: []Reported{{ID: "elsewhere"}}},
			{Provider: "nobody", BaseURL: "http://127.0.0.1:1", At: at, Models: []Reported{{ID: "x"}}},
			{Provider: "anthropic", BaseURL: "https://api.anthropic.com", At: at, Models: []Reported{{ID: "claude-opus-5-5", ContextWindow: 123}, {ID: "bad name"}}},
		}
	}
	c := New(o)
	for _, tc := range []struct {
		text, model string
		window      int
		layer       source.Layer
		reported    bool
	}{
		{"fake/text", "fake/text", 128000, source.User, false},
		{"fake/gpt-5", "fake/gpt-5", 5000, source.Server, false},
		{"more", "fake/more", 9000, source.Server, true},
		{"claude-opus-5-5", "anthropic/claude-opus-5-5", 1000000, source.Builtin, false}, // a report with a name that cannot be counts as none
		{"fast", "fake/text", 128000, source.User, false},
	} {
		r, err := c.Lookup(Ref{Text: tc.text})
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := r.Origin("context-window").Layer; r.Model.String() != tc.model || r.Model.ContextWindow != tc.window || got != tc.layer || r.Reported.IsZero() == tc.reported {
			t.Errorf("%s: %s with a window of %d by %s, reported %v", tc.text, r.Model, r.Model.ContextWindow, got, r.Reported)
		}
	}
	for _, text := range []string{"elsewhere", "x", "fake/unknown"} {
		if r, err := c.Lookup(Ref{Text: text}); err == nil {
			t.Errorf("%s is %s", text, r.Model)
		}
	}
}

// FuzzParseReport: whatever a server answers, what is kept of it is bounded and can
// be written in a reference.
func FuzzParseReport(f *testing.F) {
	f.Add([]byte(`{"data":[{"id":"a","context_length":5},{"id":"a"},{"id":"b b"}]}`))
	f.Add([]byte(`{"models":[{"name":"x:latest"}]}`))
	f.Add([]byte(`{"data":null,"models":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		models, _, err := ParseReport(data)
		if err != nil && models != nil {
			t.Fatalf("%v with the error %v", models, err)
		}
		r := Report{Provider: "ollama", BaseURL: "http://localhost:11434/v1", Models: models}
		if !r.Valid() {
			t.Fatalf("%v is not valid", models)
		}
		c := New(Options{Reports: func() []Report { return []Report{r} }})
		for _, m := range models {
			if got, err := c.Lookup(Ref{Provider: "ollama", Text: m.ID}); err == nil && got.Model.ID != m.ID && got.Model.ID != strings.TrimPrefix(m.ID, "ollama/") {
				t.Fatalf("%q is %s", m.ID, got.Model)
			}
		}
	})
}
