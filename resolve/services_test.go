package resolve

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// TestServices: those of roster.yaml are there for all; a profile adds to them,
// replaces or narrows them, and each keeps its place.
func TestServices(t *testing.T) {
	w := newWorld(t, nil)
	var shared []service.Entry
	for _, name := range []string{"one", "two"} {
		var doc yaml.Node
		if err := yaml.Load([]byte("{spec: "+name+".yaml, auth: {bearer-env: T}}"), &doc); err != nil {
			t.Fatal(err)
		}
		e, err := service.Parse(name, doc.Content[0])
		if err != nil {
			t.Fatal(err)
		}
		e.At = source.Origin{Layer: source.Defaults, File: "roster.yaml", Line: 1}
		shared = append(shared, e)
	}
	const front = "---\ndescription: x\nmodel: builtin/demo\n"
	for _, c := range []struct {
		name, keys, want, err string
		told                  string // in a diagnostic
		untrusted             bool
	}{
		{name: "none of its own", want: "one one.yaml roster.yaml:1, two two.yaml roster.yaml:1"},
		{name: "one more", keys: "openapi:\n  api:\n    spec: a.yaml\n", want: "api a.yaml profiles/a.md:6, one one.yaml roster.yaml:1, two two.yaml roster.yaml:1"},
		{name: "in the place of another", keys: "openapi: {one: {spec: b.yaml}}\n", want: "one b.yaml profiles/a.md:4, two two.yaml roster.yaml:1"},
		{name: "one of them", keys: "openapi: [two]\n", want: "two two.yaml roster.yaml:1"},
		{name: "none", keys: "openapi: []\n", want: ""},
		{name: "without one", keys: "openapi: {one: false}\n", want: "two two.yaml roster.yaml:1"},
		{name: "one that is not there", keys: "openapi: [twoo]\n", want: "", told: `did you mean "two"`},
		{name: "not trusted", keys: "openapi: {api: {spec: a.yaml}}\n", want: "one one.yaml roster.yaml:1, two two.yaml roster.yaml:1", told: "has no effect", untrusted: true},
		{name: "the name of a tool", keys: "openapi: {bash: {spec: a.yaml}}\n", err: "built-in tool"},
		{name: "the name of a group", keys: "openapi: {web: {spec: a.yaml}}\n", err: "built-in tool"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := w.input(t, "profiles/a.md", front+c.keys+"---\nx\n")
			in.Config.Services = shared
			if in.Trust = trust.Everything(); c.untrusted {
				in.Trust = trust.View{}
			}
			s, ds, err := Spec(in)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatal(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for _, e := range s.Services {
				list = append(list, e.Name+" "+e.Spec+" "+e.At.File+":"+fmt.Sprint(e.At.Line))
				permit, err := s.Permit(false)
				if err != nil {
					t.Fatal(err)
				}
				if d := permit.Decide(permission.Query{Tool: e.Name + "_get", Subject: "GET https://x.example/"}); d.Effect != permission.Ask || d.Rule == nil {
					t.Errorf("a call: %+v", d)
				}
			}
			if got := strings.Join(list, ", "); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			if told := fmt.Sprint(ds); !strings.Contains(told, c.told) || c.told == "" && len(ds) > 0 {
				t.Errorf("diagnostics: %s", told)
			}
		})
	}
}
