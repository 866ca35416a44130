package resolve

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/trust"
)

const fake = `
providers:
  fake:
    api: openai-chat
    base-url: http://127.0.0.1:9999/v1
    models: {text: {context-window: 128000, max-output: 8192, input-price: 1}, other: {}}
`

type world struct {
	dir  string
	vars map[string]string
}

// newWorld makes a workspace of files; roster.yaml is the workspace's.
func newWorld(t testing.TB, files map[string]string) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &world{dir: dir, vars: map[string]string{"ROSTER_HOME": filepath.Join(dir, "home")}}
}

func (w *world) getenv(name string) string { return w.vars[name] }

func (w *world) lookup(name string) (string, bool) {
	v, ok := w.vars[name]
	return v, ok
}

// input reads the configuration and the profile.
func (w *world) input(t testing.TB, file, text string) Input {
	t.Helper()
	cfg, _, err := config.Load(config.Options{Dir: w.dir, Exact: true, Getenv: w.getenv})
	if err != nil {
		t.Fatal(err)
	}
	p, ds := dialect.Decode(file, []byte(text))
	if p == nil {
		t.Fatal(ds)
	}
	return Input{Profile: p, Config: cfg, Models: cfg.Catalog(catalog.Options{Getenv: w.getenv}), LookupEnv: w.lookup, Platform: "linux/amd64", Trust: trust.Everything()}
}

// cloned is the same in a workspace that nobody has trusted.
func (w *world) cloned(t testing.TB, file, text string) Input {
	t.Helper()
	in := w.input(t, file, text)
	var err error
	if in.Trust, err = (trust.Files{Home: w.vars["ROSTER_HOME"]}).View(w.dir); err != nil {
		t.Fatal(err)
	}
	return in
}

const reviewer = `---
name: reviewer
description: Reviews.
model: fake/text
temperature: 0.3
tools: [read, grep]
tool-settings: {read: {limit: 100}}
permission:
  bash: {"*": deny, "git *": allow}
limits: {turns: 20}
---
You review.
`

func TestLayers(t *testing.T) {
	w := newWorld(t, map[string]string{
		"roster.yaml": fake + "defaults: {temperature: 0.9, top-p: 0.5, limits: {turns: 5, tokens: 1000}, permission: {webfetch: deny}, tool-settings: {read: {limit: 7, max-line-length: 9}}}\n",
	})
	in := w.input(t, "profiles/reviewer.md", reviewer)
	in.Overrides = map[string]string{"temperature": "0.1"}
	in.Flags = map[string]string{"max-turns": "3", "permission.bash": "ask"}
	s, ds, err := Spec(in)
	if err != nil || len(ds) > 0 {
		t.Fatal(ds, err)
	}
	ws := config.File
	own := func(line, column int) source.Origin {
		return source.Origin{Layer: source.Profile, File: "profiles/reviewer.md", Line: line, Column: column}
	}
	def := func(line, column int) source.Origin {
		return source.Origin{Layer: source.Defaults, File: ws, Line: line, Column: column}
	}
	builtin := source.Origin{Layer: source.Builtin}
	for key, want := range map[string]spec.Trace{
		"name":               {Origin: own(2, 1)},
		"mode":               {Origin: builtin},
		"model":              {Origin: own(4, 1)},
		"provider":           {Origin: own(4, 1)},
		"context-window":     {Origin: source.Origin{Layer: source.Defaults, File: ws, Line: 6, Column: 21}},
		"temperature":        {Origin: source.Origin{Layer: source.Override}, Overrode: []source.Origin{def(7, 12), own(5, 1)}},
		"top-p":              {Origin: def(7, 30)},
		"tools":              {Origin: own(6, 1), Overrode: []source.Origin{builtin}},
		"tool-settings.read": {Origin: own(7, 17), Overrode: []source.Origin{def(7, 122)}},
		"limits.turns":       {Origin: source.Origin{Layer: source.Flag}, Overrode: []source.Origin{builtin, def(7, 51), own(10, 10)}},
		"limits.tokens":      {Origin: def(7, 61), Overrode: []source.Origin{builtin}},
		"limits.duration":    {Origin: builtin},
		"permission":         {Origin: source.Origin{Layer: source.Flag}},
		"system-prompt":      {Origin: own(12, 1)},
		"default-permission": {Origin: builtin},
		spec.Environment:     {Origin: builtin},
	} {
		if diff := cmp.Diff(want, s.Origins[key]); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
	if *s.Params.Temperature != 0.1 || *s.Params.TopP != 0.5 || s.Limits.Turns != 3 || s.Limits.Tokens != 1000 || s.Limits.Duration != 10*time.Minute {
		t.Errorf("params %+v, limits %+v", s.Params, s.Limits)
	}
	if got := string(s.ToolSettings["read"]); got != `{"limit":100,"max-line-length":9}` {
		t.Errorf("tool-settings.read = %s", got)
	}
	if s.Limits.Set["turns"] != "flag" || s.Limits.Set["tokens"] != ws+":7:61" || s.Limits.Set["cost"] != "" {
		t.Errorf("limits are set at %v", s.Limits.Set)
	}
	var rules []string
	for _, r := range s.Rules[len(permission.Builtin()):] {
		rules = append(rules, string(r.At.Layer)+" "+r.Tool+" "+r.Subject+" "+r.Effect.String())
	}
	want := []string{"defaults webfetch * deny", "profile bash * deny", "profile bash git * allow", "flag bash * ask"}
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("rules after the built-in ones: %s", diff)
	}
	if s.Prompt[0].Name != spec.Profile || s.Prompt[0].Text != "You review." || s.Prompt[1].Name != spec.Environment {
		t.Errorf("prompt = %+v", s.Prompt)
	}
}

