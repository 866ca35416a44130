package resolve

import (
	"slices"
	"testing"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/spec"
)

// TestRequestsNarrow: what a request overrides never widens what the profile has.
func TestRequestsNarrow(t *testing.T) {
	const file = "---\ndescription: x\nmodel: builtin/demo\ntools: [read, grep, \"x_*\"]\nlimits: {turns: 10, cost: 1}\ntool-timeout: 1m\npermission: {bash: {\"*\": deny, \"git *\": allow}, write: ask}\n---\nx\n"
	for _, c := range []struct {
		name, key, value string
		want             func(*testing.T, *spec.Spec)
		warns            bool
	}{
		{"fewer turns", "limits.turns", "3", turns(3), false},
		{"more turns", "limits.turns", "300", turns(10), true},
		{"no limit", "limits.turns", "none", turns(10), true},
		{"a limit where there is none", "limits.duration", "1s", func(t *testing.T, s *spec.Spec) {
			if s.Limits.Duration != time.Second {
				t.Errorf("%v", s.Limits.Duration)
			}
		}, false},
		{"less time for a call", "tool-timeout", "5s", timeout(5 * time.Second), false},
		{"more time for a call", "tool-timeout", "1h", timeout(time.Minute), true},
		{"fewer tools", "tools", "[read]", onlyTools("read"), false},
		{"other tools", "tools", "[read, bash]", onlyTools("read"), true},
		{"one of a pattern", "tools", "[x_y]", onlyTools("x_y"), false},
		{"all tools", "tools", "*", onlyTools("read", "grep", "x_*"), false},
		{"tools added", "+tools", "[bash]", onlyTools("read", "grep", "x_*"), true},
		{"an allow over a deny", "permission", "{bash: allow}", permits("bash", "rm x", permission.Deny), false},
		{"an allow over an allow", "permission", "{bash: allow}", permits("bash", "git x", permission.Allow), false},
		{"an allow over an ask", "permission", "{write: allow}", permits("write", "x", permission.Ask), false},
		{"a deny over an allow", "permission", "{bash: deny}", permits("bash", "git x", permission.Deny), false},
		{"a laxer default", "default-permission", "allow", permits("other", "x", permission.Ask), true},
		{"a stricter default", "default-permission", "deny", permits("other", "x", permission.Deny), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newWorld(t, nil).input(t, "profiles/a.md", file)
			in.Overrides = map[string]string{c.key: c.value}
			s, ds, err := Spec(in)
			if err != nil {
				t.Fatal(err)
			}
			c.want(t, s)
			if warned := len(ds) == 1 && ds[0].Code == CodeWidens; warned != c.warns || len(ds) > 1 {
				t.Errorf("diagnostics %+v", ds)
			}
			in.Overrides, in.Flags = nil, in.Overrides
			if _, ds, err = Spec(in); err != nil || len(ds) > 0 {
				t.Errorf("a flag: %v, %v", ds, err)
			}
		})
	}
}

func timeout(want time.Duration) func(*testing.T, *spec.Spec) {
	return func(t *testing.T, s *spec.Spec) {
		if s.ToolTimeout != want {
			t.Errorf("%v", s.ToolTimeout)
		}
	}
}

func turns(want int) func(*testing.T, *spec.Spec) {
	return func(t *testing.T, s *spec.Spec) {
		if s.Limits.Turns != want {
			t.Errorf("%d turns, want %d", s.Limits.Turns, want)
		}
	}
}

func onlyTools(want ...string) func(*testing.T, *spec.Spec) {
	return func(t *testing.T, s *spec.Spec) {
		if !slices.Equal(s.Tools, want) || s.AllTools {
			t.Errorf("tools %v, all %v", s.Tools, s.AllTools)
		}
	}
}

func permits(tool, subject string, want permission.Effect) func(*testing.T, *spec.Spec) {
	return func(t *testing.T, s *spec.Spec) {
		e, err := permission.Compile(permission.Layers{Rules: s.Rules, Default: s.DefaultPermission})
		if err != nil {
			t.Fatal(err)
		}
		if d := e.Decide(permission.Query{Tool: tool, Subject: subject}); d.Effect != want {
			t.Errorf("%s %s: %s, want %s", tool, subject, d.Effect, want)
		}
	}
}
