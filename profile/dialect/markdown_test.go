package dialect_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// TestRoundTripOwn writes whatever a profile can say in the dialect that it
// comes from.
func TestRoundTripOwn(t *testing.T) {
	for name, path := range map[string]string{
		"claude": ".claude/agents/a.md", "copilot": "a.agent.md", "gemini": ".gemini/agents/a.md",
	} {
		d, _ := dialect.ByName(name)
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				p := anyProfile(t)
				p.Dialect = name
				check(t, d, path, p)
			})
		})
	}
}

// TestConvertAnything holds that a conversion of anything either is refused or
// reads back as what it says, but for what it names.
func TestConvertAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile(t)
		p.Dialect = rapid.SampledFrom([]string{"roster", "claude", "opencode", "copilot", "gemini", "knot"}).Draw(t, "from")
		to, _ := dialect.ByName(rapid.SampledFrom([]string{"roster", "claude", "opencode", "copilot", "gemini", "knot"}).Draw(t, "to"))
		parts, ds := dialect.Encode(to, p)
		if profile.Refused(ds) {
			return
		}
		ps, refusal := to.Decode(&dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data})
		if profile.Refused(refusal) {
			t.Fatalf("refused: %v\n%s", refusal, parts[0].Data)
		}
		for _, key := range differing(p, ps[0]) {
			if key == "system-prompt" && ps[0].Body == p.SystemPrompt.V || key == "body" && p.SystemPrompt.Set && strings.TrimSpace(p.Body) == "" {
				continue // the prompt moved into the body
			}
			if key == "model" && strings.TrimPrefix(p.Provider.V+"/"+p.Model.V, "/") == strings.TrimPrefix(ps[0].Provider.V+"/"+ps[0].Model.V, "/") {
				continue
			}
			if !hasKey(ds, key) {
				t.Fatalf("%s differs, and is not named in %v\n%s\n%s", key, ds, same(p, ps[0]), parts[0].Data)
			}
		}
	})
}

// offered says whether the model is offered a tool: the list has it, and no
// rule withholds it.
func offered(t *rapid.T, p *profile.Profile, tool string) bool {
	if p.Tools.Set && !p.Tools.V.All && !slices.Contains(p.Tools.V.Names, tool) {
		return false
	}
	engine, err := permission.Compile(permission.Layers{Rules: p.Permission, Default: permission.Allow})
	if err != nil {
		t.Fatal(err)
	}
	return engine.Offered(tool)
}

// TestConvertOffersNoMore: what rules and lists keep from the model is kept
// from it in every dialect, whatever is lost.
func TestConvertOffersNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyProfile(t)
		dialects := []string{"roster", "claude", "opencode", "copilot", "gemini", "knot"}
		p.Dialect = rapid.SampledFrom(dialects).Draw(t, "from")
		to, _ := dialect.ByName(rapid.SampledFrom(dialects).Draw(t, "to"))
		parts, ds := dialect.Encode(to, p)
		if profile.Refused(ds) {
			return
		}
		ps, _ := to.Decode(&dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data})
		for _, tool := range []string{"read", "write", "edit", "grep", "bash", "task", "webfetch", "my-tool"} {
			if offered(t, ps[0], tool) && !offered(t, p, tool) {
				t.Fatalf("%s is offered\n%v\n%s", tool, p.Permission, parts[0].Data)
			}
		}
	})
}

func hasKey(ds []profile.Diagnostic, key string) bool {
	for _, d := range ds {
		if d.Key == key || d.Key == "provider" && key == "model" {
			return true
		}
	}
	return false
}

