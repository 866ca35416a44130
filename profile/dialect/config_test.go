package dialect_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// decodeAll reads a file with several profiles.
func decodeAll(t *testing.T, path, text string) (map[string]*profile.Profile, []string, []profile.Diagnostic) {
	t.Helper()
	f := &dialect.File{Name: path, Path: path, Data: []byte(text)}
	d, ok := dialect.Detect(f)
	if !ok || d.Name != "config" {
		t.Fatalf("%s is read as %q", path, d.Name)
	}
	ps, ds := d.Decode(f)
	byName := map[string]*profile.Profile{}
	var names []string
	for _, p := range ps {
		byName[p.Name] = p
		names = append(names, p.Name)
	}
	return byName, names, ds
}

// said is what a profile says, in one line.
func said(p *profile.Profile) string {
	if p == nil {
		return "nothing"
	}
	var out []string
	add := func(key, v string, set bool) {
		if set {
			out = append(out, key+"="+strings.Join(strings.Fields(v), " "))
		}
	}
	add("title", p.Title.V, p.Title.Set)
	add("description", p.Description.V, p.Description.Set)
	add("mode", p.Mode.V, p.Mode.Set)
	add("provider", p.Provider.V, p.Provider.Set)
	add("model", p.Model.V, p.Model.Set)
	add("temperature", fmt.Sprint(p.Temperature.V), p.Temperature.Set)
	add("max-tokens", fmt.Sprint(p.MaxTokens.V), p.MaxTokens.Set)
	add("thinking", p.Thinking.V, p.Thinking.Set)
	add("prompt", p.SystemPrompt.V, p.SystemPrompt.Set)
	add("tools", strings.Join(p.Tools.V.Names, ","), p.Tools.Set)
	add("turns", fmt.Sprint(p.Limits.Turns.V), p.Limits.Turns.Set)
	add("tokens", fmt.Sprint(p.Limits.Tokens.V), p.Limits.Tokens.Set)
	add("duration", fmt.Sprint(p.Limits.Duration.V), p.Limits.Duration.Set)
	add("cost", fmt.Sprint(p.Limits.Cost.V), p.Limits.Cost.Set)
	add("retry", fmt.Sprint(p.Retry.Max.V, p.Retry.Base.V, p.Retry.Factor.V, p.Retry.Cap.V), p.Retry != profile.Retry{})
	add("execution", fmt.Sprint(p.ToolExecution.V), p.ToolExecution.Set)
	add("cache", p.Cache.V, p.Cache.Set)
	add("workspace", p.Workspace.V, p.Workspace.Set)
	for _, r := range p.Permission {
		add("rule", fmt.Sprintf("%s(%s):%s", r.Tool, r.Subject, r.Effect), true)
	}
	for _, x := range p.Extra {
		add(x.Key, string(x.YAML), true)
	}
	return strings.Join(out, "\n")
}

const wholeFile = `default_workspace = "."

[agent]
workspace = "work"

[agent.profile]
profile_id = "p-1"
name = "Coding Agent"
description = "Writes code"
system_prompt = "file:prompts/coder.md"
thinking_level = "HIGH"
temperature = 0.2
max_tokens = 16384
skills = ["review"]
top_p = 0.9

[[agent.profile.instances]]
id = "{{%careful%}}"
temperature = 0.1
config_id = "careful"

[[agent.instances]]
name = "writer"
agent_profile = "{{agent.profile.careful}}"
system_prompt = "You write as ${WHO}."
provider = "{{provider.other}}"
workspace = "work/writer"

[provider]
model = "model-a"
provider = "anthropic"
api_key = "${A_KEY}"
api = "anthropic_messages"
context_window = 200000

[provider.cost]
input_per_million = 3.0
cache_read_per_million = 0.3

[[provider.instances]]
id = "{{other}}"
model = "model-b"
api = "openai_completions"
url = "https://b.example/v1"

[execution]
max_turns = 40
max_total_tokens = 2000000
max_duration_secs = 90
max_cost = 5.0

[execution.retry]
max_retries = 4
initial_delay_ms = 500
backoff_multiplier = 1.5
max_delay_ms = 20000

[execution.cache]
enabled = false

[compaction]
max_context_tokens = 100000
keep_first_turns = 2

[tools]
enabled = ["bash", "my_tool"]
tool_strategy = "batched"
batch_size = 4

[[tools.instances]]
name = "github"
enabled = true
[tools.instances.config]
transport = "stdio"
command = "npx"
args = ["-y", "server"]

[callbacks]
before_turn = "./scripts/check.sh"

[session]
scope = "persistent"
thinking_level = "low"

[[sub_agents.instances]]
name = "researcher"
description = "Searches"
system_prompt = "Search."
model = "model-c"
max_turns = 20
tools = ["grep"]
`

