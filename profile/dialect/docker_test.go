package dialect_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

const dockerTeam = `version: "5"
models:
  claude:
    provider: anthropic
    model: claude-x
    max_tokens: 64000
    temperature: 0.2
    thinking_budget: 32768
    provider_opts: {region: eu}
  own:
    provider: gateway
    model: m
    thinking_budget: high
providers:
  gateway: {api_type: openai_chatcompletions, base_url: https://x.example/v1, token_key: X_KEY}
mcps:
  search: {ref: docker:duckduckgo}
permissions:
  allow: ["shell:cmd=ls *"]
  deny: ["shell:cmd=rm *", "write_*", "shell:cmd=a:cwd=/b"]
agents:
  root:
    model: claude
    description: Leads.
    instruction: |
      You lead.
        Well.
    add_date: true
    max_iterations: 7
    toolsets:
      - type: filesystem
      - type: shell
      - type: think
    sub_agents: [writer, other/pirate]
    handoffs: [writer]
    commands: {fix: Fix it.}
  writer:
    model: own
    description: Writes.
    instruction: You write.
    fallback: {models: [openai/a, openai/b]}
    toolsets:
      - type: mcp
        ref: search
        tools: [query]
      - type: mcp
        command: /usr/bin/gopls
        args: [mcp]
        env: {A: b}
      - type: mcp
        remote: {url: "https://mcp.example.com/sse", headers: {Authorization: "Bearer ${T}"}}
      - type: filesystem
        tools: [read_file, list_directory, search_files_content]
    instrucion: typo
`

func decodeDocker(t *testing.T, file, text string) ([]*profile.Profile, []profile.Diagnostic) {
	t.Helper()
	f := &dialect.File{Name: file, Path: file, Data: []byte(text)}
	d, ok := dialect.Detect(f)
	if !ok || d.Name != "docker" {
		t.Fatalf("it is found to be %q", d.Name)
	}
	return d.Decode(f)
}

