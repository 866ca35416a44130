package roster_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/trust"
)

// places holds, for each kind of executing item, the places where one may stand:
// the files of a workspace, in which OLD is what the item is pinned by.
var places = []struct {
	kind  trust.Kind
	name  string
	files map[string]string
}{
	{trust.Hook, "roster.yaml", one("roster.yaml", "hooks: {before-tool: [{command: ./OLD}]}")},
	{trust.Hook, "defaults", one("roster.yaml", "defaults: {hooks: {before-tool: [{command: ./OLD}]}}")},
	{trust.Hook, "a native profile", one("profiles/a.md", "---\nhooks:\n  before-tool:\n    - {command: ./OLD, match: bash}\n---\nx\n")},
	{trust.Hook, "an address", one("profiles/a.md", "---\nhooks: {after-loop: [{url: \"https://OLD.example\"}]}\n---\nx\n")},
	{trust.Hook, "a Claude profile", one(".claude/agents/a.md", "---\nname: a\ndescription: d\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - {type: command, command: ./OLD}\n---\nx\n")},
	{trust.Hook, "a config profile", one("agent.toml", "[provider]\nmodel = \"builtin/demo\"\n[agent]\nsystem_prompt = \"x\"\n[callbacks]\nbefore_turn = \"./OLD.sh\"\n")},

	{trust.Server, "roster.yaml", one("roster.yaml", "mcp-servers: {s: {command: npx, args: [OLD]}}")},
	{trust.Server, "defaults", one("roster.yaml", "defaults: {mcp-servers: {s: {url: \"https://OLD.example\"}}}")},
	{trust.Server, "a native profile", one("profiles/a.md", "---\nmcp-servers: {s: {command: npx, args: [OLD]}}\n---\nx\n")},
	{trust.Server, "its environment", one("profiles/a.md", "---\nmcp-servers: {s: {command: npx, env: {PATH: OLD}}}\n---\nx\n")},
	{trust.Server, "a Claude profile", one(".claude/agents/a.md", "---\nname: a\ndescription: d\nmcpServers:\n  s: {command: OLD}\n---\nx\n")},
	{trust.Server, "a list in a Claude profile", one(".claude/agents/a.md", "---\nname: a\ndescription: d\nmcpServers:\n  - s: {command: OLD}\n---\nx\n")},
	{trust.Server, "a Copilot profile", one(".github/agents/a.agent.md", "---\ndescription: d\nmcp-servers:\n  s: {type: local, command: OLD}\n---\nx\n")},
	{trust.Server, "a Codex profile", one(".codex/agents/a.toml", "name = \"a\"\ndescription = \"d\"\ndeveloper_instructions = \"x\"\n[mcp_servers.s]\ncommand = \"OLD\"\n")},
	{trust.Server, "a config profile", one("agent.toml", "[provider]\nmodel = \"builtin/demo\"\n[agent]\nsystem_prompt = \"x\"\n[mcp_servers.s]\ncommand = \"OLD\"\n")},
	{trust.Server, "a docker profile", one("agents/team.yaml", "agents:\n  root:\n    model: openai/gpt-5\n    instruction: x\n    toolsets:\n      - {type: mcp, command: OLD}\n")},
	{trust.Server, ".mcp.json", one(".mcp.json", `{"mcpServers": {"s": {"command": "OLD"}}}`)},
	{trust.Server, "opencode.json", one("opencode.json", `{"mcp": {"s": {"type": "local", "command": ["OLD"]}}}`)},

	{trust.Service, "roster.yaml", one("roster.yaml", "openapi: {s: {spec: \"https://OLD.example\"}}")},
	{trust.Service, "defaults", one("roster.yaml", "defaults: {openapi: {s: {spec: \"https://OLD.example\"}}}")},
	{trust.Service, "a native profile", one("profiles/a.md", "---\nopenapi: {s: {spec: \"https://OLD.example\"}}\n---\nx\n")},
	{trust.Service, "a config profile", one("agent.toml", "[provider]\nmodel = \"builtin/demo\"\n[agent]\nsystem_prompt = \"x\"\n[openapi.s]\nspec = \"https://OLD.example\"\n")},

	{trust.Tool, "a directory profile", map[string]string{
		"profiles/lib/config.json":       `{"id": "lib", "name": "L", "description": "d", "model": "m", "llm_backend": "ollama", "enabled_tools": ["up"]}`,
		"profiles/lib/system_prompt.txt": "x", "tools/up.yaml": "description: d\ncommand: [OLD]\n",
	}},
	{trust.Tool, "a docker profile", one("agents/team.yaml", "agents:\n  root:\n    model: openai/gpt-5\n    instruction: x\n    toolsets:\n      - type: script\n        shell: {up: {cmd: OLD}}\n")},

	{trust.KeyCommand, "roster.yaml", one("roster.yaml", "providers: {p: {api: openai-chat, base-url: \"http://127.0.0.1:1\", key-command: ./OLD}}")},
	{trust.Command, "roster.yaml", one("roster.yaml", "providers: {p: {api: openai-chat, base-url: \"http://127.0.0.1:1\", headers: {A: \"!OLD\"}}}")},

	{trust.Variable, "headers", one("roster.yaml", "providers: {p: {api: openai-chat, base-url: \"http://127.0.0.1:1\", headers: {A: \"${OLD}\"}}}")},
	{trust.Variable, "the prompt of a config profile", one("agent.toml", "[provider]\nmodel = \"builtin/demo\"\n[agent]\nsystem_prompt = \"${OLD}\"\n")},
	{trust.Variable, "the model of a config profile", one("agent.toml", "[provider]\nmodel = \"builtin/${OLD}\"\n[agent]\nsystem_prompt = \"x\"\n")},
	{trust.Variable, "a block of a config profile", one("agent.toml", "[provider]\nmodel = \"builtin/demo\"\n[agent]\nsystem_prompt = \"{{main}}\"\n[[system_prompt.instances]]\nid = \"main\"\ntype = \"minimal\"\ntask = \"${OLD}\"\n")},

	{trust.BaseURL, "beyond this machine", one("roster.yaml", "providers: {p: {api: openai-chat, base-url: \"https://OLD.example\"}}")},
	{trust.BaseURL, "of a built-in provider", one("roster.yaml", "providers: {openai: {base-url: \"http://127.0.0.1:1/OLD\"}}")},
	{trust.BaseURL, "a native profile", one("profiles/a.md", "---\nmodel-config: {base-url: \"https://OLD.example\"}\n---\nx\n")},
	{trust.BaseURL, "a config profile", one("agent.toml", "[provider]\nmodel = \"builtin/demo\"\nbase_url = \"https://OLD.example\"\n[agent]\nsystem_prompt = \"x\"\n")},
	{trust.Headers, "roster.yaml", one("roster.yaml", "providers: {openai: {headers: {A: OLD}}}")},
	{trust.KeyEnv, "roster.yaml", one("roster.yaml", "providers: {openai: {key-env: OLD}}")},
	{trust.KeyEnv, "with another address", one("roster.yaml", "providers: {p: {api: openai-chat, base-url: \"https://OLD.example\", key-env: HOME}}")},
	{trust.KeyEnv, "a native profile", one("profiles/a.md", "---\nmodel-config: {key-env: OLD}\n---\nx\n")},
	{trust.KeyEnv, "a config profile", one("agent.toml", "[provider]\nmodel = \"builtin/demo\"\napi_key = \"${OLD}\"\n[agent]\nsystem_prompt = \"x\"\n")},

	{trust.Store, "roster.yaml", one("roster.yaml", "store: sqlite:OLD.db")},
	{trust.Dispatch, "roster.yaml", nil}, // this version takes no other value: see below
	{trust.Listen, "its address", one("roster.yaml", "server: {addr: \"OLD:80\"}")},
	{trust.Listen, "who may use it", one("roster.yaml", "server: {auth: {kind: oidc, oidc: {issuer: \"https://OLD.example\", audience: x}}}")},
	{trust.Sandbox, "roster.yaml", nil}, // there is nothing of it that could change
	{trust.Path, "profiles", one("roster.yaml", "profiles: [../OLD]")},
	{trust.Path, "skills", one("roster.yaml", "skills: [../OLD, \"/OLD/*/skills\"]")},
	{trust.Path, "a script", one("roster.yaml", "providers: {p: {api: script, base-url: ../OLD.yaml}}")},
	{trust.Path, "sandbox.read", one("profiles/a.md", "---\nsandbox: {kind: landlock, read: [/OLD]}\n---\nx\n")},
	{trust.Telemetry, "roster.yaml", one("roster.yaml", "telemetry: {endpoint: \"https://OLD.example\"}")},
	{trust.Search, "roster.yaml", one("roster.yaml", "search: {kind: searxng, url: \"https://OLD.example\"}")},
	{trust.Web, "roster.yaml", one("roster.yaml", "web: {allow: [\"OLD.example\"]}")},
}

