package resolve

import (
	"errors"
	"strings"
	"testing"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

const allows = "---\ndescription: x\nmodel: builtin/demo\ndefault-permission: allow\npermission: {bash: {\"*\": deny, \"git *\": allow}, glob: allow}\nhooks: {before-tool: [{command: ./x.sh}]}\n---\nx\n"

// TestAllowsOfAWorkspace: in a workspace that nobody trusts an allow counts as
// ask, with its place; what the user says himself counts.
func TestAllowsOfAWorkspace(t *testing.T) {
	w := newWorld(t, map[string]string{"roster.yaml": "defaults: {permission: {write: allow}}\n", "home/roster.yaml": "defaults: {permission: {edit: allow}}\n"})
	in := w.cloned(t, "profiles/a.md", allows)
	in.Flags = map[string]string{"permission": "{webfetch: allow}"}
	s, ds, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	e, err := permission.Compile(permission.Layers{Rules: s.Rules, Default: s.DefaultPermission})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, subject string
		want          permission.Effect
		file          string
	}{
		{"bash", "git status", permission.Ask, "profiles/a.md"},
		{"bash", "rm x", permission.Deny, "profiles/a.md"},
		{"glob", "x", permission.Allow, ""},
		{"write", "x", permission.Ask, "roster.yaml"},
		{"edit", "x", permission.Allow, w.vars["ROSTER_HOME"] + "/roster.yaml"},
		{"webfetch", "https://a.example/", permission.Allow, ""},
		{"other_tool", "x", permission.Ask, "-"},
	} {
		d := e.Decide(permission.Query{Tool: c.tool, Subject: c.subject})
		file := "-"
		if d.Rule != nil {
			file = d.Rule.At.File
		}
		if d.Effect != c.want || file != c.file {
			t.Errorf("%s %s: %s by %s, want %s by %s", c.tool, c.subject, d.Effect, file, c.want, c.file)
		}
	}
	var codes []string
	for _, d := range ds {
		codes = append(codes, d.Code)
	}
	if got := strings.Join(codes, " "); got != "P185 S103" || !strings.Contains(ds[0].Hint, "roster trust") || ds[0].Line != 6 || ds[1].Line == 0 {
		t.Errorf("diagnostics %+v", ds)
	}
	for _, r := range Explain(s).Fields["permission"].Value.([]Rule) {
		if want := r.Tool == "bash" && r.Effect == permission.Allow || r.Tool == "write" && r.Layer == source.Defaults; (r.Counts != r.Effect) != want {
			t.Errorf("%+v", r)
		}
	}

	in.Trust = w.input(t, "profiles/a.md", allows).Trust
	s, ds, err = Spec(in)
	if err != nil || len(ds) != 0 || s.DefaultPermission != permission.Allow {
		t.Errorf("trusted: %v, %v, default %s", err, ds, s.DefaultPermission)
	}
}

// TestWithheld: what can be told of a profile is told, and a run of it refused.
func TestWithheld(t *testing.T) {
	const provider = "providers: {far: {api: openai-chat, base-url: \"https://far.example/v1\", key-env: FAR}}\n"
	for _, c := range []struct {
		name, file, text, key string
		fails                 bool
	}{
		{"a provider", "profiles/a.md", "---\nmodel: far/m\n---\nx\n", "providers.far.base-url", false},
		{"a variable in the prompt", "agent.toml", "[provider]\nmodel = \"builtin/demo\"\n[agent]\nsystem_prompt = \"${SECRET}\"\n", "system-prompt", false},
		{"a variable in the model", "agent.toml", "[provider]\nmodel = \"${SECRET}\"\n[agent]\nsystem_prompt = \"x\"\n", "model", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": provider})
			w.vars["SECRET"] = "hunter2"
			s, ds, err := Spec(w.cloned(t, c.file, c.text))
			if c.fails {
				if !errors.Is(err, profile.ExecutingKey) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Withheld) == 0 || !errors.Is(s.Withheld[0], profile.ExecutingKey) || len(ds) == 0 || ds[0].Key != c.key || ds[0].Code != profile.CodeExecuting {
				t.Errorf("withheld %v, %+v", s.Withheld, ds)
			}
			if data, _, _ := s.Encode(); strings.Contains(string(data), "hunter2") {
				t.Error("the spec holds the variable")
			}
		})
	}
}

// TestModesOfAWorkspace: in a workspace that nobody trusts a permission mode can
// only restrict.
func TestModesOfAWorkspace(t *testing.T) {
	for _, c := range []struct {
		mine, theirs, flag string
		trusted            bool
		want               permission.Mode
	}{
		{theirs: "accept-edits", want: permission.ModeDefault},
		{theirs: "accept-edits", trusted: true, want: permission.ModeAcceptEdits},
		{theirs: "plan", want: permission.ModePlan},
		{theirs: "dont-ask", want: permission.ModeDontAsk},
		{mine: "plan", theirs: "default", want: permission.ModePlan},
		{mine: "plan", theirs: "default", trusted: true, want: permission.ModeDefault},
		{mine: "accept-edits", theirs: "default", want: permission.ModeDefault},
		{mine: "accept-edits", want: permission.ModeAcceptEdits},
		{theirs: "bypass", want: permission.ModeDefault},
		{theirs: "bypass", trusted: true, want: permission.ModeDefault},
		{theirs: "plan", flag: "accept-edits", want: permission.ModeAcceptEdits},
	} {
		t.Run(strings.Join([]string{c.mine, c.theirs, c.flag, c.want.String()}, " "), func(t *testing.T) {
			home, own := "", ""
			if c.mine != "" {
				home = "defaults: {permission-mode: " + c.mine + "}\n"
			}
			if c.theirs != "" {
				own = "permission-mode: " + c.theirs + "\n"
			}
			w := newWorld(t, map[string]string{"home/roster.yaml": home})
			file := "---\ndescription: x\nmodel: builtin/demo\n" + own + "---\nx\n"
			in := w.cloned(t, "profiles/a.md", file)
			if c.trusted {
				in.Trust = w.input(t, "profiles/a.md", file).Trust
			}
			if c.flag != "" {
				in.Flags = map[string]string{"permission-mode": c.flag}
			}
			s, _, err := Spec(in)
			if err != nil || s.PermissionMode != c.want {
				t.Errorf("%v, %v", s, err)
			}
		})
	}
}

// TestBypass: it has to be allowed, whoever names it.
func TestBypass(t *testing.T) {
	w := newWorld(t, nil)
	in := w.input(t, "profiles/a.md", "---\ndescription: x\nmodel: builtin/demo\npermission-mode: bypass\n---\nx\n")
	s, ds, err := Spec(in)
	if err != nil || s.PermissionMode != permission.ModeDefault || len(ds) != 1 || ds[0].Code != profile.CodeBypass || ds[0].Line != 4 {
		t.Errorf("%v, %v, %v", s, ds, err)
	}
	in.AllowAll = true
	if s, ds, err = Spec(in); err != nil || s.PermissionMode != permission.ModeBypass || len(ds) != 0 {
		t.Errorf("allowed: %v, %v, %v", s, ds, err)
	}
	in.AllowAll, in.Overrides = false, map[string]string{"permission-mode": "bypass"}
	if _, _, err = Spec(in); !errors.Is(err, profile.SchemaValidation) || !strings.Contains(err.Error(), "--dangerously-allow-all") {
		t.Errorf("of a request: %v", err)
	}
}
