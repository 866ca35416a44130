package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

func val[T any](v T) profile.Value[T] {
	return profile.Value[T]{V: v, Set: true, At: source.Origin{Layer: source.User, File: "/home/u/roster.yaml", Line: 3}}
}

func env(vars map[string]string) func(string) string {
	return func(name string) string { return vars[name] }
}

func declared() Options {
	user := source.Origin{Layer: source.User, File: "/home/u/roster.yaml", Line: 9}
	return Options{
		Providers: []Provider{
			{Name: "fake", API: val("openai-chat"), BaseURL: val("http://127.0.0.1:9999/v1"), KeyEnv: val("FAKE_KEY"), Models: []Model{
				{ID: "text", ContextWindow: val(128000), MaxOutput: val(8192)},
				{ID: "gpt-5"},
			}},
			{Name: "gateway", API: val("openai-chat"), BaseURL: val("http://127.0.0.1:9998/v1")},
			{Name: "replies", API: val("script"), BaseURL: val("/ws/replies.yaml")},
			{Name: "half", BaseURL: val("http://127.0.0.1:1")},
			{Name: "anthropic", Models: []Model{
				{ID: "claude-sonnet-5-5", ContextWindow: val(500000)},
				{ID: "my-tune", Input: val(0.0)},
			}},
		},
		Aliases: []Alias{
			{Name: "fast", Target: "fake/text", At: user},
			{Name: "opus", Target: "fake/text", At: user},
			{Name: "quick", Target: "fast", At: user},
			{Name: "round", Target: "about", At: user},
			{Name: "about", Target: "round", At: user},
		},
	}
}

func TestLookup(t *testing.T) {
	c := New(declared())
	for _, tc := range []struct {
		name string
		ref  Ref
		want string // provider/id
	}{
		{"provider/model-id", Ref{Text: "anthropic/claude-opus-5-5"}, "anthropic/claude-opus-5-5"},
		{"provider:model-id", Ref{Text: "openai:gpt-6.2-sol"}, "openai/gpt-6.2-sol"},
		{"a colon after what is no provider belongs to the id", Ref{Text: "gemma4:31b-cloud", Provider: "ollama"}, "ollama/gemma4:31b-cloud"},
		{"split at the first slash only", Ref{Text: "gateway/meta/llama:8b"}, "gateway/meta/llama:8b"},
		{"the slash goes before the colon", Ref{Text: "ollama/gemma4:31b"}, "ollama/gemma4:31b"},
		{"a bare id that one provider has", Ref{Text: "gemini-2.5-pro"}, "google/gemini-2.5-pro"},
		{"a bare id with its provider", Ref{Text: "gpt-5", Provider: "openai"}, "openai/gpt-5"},
		{"with provider, a leading provider/ is dropped", Ref{Text: "openai/gpt-5", Provider: "openai"}, "openai/gpt-5"},
		{"with provider, the whole text is the id", Ref{Text: "anthropic/claude-x", Provider: "gateway"}, "gateway/anthropic/claude-x"},
		{"an alias of the snapshot", Ref{Text: "sonnet"}, "anthropic/claude-sonnet-5-5"},
		{"an alias of the user", Ref{Text: "fast"}, "fake/text"},
		{"the user's alias wins over the snapshot's", Ref{Text: "opus"}, "fake/text"},
		{"an alias of an alias", Ref{Text: "quick"}, "fake/text"},
		{"a provider without a list takes any id", Ref{Text: "gateway/tool-3"}, "gateway/tool-3"},
		{"a declared model beside the snapshot's", Ref{Text: "anthropic/my-tune"}, "anthropic/my-tune"},
		{"the stand-in", Ref{Text: "builtin/demo"}, "builtin/demo"},
		{"a script by its file", Ref{Text: "script:dir/two words.yaml"}, "script/dir/two words.yaml"},
		{"a script by its provider, as a log has it", Ref{Text: "dir/a.yaml", Provider: "script"}, "script/dir/a.yaml"},
		{"a script provider takes any id", Ref{Text: "replies/anything"}, "replies/anything"},
		{"an inherited provider gives way to a known one", Ref{Text: "builtin/demo", Provider: "openai", Inherited: true}, "builtin/demo"},
		{"an inherited provider gives way to an alias", Ref{Text: "fast", Provider: "openai", Inherited: true}, "fake/text"},
		{"an inherited provider gives way to a script", Ref{Text: "script:a.yaml", Provider: "openai", Inherited: true}, "script/a.yaml"},
		{"an inherited provider keeps its own id", Ref{Text: "gpt-5", Provider: "openai", Inherited: true}, "openai/gpt-5"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := c.Lookup(tc.ref)
			if err != nil {
				t.Fatal(err)
			}
			if got.Model.String() != tc.want {
				t.Errorf("Lookup = %s, want %s", got.Model, tc.want)
			}
		})
	}
}

