package profile_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

func entry(t *testing.T, text string) *yaml.Node {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Content[0]
}

func TestParseServer(t *testing.T) {
	type pairs = []profile.Pair
	for _, c := range []struct {
		name, text string
		want       profile.Server
		off        bool
		unknown    string
		err        string
	}{
		{"ours", "{command: npx, args: [-y, srv], env: {A: \"${B}\", C: 1}, dir: sub, timeout: 90s, roots: true, trust-annotations: true, resources: [x://y], tools: [a], without: b}",
			profile.Server{Command: "npx", Args: []string{"-y", "srv"}, Env: pairs{{"A", "${B}"}, {"C", "1"}}, Dir: "sub", Timeout: 90 * time.Second, Roots: true, TrustAnnotations: true, Resources: []string{"x://y"}, Tools: []string{"a"}, Without: []string{"b"}}, false, "", ""},
		{"as .mcp.json", `{"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${T:-none}"}}`,
			profile.Server{URL: "https://x.example/mcp", Headers: pairs{{"Authorization", "Bearer ${T:-none}"}}}, false, "", ""},
		{"as opencode", `{"type": "local", "command": ["npx", "-y", "srv"], "environment": {"A": "b"}, "enabled": true, "timeout": 5000}`,
			profile.Server{Command: "npx", Args: []string{"-y", "srv"}, Env: pairs{{"A", "b"}}, Timeout: 5 * time.Second}, false, "", ""},
		{"as copilot, all tools", `{"type": "local", "command": "x", "args": ["a"], "tools": ["*"]}`, profile.Server{Command: "x", Args: []string{"a"}}, false, "", ""},
		{"as gemini", `{"httpUrl": "https://x.example", "includeTools": ["a"], "excludeTools": ["b"], "trust": true}`,
			profile.Server{URL: "https://x.example", Tools: []string{"a"}, Without: []string{"b"}}, false, "trust", ""},
		{"as codex", `{"url": "https://x.example", "bearer_token_env_var": "T", "env_http_headers": {"X-Key": "K"}, "enabled_tools": ["a"]}`,
			profile.Server{URL: "https://x.example", Headers: pairs{{"Authorization", "Bearer ${T}"}, {"X-Key", "${K}"}}, Tools: []string{"a"}}, false, "", ""},
		{"variables that are passed on", `{command: x, env_vars: [A]}`, profile.Server{Command: "x", Env: pairs{{"A", "${A}"}}}, false, "", ""},
		{"taken away", "false", profile.Server{}, true, "", ""},
		{"disabled", "{command: x, disabled: true}", profile.Server{Command: "x"}, true, "", ""},
		{"an address in a variable", `{url: "${HOST}/mcp"}`, profile.Server{URL: "${HOST}/mcp"}, false, "", ""},
		{"neither", "{args: [a]}", profile.Server{}, false, "", "neither"},
		{"both", "{command: a, url: https://x}", profile.Server{}, false, "", "both"},
		{"another scheme", "{url: file:///etc/passwd}", profile.Server{}, false, "", "http or https"},
		{"a password", "{url: https://u:p@x.example}", profile.Server{}, false, "", "password"},
		{"headers of a command", "{command: x, headers: {A: b}}", profile.Server{}, false, "", "env"},
		{"a header of two lines", "{url: https://x, headers: {\"A\\nB\": b}}", profile.Server{}, false, "", "names without blanks"},
		{"a text", "npx", profile.Server{}, false, "", "takes a map"},
		{"a time without end", "{command: x, timeout: 1e300}", profile.Server{}, false, "", "timeout"},
		{"NUL", "{command: \"a\\0b\"}", profile.Server{}, false, "", "NUL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			unit := time.Second
			if strings.Contains(c.name, "opencode") {
				unit = time.Millisecond
			}
			got, off, unknown, err := profile.ParseServer("s", entry(t, c.text), unit)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c.want.Name = "s"
			if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" || off != c.off || strings.Join(unknown, " ") != c.unknown {
				t.Errorf("off %t, unknown %v, (-want +got):\n%s", off, unknown, diff)
			}
		})
	}
}

func TestServerNames(t *testing.T) {
	for name, good := range map[string]bool{"github": true, "Sequential Thinking": true, "a.b-c_d": true, "Ünï": true, "": false, " a": false, "a/b": false, "*": false,
		"a\x1b[31m": false, "a\u202eb": false, "---": false, strings.Repeat("a", 65): false} {
		if err := profile.ServerName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestExpandServer(t *testing.T) {
	lookup := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "1", "EMPTY": "", "NEST": "${A}", "HOST": "https://h.example"}[name]
		return v, ok
	}
	for text, want := range map[string]string{
		"${A}": "1", "x${A}y${A}": "x1y1", "${B:-d}": "d", "${A:-d}": "1", "${EMPTY:-d}": "", "${env:A}": "1", "$${A}": "${A}", "${NEST}": "${A}",
		"${": "${", "${}": "${}", "${a-b}": "${a-b}", "$A": "$A", "${B:-}": "", "${B}": "!B",
	} {
		got, err := profile.Server{Command: "c", Args: []string{text}}.Expand(lookup)
		switch name, missing := strings.CutPrefix(want, "!"); {
		case missing && (err == nil || err.Error() != "args: the variable "+name+" is not set"):
			t.Errorf("%s: %v", text, err)
		case !missing && (err != nil || got.Args[0] != want):
			t.Errorf("%s is %q, want %q (%v)", text, got.Args, want, err)
		}
	}
	s := profile.Server{URL: "${HOST}/mcp", Headers: []profile.Pair{{Name: "K", Value: "${A}${A}"}}}
	if got, err := s.Expand(lookup); err != nil || got.URL != "https://h.example/mcp" || s.Headers[0].Value != "${A}${A}" {
		t.Errorf("%+v %v, and the original is %+v", got, err, s)
	}
	if _, err := (profile.Server{URL: "${A}"}).Expand(lookup); err == nil {
		t.Error("an address that is none passes once its variable is filled in")
	}
	if got := s.Variables(); !cmp.Equal(got, []string{"HOST", "A"}) {
		t.Errorf("variables %v", got)
	}
}

func FuzzParseServer(f *testing.F) {
	for _, s := range []string{"{command: a, args: [b]}", "{url: https://x, headers: {A: \"${B}\"}}", "[a, {b: {command: c}}, {name: d, url: x}]", "false", "{a: {command: [x]}, b: false}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
			return
		}
		list, _, _ := profile.ServerEntries(doc.Content[0])
		for _, e := range list {
			s, off, _, err := profile.ParseServer(e.Name, e.Value, time.Second)
			if err != nil || off {
				continue
			}
			if (s.Command == "") == (s.URL == "") {
				t.Fatalf("%q gives %+v", text, s)
			}
			if _, err := s.Expand(func(string) (string, bool) { return "", false }); err == nil && s.URL != "" && profile.ServerURL(s.URL) != nil {
				t.Fatalf("%q: an address that is none: %q", text, s.URL)
			}
		}
	})
}