func TestBuiltinDefaults(t *testing.T) {
	w := newWorld(t, nil)
	s, _, err := Spec(w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\n---\nHi.\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := spec.Spec{
		Files: []string{"AGENTS.md", "CLAUDE.md"},
		Name:  "a", Mode: "all", Revision: s.Revision, ProfileID: s.ProfileID, ConfigID: s.ConfigID, AllTools: true, Tools: []string{},
		Model:             spec.Model{Provider: "builtin", ID: "demo", ContextWindow: 200_000, MaxOutput: 8192, Thinking: []string{}},
		Prompt:            s.Prompt,
		Rules:             permission.Builtin(),
		HostRules:         []permission.Rule{},
		DefaultPermission: permission.Ask,
		Limits: spec.Limits{Turns: 50, Tokens: 1_000_000, Duration: 10 * time.Minute,
			Set: map[string]string{"turns": "builtin", "tokens": "builtin", "duration": "builtin"}},
		Retry:         spec.Retry{Max: 3, Base: time.Second, Factor: 2, Cap: 30 * time.Second},
		ToolExecution: spec.ToolExecution{Strategy: "parallel"},
		Cache:         "auto",
		Steering:      spec.OneAtATime,
		FollowUp:      spec.OneAtATime,
		Context:       spec.Context{CompactAt: 0.85, KeepFirst: 2, KeepRecent: 10, Strategy: "summary", MaxResult: 6000},
		Habits:        spec.Habits{IterationBudget: true, GoalAnchoring: 5, AntiStall: 8},
		Subagents:     spec.Subagents{MaxDepth: 3},
		SkillsBudget:  6000,
		Trusted:       true, Workspace: w.dir,
		Origins: s.Origins,
	}
	if diff := cmp.Diff(&want, s); diff != "" {
		t.Error(diff)
	}
}

func TestHostCaps(t *testing.T) {
	w := newWorld(t, map[string]string{
		"roster.yaml": fake + "policy: {limits: {turns: 10, cost: 2, duration: 1h}, permission: [{tool: bash, subject: \"rm *\", effect: deny}]}\n",
	})
	in := w.input(t, "profiles/reviewer.md", reviewer)
	in.Flags = map[string]string{"max-turns": "1000"}
	s, _, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	if s.Limits.Turns != 10 || s.Limits.Cost != 2 || s.Limits.Duration != 10*time.Minute {
		t.Errorf("limits = %+v", s.Limits)
	}
	if tr := s.Origins["limits.turns"]; tr.Origin.Layer != source.Host || tr.Overrode[len(tr.Overrode)-1].Layer != source.Flag {
		t.Errorf("limits.turns: %+v", tr)
	}
	if len(s.HostRules) != 1 || s.HostRules[0].At.Layer != source.Host || s.HostRules[0].Subject != "rm *" {
		t.Errorf("host rules = %+v", s.HostRules)
	}
}

func TestModelChoice(t *testing.T) {
	const plain = "---\nname: a\n---\nHi.\n"
	for _, c := range []struct {
		name, defaults, profile string
		vars, flags             map[string]string
		inherit                 *spec.Model
		probe                   string
		want                    string
		err                     error
		says                    string
	}{
		{name: "the profile's", profile: "---\nmodel: fake/text\n---\n.", want: "fake/text"},
		{name: "the workspace's default", defaults: "model: fake/text", profile: plain, want: "fake/text"},
		{name: "the flag's", profile: "---\nmodel: fake/text\n---\n.", flags: map[string]string{"model": "fake/other"}, want: "fake/other"},
		{name: "a flag against a profile's provider", profile: "---\nprovider: openai\nmodel: gpt-5\n---\n.", flags: map[string]string{"model": "builtin/demo"}, want: "builtin/demo"},
		{name: "a bare flag keeps the profile's provider", profile: "---\nprovider: openai\nmodel: gpt-5\n---\n.", flags: map[string]string{"model": "gpt-4o"}, want: "openai/gpt-4o"},
		{name: "a profile's reference against the default provider", defaults: "provider: openai, model: gpt-5", profile: "---\nmodel: fake/text\n---\n.", want: "fake/text"},
		{name: "a provider that is set keeps what it does not have an error", profile: "---\nprovider: openai\nmodel: gpt-5\n---\n.", flags: map[string]string{"model": "claude-sonnet"}, err: catalog.ErrUnknownModel, says: "check provider:"},
		{name: "inherit with nobody who delegates", defaults: "model: fake/text", profile: "---\nmodel: inherit\n---\n.", want: "fake/text"},
		{name: "inherit", defaults: "model: fake/text", profile: "---\nmodel: inherit\n---\n.", inherit: &spec.Model{Provider: "fake", ID: "other"}, want: "fake/other"},
		{name: "a key in the environment", profile: plain, vars: map[string]string{"OPENAI_API_KEY": "k"}, want: "openai/gpt-6.2-sol"},
		{name: "the first of two keys", profile: plain, vars: map[string]string{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}, want: "anthropic/claude-sonnet-5-5"},
		{name: "a local Ollama that is named", profile: plain, vars: map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}, want: "ollama/gemma4"},
		{name: "a local Ollama that answers", profile: plain, probe: "qwen3:8b", want: "ollama/qwen3:8b"},
		{name: "nothing", profile: plain, err: catalog.ErrMissing, says: "--model builtin/demo"},
		{name: "a provider alone", profile: "---\nprovider: openai\n---\n.", err: catalog.ErrMissing, says: "profiles/a.md:2:1: no model: provider openai is set"},
		{name: "a malformed override does not fall back", defaults: "model: fake/text", profile: "---\nmodel: /x\n---\n.", err: catalog.ErrMalformed, says: "agent override"},
		{name: "a malformed default", defaults: "model: /x", profile: plain, err: catalog.ErrMalformed, says: "runtime default"},
		{name: "an unknown provider", profile: "---\nmodel: fak/text\n---\n.", err: catalog.ErrUnknownProvider, says: "did you mean fake"},
		{name: "an unknown model", profile: "---\nmodel: fake/tex\n---\n.", err: catalog.ErrUnknownModel, says: "profiles/a.md:2:1: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": fake + "defaults: {" + c.defaults + "}\n"})
			for k, v := range c.vars {
				w.vars[k] = v
			}
			in := w.input(t, "profiles/a.md", c.profile)
			in.Flags, in.Inherit = c.flags, c.inherit
			if c.probe != "" {
				in.Default.Probe = func() string { return c.probe }
			}
			s, _, err := Spec(in)
			if c.err != nil {
				in.Lookable = true
				if s, ds, looked := Spec(in); errors.Is(err, catalog.ErrMissing) {
					if looked != nil || s.Model.String() != "" || len(ds) != 1 || ds[0].Code != CodeNoModel {
						t.Errorf("to be looked at it is %v, %v, %v", s, ds, looked)
					}
				} else if looked == nil {
					t.Error("it may be looked at")
				}
				if !errors.Is(err, c.err) || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("error = %v, want %v that says %q", err, c.err, c.says)
				}
				return
			}
			if err != nil || s.Model.String() != c.want {
				t.Fatalf("model = %v, %v, want %s", s, err, c.want)
			}
		})
	}
}

