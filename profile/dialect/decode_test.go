package dialect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// decode reads a file of a workspace, also when it is refused.
func decode(t *testing.T, path, text string) (*profile.Profile, []profile.Diagnostic) {
	t.Helper()
	f := &dialect.File{Name: path, Path: path, Data: []byte(text), Claimed: true}
	d, ok := dialect.Detect(f)
	if !ok {
		t.Fatalf("%s is no profile", path)
	}
	ps, ds := d.Decode(f)
	if len(ps) != 1 {
		t.Fatalf("%d profiles", len(ps))
	}
	return ps[0], ds
}

// brief writes diagnostics as "code name line:column key".
func brief(ds []profile.Diagnostic) string {
	var lines []string
	for _, d := range ds {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s %s %d:%d %s", d.Code, d.Name, d.Line, d.Column, d.Key)), " "))
	}
	return strings.Join(lines, "\n")
}

func rules(rs []permission.Rule) string {
	var lines []string
	for _, r := range rs {
		lines = append(lines, fmt.Sprintf("%s %s %s %d:%d", r.Effect, r.Tool, r.Subject, r.At.Line, r.At.Column))
	}
	return strings.Join(lines, "\n")
}

func native(keys string) string {
	return "---\nname: a\ndescription: d\n" + keys + "\n---\nprompt\n" // keys start in line 4
}

