package resolve

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/trust"
)

// TestHooks: the hooks of all layers count, in their order, each with its line;
// none takes another away. Those of a dialect with another form are kept aside.
func TestHooks(t *testing.T) {
	w := newWorld(t, nil)
	all := func(file, text string) Input {
		in := w.input(t, file, text)
		in.Trust = trust.Everything()
		return in
	}
	const front = "---\ndescription: x\nmodel: builtin/demo\n"
	untrusted := all("profiles/a.md", front+"hooks: {before-tool: [{command: ./a}]}\n---\nx\n")
	untrusted.Trust = trust.View{}
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"none", all("profiles/a.md", front+"---\nx\n"), ""},
		{"with comments between", all("profiles/a.md", front+"hooks:\n  # one\n  before-tool:\n\n    - command: ./a # two\n      match: bash\n    - {url: \"https://x.example\"}\n---\nx\n"),
			"before-tool ./a profiles/a.md:8\nbefore-tool https://x.example profiles/a.md:10"},
		{"events in another spelling", all("profiles/a.md", front+"hooks: {after_loop: [{command: ./a}]}\n---\nx\n"), "after-loop ./a profiles/a.md:4"},
		{"a script of another program", all("agent.toml", "[provider]\nprovider = \"builtin\"\nmodel = \"demo\"\n[agent]\nsystem_prompt = \"x\"\n[callbacks]\nbefore_turn = \"./a.sh\"\n"),
			"before-turn ./a.sh agent.toml:7:1"},
		{"another form", all(".claude/agents/a.md", "---\nname: a\ndescription: d\nmodel: builtin/demo\nhooks:\n  PreToolUse: [{matcher: Bash, hooks: [{type: command, command: ./a}]}]\n---\nx\n"), ""},
		{"not trusted", untrusted, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, ds, err := Spec(c.in)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, h := range s.Hooks {
				lines = append(lines, string(h.On)+" "+h.Does()+" "+h.Name())
			}
			if got := strings.Join(lines, "\n"); got != c.want {
				t.Errorf("hooks:\n%s\nwant\n%s", got, c.want)
			}
			if told := strings.Contains(c.name, "not trusted"); told != (len(ds) > 0) {
				t.Errorf("diagnostics: %v", ds)
			}
		})
	}

	in := all("profiles/a.md", front+"hooks: {before-tool: [{command: ./a}]}\n---\nx\n")
	in.Flags = map[string]string{"hooks": "{before-tool: [{command: ./b}]}"}
	s, _, err := Spec(in)
	if err != nil || len(s.Hooks) != 2 || s.Hooks[1].Name() != "flag" {
		t.Errorf("%+v, %v", s, err)
	}
	in.Flags = map[string]string{"hooks": "{before-tool: [{}]}"}
	if _, _, err := Spec(in); err == nil || !strings.Contains(err.Error(), "either command or url") {
		t.Errorf("a flag that is no hook: %v", err)
	}
}