func TestClaudeKeys(t *testing.T) {
	p, ds := decode(t, ".claude/agents/team/reviewer.md", `---
name: reviewer
description: Reviews
tools: Read, Bash(git log:*), mcp__github__get_issue, mcp__docs
disallowedTools: [Write, "Bash(rm *)", NotebookEdit]
model: sonnet
permissionMode: acceptEdits
maxTurns: 7
effort: high
skills: [a, b]
mcpServers:
  - github
hooks:
  PreToolUse: []
memory: project
color: blue
background: true
isolation: worktree
---
prompt
`)
	if profile.Refused(ds) {
		t.Fatal(ds)
	}
	want := "P114 13:1 hooks\nP113 15:1 memory\nP113 17:1 background\nP113 18:1 isolation"
	if diff := cmp.Diff(want, brief(ds)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"read", "bash", "github_get_issue", "docs_*"}, p.Tools.V.Names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff("allow bash git log 4:14\nallow bash git log * 4:14\ndeny write * 5:19\ndeny bash rm * 5:26\ndeny NotebookEdit * 5:40", rules(p.Permission)); diff != "" {
		t.Error(diff)
	}
	var kept []string
	for _, x := range p.Extra {
		kept = append(kept, x.Key)
	}
	if diff := cmp.Diff("skills mcp-servers hooks memory color background isolation", strings.Join(kept, " ")); diff != "" {
		t.Error(diff)
	}
	if p.Limits.Turns.V != 7 || p.Thinking.V != "high" || p.Model.V != "sonnet" || p.PermissionMode.V != "accept-edits" {
		t.Errorf("%+v %+v %+v", p.Limits, p.Thinking, p.PermissionMode)
	}
}

func TestCopilotKeys(t *testing.T) {
	p, ds := decode(t, ".github/agents/planner.agent.md", `---
description: Plans
tools: ['codebase', 'edit', 'runCommands', 'github/*', 'microsoft.docs.mcp/search', 'vscode/extensions']
model: ['GPT-5', 'Claude Sonnet 4.5']
user-invocable: false
agents: ['Code Reviewer']
handoffs: [{label: x, agent: y}]
mcp-servers: {x: {type: http, url: "https://example.com"}}
---
prompt
`)
	if want := "P116 3:85 tools\nP113 4:1 model\nP113 7:1 handoffs"; brief(ds) != want {
		t.Errorf("%s", brief(ds))
	}
	if diff := cmp.Diff([]string{"grep", "glob", "edit", "write", "bash", "github_*", "microsoft_docs_mcp_search", "vscode/extensions"}, p.Tools.V.Names); diff != "" {
		t.Error(diff)
	}
	if p.Name != "planner" || p.Model.V != "GPT-5" || p.Mode.V != "subagent" {
		t.Errorf("%s %s %s", p.Name, p.Model.V, p.Mode.V)
	}
	if diff := cmp.Diff("deny task * 6:1\nallow task code-reviewer 6:1", rules(p.Permission)); diff != "" {
		t.Error(diff)
	}
}

func TestWhoMayInvoke(t *testing.T) {
	tests := []struct{ name, keys, mode string }{
		{"unsaid", "", ""},
		{"everybody", "user-invocable: true", "all"},
		{"agents", "user-invocable: false", "subagent"},
		{"people", "disable-model-invocation: true", "primary"},
		{"people, by the older key", "infer: false", "primary"},
		{"nobody", "user-invocable: false\ndisable-model-invocation: true", "primary"},
		{"the mode goes first", "mode: all\nuser-invocable: false", "all"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ds := decode(t, "a.agent.md", native(tt.keys))
			if p.Mode.V != tt.mode || profile.Refused(ds) || p.Hidden.V != (tt.name == "nobody") {
				t.Errorf("mode %q, want %q, %v", p.Mode.V, tt.mode, ds)
			}
		})
	}
}

func TestGeminiKeys(t *testing.T) {
	p, ds := decode(t, ".gemini/agents/auditor.md", `---
name: auditor
display_name: The Auditor
description: Audits
kind: local
tools: [read_file, grep_search, run_shell_command, mcp_my-server_find, mcp_docs_*]
temperature: 0.2
max_turns: 10
timeout_mins: 2.5
---
prompt
`)
	if want := "P113 5:1 kind"; brief(ds) != want {
		t.Errorf("%s", brief(ds))
	}
	if diff := cmp.Diff([]string{"read", "grep", "bash", "my-server_find", "docs_*"}, p.Tools.V.Names); diff != "" {
		t.Error(diff)
	}
	if p.Title.V != "The Auditor" || p.Limits.Turns.V != 10 || p.Limits.Duration.V.String() != "2m30s" {
		t.Errorf("%+v %+v", p.Title, p.Limits)
	}
}