func TestScriptFiles(t *testing.T) {
	w := newWorld(t, map[string]string{"a.yaml": "replies: []"})
	in := w.input(t, "profiles/a.md", "---\nmodel: script:a.yaml\n---\n.")
	s, _, err := Spec(in)
	if err != nil || s.Model.ID != filepath.Join(w.dir, "a.yaml") || s.Model.ContextWindow != 200_000 {
		t.Fatalf("model = %+v, %v", s, err)
	}
	again, err := in.Models.Lookup(catalog.Ref{Provider: s.Model.Provider, Text: s.Model.ID})
	if err != nil || again.Endpoint.BaseURL != s.Model.ID {
		t.Errorf("the spec's model is not found again: %+v, %v", again, err)
	}
	_, _, err = Spec(w.input(t, "profiles/a.md", "---\nmodel: script:/etc/x.yaml\n---\n."))
	if err == nil || !strings.Contains(err.Error(), "outside of the workspace") {
		t.Errorf("a profile names a script outside: %v", err)
	}
	in = w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\n---\n.")
	in.Flags = map[string]string{"model": "script:/elsewhere/x.yaml"}
	if s, _, err := Spec(in); err != nil || s.Model.ID != "/elsewhere/x.yaml" {
		t.Errorf("a flag names a script: %v, %v", s, err)
	}
}

