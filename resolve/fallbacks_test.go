package resolve

import (
	"strings"
	"testing"

	"github.com/rosterrun/roster/profile"
)

func TestFallbacks(t *testing.T) {
	const head = "---\nname: a\ndescription: d\nmodel: anthropic/claude-sonnet-4-6\n"
	for _, c := range []struct {
		name, front string
		set         map[string]string
		want, fails string
	}{
		{"none", "", nil, "", ""},
		{"a list", "fallbacks: [fake/text, builtin/demo]\n", nil, "fake/text builtin/demo", ""},
		{"a text", "fallbacks: fake/text, builtin/demo\n", nil, "fake/text builtin/demo", ""},
		{"the model itself and twice the same", "fallbacks: [anthropic/claude-sonnet-4-6, fake/text, fake/text]\n", nil, "fake/text", ""},
		{"unknown", "fallbacks:\n- fake/texx\n", nil, "", "profiles/a.md:5:1"},
		{"another model for this run", "fallbacks: [fake/text]\n", map[string]string{"model": "builtin/demo"}, "", ""},
		{"another model with its own", "", map[string]string{"model": "builtin/demo", "fallbacks": "fake/text"}, "fake/text", ""},
		{"more of them", "fallbacks: [fake/text]\n", map[string]string{"fallbacks": "[builtin/demo]"}, "builtin/demo", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string]string{"roster.yaml": "providers: {fake: {api: openai-chat, base-url: 'http://127.0.0.1:9', models: {text: {}}}}\n"})
			in := w.input(t, "profiles/a.md", head+c.front+"---\nx\n")
			in.Flags = c.set
			s, _, err := Spec(in)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("error %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(modelNames(s.Fallbacks), " "); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestFallbacksOfParents: a list replaces that of the parents, one with a + adds.
func TestFallbacksOfParents(t *testing.T) {
	for front, want := range map[string]string{
		"":                             "fake/text",
		"fallbacks: [builtin/demo]\n":  "builtin/demo",
		"+fallbacks: [builtin/demo]\n": "fake/text builtin/demo",
	} {
		w := newWorld(t, map[string]string{"roster.yaml": "providers: {fake: {api: openai-chat, base-url: 'http://127.0.0.1:9', models: {text: {}}}}\n"})
		parent := w.input(t, "profiles/p.md", "---\nname: p\ndescription: d\nmodel: anthropic/claude-sonnet-4-6\nfallbacks: [fake/text]\n---\nx\n")
		in := w.input(t, "profiles/a.md", "---\nname: a\ndescription: d\nextends: p\n"+front+"---\n")
		in.Profile = in.Profile.Linked([]*profile.Profile{parent.Profile})
		s, _, err := Spec(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(modelNames(s.Fallbacks), " "); got != want {
			t.Errorf("%q: %q, want %q", front, got, want)
		}
	}
}