func TestLookupErrors(t *testing.T) {
	c := New(declared())
	at := source.Origin{Layer: source.Profile, File: "profiles/a.md", Line: 4, Column: 8}
	for _, tc := range []struct {
		name string
		ref  Ref
		kind error
		says []string
	}{
		{"empty", Ref{}, ErrMalformed, []string{"agent override", "is empty"}},
		{"blank", Ref{Text: "  "}, ErrMalformed, []string{"is empty"}},
		{"no provider before the slash", Ref{Text: "/gpt-5"}, ErrMalformed, []string{"lacks"}},
		{"no id after the slash", Ref{Text: "openai/"}, ErrMalformed, []string{"lacks"}},
		{"no id after the colon", Ref{Text: "openai:"}, ErrMalformed, []string{"lacks"}},
		{"only the provider's own prefix", Ref{Text: "openai/", Provider: "openai"}, ErrMalformed, []string{"lacks"}},
		{"a blank inside", Ref{Text: "openai/gpt 5"}, ErrMalformed, []string{"blank"}},
		{"a control character", Ref{Text: "openai/gpt\x00"}, ErrMalformed, []string{"control"}},
		{"a script without a file", Ref{Text: "script:"}, ErrMalformed, []string{"is empty"}},
		{"the runtime's default says so", Ref{Text: "/", Default: true}, ErrMalformed, []string{"runtime default"}},
		{"a bare id that nobody has", Ref{Text: "gemma4:31b-cloud"}, ErrMalformed, []string{"names no provider", "provider/model-id"}},
		{"a mistyped alias", Ref{Text: "sonet"}, ErrMalformed, []string{"did you mean sonnet"}},
		{"a bare id that two have", Ref{Text: "gpt-5"}, ErrMalformed, []string{"openai and fake", "write openai/gpt-5"}},
		{"aliases in a ring", Ref{Text: "round"}, ErrMalformed, []string{"leads back"}},
		{"unknown provider", Ref{Text: "antropic/claude-opus-5"}, ErrUnknownProvider, []string{`"antropic"`, "did you mean anthropic"}},
		{"unknown provider that is set", Ref{Text: "x", Provider: "nobody"}, ErrUnknownProvider, []string{`"nobody"`, "roster.yaml"}},
		{"unknown model", Ref{Text: "anthropic/claude-sonet-5-5"}, ErrUnknownModel, []string{"claude-sonet-5-5", "did you mean claude-sonnet-5-5"}},
		{"unknown model of a declared list", Ref{Text: "fake/texd"}, ErrUnknownModel, []string{"did you mean text", "providers.fake.models"}},
		{"a provider that is set does not have it", Ref{Text: "claude-sonnet", Provider: "openai"}, ErrUnknownModel, []string{"check provider:", "provider: anthropic"}},
		{"a set provider does not give way in its own layer", Ref{Text: "fake/text", Provider: "openai"}, ErrUnknownModel, []string{"check provider:"}},
		{"a provider without api", Ref{Text: "half/x"}, ErrUnknownProvider, []string{"providers.half.api"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.ref.At = at
			_, err := c.Lookup(tc.ref)
			if !errors.Is(err, tc.kind) {
				t.Fatalf("Lookup(%q) = %v, want %v", tc.ref.Text, err, tc.kind)
			}
			var me *ModelError
			if !errors.As(err, &me) || me.Name() != tc.kind.Error() {
				t.Errorf("errors.As gives %+v", me)
			}
			for _, want := range tc.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
			if me.At.File != "" && me.At.File != "/home/u/roster.yaml" && !strings.HasPrefix(err.Error(), "profiles/a.md:4:8: ") {
				t.Errorf("error %q does not begin with the place", err)
			}
		})
	}
}