const shared = `max-tokens=16384
thinking=low
prompt=file:prompts/coder.md
tools=bash,my_tool,task
turns=40
tokens=2000000
duration=1m30s
cost=5
retry=4 500ms 1.5 20s
execution={batched 4}
cache=off
workspace=work
rule=bash(*):allow
rule=my_tool(*):allow
rule=task(*):allow
rule=task(*):deny
rule=task(Coding-Agent/researcher):allow
mcp-servers=github: command: npx args: - -y - server
context=window: 100000 keep-first: 2
hooks=before-turn: - command: ./scripts/check.sh
model-config=key-env: A_KEY api: anthropic context-window: 200000 prices: input: 3.0 cache-read: 0.3
session=scope: persistent
profile-id=p-1
skills=- review`

func TestDecodeConfig(t *testing.T) {
	ps, names, ds := decodeAll(t, "agents.toml", wholeFile)
	if profile.Refused(ds) {
		t.Fatal(ds)
	}
	base := strings.ReplaceAll(shared, "Coding-Agent", "coding-agent")
	if got := strings.Join(names, " "); got != "coding-agent careful writer coding-agent/researcher" {
		t.Fatalf("names %s", got)
	}
	careful := base + "\nconfig-id=careful"
	for name, want := range map[string]string{
		"coding-agent":            "title=Coding Agent\ndescription=Writes code\nprovider=anthropic\nmodel=model-a\ntemperature=0.2\n" + base,
		"careful":                 "description=Writes code\nprovider=anthropic\nmodel=model-a\ntemperature=0.1\n" + careful,
		"coding-agent/researcher": "description=Searches\nmode=subagent\nprovider=anthropic\nmodel=model-c\nprompt=Search.\ntools=grep\nturns=20\nrule=grep(*):allow\nmodel-config=key-env: A_KEY api: anthropic context-window: 200000 prices: input: 3.0 cache-read: 0.3",
	} {
		if got := said(ps[name]); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
	}
	writer := said(ps["writer"])
	for _, want := range []string{"model=model-b", "prompt=You write as ${WHO}.", "workspace=work/writer", "temperature=0.1", "model-config=api: openai-chat base-url: https://b.example/v1"} {
		if !strings.Contains(writer, want) {
			t.Errorf("writer lacks %q:\n%s", want, writer)
		}
	}
	if strings.Contains(writer, "provider=") || strings.Contains(writer, "A_KEY") {
		t.Errorf("the other provider has the first one's name or key:\n%s", writer)
	}
}

