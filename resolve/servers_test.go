package resolve

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/trust"
)

const workspaceServers = "mcp-servers:\n  one: {command: first}\n  two: {command: second}\n"

func TestServers(t *testing.T) {
	for _, c := range []struct {
		name, front, want string
		tools             string
		said              string
	}{
		{"those of the workspace", "", "one:first two:second", "", ""},
		{"one more", "mcp-servers: {own: {url: \"https://x.example\"}}", "one:first own:https://x.example two:second", "", ""},
		{"another one of the name", "mcp-servers: {one: {command: mine, args: [a]}}", "one:mine two:second", "", ""},
		{"without one", "mcp-servers: {one: false}", "two:second", "", ""},
		{"some alone", "mcp-servers: [two]", "two:second", "", ""},
		{"none", "mcp-servers: []", "", "", ""},
		{"a text", "mcp-servers: two, one", "one:first two:second", "", ""},
		{"one that is not there", "mcp-servers: [twoo]", "", "", `did you mean "two"?`},
		{"listed among tools", "tools: [read, one, two_find, memory]", "one:first two:second", "read one_* two_find memory", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": fake + workspaceServers})
			s, ds, err := Spec(w.trusted(t, "profiles/a.md", "---\nmodel: builtin/demo\n"+c.front+"\n---\n."))
			if err != nil {
				t.Fatal(err)
			}
			if got := named(s.Servers); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if c.tools != "" && strings.Join(s.Tools, " ") != c.tools {
				t.Errorf("tools %v", s.Tools)
			}
			said := ""
			for _, d := range ds {
				said += d.Hint
			}
			if !strings.Contains(said, c.said) {
				t.Errorf("said %q, want %q", said, c.said)
			}
		})
	}
}

// trusted is the input in a workspace all of which counts.
func (w *world) trusted(t testing.TB, file, text string) Input {
	t.Helper()
	in := w.input(t, file, text)
	cfg, _, err := config.Load(config.Options{Dir: w.dir, Exact: true, Getenv: w.getenv, Trust: func(string, string) trust.View { return trust.Everything() }})
	if err != nil {
		t.Fatal(err)
	}
	in.Config = cfg
	return in
}

func named(list []spec.Server) string {
	var out []string
	for _, s := range list {
		out = append(out, s.Name+":"+s.Reach.Command+s.Reach.URL)
	}
	return strings.Join(out, " ")
}

// TestServersOfOthers: a file of Claude's names those of the workspace, or has its own.
func TestServersOfOthers(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake + workspaceServers})
	s, _, err := Spec(w.trusted(t, ".claude/agents/a.md", "---\nname: a\ndescription: d\nmodel: builtin/demo\nmcpServers:\n  - two\n  - own: {type: stdio, command: x}\n---\n."))
	if err != nil {
		t.Fatal(err)
	}
	if got := named(s.Servers); got != "own:x two:second" {
		t.Errorf("got %q", got)
	}
}

// TestServersUntrusted: what has no effect is not there, is said, and narrows.
func TestServersUntrusted(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake + workspaceServers, ".mcp.json": `{"mcpServers": {"three": {"command": "third"}}}`})
	in := w.cloned(t, ".claude/agents/a.md", "---\nname: a\ndescription: d\nmodel: builtin/demo\nmcpServers:\n  - two\n  - three\n  - own: {command: x}\n---\n.")
	s, ds, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, d := range ds {
		keys = append(keys, d.Key)
	}
	if all := strings.Join(keys, " "); len(s.Servers) != 0 || !strings.Contains(all, "mcpServers.three") || !strings.Contains(all, "mcp-servers.two") || strings.Contains(all, "one") {
		t.Errorf("servers %q, said %s", named(s.Servers), all)
	}
}

// TestServersKeepSecrets: neither the log nor an explanation has what a server is
// sent.
func TestServersKeepSecrets(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": fake + "mcp-servers:\n  a: {url: \"https://x.example\", headers: {Authorization: Bearer hunter2hunter2}}\n  b: {command: x, args: [--api-key=hunter2hunter2], env: {T: hunter2hunter2}}\n"})
	s, _, err := Spec(w.trusted(t, "profiles/a.md", "---\nmodel: builtin/demo\n---\n."))
	if err != nil {
		t.Fatal(err)
	}
	data, _, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := Explain(s).WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "hunter2") || strings.Contains(text.String(), "hunter2") {
		t.Errorf("the secret is in %s\n%s", data, text.String())
	}
	if !strings.Contains(text.String(), "roster.yaml:") || !strings.Contains(string(data), s.Servers[0].Digest) || s.Servers[0].Digest == "" {
		t.Errorf("no place or no digest: %s", text.String())
	}
}
