package resolve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// TestPersona: the persona of a directory profile is the first layer, joined to
// the profile's prompt, and explained with its file; parents give none.
func TestPersona(t *testing.T) {
	w := newWorld(t, nil)
	in := w.input(t, "profiles/b.md", "---\nmodel: builtin/demo\n---\nThe other.")
	f := &dialect.File{
		Name: "profiles/a/config.json", Path: "profiles/a/config.json", Data: []byte(`{"id": "a", "llm_backend": "builtin", "model": "demo"}`),
		Beside: map[string][]byte{"system_prompt.txt": []byte("You are A.\n"), "../persona.txt": []byte("Be kind.\n\n---\n\nBe brief.\n")},
	}
	d, _ := dialect.Detect(f)
	ps, ds := d.Decode(f)
	if profile.Refused(ds) {
		t.Fatal(ds)
	}
	other := in.Profile
	for _, c := range []struct {
		name    string
		profile *profile.Profile
		parents []*profile.Profile
		first   string
		at      source.Origin
	}{
		{"a directory profile", ps[0], nil, "Be kind.\n\n---\n\nBe brief.\n\n---\n\nYou are A.", source.Origin{Layer: source.Profile, File: "profiles/persona.txt", Line: 1, Column: 1}},
		{"a profile without one", other, nil, "The other.", source.Origin{Layer: source.Builtin}},
		{"a child of a directory profile", other, ps, "The other.", source.Origin{Layer: source.Builtin}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := in
			p := *c.profile
			p.Parents = c.parents
			in.Profile = &p
			s, _, err := Spec(in)
			if err != nil {
				t.Fatal(err)
			}
			blocks := s.System()
			if blocks[0] != c.first || !strings.HasPrefix(blocks[1], "# Environment") {
				t.Errorf("blocks: %q", blocks)
			}
			field := Explain(s).Fields["persona"]
			if diff := cmp.Diff(place(c.at), field.Origin); diff != "" {
				t.Errorf("origin: %s", diff)
			}
			if want := strings.TrimSpace(p.Persona.V); field.Value != want {
				t.Errorf("explained as %q, want %q", field.Value, want)
			}
		})
	}
}
