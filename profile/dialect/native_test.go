package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// complaints decodes a frontmatter and gives every diagnostic but the notes.
func complaints(path, front string) []string {
	_, ds := dialect.Decode(path, []byte("---\n"+front+"\n---\nPrompt.\n"))
	var out []string
	for _, d := range ds {
		if d.Severity != profile.SeverityNote {
			out = append(out, strings.TrimSuffix(fmt.Sprintf("%d:%d %s %s; %s", d.Line, d.Column, d.Code, d.Message, d.Hint), "; "))
		}
	}
	return out
}

// TestKeptKeysAreChecked reads keys that nothing acts on yet: what is wrong in
// them is found now, and not when a later version acts on them.
func TestKeptKeysAreChecked(t *testing.T) {
	tests := []struct {
		name, front string
		want        []string
	}{
		{"a habit", "habits: {think: perhaps}", []string{`2:17 P110 habits.think takes true or false, not "perhaps"`}},
		{"an unknown habit", "habits: {thinks: true}", []string{`2:10 P112 habits.thinks is not a known key; it is kept and has no effect; did you mean "habits.think"?`}},
		{"below a habit", "habits:\n  anti_stall:\n    threshold: 0", []string{`4:16 P111 habits.anti_stall.threshold is 0; it takes 1 or more`}},
		{"either form", "planning: [a]", []string{`2:11 P110 planning takes true or false, or a map, not a list`}},
		{"a word", "steering: some", []string{`2:11 P111 steering takes one-at-a-time, all, not "some"`}},
		{"a near word", "permission-mode: accept-edit", []string{`2:18 P111 permission-mode takes default, plan, accept-edits, dont-ask, bypass, not "accept-edit"; did you mean "accept-edits"?`}},
		{"a guard that is wrong", "sandbox: {kind: moat}", []string{`2:17 P111 sandbox.kind takes none, landlock, bubblewrap, docker, not "moat"`}},
		{"a time", "tool-timeout: 5", []string{`2:15 P110 tool-timeout takes a time above zero, not "5"; write the unit: 5s`}},
		{"a fraction", "context: {compact-at: 85}", []string{`2:23 P111 context.compact-at is 85; it takes 0 to 1`}},
		{"a list of maps", "hooks: {before-tool: [{command: x, timeout: 5}]}", []string{`2:45 P110 hooks.before-tool.timeout takes a time above zero, not "5"; write the unit: 5s`}},
		{"a map of names", "mcp-servers: {files: {command: x, args: {a: b}}}", []string{`2:41 P110 mcp-servers.files.args takes a list of texts, not a map`}},
		{"a name that is a key's", "vars: {name: [{a: b}]}", []string{`2:15 P110 vars.name takes a list of texts, not a map`}},
		{"all at once", "memory: {scope: ever}\nfallbacks: {a: b}", []string{
			`2:17 P111 memory.scope takes none, session, persistent, not "ever"`, `3:12 P110 fallbacks takes a list of texts, not a map`}},
		{"a nested key of a map that acts", "limits: {final-answer: maybe}", []string{`2:24 P110 limits.final-answer takes true or false, not "maybe"`}},
		{"nothing", "habits:\nplanning:\nhooks: {before-tool: }", nil},
		{"a hook", "hooks: {before-tool: [{command: ./x, match: bash, timeout: 5s}], after_loop: [{url: \"https://x.example\"}]}", nil},
		{"a hook of both kinds", "hooks:\n  before-tool:\n    - {command: x, url: \"https://x.example\"}", []string{`4:7 P213 hooks.before-tool: a hook has either command or url`}},
		{"a hook of neither", "hooks: {on-message: [{timeout: 5s}]}", []string{`2:22 P213 hooks.on-message: a hook has either command or url`}},
		{"an event that there is not", "hooks: {before-tools: [{command: x}]}", []string{
			`2:9 P112 hooks.before-tools is not a known key; it is kept and has no effect; did you mean "hooks.before-tool"?`,
			`2:24 P213 hooks.before-tools: "before-tools" is no event: there are before-loop, on-message, before-turn, before-tool, on-permission, after-tool, after-turn, after-loop`}},
		{"a key that no hook has", "hooks: {before-tool: [{command: x, args: [a]}]}", []string{
			`2:36 P112 hooks.before-tool.args is not a known key; it is kept and has no effect; did you mean "hooks.before-tool.url"?`,
			`2:23 P213 hooks.before-tool: args takes text`}},
		{"a key that no service has", "openapi: {api: {spec: a.yaml, sepc: b}}", []string{
			`2:16 P270 openapi.api: "sepc" is no key of a service: there are spec, server, hosts, auth, headers, operations, tags, paths, methods, timeout, idempotency-header`}},
		{"a match without a tool", "hooks: {before-loop: [{command: x, match: bash}]}", []string{`2:23 P213 hooks.before-loop: match is for before-tool, after-tool and on-permission; before-loop has no tool`}},
		{"a hook that takes too long", "hooks: {before-loop: [{command: x, timeout: 1h}]}", []string{`2:23 P213 hooks.before-loop: timeout takes a time such as 5s, of at most 10m0s, not "1h"`}},
		{"an address with a password", "hooks: {before-loop: [{url: \"http://a:b@x.example\"}]}", []string{`2:23 P213 hooks.before-loop: url holds a user name or password`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, complaints("profiles/a.md", tt.front)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOtherDialectsKeysAreTheirs reads keys of the same names that mean another
// thing in the tools that they are written for.
func TestOtherDialectsKeysAreTheirs(t *testing.T) {
	for path, front := range map[string]string{
		".claude/agents/a.md":   "name: a\ndescription: d\nmemory: user\nhooks: {PreToolUse: [{matcher: Bash, hooks: [{type: command, command: x}]}]}",
		".opencode/agents/a.md": "description: d\ncontext: fork\nskills: {a: b}",
		"agents/a.agent.md":     "description: d\nmcp-servers: [{name: x}]\nhooks: none",
	} {
		p, ds := dialect.Decode(path, []byte("---\n"+front+"\n---\nPrompt.\n"))
		if p == nil || p.Dialect == "roster" {
			t.Errorf("%s: %v", path, ds)
		}
	}
}

func TestExtendsIsRead(t *testing.T) {
	tests := []struct {
		name, front string
		extends     []string
		want        []string
	}{
		{"one", "extends: base", []string{"base"}, nil},
		{"several", "extends: [a, team/b]", []string{"a", "team/b"}, nil},
		{"with commas", "extends: a, b", []string{"a", "b"}, nil},
		{"none", "extends: []", nil, nil},
		{"a title", "extends: Real Estate", nil, []string{`2:10 P117 "Real Estate" is not a name of a profile; did you mean "real-estate"?`}},
		{"a path", "extends: [ok, ../up]", []string{"ok"}, []string{`2:15 P117 "../up" is not a name of a profile; names are letters, digits, '.', '_', '-', in segments joined by '/'`}},
		{"a map", "extends: {a: b}", nil, []string{`2:10 P110 extends takes a list of texts, not a map`}},
		{"too many", "extends: [" + strings.Repeat("a,", profile.MaxParents) + "a]", nil, []string{`2:10 P169 65 parents are more than 64`}},
		{"both lists", "extends: a\ntools: [x_y]\n+tools: [z_z]", []string{"a"}, []string{
			`3:9 P116 "x_y" is not a built-in tool; it is kept`, `4:1 P111 +tools stands beside tools; keep one of the two`}},
		{"an added map", "extends: a\n+tools: {bash: true}", []string{"a"}, []string{`3:9 P110 +tools takes a list of tools, not a map`}},
		{"nothing that adds", "+mode: all", nil, []string{`2:1 P112 +mode is not a known key; it is kept and has no effect; did you mean "mode"?`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, complaints("profiles/a.md", tt.front)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			f := &dialect.File{Name: "a.md", Path: "profiles/a.md", Data: []byte("---\n" + tt.front + "\n---\n")}
			d, _ := dialect.Detect(f)
			ps, _ := d.Decode(f)
			if diff := cmp.Diff(tt.extends, ps[0].Extends.V); diff != "" || len(ps[0].ExtendsAt) != len(tt.extends) {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddedListsAreRead(t *testing.T) {
	p, ds := dialect.Decode("profiles/a.md", []byte("---\nextends: b\n+tools: [read, Bash(git *)]\nsubagents: {+tools: [grep]}\ndetails: {+key-tools: [x]}\n+skills: [s]\n---\n"))
	if p == nil {
		t.Fatal(ds)
	}
	if !p.Tools.V.Add || strings.Join(p.Tools.V.Names, " ") != "read bash" || len(p.Permission) != 1 {
		t.Errorf("tools %+v, rules %+v", p.Tools.V, p.Permission)
	}
	if !p.SubagentToolsAdd || !p.Details.V.AddKeyTools || len(p.Extra) != 1 || p.Extra[0].Key != "+skills" || !p.Extra[0].Known {
		t.Errorf("%+v", p)
	}
}

func TestAListAddsToAllWithoutParents(t *testing.T) {
	for front, want := range map[string]int{"+tools: [read]": 1, "extends: b\n+tools: [read]": 0} {
		_, ds := dialect.Decode("profiles/a.md", []byte("---\n"+front+"\n---\nPrompt.\n"))
		n := 0
		for _, d := range ds {
			if d.Code == profile.CodeAddsToAll {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %v", front, ds)
		}
	}
}

// TestWhatRefersToParentsInOtherDialects writes it where nothing is inherited:
// the list that stays allows less, and what is lost is named.
func TestWhatRefersToParentsInOtherDialects(t *testing.T) {
	p, ds := dialect.Decode("profiles/a.md", []byte("---\ndescription: d\nextends: b\n+tools: [read]\n---\nPrompt.\n"))
	if p == nil {
		t.Fatal(ds)
	}
	for _, to := range []string{"opencode", "claude"} {
		d, _ := dialect.ByName(to)
		parts, lost := d.Encode(p)
		var keys []string
		for _, l := range lost {
			keys = append(keys, l.Key)
		}
		if got := strings.Join(keys, " "); got != "+tools extends" {
			t.Errorf("%s: lost %q", to, got)
		}
		if text := string(parts[0].Data); !strings.Contains(strings.ToLower(text), "read") || strings.Contains(text, "+tools") {
			t.Errorf("%s:\n%s", to, text)
		}
	}
}
