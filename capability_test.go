package roster_test

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

func thing(name, schema string) *count {
	return &count{&model.ToolDef{Name: name, Description: "Does something. And more.", Schema: []byte(schema)}}
}

// TestCapabilitiesAreListed: what a program adds stands beside what is built in, in
// the tools of a profile and in its prompt.
func TestCapabilitiesAreListed(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "profiles/clerk.md", "---\nmodel: builtin/demo\ntools: [stock, read]\n---\nYou count.\n")
	write(t, dir, "profiles/other.md", "---\nmodel: builtin/demo\ntools: [read]\n---\nYou read.\n")
	app, _, err := roster.Open(dir, roster.Options{State: t.TempDir(), Capabilities: []roster.Capability{{
		Name: "stock", Summary: "look into the stock", Fragment: "The stock is counted every morning.", Open: openStock,
		Tools: []tool.Tool{thing("stock_count", `{"type":"object"}`), thing("stock_list", `{"type":"object"}`)},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(t.Context())
	all := app.Capabilities()
	if last := all[len(all)-1]; last.Name != "stock" || len(last.Tools) != 2 || last.Tools[0].Summary != "Does something." {
		t.Errorf("listed %+v", last)
	}
	for _, c := range []struct {
		profile string
		has     bool
	}{{"clerk", true}, {"other", false}} {
		tools, _, err := app.Tools(t.Context(), c.profile, session.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		var offered []string
		for _, o := range tools.Tools {
			if o.Offered {
				offered = append(offered, o.Capability+":"+o.Name)
			}
			if o.Name == "stock" {
				t.Errorf("the capability is taken for a tool: %+v", o)
			}
		}
		want := "files:read"
		if c.has {
			want += " stock:stock_count stock:stock_list"
		}
		if got := strings.Join(offered, " "); got != want {
			t.Errorf("%s is offered %s, want %s", c.profile, got, want)
		}
		p, err := app.Prompt(t.Context(), c.profile, session.Overrides{})
		if err != nil {
			t.Fatal(err)
		}
		if got := layersOf(p); strings.Contains(got, "capability stock The stock is counted every morning.") != c.has {
			t.Errorf("%s has the layers %s", c.profile, got)
		}
		if got := strings.Join(p.System, "\n"); strings.Contains(got, "every morning") != c.has {
			t.Errorf("%s is sent %s", c.profile, got)
		}
	}
}

func layersOf(p view.Prompt) string {
	var b strings.Builder
	for _, l := range p.Layers {
		b.WriteString(l.Name + " " + l.Source + " " + l.Text + "\n")
	}
	return b.String()
}

// TestCapabilitiesThatCannotBeUsed are refused when the workspace is opened.
func TestCapabilitiesThatCannotBeUsed(t *testing.T) {
	object := `{"type":"object"}`
	for name, c := range map[string]struct {
		all  []roster.Capability
		want string
	}{
		"a name that is built in": {[]roster.Capability{{Name: "files", Tools: []tool.Tool{thing("x", object)}}}, `roster: capability "files": the name "files" is taken`},
		"a tool that is built in": {[]roster.Capability{{Name: "a", Tools: []tool.Tool{thing("bash", object)}}}, `the name "bash" is taken`},
		"two of one name":         {[]roster.Capability{{Name: "a", Tools: []tool.Tool{thing("x", object)}}, {Name: "b", Tools: []tool.Tool{thing("x", object)}}}, `capability "b": the name "x" is taken`},
		"a name with a blank":     {[]roster.Capability{{Name: "a b", Tools: []tool.Tool{thing("x", object)}}}, `the name "a b": letters, digits`},
		"no name":                 {[]roster.Capability{{Tools: []tool.Tool{thing("x", object)}}}, `the name ""`},
		"no tools":                {[]roster.Capability{{Name: "a"}}, "it has no tools"},
		"no tool":                 {[]roster.Capability{{Name: "a", Tools: []tool.Tool{nil}}}, "is nil"},
		"no schema":               {[]roster.Capability{{Name: "a", Tools: []tool.Tool{thing("x", "{")}}}, "tool x: the schema is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := roster.Open(t.TempDir(), roster.Options{State: t.TempDir(), Capabilities: c.all})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	app, _, err := roster.Open(t.TempDir(), roster.Options{State: t.TempDir(), Capabilities: []roster.Capability{{Name: "x", Tools: []tool.Tool{thing("x", object)}}}})
	if err != nil {
		t.Fatalf("a capability of one tool has its name: %v", err)
	}
	app.Close(t.Context())
}
