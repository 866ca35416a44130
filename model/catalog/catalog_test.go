package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSnapshot keeps the embedded file whole: real providers with sources, and
// every model with its figures.
func TestSnapshot(t *testing.T) {
	d := json.NewDecoder(bytes.NewReader(modelsJSON))
	d.DisallowUnknownFields()
	var s struct {
		snapshot
		Prices string `json:"prices"`
	}
	if err := d.Decode(&s); err != nil {
		t.Fatal(err)
	}
	var sourced []string
	for _, src := range s.Sources {
		sourced = append(sourced, src.Provider)
		if _, err := time.Parse(time.DateOnly, src.AsOf); err != nil || !strings.HasPrefix(src.URL, "https://") {
			t.Errorf("source %+v", src)
		}
	}
	for _, p := range s.Providers {
		if !slices.Contains(APIs(), p.API) {
			t.Errorf("%s: api %q", p.Name, p.API)
		}
		paid := p.KeyEnv != ""
		if paid != slices.Contains(sourced, p.Name) {
			t.Errorf("%s: a provider with prices has a source, others have none", p.Name)
		}
		ids := map[string]bool{}
		for _, m := range p.Models {
			if ids[m.ID] || m.ID == "" || m.ContextWindow < 8192 || m.MaxOutput < 4096 || m.MaxOutput > m.ContextWindow {
				t.Errorf("%s/%s: %+v", p.Name, m.ID, m)
			}
			if paid && !(m.Input > 0 && m.Output > m.Input && m.CacheRead > 0 && m.CacheRead < m.Input && m.CacheWrite >= m.Input) {
				t.Errorf("%s/%s: prices %+v", p.Name, m.ID, m)
			}
			ids[m.ID] = true
		}
		if p.Default != "" && !p.AnyModel && !ids[p.Default] {
			t.Errorf("%s: the default %s is no model of it", p.Name, p.Default)
		}
	}
	c := New(Options{})
	for alias := range s.Aliases {
		if _, err := c.Lookup(Ref{Text: alias}); err != nil {
			t.Errorf("alias %s: %v", alias, err)
		}
	}
	for _, info := range c.List() {
		if r, err := c.Lookup(Ref{Text: info.Provider + "/" + info.ID}); err != nil || r.Model.ContextWindow != info.ContextWindow {
			t.Errorf("%s/%s is listed and not found: %v", info.Provider, info.ID, err)
		}
	}
	if len(c.Sources()) != 3 {
		t.Errorf("sources: %+v", c.Sources())
	}
}

func TestListSaysWhatIsConfigured(t *testing.T) {
	o := declared()
	o.Getenv = env(map[string]string{"FAKE_KEY": "k"})
	got := map[string]bool{}
	for _, i := range New(o).List() {
		got[i.Provider+"/"+i.ID] = i.Configured
	}
	for id, want := range map[string]bool{"fake/text": true, "anthropic/my-tune": false, "builtin/demo": true} {
		if configured, ok := got[id]; !ok || configured != want {
			t.Errorf("%s: listed %v, configured %v", id, ok, configured)
		}
	}
}

func TestDefault(t *testing.T) {
	for _, c := range []struct {
		name       string
		vars       map[string]string
		options    DefaultOptions
		want, from string
	}{
		{"Anthropic's key", map[string]string{"ANTHROPIC_API_KEY": "k"}, DefaultOptions{}, "anthropic/claude-sonnet-5-5", "$ANTHROPIC_API_KEY"},
		{"Google's key", map[string]string{"GEMINI_API_KEY": "k"}, DefaultOptions{}, "google/gemini-3.8-flash", "$GEMINI_API_KEY"},
		{"a protocol that cannot be spoken is passed over", map[string]string{"GEMINI_API_KEY": "k", "OLLAMA_HOST": "h"}, DefaultOptions{APIs: []string{APIOpenAIChat}}, "ollama/gemma4", "$OLLAMA_HOST"},
		{"a key goes before a local Ollama", map[string]string{"OPENAI_API_KEY": "k"}, DefaultOptions{Probe: func() string { return "x" }}, "openai/gpt-6.2-sol", "$OPENAI_API_KEY"},
		{"what the probe finds", map[string]string{"OLLAMA_HOST": "h"}, DefaultOptions{Probe: func() string { return "qwen3:8b" }}, "ollama/qwen3:8b", "the local Ollama"},
		{"the probe finds nothing", nil, DefaultOptions{Probe: func() string { return "" }}, "", ""},
		{"nothing at all", nil, DefaultOptions{Where: "profiles/a.md"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, from, err := New(Options{Getenv: env(c.vars)}).Default(c.options)
			if c.want == "" {
				if !errors.Is(err, ErrMissing) {
					t.Fatalf("error = %v", err)
				}
				for _, says := range []string{"model: provider/model-id", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "--model builtin/demo", c.options.Where} {
					if !strings.Contains(err.Error(), says) {
						t.Errorf("error %q does not say %q", err, says)
					}
				}
				return
			}
			if err != nil || r.Model.String() != c.want || from != c.from {
				t.Errorf("Default = %s from %s, %v", r.Model, from, err)
			}
		})
	}
}