func TestDocker(t *testing.T) {
	ps, ds := decodeDocker(t, "agents/team/blog.yaml", dockerTeam)
	if bad := lines(ds, profile.SeverityWarning); bad != `agents/team/blog.yaml:54:5: warning [P112]: instrucion is not a known key; it is kept and has no effect (did you mean "instruction"?)` {
		t.Errorf("diagnostics: %s", bad)
	}
	if len(ps) != 2 {
		t.Fatalf("%d profiles", len(ps))
	}
	var rules []string
	for _, p := range ps {
		for _, r := range p.Permission {
			rules = append(rules, strings.Join([]string{r.Tool, r.Subject, r.Effect.String()}, " "))
		}
		rules = append(rules, "--")
	}
	denied := []string{"bash rm * deny", "write * deny", "write_* * deny", "bash * deny", "--"}
	want := append([]string{
		"read * allow", "write * allow", "edit * allow", "glob * allow", "grep * allow", "bash * allow",
		"task * deny", "task team/blog/writer allow", "task other/pirate allow", "switch_profile * deny", "switch_profile team/blog/writer allow",
	}, denied...)
	want = append(want, append([]string{"search_query * allow", "gopls_* * allow", "mcp-example-com_* * allow", "read * allow", "grep * allow"}, denied...)...)
	if diff := cmp.Diff(want, rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	root, writer := ps[0], ps[1]
	got := []any{root.Name, root.Provider.V, root.Model.V, root.MaxTokens.V, root.Temperature.V, root.Thinking.V, root.Limits.Turns.V, root.Body, root.BodyAt.Line, root.NameAt.Line}
	if diff := cmp.Diff([]any{"team/blog", "anthropic", "claude-x", 64000, 0.2, "high", 7, "You lead.\n  Well.\n", 25, 22}, got); diff != "" {
		t.Error(diff)
	}
	if writer.Name != "team/blog/writer" || writer.Thinking.V != "high" || writer.Provider.V != "gateway" {
		t.Errorf("%+v", writer)
	}
	extra := map[string]string{}
	for _, x := range writer.Extra {
		if !strings.HasPrefix(x.Key, "file.") && x.Key != "toolsets" {
			extra[x.Key] = string(x.YAML)
		}
	}
	if diff := cmp.Diff(map[string]string{
		"fallbacks":    " [openai/a, openai/b]",
		"model-config": "\n  api: openai-chat\n  base-url: https://x.example/v1\n  key-env: X_KEY",
		"mcp-servers": "\n  search:\n    command: docker\n    args: [mcp, gateway, run, --servers, duckduckgo]\n  gopls:\n    command: /usr/bin/gopls\n    args:\n      - mcp\n" +
			"    env:\n      A: b\n  mcp-example-com:\n    url: https://mcp.example.com/sse\n    headers:\n      Authorization: Bearer ${T}",
		"instrucion": " typo",
	}, extra); diff != "" {
		t.Errorf("extra (-want +got):\n%s", diff)
	}
}

func TestDockerNames(t *testing.T) {
	const one = "agents:\n  %:\n    model: a/b\n    instruction: x\n    description: d\n"
	for _, c := range []struct{ path, agent, want string }{
		{"examples/blog.yaml", "root", "blog"},
		{"examples/blog.yaml", "only", "blog"},
		{"ws/agents/a/b.yml", "root", "a/b"},
		{"My Team.yaml", "root", "my-team"},
	} {
		t.Run(c.path+" "+c.agent, func(t *testing.T) {
			ps, ds := decodeDocker(t, c.path, strings.ReplaceAll(one, "%", c.agent))
			if profile.Refused(ds) || len(ps) != 1 || ps[0].Name != c.want {
				t.Errorf("%v %v", ps[0].Name, ds)
			}
		})
	}
}

func TestDockerReports(t *testing.T) {
	for _, c := range []struct{ name, text, want, code string }{
		{"broken YAML", "agents:\n  root:\n    model: a: b\n", "a.yaml:3:13: error", "P103"},
		{"a name that is a path", "agents:\n  root: {}\n  ../x: {}\n", "a.yaml:3:3: error", "P117"},
		{"the same name twice", "agents:\n  root: {}\n  a b: {}\n  a-b: {}\n", "a.yaml:4:3: error", "P117"},
		{"an agent that is no map", "agents:\n  root: 3\n", "a.yaml:2:9: error", "P110"},
		{"a wrong type", "models: {m: {provider: p, model: m, temperature: hot}}\nagents:\n  root: {model: m}\n", "a.yaml:1:50: error", "P110"},
		{"twice", "agents:\n  root: {}\n  root: {}\n", "a.yaml:3:3: error", "P104"},
		{"no agents", "agents: {}\n", "a.yaml:1:1: warning", "P157"},
		{"an unknown toolset", "agents:\n  root: {toolsets: [{type: telepathy}]}\n", "a.yaml:2:21: warning", "P116"},
		{"an unknown key beside the agents", "agent_list: 1\nagents:\n  root: {}\n", "a.yaml:1:1: warning", "P112"},
		{"hooks", "agents:\n  root: {hooks: {pre_tool_use: []}}\n", "a.yaml:2:10: warning", "P114"},
		{"toolsets that are no list", "agents:\n  root: {toolsets: shell}\n", "a.yaml:2:20: error", "P110"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, ds := decodeDocker(t, "a.yaml", c.text)
			bad := lines(ds, profile.SeverityWarning)
			if !strings.HasPrefix(bad, c.want) || !strings.Contains(bad, c.code) {
				t.Errorf("%s, want %s at %s", bad, c.code, c.want)
			}
		})
	}
	for _, text := range []string{"services: {}\n", "agents: [a]\n", "x: 1\n", "myagents: {}"} {
		if d, ok := dialect.Detect(&dialect.File{Name: "a.yaml", Path: "a.yaml", Data: []byte(text)}); ok && d.Name == "docker" {
			t.Errorf("%q is found to be docker's", text)
		}
	}
}

func TestRoundTripDocker(t *testing.T) {
	d, _ := dialect.ByName("docker")
	rapid.Check(t, func(t *rapid.T) {
		a := anyProfile(t)
		p := &profile.Profile{
			Name: a.Name, Body: a.Body, Dialect: "docker", Description: a.Description,
			Temperature: a.Temperature, TopP: a.TopP, MaxTokens: a.MaxTokens, Thinking: a.Thinking,
			Provider: profile.Value[string]{V: anyText.Filter(nonBlank).Draw(t, "provider"), Set: true},
			Model:    profile.Value[string]{V: anyText.Filter(nonBlank).Draw(t, "model"), Set: true},
			Limits:   profile.Limits{Turns: maybe(t, "turns", rapid.IntRange(0, 1e6))},
			Tools:    profile.Value[profile.Tools]{Set: true},
		}
		for _, n := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"read", "write", "edit", "bash", "webfetch", "todo", "memory", "ask_user"}), 0, 8, rapid.ID).Draw(t, "tools") {
			p.Tools.V.Names = append(p.Tools.V.Names, n)
			p.Permission = append(p.Permission, permission.Rule{Tool: n, Subject: "*", Effect: permission.Allow})
		}
		if rapid.Bool().Draw(t, "delegates") {
			p.Tools.V.Names = append(p.Tools.V.Names, "task")
			p.Permission = append(p.Permission, permission.Rule{Tool: "task", Subject: "*", Effect: permission.Deny},
				permission.Rule{Tool: "task", Subject: "x/y", Effect: permission.Allow})
		}
		if rapid.Bool().Draw(t, "more") {
			p.Extra = append(p.Extra, profile.Extra{Key: "fallbacks", Known: true, YAML: []byte(" [a/b]")}, profile.Extra{Key: "commands", YAML: []byte("\n  fix: it")},
				profile.Extra{Key: "file.metadata", YAML: []byte("\n  author: me")}, profile.Extra{Key: "model.provider_opts", YAML: []byte(" {a: b}")})
		}
		parts, lost := dialect.Encode(d, p)
		if len(lost) > 0 {
			t.Fatalf("lost %v\n%s", lost, parts)
		}
		ps, ds := d.Decode(&dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data})
		if profile.Refused(ds) {
			t.Fatalf("refused %v\n%s", ds, parts[0].Data)
		}
		if diff := same(p, ps[0]); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, parts[0].Data)
		}
	})
}