func TestSampling(t *testing.T) {
	w := newWorld(t, nil)
	in := w.input(t, "profiles/a.md", "---\nmodel: anthropic/claude-opus-5-5\ntemperature: 0.2\n---\n.")
	s, ds, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	if s.Params.Temperature != nil || len(ds) != 1 || ds[0].Code != CodeSampling || ds[0].Line != 3 {
		t.Errorf("temperature %v, diagnostics %+v", s.Params.Temperature, ds)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, profile string
		flags         map[string]string
		workspace     string
		says          []string
	}{
		{name: "an unknown override", flags: map[string]string{"temprature": "1"}, says: []string{"flag: ", "temprature", `did you mean "temperature"?`}},
		{name: "an unknown override below a key", flags: map[string]string{"limits.turn": "1"}, says: []string{`did you mean "limits.turns"?`}},
		{name: "two wrong overrides at once", flags: map[string]string{"temperature": "hot", "mode": "odd"}, says: []string{"temperature takes a number", "mode takes all, primary, subagent"}},
		{name: "a number out of range", flags: map[string]string{"temperature": "9"}, says: []string{"0 to 2"}},
		{name: "no turns at all", flags: map[string]string{"max-turns": "0"}, says: []string{"1 or more"}},
		{name: "braces that are no YAML", flags: map[string]string{"limits": "{a: ["}, says: []string{"limits: "}},
		{name: "a map where a number is expected", flags: map[string]string{"temperature": "{a: 1}"}, says: []string{"temperature takes a number"}},
		{name: "a name of its own", flags: map[string]string{"name": "x"}, says: []string{"a profile's own"}},
		{name: "a variable that is not set", profile: "---\nmodel: builtin/demo\npermission: {read: {\"$NOWHERE/*\": allow}}\n---\n.", says: []string{"profiles/a.md:3:", "NOWHERE"}},
		{name: "a prompt file that is not there", profile: "---\nmodel: builtin/demo\nsystem-prompt: file:none.md\n---\n.", says: []string{"profiles/a.md:3:1: ", "none.md"}},
		{name: "a timeout over the longest", profile: "---\nmodel: builtin/demo\ntool-settings: {bash: {timeout: 20m}}\n---\n.", says: []string{"profiles/a.md:3:17: tool-settings.bash.timeout: 20m0s is more than max-timeout, which is 10m0s"}},
		{name: "a workspace outside", profile: "---\nmodel: builtin/demo\nworkspace: ../up\n---\n.", says: []string{"profiles/a.md:3:1: workspace: ../up is outside of"}},
		{name: "a workspace that is not there", profile: "---\nmodel: builtin/demo\nworkspace: sub\n---\n.", says: []string{"profiles/a.md:3:1: workspace: "}},
		{name: "a run's workspace outside", workspace: "/", says: []string{"is outside of"}},
		{name: "a workspace through a link", workspace: "link", says: []string{"workspace: "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			if err := os.Symlink(os.TempDir(), filepath.Join(w.dir, "link")); err != nil {
				t.Fatal(err)
			}
			if c.profile == "" {
				c.profile = "---\nmodel: builtin/demo\n---\n."
			}
			in := w.input(t, "profiles/a.md", c.profile)
			in.Flags, in.Workspace = c.flags, c.workspace
			_, _, err := Spec(in)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q does not say %q", err, want)
				}
			}
		})
	}
	w := newWorld(t, nil)
	in := w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\nsystem-prompt: file:none.md\n---\n.")
	if _, _, err := Spec(in); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("errors.Is(%v, fs.ErrNotExist) is false", err)
	}
	in = w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\n---\n.")
	in.Overrides = map[string]string{"nope": "1"}
	if _, _, err := Spec(in); !errors.Is(err, profile.SchemaValidation) {
		t.Errorf("errors.Is(%v, SchemaValidation) is false", err)
	}
}

