package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
)

// flat reads a family, the weakest first, and gives the last one with all that
// it inherits.
func flat(t *testing.T, family ...string) *profile.Profile {
	t.Helper()
	var all []*profile.Profile
	for _, text := range family {
		p, ds := dialect.Decode("profiles/a.md", []byte("---\n"+text))
		if p == nil {
			t.Fatal(ds)
		}
		all = append(all, p)
	}
	last := len(all) - 1
	return all[last].Linked(all[:last]).Flatten()
}

func TestFlatten(t *testing.T) {
	tests := []struct {
		name   string
		family []string
		get    func(*profile.Profile) any
		want   any
	}{
		{"scalars replace", []string{"model: m\ntemperature: 0.1\n---\n", "temperature: 0.9\n---\n"},
			func(p *profile.Profile) any { return []any{p.Model.V, p.Temperature.V} }, []any{"m", 0.9}},
		{"a reference names its own provider", []string{"provider: p\nmodel: m\n---\n", "model: q/n\n---\n"},
			func(p *profile.Profile) any { return []any{p.Provider.Set, p.Model.V} }, []any{false, "q/n"}},
		{"never inherited", []string{"title: T\nhidden: true\nprofile-id: x\n---\n", "summary: s\n---\n"},
			func(p *profile.Profile) any { return []any{p.Title.Set, p.Hidden.Set, len(p.Extra), p.Name} }, []any{false, false, 0, "a"}},
		{"details merge", []string{"details: {specialization: s, key-tools: [a]}\n---\n", "details: {when-to-use: w, +key-tools: [b]}\n---\n"},
			func(p *profile.Profile) any { return p.Details.V }, profile.Details{Specialization: "s", WhenToUse: "w", KeyTools: []string{"a", "b"}}},
		{"lists replace", []string{"tools: [a, b]\n---\n", "tools: [c]\n---\n"},
			func(p *profile.Profile) any { return p.Tools.V.Names }, []string{"c"}},
		{"lists are added", []string{"tools: [a]\nsubagents: {tools: [a]}\n---\n", "+tools: [b]\n---\n", "+tools: [c]\nsubagents: {+tools: [b]}\n---\n"},
			func(p *profile.Profile) any { return [][]string{p.Tools.V.Names, p.SubagentTools.V} }, [][]string{{"a", "b", "c"}, {"a", "b"}}},
		{"limits merge", []string{"limits: {turns: 3, tokens: 5}\n---\n", "limits: {turns: 4}\n---\n"},
			func(p *profile.Profile) any { return []any{p.Limits.Turns.V, p.Limits.Tokens.V} }, []any{4, int64(5)}},
		{"settings merge", []string{"tool-settings: {read: {limit: 1, line-numbers: true}, glob: {limit: 2}}\n---\n", "tool-settings: {read: {limit: 3}}\n---\n"},
			func(p *profile.Profile) any { return string(p.ToolSettings[0].JSON) + string(p.ToolSettings[1].JSON) },
			`{"limit":3,"line-numbers":true}{"limit":2}`},
		{"rules append", []string{"permission: {bash: deny}\n---\n", "permission: {bash: allow}\n---\n"},
			func(p *profile.Profile) any {
				return []string{p.Permission[0].Effect.String(), p.Permission[1].Effect.String()}
			}, []string{"deny", "allow"}},
		{"maps that are kept merge", []string{"habits: {think: true, anti-stall: {threshold: 3, enabled: true}}\n---\n", "habits:\n  anti-stall: {threshold: 4}\n  planning: true\n---\n"},
			extra, "habits: {think: true, anti-stall: {threshold: 4, enabled: true}, planning: true}\n"},
		{"hooks are added", []string{"hooks: {before-tool: [{command: a}]}\n---\n", "hooks: {before-tool: [{command: b}], after-loop: [{command: c}]}\n---\n"},
			extra, "hooks: {before-tool: [{command: a}, {command: b}], after-loop: [{command: c}]}\n"},
		{"block maps too", []string{"vars:\n  a: one\n  b: two\n---\n", "vars: {b: three}\n---\n"},
			extra, "vars:\n  a: one\n  b: three\n"},
		{"lists that are kept replace", []string{"skills: [a]\n---\n", "skills: [b]\n---\n"}, extra, "skills: [b]\n"},
		{"or are added", []string{"skills: a, b\nfallbacks: [m]\n---\n", "+skills: [b, c]\n+fallbacks: [n]\n---\n"}, extra, "skills: [a, b, c]\nfallbacks: [m, n]\n"},
		{"an added one is replaced", []string{"+skills: [a]\n---\n", "skills: [b]\n---\n"}, extra, "skills: [b]\n"},
		{"what does not fit replaces", []string{"planning: true\n---\n", "planning: {mandatory: true}\n---\n"}, extra, "planning: {mandatory: true}\n"},
		{"the parent's body", []string{"model: m\n---\nBase.", "model: n\n---\n"},
			func(p *profile.Profile) any { return p.Body }, "Base."},
		{"its own body", []string{"system-prompt: Key.\n---\nBase.", "model: n\n---\nChild."},
			func(p *profile.Profile) any { return []any{p.Body, p.SystemPrompt.Set} }, []any{"Child.", false}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.get(flat(t, tt.family...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func extra(p *profile.Profile) any {
	var b strings.Builder
	for _, e := range p.Extra {
		b.WriteString(e.Key + ":" + string(e.YAML) + "\n")
	}
	return b.String()
}

func TestFlattenLeavesTheFamilyAlone(t *testing.T) {
	parent, _ := dialect.Decode("profiles/p.md", []byte("---\ntitle: T\ntools: [a]\nskills: [x]\npermission: {bash: deny}\n---\nBase."))
	child, _ := dialect.Decode("profiles/c.md", []byte("---\nextends: p\n+tools: [b]\n+skills: [y]\n---\n"))
	before := *parent
	child.Linked([]*profile.Profile{parent}).Flatten()
	if diff := cmp.Diff(before, *parent, cmpopts.IgnoreUnexported(profile.Profile{})); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if child.Parents != nil || child.Revision() == child.Linked([]*profile.Profile{parent}).Revision() {
		t.Error("the child was linked in place")
	}
}

// TestRevisionOfACopy: what was computed for a profile is not taken for that of
// a copy of it that says something else.
func TestRevisionOfACopy(t *testing.T) {
	p, _ := dialect.Decode("profiles/a.md", []byte("---\nmodel: x/y\n---\nHelp.\n"))
	was := p.Revision()
	changed := *p
	changed.Body = "Do not.\n"
	if changed.Revision() == was || p.Revision() != was {
		t.Errorf("%s became %s, the copy has %s", was, p.Revision(), changed.Revision())
	}
	if same := *p; same.Revision() != was {
		t.Errorf("an equal copy has %s, not %s", same.Revision(), was)
	}
	parent := &profile.Profile{Name: "p", Body: "x"}
	child := p.Linked([]*profile.Profile{parent})
	if flat := child.Flatten(); flat.Revision() != child.Revision() || child.Revision() == was {
		t.Errorf("flattened %s, child %s, alone %s", flat.Revision(), child.Revision(), was)
	}
}
