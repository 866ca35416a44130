package spec

import (
	"slices"
	"testing"
)

// TestSystem: the persona stands before the profile's prompt, in its block.
func TestSystem(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers []Layer
		want   []string
	}{
		{"none", nil, nil},
		{"persona and profile are joined", []Layer{{Persona, "A"}, {Profile, "B"}, {Environment, "C"}}, []string{"A\n\n---\n\nB", "C"}},
		{"profile alone", []Layer{{Profile, "B"}, {Index, "I"}}, []string{"B", "I"}},
		{"persona without profile", []Layer{{Persona, "A"}, {Environment, "C"}}, []string{"A", "C"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (&Spec{Prompt: c.layers}).System(); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