func TestKeysTakeWhatFilesTake(t *testing.T) {
	if _, err := Keys(source.Flag, map[string]string{"model": "gemma4:31b", "maxOutput": ""}); err == nil {
		t.Fatal("maxOutput is no profile key")
	}
	p, err := Keys(source.Flag, map[string]string{
		"model": "gemma4:31b", "system_prompt": "Be brief: {yes}", "temperature": "0.5", "tools": "read, grep",
		"limits": "{tokens: 9, cost: 1.5}", "limits.turns": "4", "permission": "{bash: {\"*\": deny}}", "description": "[draft]",
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.Model.V != "gemma4:31b" || p.SystemPrompt.V != "Be brief: {yes}" || p.Temperature.V != 0.5 || p.Description.V != "[draft]" ||
		!slices.Equal(p.Tools.V.Names, []string{"read", "grep"}) || p.Limits.Turns.V != 4 || p.Limits.Tokens.V != 9 ||
		len(p.Permission) != 1 || p.Permission[0].Effect != permission.Deny {
		t.Errorf("keys = %+v", p)
	}
}

func TestDialects(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake})
	s, _, err := Spec(w.input(t, "rig/profiles/fast.md", "---\nname: fast\nprovider: fake\nmodel: text\ntools:\n- read\n- bash\nsystem-prompt: Be fast.\n---\n# Documentation\n"))
	if err != nil {
		t.Fatal(err)
	}
	if s.AllTools || !slices.Equal(s.Tools, []string{"read", "bash"}) || s.Prompt[0].Text != "Be fast." {
		t.Errorf("spec = %+v", s)
	}
	e, err := permission.Compile(permission.Layers{Rules: s.Rules, Default: s.DefaultPermission})
	if err != nil {
		t.Fatal(err)
	}
	if d := e.Decide(permission.Query{Tool: "bash", Subject: "ls"}); d.Effect != permission.Allow || d.Rule == nil || d.Rule.At.Line != 5 {
		t.Errorf("the list grants bash: %+v, rule %+v", d, d.Rule)
	}
	s, _, err = Spec(w.input(t, "agent/x.md", "---\ndescription: X.\nmodel: fake/text\npermission: {edit: deny}\n---\nHi.\n"))
	if err != nil {
		t.Fatal(err)
	}
	e, err = permission.Compile(permission.Layers{Rules: s.Rules, Default: s.DefaultPermission})
	if err != nil {
		t.Fatal(err)
	}
	if d := e.Decide(permission.Query{Tool: "write", Subject: "a"}); d.Effect != permission.Deny {
		t.Errorf("edit decides write in opencode: %+v, rule %+v", d, d.Rule)
	}
}

func TestSubjectsAreExpanded(t *testing.T) {
	w := newWorld(t, nil)
	w.vars["HOME"] = "/home/u"
	s, _, err := Spec(w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\npermission: {external_directory: {\"~/notes/*\": allow}}\n---\n."))
	if err != nil {
		t.Fatal(err)
	}
	if last := s.Rules[len(s.Rules)-1]; last.Subject != "/home/u/notes/*" {
		t.Errorf("rule = %+v", last)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("limits.turns", "3")
	f.Add("permission.bash", "{\"*\": deny}")
	f.Add("a..b", "[")
	f.Add("tool-settings.read.limit", "1")
	f.Fuzz(func(t *testing.T, key, text string) {
		p, err := Keys(source.Flag, map[string]string{key: text, "model": "a/b"})
		if (p == nil) == (err == nil) {
			t.Fatalf("keys %v and error %v", p, err)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	w := newWorld(b, map[string]string{"roster.yaml": fake + "defaults: {temperature: 0.9}\n", "AGENTS.md": "Use tabs."})
	in := w.input(b, "profiles/reviewer.md", reviewer)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Spec(in); err != nil {
			b.Fatal(err)
		}
	}
}

func TestUnknownKeyBesideAProfileIsRefusedAsSuch(t *testing.T) {
	_, err := Keys(source.Flag, map[string]string{"temprature": "1"})
	if err == nil || !strings.Contains(err.Error(), "temprature is not a known key (") {
		t.Errorf("got %v", err)
	}
}