func TestDeclarationsWinFieldByField(t *testing.T) {
	c := New(declared())
	got, err := c.Lookup(Ref{Text: "sonnet"})
	if err != nil {
		t.Fatal(err)
	}
	want := spec.Model{Provider: "anthropic", ID: "claude-sonnet-5-5", ContextWindow: 500000, MaxOutput: 128000,
		Price:      spec.Price{Input: 2, Output: 10, CacheRead: 0.1, CacheWrite: 2.5},
		NoSampling: true, ThinksAlone: true, Thinking: []string{"low", "medium", "high"}}
	if d := cmp.Diff(want, got.Model); d != "" {
		t.Error(d)
	}
	if got.Endpoint.KeyEnv != "ANTHROPIC_API_KEY" || got.Endpoint.API != "anthropic" {
		t.Errorf("endpoint = %+v", got.Endpoint)
	}
}

func TestScriptEndpoints(t *testing.T) {
	c := New(declared())
	for ref, want := range map[string]string{
		"script:dir/a.yaml": "dir/a.yaml",
		"replies/x":         "/ws/replies.yaml",
	} {
		got, err := c.Lookup(Ref{Text: ref})
		if err != nil {
			t.Fatal(err)
		}
		if got.Endpoint.BaseURL != want || got.Endpoint.API != "script" {
			t.Errorf("%s: endpoint %+v, want %s", ref, got.Endpoint, want)
		}
		if got.Model.ContextWindow != 200_000 {
			t.Errorf("%s: window %d", ref, got.Model.ContextWindow)
		}
	}
}

func FuzzLookup(f *testing.F) {
	for _, s := range []string{"a/b", "sonnet", "openai:gpt-5", "script:x.yaml", "/", ":", "a b", "fast", "\x00", "ollama/a:b/c"} {
		f.Add(s, "")
		f.Add(s, "openai")
	}
	c := New(declared())
	f.Fuzz(func(t *testing.T, text, provider string) {
		got, err := c.Lookup(Ref{Text: text, Provider: provider})
		if err != nil {
			var me *ModelError
			if !errors.As(err, &me) {
				t.Fatalf("not a *ModelError: %v", err)
			}
			return
		}
		if got.Model.Provider == "" || got.Model.ID == "" || got.Endpoint.API == "" {
			t.Fatalf("incomplete: %+v", got)
		}
		again, err := c.Lookup(Ref{Text: got.Model.ID, Provider: got.Model.Provider})
		if err != nil || !cmp.Equal(again.Model, got.Model) {
			t.Fatalf("what was resolved does not resolve to itself: %+v, %v", again, err)
		}
	})
}

func TestKeyVariables(t *testing.T) {
	c := New(Options{Providers: []Provider{{
		Name:    "own",
		KeyEnv:  profile.Value[string]{V: "ODD", Set: true},
		Headers: profile.Value[[]Header]{V: []Header{{"A", "x ${ONE}-${TWO}"}, {"B", "${"}}, Set: true},
	}}})
	names := c.KeyVariables()
	for _, want := range []string{"ODD", "ONE", "TWO", "ANTHROPIC_API_KEY"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not among %q", want, names)
		}
	}
}