func TestConfigSmall(t *testing.T) {
	tests := []struct {
		name, path, text, profile, want, diags string
	}{
		{"the file's stem is the name", "configs/My Agent.json", `{"provider": {"model": "m", "api_key": "${K}"}}`, "my-agent", "title=My Agent\nmodel=m\nmodel-config=key-env: K", "P113:1:29 P118:0:0"},
		{"YAML", "a/agent.yaml", "provider:\n  model: m\n  headers: {X-A: b}\nagent:\n  system_prompt: hi\n", "agent", "model=m\nprompt=hi\nmodel-config=headers: X-A: b", "P113:3:3"},
		{"a key that is written out", "agent.toml", "[provider]\nmodel = \"m\"\napi_key = \"sk-secret-1\"\n", "agent", "model=m", "P149:3:1"},
		{"an empty key", "agent.toml", "[provider]\nmodel = \"m\"\napi_key = \"\"\n", "agent", "model=m", ""},
		{"unknown keys", "agent.toml", "app = 1\n[provider]\nmodel = \"m\"\n[agent.profile]\nnmae = \"x\"\n\"a.b\" = 2\n[execution]\nmax_turn = 3\n", "agent",
			"model=m\nexecution.max_turn=3\nagent.profile.nmae=x\nagent.profile.\"a.b\"=2\napp=1", "P112:1:1 P112:5:1 P112:6:1 P112:8:1"},
		{"native keys in the profile", "agent.toml", "[agent.profile]\nname = \"x\"\nmode = \"subagent\"\nhabits = {think = true}\n[agent.profile.permission]\nbash = \"deny\"\n[agent.profile.limits]\nturns = \"none\"\n", "x",
			"mode=subagent\nturns=0\nrule=bash(*):deny\nhabits=think: true", ""},
		{"a prompt of blocks", "agent.toml", `[agent]
system_prompt = "{{system_prompt.main}}"
[[system_prompt.instances]]
id = "{{main}}"
type = "{{system_prompt_strategy.layout}}"
rules = "Be kind."
identity = "You are a long text."
[[system_prompt_strategy.instances]]
id = "layout"
blocks = [{name = "rules", order = 2}, {name = "identity", order = 1, max_length = 12}]
`, "agent", "prompt=You are a lo Be kind.\nprompt=strategy: custom blocks: identity: text: You are a long text. order: 1 max-length: 12 rules: text: Be kind. order: 2", "P152:7:12"},
		{"a built-in strategy", "agent.toml", "[agent]\nsystem_prompt = \"{{main}}\"\n[[system_prompt.instances]]\nid = \"main\"\ntype = \"minimal\"\ntask = \"file:task.md\"\n", "agent",
			"prompt=strategy: minimal blocks: task: text: file:task.md order: 1 max-length: 3000", ""},
		{"a reference to the workspace's prompts", "agent.toml", "[agent]\nsystem_prompt = \"{{main}}\"\n", "agent", "prompt={{main}}", ""},
		{"no such provider", "agent.toml", "[provider]\nmodel = \"m\"\n[[provider.instances]]\nid = \"openai\"\nmodel = \"n\"\n[[agent.instances]]\nname = \"x\"\nprovider = \"{{provider.opena}}\"\n", "x", "model=m", "P150:8:12"},
		{"no such profile", "agent.toml", "[[agent.instances]]\nname = \"x\"\nagent_profile = \"{{none}}\"\n", "x", "", "P150:3:17"},
		{"no such strategy", "agent.toml", "[agent]\nsystem_prompt = \"{{main}}\"\n[[system_prompt.instances]]\nid = \"main\"\ntype = \"x\"\n", "agent", "prompt=\nprompt=blocks: {}", "P150:5:8"},
		{"a wrong type", "agent.toml", "[agent.profile]\nname = \"x\"\ntemperature = \"warm\"\n[execution]\nmax_turns = 0\n", "x", "", "P110:3:15 P111:5:13"},
		{"a wrong section", "agent.toml", "execution = 3\n[agent.profile]\nname = \"x\"\n", "x", "", "P110:1:13"},
		{"two spellings", "agent.toml", "[agent]\nsystem_prompt = \"a\"\nsystemPrompt = \"b\"\n", "agent", "prompt=b", "P104:3:1"},
		{"a bad name", "agent.toml", "[agent.profile]\nname = \"../x\"\n", "agent", "", "P117:2:8"},
		{"the same name twice", "agent.toml", "[agent.profile]\nname = \"x\"\n[[agent.instances]]\nname = \"x\"\nsystem_prompt = \"late\"\n", "x", "prompt=late", "P131:2:1"},
		{"a plain provider of a sub-agent", "agent.toml", "[agent]\nsystem_prompt = \"a\"\n[[sub_agents.instances]]\nname = \"s\"\nprovider = \"openai\"\nmodel = \"m\"\n", "agent/s",
			"mode=subagent\nprovider=openai\nmodel=m\ntools=", ""},
		{"too many instances", "agent.toml", strings.Repeat("[[agent.instances]]\nname = \"x\"\nsystem_prompt = \"a\"\n", 201), "agent", "", "P111:1:3"},
		{"too many values", "agent.json", `{"agent": {"system_prompt": "a"}, "x": [` + strings.Repeat("1,", 200_000) + "1]}", "agent", "", "P106:1:1"},
		{"too many lines", "agent.yaml", "agent:\n  system_prompt: a\n" + strings.Repeat("#\n", 200_000), "agent", "", "P106:1:1"},
		{"broken", "agent.toml", "[agent]\nsystem_prompt = oops\n", "agent", "", "P148:2:17"},
		{"broken JSON", "agent.json", `{"agent": {"system_prompt": "a"},}`, "agent", "", "P103:1:34"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ps, names, ds := decodeAll(t, tt.path, tt.text)
			if got := said(ps[tt.profile]); got != tt.want {
				t.Errorf("%v:\n%s\nwant\n%s", names, got, tt.want)
			}
			if got := diagnosed(ds); got != tt.diags {
				t.Errorf("diagnostics %s, want %s\n%v", got, tt.diags, ds)
			}
			if strings.Contains(fmt.Sprint(ds, said(ps[tt.profile])), "sk-secret") {
				t.Error("the key is shown")
			}
		})
	}
}