func TestAccess(t *testing.T) {
	const key = "sk-hunter2"
	o := Options{
		Providers: []Provider{{Name: "gate", API: val(APIOpenAIChat), BaseURL: val("https://g.example/v1"),
			Headers: val([]Header{{"X-Plain", "a ${not closed"}, {"X-Token", "Bearer ${GATE_TOKEN}!"}})}},
		Getenv: env(map[string]string{"ANTHROPIC_API_KEY": " " + key + "\n", "GATE_TOKEN": key}),
	}
	c := New(o)
	lookup := func(ref string) Resolved {
		t.Helper()
		r, err := c.Lookup(Ref{Text: ref})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	a, err := c.Access(lookup("opus"))
	if err != nil || a.Key.Reveal() != key {
		t.Errorf("key = %q, %v", a.Key.Reveal(), err)
	}
	if a, err = c.Access(lookup("ollama/x")); err != nil || !a.Key.Empty() || a.Key.Reveal() != "" {
		t.Errorf("a local provider needs no key: %+v, %v", a, err)
	}
	if a, err = c.Access(lookup("gate/x")); err != nil || a.Values[0].Reveal() != "a ${not closed" || a.Values[1].Reveal() != "Bearer "+key+"!" {
		t.Errorf("headers = %v, %v", a.Values, err)
	}
	_, err = c.Access(lookup("openai/gpt-5"))
	if !errors.Is(err, ErrMissingKey) || !strings.Contains(err.Error(), "or name a model of another provider and set GEMINI_API_KEY (google)") {
		t.Fatalf("error = %v", err)
	}
	for _, says := range []string{"openai/gpt-5", "OPENAI_API_KEY", "anthropic", "--model builtin/demo"} {
		if !strings.Contains(err.Error(), says) {
			t.Errorf("error %q does not say %q", err, says)
		}
	}
	o.Getenv = nil
	_, err = New(o).Access(lookup("gate/x"))
	if !errors.Is(err, ErrMissingKey) || !strings.Contains(err.Error(), "GATE_TOKEN") || !strings.Contains(err.Error(), "X-Token") {
		t.Errorf("error = %v", err)
	}
}

func TestSecretsDoNotShow(t *testing.T) {
	const text = "hunter2hunter2"
	type inner struct{ key Secret }
	s := NewSecret(text)
	nested := struct {
		Secret Secret
		inner  inner
		List   []Secret
	}{s, inner{s}, []Secret{s}}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("m", "secret", s, "nested", nested)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("m", "secret", s, "nested", nested)
	data, err := json.Marshal(nested)
	if err != nil {
		t.Fatal(err)
	}
	for _, shown := range []string{
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %s %q %x", s, s, s, s, s, s), fmt.Sprintf("%v %+v %#v", nested, nested, nested),
		fmt.Sprintf("%v", &nested), string(data), log.String(), fmt.Errorf("key %v", s).Error(),
	} {
		if strings.Contains(shown, "hunter2") || regexp.MustCompile("68756e74").MatchString(shown) {
			t.Errorf("a secret shows: %s", shown)
		}
	}
	if s.Reveal() != text {
		t.Error("Reveal does not reveal")
	}
}

func TestOllamaURL(t *testing.T) {
	for host, want := range map[string]string{
		"":                      "",
		"box":                   "http://box:11434/v1",
		"box:8080":              "http://box:8080/v1",
		"0.0.0.0":               "http://127.0.0.1:11434/v1",
		"[::]:8080":             "http://127.0.0.1:8080/v1",
		":8080":                 "http://127.0.0.1:8080/v1",
		"[::1]":                 "http://[::1]:11434/v1",
		"http://box:1/ollama/":  "http://box:1/ollama/v1",
		"https://box.example":   "https://box.example/v1",
		"https://[2001:db8::1]": "https://[2001:db8::1]/v1",
		"ftp://box":             "",
		"http://u:p@box":        "",
		"http://%zz":            "",
	} {
		if got := ollamaURL(host); got != want {
			t.Errorf("ollamaURL(%q) = %q, want %q", host, got, want)
		}
	}
	c := New(Options{Getenv: env(map[string]string{"OLLAMA_HOST": "box"})})
	if r, err := c.Lookup(Ref{Text: "ollama/x"}); err != nil || r.Endpoint.BaseURL != "http://box:11434/v1" {
		t.Errorf("%+v, %v", r.Endpoint, err)
	}
}

func BenchmarkLookup(b *testing.B) {
	c := New(declared())
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Lookup(Ref{Text: "anthropic/claude-opus-5-5"}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstLookup reads the snapshot.
func BenchmarkFirstLookup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(Options{}).Lookup(Ref{Text: "sonnet"}); err != nil {
			b.Fatal(err)
		}
	}
}

func TestKeysOfProvidersThatCannotBeSpokenToAreNotSuggested(t *testing.T) {
	c := New(Options{APIs: []string{APIOpenAIResponses, APIAnthropic}})
	_, _, err := c.Default(DefaultOptions{})
	if err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") || strings.Contains(err.Error(), "GEMINI") {
		t.Errorf("got %v", err)
	}
}