func TestDiagnostics(t *testing.T) {
	deep := "x: " + strings.Repeat("[", 101) + strings.Repeat("]", 101)
	tests := []struct {
		name, path, text, want string
	}{
		{"clean", "profiles/a.md", native("model: m"), ""},
		{"no frontmatter", "profiles/a.md", "hello", "P101 MissingFrontmatter 1:1"},
		{"no frontmatter in a rig", "rig/profiles/a.md", "hello", "P101 InvalidFormat 1:1"},
		{"not closed", "profiles/a.md", "---\nname: a\n", "P102 MissingFrontmatter 1:1"},
		{"invalid YAML", "profiles/a.md", native("permission:\n   read: ask\n  edit: ask"), "P103 InvalidYAML 6:3 permission"},
		{"invalid YAML in a rig", "rig/profiles/a.md", native("permission:\n   read: ask\n  edit: ask"), "P103 InvalidFormat 6:3 permission"},
		{"a quote that is not closed", "profiles/a.md", native("model: \"a"), "P141 InvalidYAML 4:8 model"},
		{"two keys and a value of another type", "profiles/a.md", native("title: \"a\nhidden: maybe\nmodel: [b\ntools: read: x"),
			"P141 InvalidYAML 4:8 title\nP110 SchemaValidation 5:9 hidden\nP141 InvalidYAML 6:8 model\nP116 7:8 tools\nP137 7:12 tools"},
		{"repaired", "profiles/a.md", native("title: a: b"), "P137 4:9 title"},
		{"nested too deep", "profiles/a.md", native(deep), "P107 InvalidYAML 4:104"},
		{"a list", "profiles/a.md", "---\n- a\n---\n", "P109 SchemaValidation 2:1"},
		{"two documents", "profiles/a.md", native("...\nmodel: x"), "P139 InvalidYAML 4:1"},
		{"key twice", "profiles/a.md", native("model: x\nmodel: y"), "P104 InvalidYAML 5:1 model"},
		{"key twice in two spellings", "profiles/a.md", native("top_p: 1\ntopP: 1"), "P104 InvalidYAML 5:1 topP"},
		{"key twice in a map", "profiles/a.md", native("permission:\n  read: deny\n  read: allow"), "P104 InvalidYAML 6:3 permission"},
		{"all problems at once", "profiles/a.md", native("mode: sub\ntemperature: 3\ntop-p: x\nhidden: maybe\nmax-tokens: 0\nthinking: hard"),
			"P111 SchemaValidation 4:7 mode\nP111 SchemaValidation 5:14 temperature\nP110 SchemaValidation 6:8 top-p\nP110 SchemaValidation 7:9 hidden\nP111 SchemaValidation 8:13 max-tokens\nP111 SchemaValidation 9:11 thinking"},
		{"not a number", "profiles/a.md", native("temperature: .nan"), "P110 SchemaValidation 4:14 temperature"},
		{"blank model and provider", "profiles/a.md", native("model:\nprovider: ' '"), "P121 EmptyProvider 5:1 provider\nP122 EmptyModel 4:1 model"},
		{"a list where text is expected", "profiles/a.md", "---\nname: a\ndescription: [x, y]\n---\nb", "P115 3:14 description"},
		{"unknown key", "profiles/a.md", native("moods: x"), "P112 4:1 moods"},
		{"known key that does nothing yet", "profiles/a.md", native("memory: session"), "P113 4:1 memory"},
		{"a sandbox", "profiles/a.md", native("sandbox: landlock"), ""},
		{"a sandbox in another dialect", ".claude/agents/a.md", native("sandbox: landlock"), "P114 4:1 sandbox"},
		{"unknown tool", "profiles/a.md", native("tools: [read, reed]"), "P116 4:15 tools"},
		{"a tool of a server of its own", "profiles/a.md", native("mcp-servers: {git-hub: {command: x}}\ntools: [git-hub, git-hub_issues, git-hubs]"), "P116 5:34 tools"},
		{"a tool of a service of its own", "profiles/a.md", native("tools: [shop, shop_buy, shops]\nopenapi: {shop: {spec: a.yaml}}"), "P116 4:25 tools"},
		{"unknown tool in a text", "profiles/a.md", native("tools: read, reed"), "P116 4:14 tools"},
		{"unknown tool in a quoted text", "profiles/a.md", native("tools: 'read, réed x'"), "P116 4:15 tools"},
		{"unknown tool twice in a text", "profiles/a.md", native("tools: readx, read, x"), "P116 4:8 tools"},
		{"unknown tool in a folded text", "profiles/a.md", native("tools: read,\n  reed"), "P116 4:8 tools"},
		{"unknown tool in an escaped text", "profiles/a.md", native("tools: \"\\x72ead, reed\""), "P116 4:8 tools"},
		{"denied tool in a text", ".claude/agents/a.md", native("disallowedTools: Read, Reed"), "P116 4:24 disallowedTools"},
		{"key twice in an unknown map", "profiles/a.md", native("x:\n  y: [{a: 1, a: 2}]"), "P104 InvalidYAML 5:14 x.y\nP112 4:1 x"},
		{"key twice in a map that is kept", ".opencode/agents/a.md", native("options: {a: 1, a: 2}"), "P104 InvalidYAML 4:17 options\nP113 4:1 options"},
		{"a sandbox that restricts", ".codex/agents/a.toml", "name = \"a\"\ndescription = \"d\"\ndeveloper_instructions = \"x\"\nsandbox_mode = \"read-only\"", "P114 4:1 sandbox_mode"},
		{"a sandbox that does not", ".codex/agents/a.toml", "name = \"a\"\ndescription = \"d\"\ndeveloper_instructions = \"x\"\nsandbox_mode = \"workspace-write\"", "P113 4:1 sandbox_mode"},
		{"keys for people", "agents/a.md", "---\nname: a\ndescription: d\nemoji: x\nvibe: y\ntags: [a]\ncolor: red\nexpertise_level: z\n---\nb", ""},
		{"turns by the name of another dialect", ".opencode/agents/a.md", native("max_turns: 0"), "P111 SchemaValidation 4:12 max_turns"},
		{"unknown tools of one list", "profiles/a.md", native("tools: [reed, read, x, y, x]"), "P116 4:9 tools"},
		{"name is a slug", "profiles/a.md", "---\nname: A & B\ndescription: d\n---\nb", "P118 2:7 name"},
		{"name is a path", "profiles/a.md", "---\nname: ../x\ndescription: d\n---\nb", "P117 SchemaValidation 2:7 name"},
		{"name is empty", "profiles/a.md", "---\nname:\ndescription: d\n---\nb", "P117 SchemaValidation 2:1 name"},
		{"name without letters", "<memory>", "---\nname: 专家\ndescription: d\n---\nb", "P117 SchemaValidation 2:7 name"},
		{"empty frontmatter", "profiles/a.md", "---\n# nothing\n---\nb", "P119 0:0 description"},
		{"no prompt", "profiles/a.md", "---\ndescription: d\n---\n\n", "P124 4:1 system-prompt"},
		{"opencode needs a description", "agents/a.md", "---\nmode: all\n---\nb", "P126 SchemaValidation 1:1 description"},
		{"opencode with a blank description", "agents/a.md", "---\nmode: all\ndescription: ''\n---\nb", "P126 SchemaValidation 3:1 description"},
		{"knot with nothing", "rig/profiles/a.md", "---\nx: 1\n---\n",
			"P112 2:1 x\nP120 MissingName 1:1 name\nP121 EmptyProvider 1:1 provider\nP122 EmptyModel 1:1 model\nP123 MissingSystemPrompt 1:1 system-prompt"},
		{"knot with blanks", "rig/profiles/a.md", "---\nname: ' '\nprovider: ' '\nmodel: ' '\nsystem-prompt: ' '\n---\nbody",
			"P120 MissingName 2:1 name\nP121 EmptyProvider 3:1 provider\nP122 EmptyModel 4:1 model\nP123 MissingSystemPrompt 5:1 system-prompt"},
		{"effect of another word", "profiles/a.md", native("permission:\n  bash:\n    \"*\": alow"), "P111 SchemaValidation 6:10 permission.bash.*"},
		{"rule without a tool", "profiles/a.md", native("permission: [{effect: deny}]"), "P111 SchemaValidation 4:14 permission"},
		{"unknown limit", "profiles/a.md", native("limits: {turn: 3}"), "P112 4:10 limits.turn"},
		{"time without unit", "profiles/a.md", native("limits: {duration: 600}"), "P110 SchemaValidation 4:20 limits.duration"},
		{"no turns", "profiles/a.md", native("limits: {turns: 0}"), "P111 SchemaValidation 4:17 limits.turns"},
		{"unknown setting", "profiles/a.md", native("tool-settings: {read: {limits: 3}}"), "P111 SchemaValidation 4:24 tool-settings.read.limits"},
		{"setting of nothing", "profiles/a.md", native("tool-settings: {read: null}"), "P110 SchemaValidation 4:23 tool-settings.read"},
		{"setting of a tool without any", "profiles/a.md", native("tool-settings: {task: {x: 1}}"), "P111 SchemaValidation 4:17 tool-settings.task"},
		{"alias that holds itself", "profiles/a.md", native("x: &a [*a]"), "P107 InvalidYAML 4:1 x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.path == "<memory>" {
				_, ds := dialect.Decode(tt.path, []byte(tt.text))
				if got := brief(ds); got != tt.want {
					t.Errorf("got\n%s\nwant\n%s", got, tt.want)
				}
				return
			}
			_, ds := decode(t, tt.path, tt.text)
			want := strings.Split(tt.want, "\n")
			got := strings.Split(brief(ds), "\n")
			if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s\n%v", diff, ds)
			}
		})
	}
}

