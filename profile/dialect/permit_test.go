package dialect_test

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// battery is what agents are commonly asked to do.
func battery() []permission.Query {
	var all []permission.Query
	for tool, subjects := range map[string][]string{
		"read":           {"a.go", ".env", "/etc/passwd"},
		"write":          {"a.go", "docs/a.md"},
		"edit":           {"a.go", "docs/a.md"},
		"glob":           {"."},
		"grep":           {"src"},
		"bash":           {"ls", "git status", "git push origin main", "rm -rf /", "npm test; rm x", "echo x > a.txt", "$x"},
		"webfetch":       {"https://example.org/a"},
		"websearch":      {"cats"},
		"todo":           {"x"},
		"task":           {"reviewer", "general-purpose"},
		"skill":          {"pdf"},
		"NotebookEdit":   {"a.ipynb"},
		"github_get":     {"x"},
		"playwright_tab": {"x"},
	} {
		for _, s := range subjects {
			all = append(all, permission.Query{Tool: tool, Subject: s})
		}
	}
	return all
}

// permits answers the battery for a profile: the decision, and whether the tool
// is offered at all.
func permits(t *testing.T, p *profile.Profile) map[string]string {
	t.Helper()
	mode := permission.ModeDefault
	if p.PermissionMode.Set {
		var err error
		if mode, err = permission.ParseMode(p.PermissionMode.V); err != nil {
			t.Fatal(err)
		}
	}
	e, err := permission.Compile(permission.Layers{Rules: append(permission.Builtin(), p.Permission...), Default: permission.Ask, Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, q := range battery() {
		listed := !p.Tools.Set || p.Tools.V.All || slices.ContainsFunc(p.Tools.V.Names, func(name string) bool {
			pattern, err := permission.ParsePattern(name)
			return err == nil && pattern.Match(q.Tool)
		})
		verdict := "withheld"
		if listed && e.Offered(q.Tool) {
			verdict = e.Decide(q).Effect.String()
		}
		out[q.Tool+" "+q.Subject] = verdict
	}
	return out
}

// TestConvertedAgentsMayDoTheSame takes real Claude agents to OpenCode and back:
// in all three forms the permission engine gives the same answers, but where
// the conversion said what it lost, and then it allows no more.
func TestConvertedAgentsMayDoTheSame(t *testing.T) {
	files, _ := corpus(t)
	opencode, _ := dialect.ByName("opencode")
	claude, _ := dialect.ByName("claude")
	same, lossy := 0, 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Ext(name) != ".md" {
			continue
		}
		f := &dialect.File{Name: name, Path: name, Data: files[name]}
		d, ok := dialect.Detect(f)
		if !ok || d.Name != "claude" {
			continue
		}
		ps, ds := d.Decode(f)
		if profile.Refused(ds) || len(ps) != 1 {
			continue
		}
		there, lost := convertSafely(opencode, ps[0])
		if there == nil {
			continue
		}
		back, lostBack := convertSafely(claude, there)
		if back == nil {
			continue
		}
		want := permits(t, ps[0])
		named := hasAny(append(lost, lostBack...), "tools", "permission", "permission-mode")
		if named {
			lossy++
		} else {
			same++
		}
		for form, p := range map[string]*profile.Profile{"OpenCode's": there, "Claude's again": back} {
			for q, got := range permits(t, p) {
				switch {
				case got == want[q]:
				case !named:
					t.Errorf("%s: in %s form %s is %s, before %s", name, form, q, got, want[q])
				case got == "allow" && want[q] != "allow":
					t.Errorf("%s: what was lost is named, and in %s form %s is allowed, before %s", name, form, q, want[q])
				}
			}
		}
	}
	t.Logf("%d agents may do the same, of %d the conversion says that it lost rules", same, lossy)
	if same < 100 {
		t.Errorf("only %d agents were compared", same)
	}
}

// convertSafely writes a profile in a dialect and reads that; nil if it refuses.
func convertSafely(to dialect.Dialect, p *profile.Profile) (*profile.Profile, []profile.Diagnostic) {
	parts, lost := dialect.Encode(to, p)
	if profile.Refused(lost) || len(parts) == 0 {
		return nil, lost
	}
	after, ds := to.Decode(&dialect.File{Name: parts[0].Path, Path: parts[0].Path, Data: parts[0].Data})
	if profile.Refused(ds) || len(after) != 1 {
		return nil, lost
	}
	return after[0], lost
}

func hasAny(ds []profile.Diagnostic, keys ...string) bool {
	return slices.ContainsFunc(ds, func(d profile.Diagnostic) bool {
		key, _, _ := strings.Cut(d.Key, ".")
		return slices.Contains(keys, key)
	})
}