// TestDockerLeavesToolsOut: a tool that the profile does not allow would be
// allowed by being listed.
func TestDockerLeavesToolsOut(t *testing.T) {
	d, _ := dialect.ByName("docker")
	p, _ := dialect.Decode("profiles/a.md", []byte("---\ndescription: d\nmodel: sonnet\ntools: [bash]\npermission: {bash: ask}\n---\nHi.\n"))
	parts, lost := dialect.Encode(d, p)
	if strings.Contains(string(parts[0].Data), "shell") || !strings.Contains(lines(lost, profile.SeverityWarning), "every listed tool is allowed") {
		t.Errorf("%s\n%v", parts[0].Data, lost)
	}
}

// TestCorpusDocker reads every file of agents that people published, and writes
// each agent back.
func TestCorpusDocker(t *testing.T) {
	count := map[string]int{}
	for name, data := range published(t, "docker-agent-yaml") {
		f := &dialect.File{Name: name, Path: name, Data: data}
		d, ok := dialect.Detect(f)
		if !ok {
			count["ignored"]++
			if !strings.HasSuffix(name, "docker-compose.yaml") {
				t.Errorf("%s is not found", name)
			}
			continue
		}
		ps, ds := d.Decode(f)
		if d.Name != "docker" || profile.Refused(ds) {
			t.Errorf("%s %s: %v", d.Name, name, lines(ds, profile.SeverityError))
			continue
		}
		count["loaded"]++
		for i := range ds {
			if ds[i].Code == profile.CodeUnknownKey || ds[i].Code == profile.CodeUnknownTool {
				count["unknown"]++
				t.Logf("%v", &ds[i])
			}
		}
		for _, p := range ps {
			count["profiles"]++
			_, lost := dialect.Encode(d, p)
			if len(lost) == 1 && lost[0].Key == "model" {
				count["taking turns"]++ // models that alternate, named in another place of the file
			} else if len(lost) > 0 {
				t.Errorf("%s %s: %v", name, p.Name, lost)
			}
		}
	}
	t.Log(count)
	if count["loaded"] < 156 || count["profiles"] < 216 || count["taking turns"] > 4 {
		t.Errorf("%v", count)
	}
}

func FuzzDocker(f *testing.F) {
	f.Add([]byte(dockerTeam))
	f.Add([]byte("agents: {root: {model: 'a,b', instruction: \"\\u2028\", toolsets: [{type: todo}, {type: x}], max_iterations: 0}, b: {}}"))
	f.Add([]byte("models: {m: {type: t, thinking_budget: {effort: low}, base_url: u}}\nagents: {r: {model: m, x: *y}}"))
	d, _ := dialect.ByName("docker")
	f.Fuzz(func(t *testing.T, data []byte) {
		ps, ds := d.Decode(&dialect.File{Name: "agents/a.yaml", Path: "agents/a.yaml", Data: data})
		for i := range ds {
			if ds[i].Message == "" || ds[i].Line < 0 || ds[i].Column < 0 {
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
			parts, lost := dialect.Encode(d, p)
			for i := range lost {
				if lost[i].Message == "" {
					t.Errorf("bad diagnostic %+v", lost[i])
				}
			}
			if len(lost) > 0 || len(parts) == 0 {
				continue
			}
			again, ds := d.Decode(&dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data})
			if profile.Refused(ds) || len(again) != 1 {
				t.Fatalf("its own writing is refused: %v\n%s", ds, parts[0].Data)
			}
		}
	})
}
