package permission

import "testing"

// FuzzLine: whatever a command line is, it is denied where all is denied,
// allowed where all is allowed, and has parts.
func FuzzLine(f *testing.F) {
	for _, line := range []string{"git status; rm x", "a > b < c", "$x", "'", "X=1 a", "", "a\x00b", "cd a && b > $c", "f() { a; }; f", "a <<b\nc\nb"} {
		f.Add(line, "")
		f.Add(line, "../sub")
	}
	all := func(effect Effect) *Engine {
		var rules []Rule
		for _, tool := range []string{"*", ExternalDirectory, Protected} {
			rules = append(rules, Rule{Tool: tool, Subject: "*", Effect: effect})
		}
		return compile(f, Layers{Rules: rules, Workspace: "/ws"})
	}
	no, yes := all(Deny), all(Allow)
	f.Fuzz(func(t *testing.T, line, dir string) {
		q := Query{Tool: "bash", Subject: line, Dir: dir}
		if d := no.Decide(q); d.Effect != Deny || len(d.Parts) == 0 {
			t.Errorf("%q is %s where all is denied", line, d.Effect)
		}
		if d := yes.Decide(q); d.Effect != Allow || len(d.Parts) == 0 {
			t.Errorf("%q is %s where all is allowed", line, d.Effect)
		}
	})
}

// FuzzAddress holds the reading of plain addresses against that of all.
func FuzzAddress(f *testing.F) {
	for _, s := range []string{"https://example.org/a", "http://a.b/c_d.e/", "https://a.b.", "https://a..b/", "https://a/b//c", "https://A/", "https://1.2/x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		plain, ok := plainAddress(s)
		if !ok {
			return
		}
		if parsed, ok := parsedAddress(s); !ok || parsed != plain {
			t.Errorf("%q: read as %+v, parsed as %+v", s, plain, parsed)
		}
	})
}
