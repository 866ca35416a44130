package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/source"
)

// written puts files beside those that placed makes.
func written(t *testing.T, o Options, workspace, user string) {
	t.Helper()
	for path, text := range map[string]string{
		filepath.Join(o.Getenv("ROSTER_HOME"), ModelsFile): user,
		filepath.Join(o.Dir, ModelsFile):                   workspace,
	} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Each layer replaces the ones before field by field, and every figure says where
// it is from: the snapshot, the user's models.yaml and roster.yaml, the
// workspace's models.yaml and roster.yaml.
func TestModelLayers(t *testing.T) {
	o := placed(t, `
providers:
  local: {models: {one: {input-price: 4}}}
aliases: {quick: local/one}
`, `
providers:
  local: {models: {one: {max-output: 20}}}
`, nil)
	written(t, o, `
providers:
  local:
    models:
      one: {output-price: 3}
      two: {}
aliases: {quick: local/two, slow: local/two}
`, `
providers:
  local:
    api: openai-chat
    base-url: http://127.0.0.1:9/v1
    key-env: LOCAL_KEY
    models:
      one: {context-window: 1000, max-output: 10, input-price: 1, output-price: 1}
  anthropic: {models: {claude-sonnet-4-6: {context-window: 5}}}
`)
	cfg, ds, err := Load(o)
	if err != nil || len(ds) > 0 {
		t.Fatalf("Load: %v, %v", ds, err)
	}
	user := o.Getenv("ROSTER_HOME")
	for _, tc := range []struct {
		ref, key, want string
		value          func(catalog.Resolved) float64
		is             float64
	}{
		{"local/one", "context-window", filepath.Join(user, ModelsFile) + ":8:13", func(r catalog.Resolved) float64 { return float64(r.Model.ContextWindow) }, 1000},
		{"local/one", "max-output", filepath.Join(user, File) + ":3:26", func(r catalog.Resolved) float64 { return float64(r.Model.MaxOutput) }, 20},
		{"local/one", "output-price", "models.yaml:5:13", func(r catalog.Resolved) float64 { return r.Model.Price.Output }, 3},
		{"local/one", "input-price", "roster.yaml:3:26", func(r catalog.Resolved) float64 { return r.Model.Price.Input }, 4},
		{"local/one", "base-url", filepath.Join(user, ModelsFile) + ":5:5", nil, 0},
		{"anthropic/claude-sonnet-4-6", "context-window", filepath.Join(user, ModelsFile) + ":9:44", func(r catalog.Resolved) float64 { return float64(r.Model.ContextWindow) }, 5},
		{"anthropic/claude-sonnet-4-6", "input-price", string(source.Builtin), func(r catalog.Resolved) float64 { return r.Model.Price.Input }, 3},
	} {
		t.Run(tc.ref+" "+tc.key, func(t *testing.T) {
			r, err := cfg.Catalog(catalog.Options{}).Lookup(catalog.Ref{Text: tc.ref})
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Origin(tc.key).String(); got != tc.want {
				t.Errorf("%s is from %s, want %s", tc.key, got, tc.want)
			}
			if tc.value != nil && tc.value(r) != tc.is {
				t.Errorf("%s = %v, want %v", tc.key, tc.value(r), tc.is)
			}
		})
	}
	for alias, want := range map[string]string{"quick": "local/one", "slow": "local/two"} {
		r, err := cfg.Catalog(catalog.Options{}).Lookup(catalog.Ref{Text: alias})
		if err != nil || r.Model.String() != want {
			t.Errorf("%s = %s, %v, want %s", alias, r.Model, err, want)
		}
	}
	if want := []string{ModelsFile, File, ModelsFile, File}; len(cfg.Files) != len(want) {
		t.Errorf("files = %v", cfg.Files)
	}
}

// What executes in the workspace's models.yaml has no effect until it is trusted,
// as in its roster.yaml.
func TestModelsFileIsNotTrusted(t *testing.T) {
	o := placed(t, "", "", nil)
	written(t, o, `
providers:
  far:
    api: openai-chat
    base-url: https://far.example/v1
    key-command: [touch, /tmp/ran]
    headers: {X-Key: "${HOME}"}
  anthropic: {base-url: https://far.example, key-env: OTHER}
`, "")
	cfg, ds, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	for _, d := range ds {
		if d.Code != CodeExecuting || d.File != ModelsFile || d.Line == 0 {
			t.Errorf("diagnostic %+v", d)
		}
		keys[d.Key] = true
	}
	for _, key := range []string{"providers.far.base-url", "providers.far.key-command", "providers.far.headers", "providers.anthropic.base-url", "providers.anthropic.key-env"} {
		if !keys[key] {
			t.Errorf("%s has an effect: %v", key, ds)
		}
	}
	c := cfg.Catalog(catalog.Options{})
	r, err := c.Lookup(catalog.Ref{Text: "anthropic/claude-sonnet-4-6"})
	if err != nil || strings.Contains(r.Endpoint.BaseURL, "far.example") || r.Endpoint.KeyEnv == "OTHER" {
		t.Errorf("anthropic is at %s with $%s, %v", r.Endpoint.BaseURL, r.Endpoint.KeyEnv, err)
	}
	if r, err = c.Lookup(catalog.Ref{Text: "far/x"}); err == nil {
		_, err = c.Access(r)
	}
	if err == nil {
		t.Error("a provider is used that nobody trusts")
	}
}

func TestModelsFileErrors(t *testing.T) {
	for name, tc := range map[string]struct{ text, says string }{
		"another key":     {"defaults: {temperature: 1}", "put defaults into roster.yaml"},
		"an unknown key":  {"provders: {}", `did you mean "providers"`},
		"no map":          {"- a", "a map"},
		"a bad variant":   {"providers: {p: {models: {m: {variants: {\"a/b\": {}}}}}}", "a word without"},
		"a quirk":         {"providers: {p: {quirks: {max-token: x}}}", `did you mean "max-tokens"`},
		"a quirk's value": {"providers: {p: {quirks: {call-ids: ten}}}", "call-ids takes any, nine"},
		"a variant's key": {"providers: {p: {models: {m: {variants: {hot: {temprature: 1}}}}}}", `did you mean "temperature"`},
		"its range":       {"providers: {p: {models: {m: {variants: {hot: {temperature: 9}}}}}}", "temperature is 9; it takes 0 to 2"},
	} {
		t.Run(name, func(t *testing.T) {
			o := placed(t, "", "", nil)
			written(t, o, tc.text, "")
			_, _, err := Load(o)
			if err == nil || !strings.Contains(err.Error(), ModelsFile+":1:") || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("Load: %v, want one that says %s", err, tc.says)
			}
		})
	}
}
