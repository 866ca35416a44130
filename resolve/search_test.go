package resolve

import (
	"testing"

	"github.com/rosterrun/roster/profile"
)

func TestSearching(t *testing.T) {
	const service = "search: {kind: searxng, url: \"http://127.0.0.1:1\"}\n"
	for _, c := range []struct {
		name, tools, config string
		said                bool
	}{
		{"listed, nobody answers", "tools: [read, websearch]\n", "", true},
		{"of the group", "tools: [web]\n", "", true},
		{"listed, and answered", "tools: [websearch]\n", service, false},
		{"all tools", "", "", false},
		{"another tool", "tools: [webfetch]\n", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newWorld(t, map[string]string{"home/roster.yaml": c.config}).input(t, "profiles/a.md", "---\nmodel: builtin/demo\n"+c.tools+"---\nx\n")
			_, ds, err := Spec(in)
			if err != nil {
				t.Fatal(err)
			}
			said := false
			for _, d := range ds {
				said = said || d.Code == profile.CodeNoSearch && d.Line == 3
			}
			if said != c.said {
				t.Errorf("%v", ds)
			}
		})
	}
}
