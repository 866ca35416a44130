package resolve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

func TestSandbox(t *testing.T) {
	tests := map[string]struct {
		roster, home, profile string
		flags, request        map[string]string
		want                  spec.Sandbox
		codes, fails          string
	}{
		"nobody says anything":          {},
		"a word":                        {profile: "sandbox: bubblewrap", want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}},
		"none":                          {profile: "sandbox: none", want: spec.Sandbox{Kind: "none"}},
		"with the network":              {profile: "sandbox: {kind: bubblewrap, network: true}", want: spec.Sandbox{Kind: "bubblewrap"}},
		"without the network":           {profile: "sandbox: {network: false}", want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}},
		"a wall that cannot":            {profile: "sandbox: {kind: landlock, network: false}", fails: "choose bubblewrap"},
		"a wall that cannot, by layers": {roster: "defaults: {sandbox: {network: false}}", profile: "sandbox: {kind: landlock}", want: spec.Sandbox{Kind: "landlock"}},
		"public":                        {profile: "sandbox: public", want: spec.Sandbox{Kind: "bubblewrap", Preset: "public", NoNetwork: true}},
		"public in a container":         {profile: "sandbox: {kind: docker, preset: public, image: \"debian:12\"}", want: spec.Sandbox{Kind: "docker", Preset: "public", NoNetwork: true, Image: "debian:12"}},
		"public, and files":             {profile: "sandbox: {preset: public, read: [/opt/x]}", fails: "leave read and network out"},
		"public behind landlock":        {profile: "sandbox: {preset: public, kind: landlock}", fails: "choose bubblewrap"},
		"maintenance":                   {profile: "sandbox: maintenance", want: spec.Sandbox{Kind: "bubblewrap", Preset: "maintenance", Read: []string{"/"}}},
		"a container of nothing":        {profile: "sandbox: docker", fails: "name one"},
		"the profile over defaults":     {roster: "defaults: {sandbox: bubblewrap}", profile: "sandbox: landlock", want: spec.Sandbox{Kind: "landlock"}},
		"a flag over the profile":       {profile: "sandbox: landlock", flags: map[string]string{"sandbox": "none"}, want: spec.Sandbox{Kind: "none"}},
		"a flag for a part":             {profile: "sandbox: bubblewrap", flags: map[string]string{"sandbox.network": "true"}, want: spec.Sandbox{Kind: "bubblewrap"}},
		"paths": {profile: "sandbox: {read: [/opt/x, ~/go, sub, \"$TOOLS/lib\", /opt/x]}",
			want: spec.Sandbox{Read: []string{"/opt/x", "/home/me/go", "/tools/lib"}}},
		"paths in a text":              {profile: "sandbox: {read: '/opt/x, /opt/y'}", want: spec.Sandbox{Read: []string{"/opt/x", "/opt/y"}}},
		"a path of a variable":         {profile: "sandbox: {read: [$NONE]}", fails: "NONE"},
		"a link out of the workspace":  {profile: "sandbox: {read: [out]}", codes: "P247"},
		"roster.yaml sets the least":   {roster: "sandbox: bubblewrap", profile: "sandbox: none", want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}, codes: "P246"},
		"and says so of nobody's wish": {roster: "sandbox: bubblewrap", want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}},
		"a profile may ask for more":   {roster: "sandbox: landlock", profile: "sandbox: public", want: spec.Sandbox{Kind: "bubblewrap", Preset: "public", NoNetwork: true}},
		"its network":                  {roster: "sandbox: bubblewrap", profile: "sandbox: {kind: bubblewrap, network: true}", want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}, codes: "P246"},
		"the user's and the workspace's": {roster: "sandbox: landlock", home: "sandbox: {kind: bubblewrap, network: true, read: [/opt/w]}", profile: "sandbox: {read: [/opt/p]}",
			want: spec.Sandbox{Kind: "bubblewrap", Read: []string{"/opt/p", "/opt/w"}}},
		"flags do not go round it":      {roster: "sandbox: landlock", flags: map[string]string{"sandbox": "none"}, want: spec.Sandbox{Kind: "landlock"}, codes: "P246"},
		"public for all":                {roster: "sandbox: public", profile: "sandbox: {read: [/opt/x]}", want: spec.Sandbox{Kind: "bubblewrap", Preset: "public", NoNetwork: true}, codes: "P246"},
		"a request for more":            {profile: "sandbox: landlock", request: map[string]string{"sandbox": "bubblewrap"}, want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}},
		"a request for less":            {profile: "sandbox: bubblewrap", request: map[string]string{"sandbox": "landlock"}, want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}, codes: "S104"},
		"a request for the network":     {profile: "sandbox: bubblewrap", request: map[string]string{"sandbox.network": "true"}, want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}, codes: "S104"},
		"a request to read":             {profile: "sandbox: landlock", request: map[string]string{"sandbox": "{read: [/opt/x]}"}, want: spec.Sandbox{Kind: "landlock"}, codes: "S104"},
		"a request for no image":        {profile: "sandbox: {kind: docker, image: a}", request: map[string]string{"sandbox.image": "b"}, want: spec.Sandbox{Kind: "docker", NoNetwork: true, Image: "a"}, codes: "S104"},
		"a request to tend the machine": {request: map[string]string{"sandbox": "maintenance"}, codes: "S104"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": tt.roster, "home/roster.yaml": tt.home, "sub/x": ""})
			front := "---\ndescription: d\nmodel: builtin/demo\n" + tt.profile + "\n---\nx\n"
			in := w.input(t, "profiles/a.md", front)
			if err := os.Symlink("/usr", filepath.Join(in.Config.Dir, "out")); err != nil {
				t.Fatal(err)
			}
			in.Flags, in.Overrides = tt.flags, tt.request
			in.LookupEnv = func(name string) (string, bool) {
				v, ok := map[string]string{"HOME": "/home/me", "TOOLS": "/tools"}[name]
				return v, ok
			}
			s, ds, err := Spec(in)
			if tt.fails != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fails) {
					t.Errorf("got %v, want %q in it", err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var codes []string
			for _, d := range ds {
				codes = append(codes, d.Code)
			}
			if got := strings.Join(codes, " "); got != tt.codes {
				t.Errorf("diagnostics %v, want %q", ds, tt.codes)
			}
			if d := cmp.Diff(tt.want, s.Sandbox); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestSandboxOfAClone: in a workspace that nobody trusts nothing lets commands
// out, and what holds them in does.
func TestSandboxOfAClone(t *testing.T) {
	tests := map[string]struct {
		roster, profile string
		want            spec.Sandbox
	}{
		"none":           {profile: "sandbox: none"},
		"kind none":      {profile: "sandbox: {kind: none, network: true}"},
		"all to read":    {profile: "sandbox: maintenance"},
		"by its preset":  {profile: "sandbox: {preset: maintenance}"},
		"a home":         {profile: "sandbox: {read: [~/, ~/x, $HOME, /root, ../x]}"},
		"a home, a text": {profile: "sandbox: {read: 'a, /root'}"},
		"an image":       {profile: "sandbox: {kind: bubblewrap, image: far.example/x}", want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}},
		"a wall":         {profile: "sandbox: bubblewrap", want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}},
		"for all":        {roster: "sandbox: bubblewrap", want: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}},
		"none for all":   {roster: "sandbox: none"},
		"by default":     {roster: "defaults: {sandbox: none}"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": tt.roster})
			s, _, err := Spec(w.cloned(t, "profiles/a.md", "---\ndescription: d\nmodel: builtin/demo\n"+tt.profile+"\n---\nx\n"))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, s.Sandbox); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// TestSandboxInALog: a spec that stands in a log gets the walls of now.
func TestSandboxInALog(t *testing.T) {
	wall := &profile.Sandbox{Kind: profile.Value[string]{V: "bubblewrap", Set: true, At: source.Origin{File: "roster.yaml", Line: 1}}}
	s := &spec.Spec{Workspace: t.TempDir(), Sandbox: spec.Sandbox{Kind: "none"}}
	out, err := Capped(s, config.Policy{Sandbox: []*profile.Sandbox{wall}}, nil)
	if err != nil || out.Sandbox.Kind != "bubblewrap" || !out.Sandbox.NoNetwork || s.Sandbox.Kind != "none" {
		t.Errorf("got %+v, %v, and from %+v", out, err, s.Sandbox)
	}
}

// TestSandboxOfThoseBelow: an agent whose denials are handed down hands its
// sandbox down too.
func TestSandboxOfThoseBelow(t *testing.T) {
	w := newWorld(t, nil)
	in := w.input(t, "profiles/a.md", "---\ndescription: d\nmodel: builtin/demo\nsandbox: none\n---\nx\n")
	for _, inherit := range []bool{false, true} {
		in.Above = &spec.Spec{Name: "above", Sandbox: spec.Sandbox{Kind: "bubblewrap", NoNetwork: true}, Subagents: spec.Subagents{MaxDepth: 3, InheritDenies: inherit}}
		s, _, err := Spec(in)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]string{true: "bubblewrap", false: "none"}[inherit]; s.Sandbox.Kind != want {
			t.Errorf("inherit-denies %t: %+v, want %s", inherit, s.Sandbox, want)
		}
	}
}