func one(file, text string) map[string]string { return map[string]string{file: text} }

// TestExecutingItems: each kind in each place is inert until the workspace is
// trusted, acts as it was seen, and is inert again when one byte of it changes.
func TestExecutingItems(t *testing.T) {
	kinds := map[trust.Kind]bool{}
	for _, c := range places {
		kinds[c.kind] = true
		if c.files == nil {
			continue
		}
		t.Run(string(c.kind)+" in "+c.name, func(t *testing.T) {
			w := newCloned(t, c.files)
			w.want(t, c.kind, trust.Untrusted)
			w.trust(t)
			w.want(t, c.kind, trust.Trusted)
			for file, text := range c.files {
				write(t, w.dir, file, strings.ReplaceAll(text, "OLD", "OLE"))
			}
			w.want(t, c.kind, trust.Changed, trust.New) // a tool or a server may be named by what it does
			w.trust(t)
			w.want(t, c.kind, trust.Trusted)
			if _, err := w.open(t).RevokeTrust(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.want(t, c.kind, trust.Untrusted)
		})
	}
	for _, k := range trust.Keys() {
		if !kinds[k.Kind] {
			t.Errorf("no place has a %s", k.Kind)
		}
	}
}

// cloned is a workspace, and the folder of a user who may trust it.
type cloned struct{ dir, home string }

func newCloned(t *testing.T, files map[string]string) cloned {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := cloned{filepath.Join(top, "ws"), filepath.Join(top, "home")}
	if err := os.Mkdir(c.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range files {
		write(t, c.dir, file, text)
	}
	return c
}

func (c cloned) open(t *testing.T) *roster.App {
	t.Helper()
	app, _, err := roster.Open(c.dir, roster.Options{State: filepath.Join(c.home, "state"), Getenv: env{"ROSTER_HOME": c.home}.get})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(t.Context()) })
	return app
}