// TestOtherDataFiles: the files of others are no profiles, whatever is in them.
func TestOtherDataFiles(t *testing.T) {
	for path, text := range map[string]string{
		"package.json":                 `{"name": "x", "description": "d", "model": "m"}`,
		"tsconfig.json":                `{"compilerOptions": {}, }`,
		"serverless.yml":               "provider:\n  name: aws\n  runtime: nodejs20.x\n",
		"main.tf.json":                 `{"provider": {"aws": {"region": "x"}}}`,
		"agent.yaml":                   "agent:\n  name: datadog\n  enabled: true\n",
		"agents/a.yaml":                "---\nname: a\ndescription: d\nmode: subagent\n---\n",
		"profiles/a.json":              `{"name": "a"}`,
		"pyproject.toml":               "[project]\nname = \"x\"\n",
		"broken.toml":                  "[agent\n",
		"Cargo.toml":                   "[package]\nname = \"agent\"\n",
		"ci.yml":                       "agent: {image: x}\nsteps: []\n",
		".opencode/agents/x.json":      `{"mode": "subagent"}`,
		"a.toml":                       "agent = [1]\nprovider = \"x\"\n",
		"default.toml":                 "[default_llm]\nprovider = \"nvidia\"\napi_key_env = \"K\"\n",
		"id.toml":                      "id = \"coder\"\nname = \"Coder\"\ndescription = \"d\"\nprompt = \"AGENT.md\"\n",
		".gemini/commands/plan.toml":   "description = \"agent\"\nprompt = \"provider\"\n",
		"deep.json":                    strings.Repeat(`{"agent":`, 5000),
		"provider-without-a-model.yml": "provider:\n  api_key: x\n",
	} {
		f := &dialect.File{Name: path, Path: path, Data: []byte(text), Claimed: true}
		if d, ok := dialect.Detect(f); ok {
			t.Errorf("%s is read as %s", path, d.Name)
		}
	}
}

