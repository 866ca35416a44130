package resolve

import (
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/spec"
)

// below resolves a profile for an agent that delegates to it.
func (w *world) below(t *testing.T, above *spec.Spec, text string) *spec.Spec {
	t.Helper()
	in := w.input(t, "profiles/child.md", text)
	in.Above, in.Inherit = above, &above.Model
	s, _, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDepthEnds(t *testing.T) {
	for _, c := range []struct {
		name         string
		above, child string
		want         int
	}{
		{"by default", "", "", 2},
		{"the child says less", "", "subagents: {max-depth: 1}\n", 1},
		{"the child says more", "", "subagents: {max-depth: 9}\n", 2},
		{"none below the agent", "subagents: {max-depth: 1}\n", "", 0},
		{"none at all", "subagents: {max-depth: 0}\n", "", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			above := spec1(t, w, c.above)
			if got := w.below(t, above, "---\n"+c.child+"---\n.").Subagents.MaxDepth; got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func spec1(t *testing.T, w *world, keys string) *spec.Spec {
	t.Helper()
	s, _, err := Spec(w.input(t, "profiles/above.md", "---\nmodel: builtin/demo\n"+keys+"---\nAbove."))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestToolsOfSubagents(t *testing.T) {
	for _, c := range []struct {
		name, above, child string
		want               []string // nil: all
	}{
		{"no bound", "", "tools: [read, bash]\n", []string{"read", "bash"}},
		{"no bound and no list", "", "", nil},
		{"a star is none", "subagents: {tools: \"*\"}\n", "", nil},
		{"what both have", "subagents: {tools: [read, grep]}\n", "tools: [bash, read]\n", []string{"read"}},
		{"no list of its own", "subagents: {tools: [read, grep]}\n", "", []string{"read", "grep"}},
		{"nothing", "subagents: {tools: []}\n", "tools: [bash]\n", []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			got := w.below(t, spec1(t, w, c.above), "---\n"+c.child+"---\n.")
			if got.AllTools != (c.want == nil) || c.want != nil && !slices.Equal(got.Tools, c.want) {
				t.Errorf("all %v, %q; want %q", got.AllTools, got.Tools, c.want)
			}
		})
	}
}

func TestPromptOfASubagent(t *testing.T) {
	w := newWorld(t, nil)
	prompt := func(s *spec.Spec) string {
		for _, l := range s.Prompt {
			if l.Name == spec.Profile {
				return l.Text
			}
		}
		return ""
	}
	plain := spec1(t, w, "")
	adds := spec1(t, w, "subagents: {prompt: Be brief.}\n")
	own := "---\nmodel: builtin/demo\n---\nI am me."
	other := "---\nmodel: builtin/demo\nsubagent-prompt: I help.\n---\nI am me."
	for _, c := range []struct {
		name  string
		above *spec.Spec
		text  string
		want  string
	}{
		{"its own", plain, own, "I am me."},
		{"that for subagents", plain, other, "I help."},
		{"with what the agent above adds", adds, own, "I am me.\n\nBe brief."},
		{"both", adds, other, "I help.\n\nBe brief."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := prompt(w.below(t, c.above, c.text)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	alone, _, err := Spec(w.input(t, "profiles/child.md", other))
	if err != nil || prompt(alone) != "I am me." {
		t.Errorf("for people it speaks as itself: %q, %v", prompt(alone), err)
	}
}

func TestModelOfASubagent(t *testing.T) {
	w := newWorld(t, nil)
	above := spec1(t, w, "")
	above.Model = spec.Model{Provider: "builtin", ID: "demo"}
	for name, keys := range map[string]string{"inherit": "model: inherit\n", "none": ""} {
		if got := w.below(t, above, "---\n"+keys+"---\n.").Model.String(); got != "builtin/demo" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestDenialsAreInherited(t *testing.T) {
	w := newWorld(t, nil)
	free := spec1(t, w, "permission: {edit: deny}\n")
	if got := w.below(t, free, "---\n---\n.").Above; got != nil {
		t.Errorf("an agent's own rules are its own: %+v", got)
	}
	strict := spec1(t, w, "permission: {edit: deny}\nsubagents: {inherit-denies: true}\n")
	child := w.below(t, strict, "---\n---\n.")
	if len(child.Above) != 1 || child.Above[0].Name != "above" || child.Above[0].Default != permission.Ask {
		t.Fatalf("%+v", child.Above)
	}
	if grand := w.below(t, child, "---\n---\n."); len(grand.Above) != 1 {
		t.Errorf("and by those below: %+v", grand.Above)
	}
}

// TestRequestsDoNotWidenDelegation: what a request says of subagents is only
// taken where it is stricter.
func TestRequestsDoNotWidenDelegation(t *testing.T) {
	w := newWorld(t, nil)
	in := w.input(t, "profiles/a.md", "---\nmodel: builtin/demo\nsubagents: {max-depth: 1, tools: [read], inherit-denies: true, max-parallel: 2}\n---\n.")
	in.Overrides = map[string]string{
		"subagents.max-depth": "5", "subagents.tools": "[read, bash]", "subagents.inherit-denies": "false", "subagents.max-parallel": "50",
	}
	s, ds, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Subagents; got.MaxDepth != 1 || !slices.Equal(got.Tools, []string{"read"}) || !got.InheritDenies || got.MaxParallel != 2 {
		t.Errorf("%+v", got)
	}
	said := 0
	for _, d := range ds {
		if d.Code == CodeWidens && strings.HasPrefix(d.Key, "subagents.") {
			said++
		}
	}
	if said != 4 {
		t.Errorf("%d of 4 are noted: %v", said, ds)
	}
	in.Overrides = map[string]string{"subagents.max-depth": "0"}
	if s, _, err := Spec(in); err != nil || s.Subagents.MaxDepth != 0 {
		t.Errorf("less is taken: %+v, %v", s, err)
	}
}