func TestHints(t *testing.T) {
	tests := []struct{ name, keys, want string }{
		{"nearest key", "permissions: x", `did you mean "permission"?`},
		{"nearest key of a map", "limits: {turn: 3}", `did you mean "limits.turns"?`},
		{"nearest word", "mode: subagents", `did you mean "subagent"?`},
		{"bare colon", "title: a: b", `write title: "a: b"`},
		{"star", "tools: *", `write tools: "*"`},
		{"star as key", "permission:\n  *: deny", `write "*":`},
		{"number without unit", "limits: {duration: 600}", "write the unit: 600s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, ds := decode(t, "profiles/a.md", native(tt.keys))
			if len(ds) != 1 || ds[0].Hint != tt.want {
				t.Errorf("got %+v, want the hint %q", ds, tt.want)
			}
		})
	}
}

func TestRules(t *testing.T) {
	tests := []struct{ name, path, keys, want string }{
		{"written order", "profiles/a.md", "permission:\n  \"*\": deny\n  read: allow\n  bash:\n    \"*\": ask\n    \"git status*\": allow\n  task: {\"*\": deny, review-*: allow}",
			"deny * * 5:3\nallow read * 6:3\nask bash * 8:5\nallow bash git status* 9:5\ndeny task * 10:10\nallow task review-* 10:21"},
		{"one effect", "profiles/a.md", "permission: deny", "deny * * 4:13"},
		{"a list", "profiles/a.md", "permission:\n  - {tool: bash, subject: 'rm *', effect: deny}\n  - {tool: read, effect: allow}",
			"deny bash rm * 5:5\nallow read * 6:5"},
		{"names of other systems", "profiles/a.md", "permission: {Bash: ask, todowrite: allow, server_tool: deny}", "ask bash * 4:14\nallow todo * 4:25\ndeny server_tool * 4:43"},
		{"arguments of a listed tool", "profiles/a.md", "tools: Read, Bash(git push:*), Bash(ls), WebFetch(domain:a.b)",
			"allow bash git push 4:14\nallow bash git push * 4:14\nallow bash ls 4:32\nallow webfetch *://a.b 4:42\nallow webfetch *://a.b/* 4:42"},
		{"arguments hold commas and spaces", "profiles/a.md", "tools: Bash(a, b c) Read(./src/**)", "allow bash a, b c 4:8\nallow read src/* 4:21"},
		{"the tool list goes first", "profiles/a.md", "permission: {bash: deny}\ntools: [Bash(ls)]", "allow bash ls 5:9\ndeny bash * 4:14"},
		{"tools as a map", "profiles/a.md", "tools: {bash: false, read: true, 'mcp_*': no}", "deny bash * 4:9\ndeny mcp_* * 4:34"},
		{"opencode: edit decides write", "agents/a.md", "permission: {edit: {'*': deny, 'docs/*': allow}}",
			"deny edit * 4:21\ndeny write * 4:21\nallow edit docs/* 4:32\nallow write docs/* 4:32"},
		{"knot: the list is the grant", "rig/profiles/a.md", "provider: p\nmodel: m\ntools: [fs, Bash(ls)]",
			"allow read * 6:1\nallow write * 6:1\nallow edit * 6:1\nallow glob * 6:1\nallow grep * 6:1\nallow bash ls 6:13"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ds := decode(t, tt.path, native(tt.keys))
			if profile.Refused(ds) {
				t.Fatal(ds)
			}
			if diff := cmp.Diff(tt.want, rules(p.Permission)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, r := range p.Permission {
				if r.At.File != tt.path || r.At.Layer != "profile" {
					t.Errorf("the rule %v has no origin", r)
				}
			}
		})
	}
}

