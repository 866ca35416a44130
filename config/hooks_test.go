package config

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/trust"
)

// shown lists hooks with their places.
func shown(list []hook.Entry) string {
	var lines []string
	for _, e := range list {
		lines = append(lines, string(e.On)+" "+e.Does()+" "+e.Name())
	}
	return strings.Join(lines, "\n")
}

// TestHooks: those of the workspace, as far as they are trusted, and then the
// user's; those among the defaults are a layer's. Each has its own line.
func TestHooks(t *testing.T) {
	const workspace = `
defaults:
  hooks:
    # comments do not count

    before-loop:
      - {command: ./d}
hooks:
  before-tool:
    - {command: ./a, match: bash, timeout: 5s}
    - url: https://x.example/?token=t
  after_loop: [{command: ./b}]
`
	const user = "hooks: {on-message: [{command: ./u}]}\n"
	o := placed(t, workspace, user, nil)
	for _, c := range []struct {
		name           string
		trust          func(dir, home string) trust.View
		hooks, layered string
	}{
		{"untrusted", nil, "on-message ./u HOME/roster.yaml:1:22", ""},
		{"trusted", func(string, string) trust.View { return trust.Everything() },
			"before-tool ./a roster.yaml:10:7\nbefore-tool https://x.example/?… roster.yaml:11:7\nafter-loop ./b roster.yaml:12:16\non-message ./u HOME/roster.yaml:1:22",
			"before-loop ./d roster.yaml:7:9"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o.Trust = c.trust
			cfg, _, err := Load(o)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.ReplaceAll(shown(cfg.Hooks), cfg.Home, "HOME"); got != c.hooks {
				t.Errorf("hooks:\n%s\nwant\n%s", got, c.hooks)
			}
			var layered []hook.Entry
			for _, l := range cfg.Defaults {
				layered = append(layered, l.Hooks...)
			}
			if got := shown(layered); got != c.layered {
				t.Errorf("of the defaults:\n%s\nwant\n%s", got, c.layered)
			}
		})
	}
}

// TestBadHooks: a hook that cannot be understood is an error, with or without
// trust.
func TestBadHooks(t *testing.T) {
	for _, c := range []struct{ name, yaml, says string }{
		{"neither", "hooks: {before-tool: [{match: bash}]}", "roster.yaml:1:23: error [P213]: hooks.before-tool: a hook has either command or url"},
		{"another event", "hooks: {before: [{command: x}]}", "hooks.before"},
		{"another key", "hooks: {before-tool: [{command: x, args: y}]}", "hooks.before-tool.args is not a known key"},
		{"no list", "hooks: {before-tool: x}", "hooks.before-tool takes a list"},
		{"no map", "hooks: [x]", "hooks takes a map"},
		{"of the defaults", "defaults: {hooks: {before-tool: [{}]}}", "either command or url"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, view := range []trust.View{{}, trust.Everything()} {
				o := placed(t, c.yaml, "", nil)
				o.Trust = func(string, string) trust.View { return view }
				if _, _, err := Load(o); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v", err)
				}
			}
		})
	}
}
