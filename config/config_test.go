package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// placed makes a workspace and a user's part with the files given, and the
// options to load them.
func placed(t *testing.T, workspace, user string, env map[string]string) Options {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, ws := filepath.Join(dir, "home"), filepath.Join(dir, "ws")
	for path, text := range map[string]string{filepath.Join(home, File): user, filepath.Join(ws, File): workspace} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Dir: ws, Exact: true, Getenv: func(name string) string {
		if name == "ROSTER_HOME" {
			return home
		}
		return env[name]
	}}
}

const pinned = `
defaults: {model: anthropic/claude-sonnet-4-5, temperature: 0.2}      # any profile key
providers:
  fake:
    api: openai-chat
    base-url: http://127.0.0.1:9999/v1
    key-env: FAKE_KEY
    headers: {X-Team: blue}
    models:
      text: {context-window: 128000, max-output: 8192, input-price: 0, output-price: 0}
aliases: {fast: fake/text}
policy:
  permission: [{tool: bash, subject: "rm *", effect: deny}]
  limits: {turns: 100, cost: 5}
profiles: [profiles, agents]
server: {addr: "127.0.0.1:7788", auth: {kind: none}}
store: sqlite:roster.db
dispatch: local
`

func TestPinnedExample(t *testing.T) {
	o := placed(t, pinned, "", nil)
	cfg, ds, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(ds) != 1 || ds[0].Code != CodeExecuting || ds[0].Key != "server.auth" {
		t.Errorf("diagnostics = %+v, want one about server.auth", ds)
	}
	if len(cfg.Defaults) != 1 || cfg.Defaults[0].Name != source.Defaults {
		t.Fatalf("defaults = %+v", cfg.Defaults)
	}
	keys := cfg.Defaults[0].Keys
	if keys.Model.V != "anthropic/claude-sonnet-4-5" || keys.Model.At.File != File || keys.Model.At.Line != 2 || keys.Model.At.Column != 12 {
		t.Errorf("defaults.model = %+v", keys.Model)
	}
	if keys.Temperature.V != 0.2 || !keys.Temperature.Set {
		t.Errorf("defaults.temperature = %+v", keys.Temperature)
	}
	want := []permission.Rule{{Tool: "bash", Subject: "rm *", Effect: permission.Deny,
		At: source.Origin{Layer: source.Host, File: File, Line: 13, Column: 16}}}
	if diff := cmp.Diff(want, cfg.Policy.Permission); diff != "" {
		t.Errorf("policy.permission: %s", diff)
	}
	if l := cfg.Policy.Limits; l.Turns.V != 100 || l.Cost.V != 5 || l.Cost.At.Line != 14 || l.Tokens.Set {
		t.Errorf("policy.limits = %+v", l)
	}
	r, err := cfg.Catalog(catalog.Options{Getenv: o.Getenv}).Lookup(catalog.Ref{Text: "fast"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Model.String() != "fake/text" || r.Model.ContextWindow != 128000 || r.Endpoint.BaseURL != "http://127.0.0.1:9999/v1" ||
		r.Endpoint.KeyEnv != "FAKE_KEY" || len(r.Endpoint.Headers) != 1 || r.Origin("max-output").Line != 10 {
		t.Errorf("fast = %+v", r)
	}
	if len(cfg.Profiles) != 2 || cfg.Profiles[1].V != filepath.Join(cfg.Dir, "agents") {
		t.Errorf("profiles = %+v", cfg.Profiles)
	}
}

func TestPrecedence(t *testing.T) {
	workspace := "store-sync: full\ndefaults: {model: b/ws, top-p: 0.5}\n"
	user := "store-sync: normal\ndefaults: {model: a/user}\nserver: {addr: \"127.0.0.1:1\"}\n"
	for _, c := range []struct {
		name  string
		env   map[string]string
		flags map[string]string
		addr  string
		from  string
	}{
		{"user", nil, nil, "127.0.0.1:1", "roster.yaml"},
		{"environment over user", map[string]string{"ROSTER_SERVER_ADDR": "127.0.0.1:2"}, nil, "127.0.0.1:2", "$ROSTER_SERVER_ADDR"},
		{"flag over environment", map[string]string{"ROSTER_SERVER_ADDR": "127.0.0.1:2"}, map[string]string{"server.addr": "127.0.0.1:3"}, "127.0.0.1:3", "--server.addr"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := placed(t, workspace, user, c.env)
			o.Flags = c.flags
			cfg, ds, err := Load(o)
			if err != nil {
				t.Fatal(err)
			}
			if cfg.Server.Addr.V != c.addr || filepath.Base(cfg.Server.Addr.At.File) != c.from {
				t.Errorf("server.addr = %+v, want %s from %s", cfg.Server.Addr, c.addr, c.from)
			}
			// What the workspace says of the store has no effect.
			if cfg.StoreSync.V != "normal" || len(ds) != 1 || ds[0].Code != CodeExecuting {
				t.Errorf("store-sync = %+v, diagnostics %+v", cfg.StoreSync, ds)
			}
			var layers []string
			for _, l := range cfg.Defaults {
				layers = append(layers, string(l.Name)+" "+l.Keys.Model.V)
			}
			if got := strings.Join(layers, ", "); got != "user a/user, defaults b/ws" {
				t.Errorf("defaults = %s", got)
			}
		})
	}
	_, _, err := Load(Options{Dir: t.TempDir(), Exact: true, Getenv: placed(t, "", "", nil).Getenv, Flags: map[string]string{"server.adr": "x"}})
	if err == nil || !strings.Contains(err.Error(), `did you mean "server.addr"?`) {
		t.Errorf("an unknown flag: %v", err)
	}
}

func TestDefaultsOfWhatIsNotSet(t *testing.T) {
	cfg, ds, err := Load(placed(t, "# nothing\n", "", nil))
	if err != nil || len(ds) > 0 {
		t.Fatal(ds, err)
	}
	for name, v := range map[string]profile.Value[string]{
		DefaultAddr: cfg.Server.Addr, DefaultStore: cfg.Store, DefaultStoreSync: cfg.StoreSync, DefaultDispatch: cfg.Dispatch,
	} {
		if v.V != name || v.At.Layer != source.Builtin {
			t.Errorf("%+v, want the built-in %s", v, name)
		}
	}
}

func TestVariables(t *testing.T) {
	cfg, _, err := Load(placed(t, "", "", map[string]string{
		"ROSTER_DEFAULTS_MODEL": "fake/env", "ROSTER_DEFAULTS_LIMITS_TURNS": "7", "ROSTER_POLICY_LIMITS_COST": "0.5",
	}))
	if err != nil {
		t.Fatal(err)
	}
	var model, turns profile.Value[string]
	for _, l := range cfg.Defaults {
		if l.Keys.Model.Set {
			model = l.Keys.Model
		}
		if l.Keys.Limits.Turns.V == 7 {
			turns.At = l.Keys.Limits.Turns.At
		}
	}
	if model.V != "fake/env" || model.At.File != "$ROSTER_DEFAULTS_MODEL" || turns.At.File != "$ROSTER_DEFAULTS_LIMITS_TURNS" {
		t.Errorf("model %+v, turns %+v", model, turns)
	}
	if cfg.Policy.Limits.Cost.V != 0.5 {
		t.Errorf("policy.limits.cost = %+v", cfg.Policy.Limits.Cost)
	}
	_, _, err = Load(placed(t, "", "", map[string]string{"ROSTER_DEFAULTS_TEMPERATURE": "hot"}))
	if err == nil || !strings.Contains(err.Error(), "$ROSTER_DEFAULTS_TEMPERATURE") {
		t.Errorf("error = %v, want one that names the variable", err)
	}
	ds := UnknownVariables([]string{"ROSTER_HOME=/x", "ROSTER_STORE=s", "ROSTER_SERVER_ADR=y", "PATH=/bin"})
	if len(ds) != 1 || ds[0].Key != "ROSTER_SERVER_ADR" || !strings.Contains(ds[0].Hint, "ROSTER_SERVER_ADDR") {
		t.Errorf("unknown variables: %+v", ds)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, yaml string
		line       int
		says       string
	}{
		{"unknown key", "store: sqlite:roster.db\nprovders: {}\n", 2, `did you mean "providers"?`},
		{"unknown key of a provider", "providers:\n  x:\n    base_urll: y\n", 3, `did you mean "base-url"?`},
		{"unknown key of a model", "providers: {x: {models: {m: {context-windw: 1}}}}", 1, `did you mean "context-window"?`},
		{"unknown key of the defaults", "defaults:\n  temprature: 1\n", 2, `did you mean "temperature"?`},
		{"unknown key of the policy", "policy: {permissions: []}", 1, `did you mean "permission"?`},
		{"unknown key of the server", "server: {adr: x}", 1, `did you mean "addr"?`},
		{"wrong type", "server: [1]", 1, "server takes a map, not a list"},
		{"text expected", "store: {a: 1}", 1, "store takes text, not a map"},
		{"out of range", "defaults: {temperature: 9}", 1, "0 to 2"},
		{"a price below nothing", "providers: {x: {models: {m: {input-price: -1}}}}", 1, "takes 0 to"},
		{"a window that is no number", "providers: {x: {models: {m: {context-window: big}}}}", 1, "a whole number"},
		{"an unknown api", "providers: {x: {api: openai-chatt}}", 1, `did you mean "openai-chat"?`},
		{"a password in an address", "providers: {x: {base-url: \"http://u:hunter2@h/v1\"}}", 1, "user name or password"},
		{"no http address", "providers: {x: {base-url: \"ftp://h\"}}", 1, "http or https"},
		{"a key where its variable is expected", "providers: {x: {key-env: sk-hunter2}}", 1, "never the key"},
		{"a header that breaks the line", "providers: {x: {headers: {A: \"b\\r\\nC: d\"}}}", 1, "not an HTTP header"},
		{"an alias that looks like a reference", "aliases: {a/b: c}", 1, "an alias is a word"},
		{"nats", "dispatch: nats://h:4222", 1, "not there yet"},
		{"another store", "store: mysql:x", 1, "takes sqlite:FILE"},
		{"another dispatch", "dispatch: remote", 1, "takes local"},
		{"a duplicate key", "store: sqlite:roster.db\nstore: sqlite:b\n", 2, "stands twice, first in line 1"},
		{"invalid yaml", "server: [1\nstore: 2", 2, ""},
		{"two documents", "store: sqlite:roster.db\n---\nstore: sqlite:roster.db\n", 0, "multiple"},
		{"too deep", "store: " + strings.Repeat("[", 200), 1, "depth"},
		{"not a map", "- a\n", 1, "takes a map"},
		{"a name of its own in the defaults", "defaults: {name: x}", 1, "a profile's own"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := placed(t, c.yaml, "", nil)
			o.Trust = func(string, string) trust.View { return trust.Everything() }
			_, _, err := Load(o)
			var pe *profile.ParseError
			if !errors.As(err, &pe) {
				t.Fatalf("error = %v, want a *profile.ParseError", err)
			}
			var first *profile.Diagnostic
			for i := range pe.Diagnostics {
				if d := &pe.Diagnostics[i]; d.Severity == profile.SeverityError && strings.Contains(d.Message+d.Hint, c.says) {
					first = d
				}
			}
			if first == nil || first.Line != c.line || first.File != File {
				t.Errorf("diagnostics %+v, want one in line %d that says %q", pe.Diagnostics, c.line, c.says)
			}
			if strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestAllErrorsAtOnce(t *testing.T) {
	_, _, err := Load(placed(t, "storr: 1\nserver: {adr: 2}\ndefaults: {temperature: hot, mode: odd}\n", "dispach: x\n", nil))
	var pe *profile.ParseError
	if !errors.As(err, &pe) || len(pe.Diagnostics) != 5 {
		t.Fatalf("error = %v, want five diagnostics", err)
	}
}

func TestWorkspaceCannotReachOut(t *testing.T) {
	const user = "providers: {mine: {api: openai-chat, base-url: \"https://mine.example/v1\", key-env: MINE}}\n"
	for _, c := range []struct {
		name, yaml string
		inert      []string // the keys that must have no effect
	}{
		{"an address beyond this machine", "providers: {x: {api: openai-chat, base-url: \"http://evil.example/v1\", key-env: ANTHROPIC_API_KEY, headers: {A: b}}}",
			[]string{"providers.x.base-url", "providers.x.key-env", "providers.x.headers"}},
		{"an address that only begins like loopback", "providers: {x: {api: openai-chat, base-url: \"http://127.0.0.1.evil.example/v1\"}}", []string{"providers.x.base-url"}},
		{"a built-in provider", "providers: {anthropic: {base-url: \"http://127.0.0.1:1/v1\"}}", []string{"providers.anthropic.base-url"}},
		{"a built-in provider's key", "providers: {openai: {key-env: HOME}}", []string{"providers.openai.key-env"}},
		{"a built-in provider's headers", "providers: {openai: {headers: {A: b}}}", []string{"providers.openai.headers"}},
		{"a provider of the user's", "providers: {mine: {base-url: \"http://127.0.0.1:1/v1\"}}", []string{"providers.mine.base-url"}},
		{"the key of a built-in provider", "providers: {x: {api: openai-chat, base-url: \"http://127.0.0.1:1\", key-env: ANTHROPIC_API_KEY}}", []string{"providers.x.key-env"}},
		{"the key of a provider of the user's", "providers: {x: {api: openai-chat, base-url: \"http://127.0.0.1:1\", key-env: MINE}}", []string{"providers.x.key-env"}},
		{"a command", "providers: {x: {api: openai-chat, base-url: \"http://127.0.0.1:1\", key-command: id}}", []string{"providers.x.key-command"}},
		{"the environment in a header", "providers: {x: {api: openai-chat, base-url: \"http://127.0.0.1:1\", headers: {A: \"${HOME}\"}}}", []string{"providers.x.headers"}},
		{"a script outside", "providers: {x: {api: script, base-url: ../x.yaml}}", []string{"providers.x.base-url"}},
		{"folders outside", "profiles: [/etc, ../up, fine]", []string{"profiles", "profiles"}},
		{"the server", "server: {addr: \"0.0.0.0:80\"}", []string{"server.addr"}},
		{"the store", "store: sqlite:/tmp/x.db", []string{"store"}},
		{"a store elsewhere", "store: postgres://u:hunter2@h/db", []string{"store"}},
		{"another dispatch", "dispatch: nats://h:4222", []string{"dispatch"}},
		{"who may use the server", "server: {auth: {kind: none}, tenants: {a: /srv/a, b: {root: ../b}, c: fine}}", []string{"server.auth", "server.tenants.a", "server.tenants.b.root"}},
		{"hooks", "hooks: {before-tool: [{command: id}]}", []string{"hooks.before-tool"}},
		{"hooks of every profile", "defaults: {hooks: {before-tool: [{command: id}]}}", []string{"hooks.before-tool"}},
		{"servers, and services", "{mcp-servers: {a: {command: id}}, openapi: {b: {spec: \"https://b.example\"}}}", []string{"mcp-servers.a", "openapi.b"}},
		{"out of the sandbox", "sandbox: {kind: none, read: [/etc, lib]}", []string{"sandbox.kind", "sandbox.read"}},
		{"what is measured", "{telemetry: {endpoint: \"https://t.example\"}, search: {kind: searxng, url: \"https://s.example\"}, web: {allow: [\"10.0.0.0/8\"]}}", []string{"telemetry", "search", "web"}},
		{"a command for a header", "providers: {x: {api: openai-chat, base-url: \"http://127.0.0.1:1\", headers: {A: \"!id\"}}}", []string{"providers.x.headers"}},
		{"an address on this machine is fine", "providers: {x: {api: openai-chat, base-url: \"http://[::1]:1/v1\", key-env: X_KEY, headers: {A: b}}}", nil},
		{"a script beside it is fine", "providers: {x: {api: script, base-url: replies.yaml}}", nil},
		{"prices of a built-in provider are fine", "providers: {anthropic: {models: {claude-opus-5: {input-price: 1}}}}", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, ds, err := Load(placed(t, c.yaml, user, nil))
			if err != nil {
				t.Fatal(err)
			}
			var inert []string
			for _, d := range ds {
				if d.Code == CodeExecuting {
					inert = append(inert, d.Key)
					if d.Line != 1 || d.File != File || d.Name != "ExecutingKey" || !strings.Contains(d.Hint, cfg.Home) {
						t.Errorf("diagnostic %+v lacks its place or remedy", d)
					}
				}
			}
			if diff := cmp.Diff(c.inert, inert); diff != "" {
				t.Errorf("keys without effect: %s", diff)
			}
			for _, p := range cfg.Providers[1:] {
				for _, key := range inert {
					set := map[string]bool{"base-url": p.BaseURL.Set, "key-env": p.KeyEnv.Set, "headers": p.Headers.Set}
					if set[strings.TrimPrefix(key, "providers."+p.Name+".")] {
						t.Errorf("%s is said to have no effect and is set", key)
					}
				}
			}
		})
	}
}

func TestScriptBesideItsFile(t *testing.T) {
	o := placed(t, "providers: {x: {api: script, base-url: sub/replies.yaml}}", "providers: {y: {api: script, base-url: mine.yaml}}", nil)
	cfg, _, err := Load(o)
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{"x/any": filepath.Join(cfg.Dir, "sub", "replies.yaml"), "y/any": filepath.Join(cfg.Home, "mine.yaml")} {
		r, err := cfg.Catalog(catalog.Options{Getenv: o.Getenv}).Lookup(catalog.Ref{Text: ref})
		if err != nil || r.Endpoint.BaseURL != want {
			t.Errorf("%s: %+v, %v, want %s", ref, r.Endpoint, err, want)
		}
	}
}

func TestUserCounts(t *testing.T) {
	cfg, ds, err := Load(placed(t, "", "providers: {anthropic: {base-url: \"https://proxy.example/v1\", headers: {A: \"${TOKEN}\"}, timeout: 5s}}\nserver: {addr: \"127.0.0.1:9\"}", nil))
	if err != nil || len(ds) > 0 {
		t.Fatal(ds, err)
	}
	env := func(name string) string {
		return map[string]string{"TOKEN": "hunter2", "ANTHROPIC_API_KEY": "sk"}[name]
	}
	c := cfg.Catalog(catalog.Options{Getenv: env})
	r, err := c.Lookup(catalog.Ref{Text: "opus"})
	if err != nil {
		t.Fatal(err)
	}
	if r.Endpoint.BaseURL != "https://proxy.example/v1" || r.Endpoint.Timeout != 5*time.Second {
		t.Errorf("endpoint = %+v", r.Endpoint)
	}
	a, err := c.Access(r)
	if err != nil || a.Values[0].Reveal() != "hunter2" {
		t.Errorf("access = %+v, %v", a, err)
	}
}

func TestPolicyOfBoth(t *testing.T) {
	cfg, _, err := Load(placed(t,
		"policy: {permission: {bash: allow}, limits: {turns: 10, cost: 9}}",
		"policy: {permission: {bash: deny}, limits: {turns: 20, cost: 1}}", nil))
	if err != nil {
		t.Fatal(err)
	}
	rules := cfg.Policy.Permission
	if len(rules) != 2 || rules[1].Effect != permission.Deny || !strings.Contains(rules[1].At.File, "home") {
		t.Errorf("the user's rule must decide: %+v", rules)
	}
	if l := cfg.Policy.Limits; l.Turns.V != 10 || l.Cost.V != 1 {
		t.Errorf("limits = %+v, want the smaller of each", l)
	}
}

func TestSizeLimit(t *testing.T) {
	_, _, err := Load(placed(t, strings.Repeat("#", maxFile+1), "", nil))
	if err == nil || !strings.Contains(err.Error(), CodeTooLarge) {
		t.Errorf("error = %v", err)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(pinned))
	f.Add([]byte("a: &a [*a]\nproviders: *a\n"))
	f.Add([]byte("providers: {x: {models: {? [1] : 2}}}"))
	f.Add([]byte("policy: {permission: {bash: {\"*\": ask}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l := &loader{cfg: &Config{Dir: "/ws", Home: "/home"}}
		l.defaults()
		l.decode(data, origin{file: File, layer: source.Defaults, workspace: true})
		l.order()
		for _, p := range l.cfg.Providers {
			if p.BaseURL.Set && strings.Contains(p.BaseURL.V, "://") && !trust.Loopback(p.BaseURL.V) {
				t.Fatalf("a workspace reaches %q", p.BaseURL.V)
			}
		}
		if l.cfg.Server.Addr.V != DefaultAddr || l.cfg.Store.V != DefaultStore {
			t.Fatalf("a workspace says how to serve or store: %+v %+v", l.cfg.Server, l.cfg.Store)
		}
	})
}

func TestPipeIsNotWaitedFor(t *testing.T) {
	o := placed(t, "", "", nil)
	if err := syscall.Mkfifo(filepath.Join(o.Dir, File), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(o); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}

func TestFoldersBehindLinks(t *testing.T) {
	o := placed(t, "profiles: [out, in, none]", "", nil)
	for link, target := range map[string]string{"out": "../home", "in": "."} {
		if err := os.Symlink(target, filepath.Join(o.Dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	cfg, ds, err := Load(o)
	if err != nil || len(ds) != 1 || ds[0].Code != CodeExecuting {
		t.Fatal(ds, err)
	}
	if len(cfg.Profiles) != 2 || cfg.Profiles[0].V != filepath.Join(o.Dir, "in") {
		t.Errorf("folders %v", cfg.Profiles)
	}
}

func TestAnswerTime(t *testing.T) {
	for _, c := range []struct {
		name, workspace, env string
		want                 time.Duration
	}{
		{"default", "", "", DefaultAnswerTime},
		{"workspace", "approvals: {timeout: 90m}\n", "", 90 * time.Minute},
		{"environment over it", "approvals: {timeout: 90m}\n", "5s", 5 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, ds, err := Load(placed(t, c.workspace, "", map[string]string{"ROSTER_APPROVALS_TIMEOUT": c.env}))
			if err != nil || len(ds) != 0 || cfg.AnswerTime.V != c.want {
				t.Errorf("got %+v, %v, %v; want %v", cfg, ds, err, c.want)
			}
		})
	}
	_, _, err := Load(placed(t, "approvals: {timeout: 0s, wait: 1}\n", "", nil))
	for _, want := range []string{"roster.yaml:1:22:", "a time with its unit", "timeout"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestKeepLastGood(t *testing.T) {
	for _, c := range []struct {
		name, workspace, user, env string
		want                       bool
	}{
		{name: "default"},
		{name: "workspace", workspace: "catalog: {keep-last-good: true}\n", want: true},
		{name: "workspace over user", workspace: "catalog: {keep_last_good: false}\n", user: "catalog: {keep-last-good: true}\n"},
		{name: "environment over all", workspace: "catalog: {keep-last-good: false}\n", env: "true", want: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, ds, err := Load(placed(t, c.workspace, c.user, map[string]string{"ROSTER_CATALOG_KEEP_LAST_GOOD": c.env}))
			if err != nil || len(ds) != 0 {
				t.Fatal(err, ds)
			}
			if cfg.KeepLastGood.V != c.want {
				t.Errorf("got %+v, want %v", cfg.KeepLastGood, c.want)
			}
		})
	}
	_, _, err := Load(placed(t, "catalog: {keep-last-good: sometimes, keep: 1}\n", "", nil))
	for _, want := range []string{"roster.yaml:1:27:", "takes true, false", "keep-last-good"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %s", err, want)
		}
	}
}
