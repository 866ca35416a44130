package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// TestRestrictionsCount has files whose restrictions are written in a way that
// a reader could pass over: they count, or the file does not load.
func TestRestrictionsCount(t *testing.T) {
	const claude, opencode = ".claude/agents/a.md", ".opencode/agents/a.md"
	tests := []struct {
		name, path, yaml string
		want             string // the rules; or what the error says, after "!"
	}{
		{"a tool in capitals", claude, "disallowedTools: BASH, wRITE", "bash:*:deny write:*:deny"},
		{"a part of a tool", claude, "disallowedTools: MultiEdit", "MultiEdit:*:deny"},
		{"lists side by side", claude, "disallowedTools: [Bash] | [Write]", "!no name of a tool"},
		{"two names in one", claude, "disallowedTools:\n- Bash\n  Write", "!no name of a tool"},
		{"a rule in capitals", opencode, "permission:\n  BASH: deny", "bash:*:deny"},
		{"a rule that allows in capitals", opencode, "permission:\n  BASH: allow", "BASH:*:allow"},
		{"a merge key", opencode, "permission:\n  <<: {bash: deny}", "!not merged"},
		{"a merge key of an alias", opencode, "x: &x {bash: deny}\npermission:\n  <<: *x", "!not merged"},
		{"a tool of that name", opencode, "permission:\n  \"<<\": deny", "<<:*:deny"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := &dialect.File{Name: tt.path, Path: tt.path, Data: []byte("---\nname: a\ndescription: d\n" + tt.yaml + "\n---\nBe.\n")}
			d, _ := dialect.Detect(f)
			ps, ds := d.Decode(f)
			if says, refused := strings.CutPrefix(tt.want, "!"); refused || profile.Refused(ds) {
				if text := fmt.Sprint(ds); !refused || !profile.Refused(ds) || !strings.Contains(text, says) {
					t.Errorf("%s", text)
				}
				return
			}
			var got []string
			for _, r := range ps[0].Permission {
				got = append(got, fmt.Sprintf("%s:%s:%s", r.Tool, r.Subject, r.Effect))
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s, want %s", s, tt.want)
			}
		})
	}
}

func TestUnknownToolInADenial(t *testing.T) {
	f := &dialect.File{Name: "a.md", Path: ".claude/agents/a.md", Data: []byte("---\nname: a\ndescription: d\ndisallowedTools: Bsh\n---\nBe.\n")}
	d, _ := dialect.Detect(f)
	_, ds := d.Decode(f)
	if len(ds) != 1 || ds[0].Code != profile.CodeUnknownTool || ds[0].Line != 4 || !strings.Contains(ds[0].Hint, "bash") {
		t.Errorf("%v", ds)
	}
}

// TestConvertAllowsNoMore: rules that a dialect cannot hold do not leave a
// tool allowed that they restrict.
func TestConvertAllowsNoMore(t *testing.T) {
	const head = "---\nname: a\ndescription: d\nprovider: openai\nmodel: gpt-4o\n"
	tests := []struct{ name, path, yaml, to, tool, subject string }{
		{"a denied tool among all", ".claude/agents/a.md", "tools: '*'\npermission:\n  '*': allow\ndisallowedTools: Edit", "config", "edit", "x"},
		{"a denied tool in a list", ".opencode/agents/a.md", "tools: [edit]\npermission:\n  edit: deny", "config", "edit", "x"},
		{"a denied subject", "profiles/a.md", "tools: [bash]\npermission:\n  - {tool: bash, subject: '*', effect: allow}\n  - {tool: bash, subject: 'rm *', effect: deny}", "config", "bash", "rm -rf x"},
		{"a denied subject", "profiles/a.md", "tools: [bash]\npermission:\n  - {tool: bash, subject: '*', effect: allow}\n  - {tool: bash, subject: 'rm *', effect: deny}", "directory", "bash", "rm -rf x"},
		{"a denied tool among all", "profiles/a.md", "tools: ['*']\npermission: [{tool: '*', effect: allow}, {tool: bash, effect: deny}]", "directory", "bash", "x"},
		{"a subject of every tool", ".opencode/agents/a.md", "tools: ['Bash(rm:*)']\npermission:\n  '*':\n    'rm *': deny\n    'src/*': ask", "claude", "bash", "rm -rf x"},
		{"what is asked for", ".github/agents/a.agent.md", "tools: ['Bash(rm:*)']\npermission:\n  bash: ask", "claude", "bash", "rm -rf x"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" to "+tt.to, func(t *testing.T) {
			f := &dialect.File{Name: tt.path, Path: tt.path, Data: []byte(head + tt.yaml + "\n---\nBe.\n")}
			d, _ := dialect.Detect(f)
			ps, ds := d.Decode(f)
			if profile.Refused(ds) {
				t.Fatal(ds)
			}
			to, _ := dialect.ByName(tt.to)
			parts, lost := dialect.Encode(to, ps[0])
			if profile.Refused(lost) || !hasKey(lost, "permission") {
				t.Fatal(lost)
			}
			after, ds := to.Decode(&dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data, Beside: map[string][]byte{"system_prompt.txt": []byte("x")}})
			if profile.Refused(ds) {
				t.Fatal(ds)
			}
			engine, err := permission.Compile(permission.Layers{Rules: after[0].Permission, Default: permission.Ask})
			if err != nil {
				t.Fatal(err)
			}
			if got := engine.Decide(permission.Query{Tool: tt.tool, Subject: tt.subject}); got.Effect == permission.Allow {
				t.Errorf("%s %s is allowed\n%s", tt.tool, tt.subject, parts[0].Data)
			}
		})
	}
}