func TestConfigCorpus(t *testing.T) {
	want := map[string]string{
		"coding_agent.toml": "coding-agent coder reviewer code-writer code-reviewer", "mcp_tools.toml": "mcp-agent",
		"minimal.json": "minimal", "minimal.toml": "minimal", "minimal.yaml": "minimal", "persistent_session.toml": "persistent-agent",
		"multi_provider.toml": "multi-provider-agent cloud-agent local-agent gemini-agent", "sub_agents.toml": "orchestrator orchestrator/researcher orchestrator/code_writer",
	}
	files := published(t, "phi-core-config")
	if len(files) != len(want) {
		t.Errorf("%d files", len(files))
	}
	for path, data := range files {
		_, names, ds := decodeAll(t, path, string(data))
		if profile.Refused(ds) {
			t.Errorf("%s: %v", path, ds)
		}
		if got := strings.Join(names, " "); got != want[path[strings.LastIndexByte(path, '/')+1:]] {
			t.Errorf("%s gives %s", path, got)
		}
		for _, d := range ds {
			if d.Code == profile.CodeUnknownKey && d.Key != "_comment" {
				t.Errorf("%v", &d)
			}
		}
		d, _ := dialect.ByName("config")
		ps, _ := d.Decode(&dialect.File{Name: path, Path: path, Data: data})
		for _, p := range ps {
			if _, lost := d.Encode(p); len(lost) > 0 {
				t.Errorf("%s %s: %v", path, p.Name, lost)
			}
			again(t, d, p)
		}
	}
}

func grant(tool string) permission.Rule {
	return permission.Rule{Tool: tool, Subject: "*", Effect: permission.Allow}
}

// again writes a profile of a file with several, and reads it back.
func again(t *testing.T, d dialect.Dialect, p *profile.Profile) {
	t.Helper()
	parts, lost := d.Encode(p)
	if len(lost) > 0 {
		return
	}
	ps, ds := d.Decode(&dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data})
	if profile.Refused(ds) || len(ps) != 1 {
		t.Fatalf("%d profiles, %v\n%s", len(ps), ds, parts[0].Data)
	}
	ps[0].Name = p.Name // one that is no plain name is below the file's own
	if diff := same(p, ps[0]); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, parts[0].Data)
	}
}

func TestOtherCorpusFilesAreNoConfig(t *testing.T) {
	n := map[string]int{}
	for path, data := range published(t, "") {
		if strings.Contains(path, "phi-core") || strings.Contains(path, "codex-subagents") {
			continue
		}
		d, ok := dialect.Detect(&dialect.File{Name: path, Path: path, Data: data})
		if ok && slices.Contains([]string{"config", "codex"}, d.Name) {
			t.Errorf("%s is read as %s", path, d.Name)
		}
		n[d.Name]++
	}
	t.Log(n)
}

func TestRoundTripConfig(t *testing.T) {
	d, _ := dialect.ByName("config")
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile(t)
		p.Dialect, p.Body = "config", ""
		if len(p.Extra) > 0 {
			p.Extra = []profile.Extra{
				{Key: "habits", YAML: []byte("\n  planning: true\n  think: true"), Known: true},
				{Key: "context", YAML: []byte("\n  window: 1000\n  keep-first: 2"), Known: true},
				{Key: "model-config", YAML: []byte("\n  key-env: A_KEY\n  api: gemini\n  prices:\n    input: 1.5"), Known: true},
				{Key: "session", YAML: []byte("\n  scope: persistent"), Known: true},
				{Key: "skills", YAML: []byte("\n  - a\n  - b"), Known: true},
				{Key: "my_key", YAML: []byte("\n  b:\n    c: 1\n  a: x")},
				{Key: "profile", YAML: []byte("\n  b:\n    c: 1\n  a: x")},
				{Key: "agent.profile.execution", YAML: []byte("\n  b:\n    c: 1\n  a: x")},
				{Key: "empty", YAML: []byte(" {}")},
				{Key: "execution.odd", YAML: []byte(" 1")},
				{Key: `agent.profile."x.y"`, YAML: []byte(" |-\n  text\n  more")},
			}
		}
		var granted []permission.Rule
		if p.Tools.V.All {
			granted = append(granted, grant("*"))
		}
		for _, name := range p.Tools.V.Names {
			granted = append(granted, grant(name))
		}
		p.Permission = append(granted, p.Permission...)
		check(t, d, "profiles/a.toml", p)
	})
}