func TestTools(t *testing.T) {
	tests := []struct {
		name, path, keys string
		want             profile.Value[profile.Tools]
	}{
		{"absent", "profiles/a.md", "", profile.Value[profile.Tools]{}},
		{"nothing", "profiles/a.md", "tools:", profile.Value[profile.Tools]{}},
		{"empty list", "profiles/a.md", "tools: []", toolValue(profile.Tools{Names: []string{}, Written: []string{}})},
		{"star", "profiles/a.md", "tools: '*'", toolValue(profile.Tools{All: true, Names: []string{}, Written: []string{"*"}})},
		{"commas", "profiles/a.md", "tools: Read, Grep,Bash", toolValue(profile.Tools{Names: []string{"read", "grep", "bash"}, Written: []string{"Read", "Grep", "Bash"}})},
		{"spaces", "profiles/a.md", "tools: Read Grep  Bash", toolValue(profile.Tools{Names: []string{"read", "grep", "bash"}, Written: []string{"Read", "Grep", "Bash"}})},
		{"each name once", "profiles/a.md", "tools: [Read, LS, filesystem]", toolValue(profile.Tools{Names: []string{"read", "write", "edit", "glob", "grep"}, Written: []string{"Read", "LS", "filesystem"}})},
		{"map after false for all", "agents/a.md", "tools: {'*': false, read: true, Grep: true}", toolValue(profile.Tools{Names: []string{"read", "grep"}})},
		{"map of some", "agents/a.md", "tools: {write: false}", toolValue(profile.Tools{All: true})},
		{"knot without tools has none", "rig/profiles/a.md", "provider: p\nmodel: m", toolValue(profile.Tools{Names: []string{}})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ds := decode(t, tt.path, native(tt.keys))
			if profile.Refused(ds) {
				t.Fatal(ds)
			}
			got := p.Tools
			got.At = tt.want.At
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func toolValue(v profile.Tools) profile.Value[profile.Tools] {
	return profile.Value[profile.Tools]{V: v, Set: true}
}

func TestNativeKeys(t *testing.T) {
	p, ds := decode(t, "profiles/team/lead.md", `---
title: Lead
description: 2024-01-01
summary: 1.0
details: {specialization: s, whenToUse: w, key_tools: [read]}
mode: primary
hidden: yes
provider: anthropic
model: a/b:c#d
temperature: 0.2
topP: 0.9
max_tokens: 100
thinking: high
tool_settings:
  Read: {line_numbers: false, maxLineLength: 80}
  bash: {timeout: 90s}
defaultPermission: deny
limits: {turns: 7, tokens: none, duration: 1h30m, cost: 0.5}
retry: {max: 0, base: 2s, factor: 1.5, cap: 1m}
tool-execution: {strategy: batched, size: 4}
cache: off
workspace: sub
subagents: {tools: Read, max-depth: 0, prompt: be brief}
subagent-prompt: sub
system-prompt: |
  You lead.
  ---
url: http://x/y#frag # a remark
---
documentation
`)
	if want := "P113 13:1 thinking\nP112 28:1 url"; brief(ds) != want {
		t.Errorf("diagnostics\n%s\nwant\n%s", brief(ds), want)
	}
	got := map[string]any{
		"name": p.Name, "title": p.Title.V, "description": p.Description.V, "summary": p.Summary.V, "details": p.Details.V,
		"mode": p.Mode.V, "hidden": p.Hidden.V, "provider": p.Provider.V, "model": p.Model.V, "temperature": p.Temperature.V,
		"top-p": p.TopP.V, "max-tokens": p.MaxTokens.V, "thinking": p.Thinking.V, "default": p.DefaultPermission.V,
		"turns": p.Limits.Turns.V, "tokens": p.Limits.Tokens.Set, "duration": p.Limits.Duration.V, "cost": p.Limits.Cost.V,
		"retry": p.Retry.Max.Set, "base": p.Retry.Base.V, "factor": p.Retry.Factor.V, "cap": p.Retry.Cap.V,
		"execution": p.ToolExecution.V, "cache": p.Cache.V, "workspace": p.Workspace.V,
		"subagents": p.SubagentTools.V, "depth": p.SubagentMaxDepth.Set, "subagent-prompt": p.SubagentPrompt.V,
		"system-prompt": p.SystemPrompt.V, "body": p.Body,
	}
	want := map[string]any{
		"name": "team/lead", "title": "Lead", "description": "2024-01-01", "summary": "1.0",
		"details": profile.Details{Specialization: "s", WhenToUse: "w", KeyTools: []string{"read"}},
		"mode":    "primary", "hidden": true, "provider": "anthropic", "model": "a/b:c#d", "temperature": 0.2,
		"top-p": 0.9, "max-tokens": 100, "thinking": "high", "default": permission.Deny,
		"turns": 7, "tokens": true, "duration": 90 * time.Minute, "cost": 0.5,
		"retry": true, "base": 2 * time.Second, "factor": 1.5, "cap": time.Minute,
		"execution": profile.ToolExecution{Strategy: "batched", Size: 4}, "cache": "off", "workspace": "sub",
		"subagents": []string{"read"}, "depth": true, "subagent-prompt": "sub",
		"system-prompt": "You lead.\n---\n", "body": "documentation\n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	settings := []string{`read {"line-numbers":false,"max-line-length":80} 15`, `bash {"timeout":"1m30s"} 16`}
	for i, s := range p.ToolSettings {
		if got := fmt.Sprintf("%s %s %d", s.Tool, s.JSON, s.At.Line); got != settings[i] || !json.Valid(s.JSON) {
			t.Errorf("setting %q, want %q", got, settings[i])
		}
	}
	if p.Model.At.String() != "profiles/team/lead.md:9:1" || p.Limits.Cost.At.String() != "profiles/team/lead.md:18:51" {
		t.Errorf("origins %v and %v", p.Model.At, p.Limits.Cost.At)
	}
	extra := p.Extra[1]
	if extra.Key != "url" || string(extra.YAML) != " http://x/y#frag # a remark" || extra.Known || extra.At.Line != 28 {
		t.Errorf("extra %+v %s", extra, extra.YAML)
	}
}

func TestDetect(t *testing.T) {
	const shape = "---\nname: a\ndescription: d\n---\nb"
	tests := []struct{ name, path, text, want string }{
		{"native folder", "profiles/a.md", "---\nmode: all\n---\nb", "roster"},
		{"rig", "x/rig/profiles/a.md", shape, "knot"},
		{"another rig", "my-rig/profiles/a.md", shape, "knot"},
		{"below the profiles of a rig", "rig/profiles/x/a.md", shape, "roster"},
		{"dot folder", ".opencode/agents/x/a.md", "---\nlimits: {turns: 2}\ndescription: d\n---\n", "opencode"},
		{"agents", "pkg/agents/a.md", shape, "claude"},
		{"agents without a name", "pkg/agents/a.md", "---\ndescription: d\n---\nb", "opencode"},
		{"agents with a name alone", "pkg/agents/a.md", "---\nname: a\n---\nb", "claude"},
		{"agents with a mode", "pkg/agents/a.md", "---\nname: a\nmode: all\ndescription: d\n---\nb", "opencode"},
		{"Claude's folder", "x/.claude/agents/sub/a.md", "---\nmode: all\nsteps: 3\n---\nb", "claude"},
		{"Gemini's folder", "x/.gemini/agents/a.md", shape, "gemini"},
		{"Copilot's folder", ".github/agents/a.md", shape, "copilot"},
		{"Copilot's suffix", "x/a.agent.md", "---\nmode: all\n---\nb", "copilot"},
		{"Copilot's older suffix", "x/a.chatmode.md", "# no frontmatter", "copilot"},
		{"the suffix goes before the folder", ".claude/agents/a.agent.md", shape, "copilot"},
		{"the suffix goes before skills", "skills/x/a.agent.md", shape, "copilot"},
		{"a tool's folder goes before a rig", "rig/profiles/.claude/agents/a.md", shape, "claude"},
		{"agents of a skill", "skills/x/agents/a.md", shape, "claude"},
		{"skills of an agent", "agents/x/skills/a.md", shape, ""},
		{"a provider that is a program", "a.md", "---\nname: a\ndescription: d\nprovider: claude_code\n---\nb", "claude"},
		{"a provider", "a.md", "---\nname: a\ndescription: d\nprovider: openai\n---\nb", "roster"},
		{"a card by its folder", "x/agent_cards/a.md", "---\ndescription: d\n---\nb", "claude"},
		{"a card by its type", "x/a.md", "---\ndescription: d\ntype: agent\n---\nb", "claude"},
		{"instructions", "x.instructions.md", "---\ndescription: d\nname: a\n---\n", ""},
		{"another kind of file", "agents/a.txt", "x", ""},
		{"native key under agents", "agents/a.md", "---\nsystem-prompt: x\n---\n", "roster"},
		{"shape of a knot profile", "a.md", "---\nname: a\nprovider: p\nmodel: m\nsystem-prompt: x\n---\n", "knot"},
		{"shape of opencode", "a.md", "---\ndescription: d\ntools: {bash: false}\n---\n", "opencode"},
		{"shape of opencode, broken", "a.md", "---\ndescription: a: b\nmode: all\n---\n", "opencode"},
		{"permissions", "a.md", "---\npermissions: x\n---\n", "opencode"},
		{"Claude's shape", "a.md", shape, "claude"},
		{"a page", "a.md", "---\ntitle: x\ndate: 2024-01-01\n---\n", ""},
		{"another page", "a.md", "---\nlayout: x\n---\n", ""},
		{"no frontmatter", "docs/a.md", "# x", ""},
		{"no frontmatter under agents", "agents/a.md", "# x", "opencode"},
		{"read me", "agents/README.md", "# x", ""},
		{"read me in another language", ".claude/agents/README_de.md", "# x", ""},
		{"notes", ".claude/agents/notes.md", "# x", ""},
		{"notes with frontmatter", ".claude/agents/NOTES.md", "---\nname: notes\n---\nx", "claude"},
		{"a name that begins like theirs", ".claude/agents/readmes.md", "# x", "claude"},
		{"skill", ".opencode/skills/x/SKILL.md", shape, ""},
		{"command", ".opencode/command/x.md", shape, ""},
		{"prompt", "x.prompt.md", "---\nmode: agent\n---\n", ""},
		{"knot", "rig/x-loom/a.md", shape, ""},
		{"knot by shape", "a.md", "---\nname: k\nagent-profile-ref: fast\n---\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, _ := dialect.Detect(&dialect.File{Name: tt.path, Path: tt.path, Data: []byte(tt.text)})
			if d.Name != tt.want {
				t.Errorf("got %q, want %q", d.Name, tt.want)
			}
		})
	}
}

func TestNamesFromPaths(t *testing.T) {
	for path, want := range map[string]string{
		"agents/code-reviewer.md":        "code-reviewer",
		".opencode/agent/nested/deep.md": "nested/deep",
		"/home/agents/ws/agents/x/y.md":  "x/y",
		"/home/me/notes/y.md":            "y",
		"sub/y.md":                       "sub/y",
		"profiles/My Agent.md":           "my-agent",
		"rig/profiles/fast.md":           "fast",
	} {
		f, ds := dialect.Decode(path, []byte("---\ndescription: d\nname: x\nprovider: p\nmodel: m\n---\nb"))
		if f == nil || f.Name != "x" {
			t.Errorf("%s: name: wins over the path: %v", path, ds)
		}
		if got := dialect.NameOf(dialect.Place(path)); got != want {
			t.Errorf("NameOf(%q) = %q, want %q", path, got, want)
		}
	}
	p, ds := decode(t, "profiles/My Agent.md", "---\ndescription: d\n---\nb")
	if p.Name != "my-agent" || p.Title.V != "My Agent" || len(ds) != 1 || ds[0].Code != profile.CodeSlug || !strings.Contains(ds[0].Message, `the name is "my-agent"`) {
		t.Errorf("%s %+v %v", p.Name, p.Title, ds)
	}
}

func TestHeadless(t *testing.T) {
	f := &dialect.File{Name: "agents/a.md", Path: "agents/a.md", Options: dialect.Options{Headless: true},
		Data: []byte("---\ndescription: d\npermission:\n  task:\n    \"x\": ask\n  bash: ask\n---\nb")}
	d, _ := dialect.Detect(f)
	_, ds := d.Decode(f)
	if want := "P125 SchemaValidation 5:5 permission"; brief(ds) != want {
		t.Errorf("got %s, want %s", brief(ds), want)
	}
}
