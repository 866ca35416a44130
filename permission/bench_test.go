package permission

import (
	"fmt"
	"testing"
)

// manyRules makes n rules as people write them: the built-in ones, then rules
// for folders and commands.
func manyRules(n int) []Rule {
	rules := Builtin()
	for i := 0; len(rules) < n; i++ {
		rules = append(rules,
			Rule{Tool: "read", Subject: fmt.Sprintf("services/team%d/secrets/*", i), Effect: Deny},
			Rule{Tool: "write", Subject: fmt.Sprintf("services/team%d/*", i), Effect: Allow},
			Rule{Tool: "bash", Subject: fmt.Sprintf("make team%d *", i), Effect: Allow},
			Rule{Tool: "webfetch", Subject: fmt.Sprintf("https://team%d.example.org/*", i), Effect: Allow},
			Rule{Tool: fmt.Sprintf("server%d_*", i), Subject: "*", Effect: Ask})
	}
	return rules[:n]
}

func BenchmarkDecide(b *testing.B) {
	alone := Builtin()
	for i := range 128 - len(alone) {
		alone = append(alone, Rule{Tool: "read", Subject: fmt.Sprintf("services/team%d/*", i), Effect: Deny})
	}
	sites := Builtin()
	for i := range 128 - len(sites) {
		sites = append(sites, Rule{Tool: "webfetch", Subject: fmt.Sprintf("https://team%d.example.org/*", i), Effect: Effect(i % 3)})
	}
	for _, bb := range []struct {
		name  string
		rules []Rule
		query Query
		want  Effect
	}{
		{"path", manyRules(128), Query{Tool: "read", Subject: "internal/deep/down/file.go"}, Allow},
		{"path, all rules for its tool", alone, Query{Tool: "read", Subject: "services/shared/down/file.go"}, Allow},
		{"the last rule", append(manyRules(127), Rule{Tool: "edit", Subject: "src/*", Effect: Allow}), Query{Tool: "edit", Subject: "src/a.go"}, Allow},
		{"tool without a rule", manyRules(128), Query{Tool: "github_get_issue", Subject: "x"}, Ask},
		{"url", manyRules(128), Query{Tool: "webfetch", Subject: "https://team3.example.org/index.html"}, Allow},
		{"url, all rules for it", sites, Query{Tool: "webfetch", Subject: "https://other.example.org/index.html"}, Ask},
		{"line", manyRules(128), Query{Tool: "bash", Subject: "make team3 test"}, Allow},
		{"long line", manyRules(128), Query{Tool: "bash", Subject: `cd services && git log --oneline "$base"..HEAD | head -20 > out.txt; env CI=1 make team3 test 2>&1`}, Ask},
	} {
		e, err := Compile(Layers{Rules: bb.rules, Host: []Rule{{Tool: "bash", Subject: "rm *", Effect: Deny}}, Default: Ask, Workspace: "/ws"})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if d := e.Decide(bb.query); d.Effect != bb.want {
					b.Fatal(says(d))
				}
			}
		})
	}
}