func FuzzConfig(f *testing.F) {
	f.Add([]byte(wholeFile), uint8(0))
	f.Add([]byte(`{"agent": {"system_prompt": "{{a}}", "x.y": [1, null, {"a": 1e9}]}, "system_prompt": {"instances": [{"id": "a", "type": "minimal", "task": "t"}]}}`), uint8(1))
	f.Add([]byte("agent: &a {profile: {name: x, vars: {A: 0x1F, B: 2026-01-02, C: .inf}}}\nprovider: {model: m, url: ~, cost: {input_per_million: 1.}}\nz: *a\n"), uint8(2))
	d, _ := dialect.ByName("config")
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		name := []string{"x.toml", "x.json", "x.yaml"}[kind%3]
		in := &dialect.File{Name: name, Path: name, Data: data}
		d.Detect(in)
		ps, ds := d.Decode(in)
		for i := range ds {
			if ds[i].Message == "" || ds[i].Line < 0 || ds[i].Column < 0 || ds[i].Line > 1+strings.Count(string(data), "\n")+strings.Count(string(data), "\r")+1 {
				t.Errorf("bad diagnostic %+v", ds[i])
			}
		}
		if profile.Refused(ds) {
			return
		}
		for _, p := range ps {
			if err := profile.CheckName(p.Name); err != nil {
				t.Fatal(err)
			}
			// One below another file's own has another name when it stands alone.
			_, lost := dialect.Encode(d, p)
			if strings.Contains(p.Name, "/") {
				lost = slices.DeleteFunc(lost, func(d profile.Diagnostic) bool { return d.Key == "name" })
			}
			if len(lost) == 0 {
				again(t, d, p)
			}
		}
	})
}

// FuzzTOML reads any text: it gives a tree or says where it is broken, and
// agrees with the library on which.
func FuzzTOML(f *testing.F) {
	f.Add([]byte(wholeFile))
	f.Add([]byte("a.b = {c = [[1, 2], {}]}\n[x.'y z']\nd = 1979-05-27T07:32:00Z\n[[l]]\n[[l.m]]\n[l.m.n]\nq = '''\nx'''\n"))
	d, _ := dialect.ByName("codex")
	f.Fuzz(func(t *testing.T, data []byte) {
		_, ds := d.Decode(&dialect.File{Name: "x.toml", Path: "x.toml", Data: data})
		broken := false
		for i := range ds {
			switch ds[i].Code {
			case profile.CodeInvalidTOML, profile.CodeDuplicateKey, profile.CodeTooDeep, profile.CodeTooLarge, profile.CodeNotUTF8:
				broken = true
			}
			if ds[i].Line < 0 || ds[i].Line > strings.Count(string(data), "\n")+1 {
				t.Errorf("bad place %+v", ds[i])
			}
		}
		var all map[string]any
		if err := toml.Unmarshal(data, &all); err != nil && !broken {
			t.Errorf("read, and not TOML: %v", err)
		}
	})
}

// TestConvertConfig: a prompt changes its place and not what it says; a
// variable is one in this dialect only.
func TestConvertConfig(t *testing.T) {
	claude := "---\nname: a\ndescription: d\n---\nUse ${HOME}, be kind.\n"
	p, _ := dialect.Decode(".claude/agents/a.md", []byte(claude))
	config, _ := dialect.ByName("config")
	parts, ds := dialect.Encode(config, p)
	if len(ds) > 0 || !strings.Contains(string(parts[0].Data), `system_prompt = "Use $${HOME}, be kind."`) {
		t.Errorf("%v\n%s", ds, parts[0].Data)
	}
	ps, _, _ := decodeAll(t, "agent.toml", "[agent]\nsystem_prompt = \"For ${TEAM}.\"\n[provider]\nmodel = \"${M}\"\n")
	codex, _ := dialect.ByName("codex")
	_, ds = dialect.Encode(codex, ps["agent"])
	var keys []string
	for _, d := range ds {
		keys = append(keys, d.Key)
	}
	if got := strings.Join(sorted(keys), " "); got != "model system-prompt" {
		t.Errorf("lost %s: %v", got, ds)
	}
}