// TestTranslations writes one profile in other dialects, in their words.
func TestTranslations(t *testing.T) {
	tests := []struct{ name, from, keys, to, want, lost string }{
		{"a word of Claude's for OpenCode", ".claude/agents/a.md", "model: sonnet", "opencode", "model: anthropic/claude-sonnet-5-5", "model"},
		{"what the caller runs", ".claude/agents/a.md", "model: inherit", "opencode", "", "model"},
		{"an id of Claude's maker", ".opencode/agents/a.md", "model: anthropic/claude-x", "claude", "model: claude-x", "model"},
		{"another maker's id", ".opencode/agents/a.md", "model: openai/gpt-5", "claude", "", "model"},
		{"a list of tools as a map", ".claude/agents/a.md", "tools: Read, TodoWrite", "opencode", "tools:\n  \"*\": false\n  read: true\n  todowrite: true", ""},
		{"a map of tools as a list", ".opencode/agents/a.md", "tools: {'*': false, read: true, question: true}", "claude", "tools: Read, AskUserQuestion", ""},
		{"arguments as rules", ".claude/agents/a.md", "tools: Read, Bash(git log)", "opencode", "permission:\n  bash:\n    git log: allow", ""},
		{"rules as arguments", ".opencode/agents/a.md", "tools: {'*': false, bash: true}\npermission: {bash: {'git *': allow}}", "claude", "tools: Bash(git *)", ""},
		{"what is disallowed", ".claude/agents/a.md", "disallowedTools: Write, Edit", "opencode", "permission:\n  edit: deny", "permission"},
		{"asking for edit alone", "profiles/a.md", "permission: {edit: ask}", "opencode", "permission:\n  \"*\": deny\n  task: deny\n", "permission"},
		{"what is disallowed, natively", ".claude/agents/a.md", "disallowedTools: Write, Edit", "roster", "permission:\n  write: deny\n  edit: deny", ""},
		{"what is switched off", ".opencode/agents/a.md", "tools: {bash: false, write: false}", "claude", "disallowedTools: Bash, Write", ""},
		{"what is switched off, without rules", ".opencode/agents/a.md", "tools: {'*': false, bash: true, read: true}\npermission: {bash: deny}", "gemini", "tools: [read_file]", "permission tools"},
		{"turns", ".claude/agents/a.md", "maxTurns: 9", "gemini", "max_turns: 9", ""},
		{"turns for OpenCode", ".claude/agents/a.md", "maxTurns: 9", "opencode", "steps: 9", ""},
		{"a title", ".gemini/agents/a.md", "display_name: The A", "roster", "title: The A", ""},
		{"servers", ".claude/agents/a.md", "mcpServers: {x: {command: y}}", "copilot", "mcp-servers: {x: {command: y}}", ""},
		{"a permission mode", "profiles/a.md", "permission-mode: dont-ask", "claude", "permissionMode: dontAsk", ""},
		{"a prompt in a key", "profiles/a.md", "system-prompt: Be brief.", "claude", "---\nBe brief.", "body"},
		{"a prompt in a file", "profiles/a.md", "system-prompt: file:x.md", "claude", "---\n", "body system-prompt"},
		{"who may call it", ".opencode/agents/a.md", "mode: subagent", "copilot", "user-invocable: false", ""},
		{"edit alone", ".claude/agents/a.md", "tools: [Edit, Read]", "copilot", "tools: [read]", "tools"},
		{"provider and model", ".opencode/agents/a.md", "model: openai/gpt-5", "knot", "provider: openai\nmodel: gpt-5", "description tools"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, ds := decode(t, tt.from, native(tt.keys))
			if profile.Refused(ds) {
				t.Fatal(ds)
			}
			to, _ := dialect.ByName(tt.to)
			parts, lost := dialect.Encode(to, p)
			if profile.Refused(lost) {
				t.Fatal(texts(lost))
			}
			keys := map[string]bool{}
			for _, l := range lost {
				keys[l.Key] = true
			}
			var got []string
			for k := range keys {
				got = append(got, k)
			}
			if s := strings.Join(sorted(got), " "); s != tt.lost {
				t.Errorf("lost %q, want %q: %s", s, tt.lost, texts(lost))
			}
			if !strings.Contains(string(parts[0].Data), tt.want) {
				t.Errorf("%q is not in\n%s", tt.want, parts[0].Data)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	tests := []struct{ name, profileName, to, code string }{
		{"no description", "a", "opencode", profile.CodeMiswritten},
		{"no provider", "a", "knot", profile.CodeMiswritten},
		{"a name that is no name", "../a", "claude", profile.CodeName},
		{"a name that stands for a skill", "x/skills/y", "claude", profile.CodeMiswritten},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			to, _ := dialect.ByName(tt.to)
			parts, ds := dialect.Encode(to, &profile.Profile{Name: tt.profileName, Body: "b"})
			if len(parts) > 0 || !profile.Refused(ds) {
				t.Fatalf("%d parts, %v", len(parts), ds)
			}
			for _, d := range ds {
				if d.Severity == profile.SeverityError && d.Code != tt.code {
					t.Errorf("%v", d)
				}
			}
		})
	}
}

// TestPartsAreNotTheWhole: what forbids a part of a tool forbids that part.
func TestPartsAreNotTheWhole(t *testing.T) {
	p, _ := decode(t, ".opencode/agents/a.md", native("tools: {read: true, list: false, patch: false, write: false}\npermission: {todoread: deny, question: ask}"))
	if diff := cmp.Diff("deny list * 4:21\ndeny patch * 4:34\ndeny write * 4:48\ndeny todoread * 5:14\nask ask_user * 5:30", rules(p.Permission)); diff != "" {
		t.Error(diff)
	}
}

// TestClaudeWords holds the ids that are written for Claude's words against the
// catalog of models.
func TestClaudeWords(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "model", "catalog", "models.json"))
	if err != nil {
		t.Fatal(err)
	}
	var models struct{ Aliases map[string]string }
	if err := json.Unmarshal(data, &models); err != nil {
		t.Fatal(err)
	}
	opencode, _ := dialect.ByName("opencode")
	for _, word := range []string{"opus", "sonnet", "haiku"} {
		p, _ := decode(t, ".claude/agents/a.md", native("model: "+word))
		parts, _ := dialect.Encode(opencode, p)
		if want := "model: " + models.Aliases[word] + "\n"; !strings.Contains(string(parts[0].Data), want) {
			t.Errorf("%s: %q is not in\n%s", word, want, parts[0].Data)
		}
	}
}

