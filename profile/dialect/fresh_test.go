package dialect_test

import (
	"slices"
	"testing"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

func TestNewProfilesHoldWhatTheirDialectTakesForSaid(t *testing.T) {
	lists := map[string][]string{"no list": nil, "an empty list": {}, "a list": {"read", "bash"}}
	for _, name := range []string{"claude", "config", "copilot", "directory", "docker", "gemini", "knot", "opencode", "roster"} {
		for called, tools := range lists {
			t.Run(name+" with "+called, func(t *testing.T) {
				p := &profile.Profile{
					Name: "x", Dialect: name, Description: text("d"), Model: text("openai/gpt-4o"), Body: "Help.\n",
					Tools: profile.Value[profile.Tools]{V: profile.Tools{Names: tools}, Set: tools != nil},
				}
				dialect.Fresh(p, name)
				d, _ := dialect.ByName(name)
				parts, ds := dialect.Create(d, p)
				if len(parts) == 0 {
					t.Fatalf("not written: %v", ds)
				}
				for _, tool := range tools {
					if !slices.Contains(p.Tools.V.Names, tool) {
						t.Errorf("%s is not in %v", tool, p.Tools.V.Names)
					}
				}
			})
		}
	}
}

func TestFreshKeepsWhatIsSet(t *testing.T) {
	p := &profile.Profile{Name: "x", Temperature: profile.Value[float64]{V: 0.1, Set: true}, Provider: text("openai"), Model: text("a/b")}
	dialect.Fresh(p, "directory")
	if p.Temperature.V != 0.1 || p.Provider.V != "openai" || p.Model.V != "a/b" || p.Limits.Turns.V != 10 {
		t.Errorf("%+v", p)
	}
	q := &profile.Profile{Name: "x", Provider: text("openrouter"), Model: text("a/b")}
	if dialect.Fresh(q, "knot"); q.Provider.V != "openrouter" || q.Model.V != "a/b" {
		t.Errorf("%+v", q)
	}
}

func TestUnknownToolsOfAListAreOneWarning(t *testing.T) {
	_, ds := decode(t, "profiles/a.md", "---\ndescription: d\ntools: [read, reed, problems, reed]\n---\nb\n")
	want := `"reed", "problems" are not built-in tools; they are kept`
	if len(ds) != 1 || ds[0].Message != want || ds[0].Hint != `did you mean "read"?` || ds[0].Column != 15 {
		t.Errorf("%+v", ds)
	}
}

func TestAFoldersToolsAreItsGrant(t *testing.T) {
	p := &profile.Profile{
		Name: "x", Dialect: "directory", Description: text("d"), Body: "Help.\n",
		Tools: text(profile.Tools{Names: []string{"read", "bash"}}),
	}
	dialect.Fresh(p, "directory")
	q, ds := dialect.With(p, "body", []byte(`{"tools": ["grep"]}`))
	if len(ds) > 0 || len(q.Permission) != 1 || q.Permission[0].Tool != "grep" {
		t.Fatalf("%v %v", q.Permission, ds)
	}
	d, _ := dialect.ByName("directory")
	if parts, ds := dialect.Create(d, q); len(parts) == 0 {
		t.Errorf("not written: %v", ds)
	}
}