func (c cloned) survey(t *testing.T, app *roster.App) trust.Survey {
	t.Helper()
	return app.Survey()
}

func (c cloned) trust(t *testing.T) {
	t.Helper()
	app := c.open(t)
	if err := app.TrustWorkspace(t.Context(), c.survey(t, app).Items); err != nil {
		t.Fatal(err)
	}
}

// want says that there are items of a kind, all in one of the states, and that
// what is read of profiles has them only if they act.
func (c cloned) want(t *testing.T, kind trust.Kind, states ...trust.State) {
	t.Helper()
	app := c.open(t)
	n := 0
	for _, i := range c.survey(t, app).Items {
		if i.Kind != kind {
			continue
		}
		n++
		got := app.Trust().State(i)
		if got != states[0] && (len(states) < 2 || got != states[1]) {
			t.Errorf("%s at %s is %s, want %v", i.Key, i.At, got, states)
		}
		if i.Digest == "" || i.Text == "" || i.At.File == "" || i.At.Line == 0 {
			t.Errorf("incomplete: %+v", i)
		}
	}
	if n == 0 {
		t.Errorf("no %s is found", kind)
	}
	for p := range app.Catalog().List() {
		kept, inert := app.Trust().Strip(p)
		left := 0
		for _, i := range trust.OfProfile(kept) {
			if i.Kind != trust.Variable {
				left++
			}
		}
		if acts := states[0].Acts(); acts && (len(inert) > 0 || kept != p) || !acts && left > 0 {
			t.Errorf("%s keeps %d items, %d are taken out", p.Name, left, len(inert))
		}
	}
}

// TestNoOtherValue: of these there is one value that executes, or none yet.
func TestNoOtherValue(t *testing.T) {
	for _, c := range []struct {
		kind trust.Kind
		file string
		text string
	}{
		{trust.Sandbox, "roster.yaml", "sandbox: none"},
		{trust.Sandbox, "roster.yaml", "sandbox: {kind: none}"},
		{trust.Sandbox, "profiles/a.md", "---\nsandbox: none\n---\nx\n"},
		{trust.Sandbox, ".codex/agents/a.toml", "name = \"a\"\ndescription = \"d\"\ndeveloper_instructions = \"x\"\nsandbox_mode = \"danger-full-access\"\n"},
		{trust.Dispatch, "roster.yaml", "dispatch: nats://h:4222"},
		{trust.Store, "roster.yaml", "store: postgres://h/db"},
		{trust.Store, "roster.yaml", "store-sync: normal"},
	} {
		t.Run(c.text, func(t *testing.T) { newCloned(t, one(c.file, c.text)).want(t, c.kind, trust.Untrusted) })
	}
}
