package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// TestKeysThatAlmostRestrict has keys that are almost those that decide what an
// agent may do. None is passed over.
func TestKeysThatAlmostRestrict(t *testing.T) {
	const near = "P182 SchemaValidation 4:1 "
	for _, tt := range []struct{ name, path, keys, want, rules string }{
		{"another case", "profiles/a.md", "Permission: deny", near + "Permission", ""},
		{"capitals", "profiles/a.md", "TOOLS: [read]", near + "TOOLS", ""},
		{"tools in another case", ".claude/agents/a.md", "Tools: Read", near + "Tools", ""},
		{"the singular", "profiles/a.md", "tool: [read]", near + "tool", ""},
		{"a slip", "profiles/a.md", "permision: deny", near + "permision", ""},
		{"a mode", "profiles/a.md", "permission-modes: plan", near + "permission-modes", ""},
		{"a default", "profiles/a.md", "default-permissions: deny", near + "default-permissions", ""},
		{"a list to deny", ".claude/agents/a.md", "disallowed-tool: Bash", near + "disallowed-tool", ""},
		{"a list of another dialect", ".opencode/agents/a.md", "allowed-tools: Read", near + "allowed-tools", ""},
		{"rules that are none", "profiles/a.md", "permissions: read-only", "P183 4:1 permissions", "ask * *"},
		{"an effect that is none", "profiles/a.md", "permissions: {bash: never}\npermission: {read: allow}", "P183 4:1 permissions", "ask * *, allow read *"},

		{"one effect", "profiles/a.md", "permissions: deny", "P183 4:1 permissions", "deny * *"},
		{"a map", ".opencode/agents/a.md", "permissions: {bash: {\"git *\": allow, \"rm *\": deny, \"*\": ask}}", "P183 4:1 permissions", "ask bash *, deny bash rm *"},
		{"lists by effect", ".claude/agents/a.md", "permissions: {allow: [Read], ask: [\"Bash(git push:*)\"], deny: [Write, WebFetch]}", "P183 4:1 permissions",
			"ask bash git push, ask bash git push *, deny write *, deny webfetch *"},
		{"before and after the rules", "profiles/a.md", "permissions: {bash: deny, read: ask}\npermission: {read: deny, bash: allow}", "P183 4:1 permissions",
			"ask read *, deny read *, allow bash *, deny bash *"},

		{"another word", "profiles/a.md", "tone: dry\ntopic: x\nmode-of: y", "P112 4:1 tone\nP112 5:1 topic\nP112 6:1 mode-of", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, ds := decode(t, tt.path, "---\nname: a\ndescription: d\n"+tt.keys+"\n---\nbody")
			if got := brief(ds); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if profile.Refused(ds) {
				return
			}
			var told []string
			for _, r := range p.Permission {
				told = append(told, fmt.Sprintf("%s %s %s", r.Effect, r.Tool, r.Subject))
			}
			if got := strings.Join(told, ", "); got != tt.rules {
				t.Errorf("the rules are\n%s\nwant\n%s", got, tt.rules)
			}
			to, _ := dialect.ByName(p.Dialect)
			parts, lost := dialect.Encode(to, p)
			if profile.Refused(lost) {
				t.Fatal(lost)
			}
			again, _ := decode(t, tt.path, string(parts[0].Data))
			if diff := same(p, again); diff != "" {
				t.Errorf("written and read again:\n%s\n%s", diff, parts[0].Data)
			}
		})
	}
}