func TestKnotToolsAsWritten(t *testing.T) {
	p, _ := decode(t, "rig/profiles/a.md", native("provider: p\nmodel: m\ntools: [fs]"))
	if diff := cmp.Diff([]string{"fs"}, p.Tools.V.Written); diff != "" {
		t.Error(diff)
	}
	knot, _ := dialect.ByName("knot")
	parts, ds := dialect.Encode(knot, p)
	if len(ds) > 0 || !strings.Contains(string(parts[0].Data), "tools: [fs]") {
		t.Errorf("%v\n%s", ds, parts)
	}
	if len(p.Permission) != 5 || p.Permission[0].Effect != permission.Allow {
		t.Errorf("%v", p.Permission)
	}
}

func FuzzClaude(f *testing.F) {
	fuzz(f, "claude", ".claude/agents/a.md", native("tools: Read, Bash(git push:*)\ndisallowedTools: Write\nmodel: sonnet\nmaxTurns: 3\npermissionMode: plan\nhooks: {PreToolUse: []}"),
		native("allowedTools: ['@x', fs_*]\nprovider: claude_code\nmcpServers:\n  x:\n    command: y"))
}

func FuzzCopilot(f *testing.F) {
	fuzz(f, "copilot", "a.agent.md", native("tools: ['edit/editFiles', 'github/*']\nmodel: [A, B]\nagents: [x]\nuser-invocable: false\nhandoffs: [{label: a}]"))
}

func FuzzGemini(f *testing.F) {
	fuzz(f, "gemini", ".gemini/agents/a.md", native("kind: local\ntools: [read_file, mcp_a_b]\nmax_turns: 3\ntimeout_mins: 0.5\ndisplay_name: A"))
}
