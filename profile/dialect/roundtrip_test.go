package dialect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// same compares what two profiles say, not where.
func same(a, b *profile.Profile) string {
	return cmp.Diff(a, b, cmpopts.IgnoreTypes(source.Origin{}), cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(profile.Profile{}), cmpopts.IgnoreFields(profile.Profile{}, "File", "Dialect", "ExtendsAt"),
		cmpopts.IgnoreFields(profile.Tools{}, "Written"), cmpopts.SortSlices(func(a, b profile.Extra) bool { return a.Key < b.Key }))
}

var (
	anyText = rapid.OneOf(
		rapid.StringMatching(`[ -~]{0,40}`),
		rapid.StringMatching(`[a-zé "':#\-\[\]{}*&!|>%@\n\t]{0,60}`),
		rapid.SampledFrom([]string{"true", "1.0", "2024-01-01", "null", "~", "*", "- x", "---\nx", "a: b", " x", "x ", "\n", "\nx", "x\n\n", "\u2028", "…"}),
	)
	anyName = rapid.StringMatching(`[a-z][a-z0-9._-]{0,8}(/[a-z][a-z0-9]{0,5})?`).Filter(func(s string) bool { return !strings.Contains(s, "..") })
	anyTool = rapid.SampledFrom([]string{"read", "write", "edit", "grep", "bash", "task", "server_tool", "*"})
)

func maybe[T any](t *rapid.T, label string, g *rapid.Generator[T]) profile.Value[T] {
	if !rapid.Bool().Draw(t, label+"?") {
		return profile.Value[T]{}
	}
	return profile.Value[T]{V: g.Draw(t, label), Set: true}
}

func anyRules(t *rapid.T) []permission.Rule {
	rule := rapid.Custom(func(t *rapid.T) permission.Rule {
		return permission.Rule{
			Tool: anyTool.Draw(t, "tool"), Subject: rapid.SampledFrom([]string{"*", "git *", "a: b", "<<", "~/x", "é?"}).Draw(t, "subject"),
			Effect: permission.Effect(rapid.IntRange(0, 2).Draw(t, "effect")),
		}
	})
	return rapid.SliceOfN(rule, 0, 6).Draw(t, "rules")
}

func anyTools(t *rapid.T) profile.Value[profile.Tools] {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"read", "bash", "task", "my-tool", "x_y"}), 0, 4, rapid.ID)
	v := profile.Value[profile.Tools]{Set: rapid.Bool().Draw(t, "tools?")}
	if v.Set && rapid.Bool().Draw(t, "all") {
		v.V.All = true
	} else if v.Set {
		v.V.Names = names.Draw(t, "tools")
	}
	return v
}

func anyBody(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "body", "\n# A\n\n---\nb\n", "x\n"}).Draw(t, "body")
}

func nonBlank(s string) bool { return strings.TrimSpace(s) == s && s != "" }

// check encodes, decodes and compares; nothing may be lost.
func check(t *rapid.T, d dialect.Dialect, path string, p *profile.Profile) {
	parts, lost := d.Encode(p)
	if len(lost) > 0 {
		t.Fatalf("lost %v", lost)
	}
	data := parts[0].Data
	ps, ds := d.Decode(&dialect.File{Name: path, Path: path, Data: data})
	if profile.Refused(ds) {
		t.Fatalf("refused %v\n%s", ds, data)
	}
	if diff := same(p, ps[0]); diff != "" {
		t.Fatalf("(-want +got):\n%s\n%s", diff, data)
	}
}

func TestRoundTripRoster(t *testing.T) {
	d, _ := dialect.ByName("roster")
	rapid.Check(t, func(t *rapid.T) { check(t, d, "profiles/a.md", anyProfile(t)) })
}

func anyProfile(t *rapid.T) *profile.Profile {
	word := func(words ...string) *rapid.Generator[string] { return rapid.SampledFrom(words) }
	durations := rapid.Map(rapid.Int64Range(1, 1e13), func(n int64) time.Duration { return time.Duration(n) })
	p := &profile.Profile{
		Name: anyName.Draw(t, "name"), Body: anyBody(t), Dialect: "roster",
		Title: maybe(t, "title", anyText), Description: maybe(t, "description", anyText), Summary: maybe(t, "summary", anyText),
		Details: maybe(t, "details", rapid.Custom(func(t *rapid.T) profile.Details {
			return profile.Details{Specialization: anyText.Draw(t, "s"), WhenToUse: anyText.Draw(t, "w"), KeyTools: rapid.SliceOfN(anyText, 0, 3).Draw(t, "k")}
		})),
		Mode: maybe(t, "mode", word("all", "primary", "subagent")), Hidden: maybe(t, "hidden", rapid.Bool()),
		Provider: maybe(t, "provider", anyText.Filter(nonBlank)), Model: maybe(t, "model", anyText.Filter(nonBlank)),
		Temperature: maybe(t, "temperature", rapid.Float64Range(0, 2)), TopP: maybe(t, "top-p", rapid.Float64Range(0, 1)),
		MaxTokens: maybe(t, "max-tokens", rapid.IntRange(1, 1e9)), Thinking: maybe(t, "thinking", word("off", "high")),
		SystemPrompt: maybe(t, "system", anyText), SubagentPrompt: maybe(t, "subagent", anyText),
		Tools: anyTools(t), Permission: anyRules(t),
		DefaultPermission: maybe(t, "default", rapid.SampledFrom([]permission.Effect{permission.Deny, permission.Ask, permission.Allow})),
		PermissionMode:    maybe(t, "permission mode", word("default", "plan", "accept-edits", "dont-ask", "bypass")),
		Limits: profile.Limits{
			Turns: maybe(t, "turns", rapid.IntRange(0, 1e6)), Tokens: maybe(t, "tokens", rapid.Int64Range(0, 1e12)),
			Duration: maybe(t, "duration", durations), Cost: maybe(t, "cost", rapid.SampledFrom([]float64{0, 0.01, 5})),
		},
		Retry: profile.Retry{
			Max: maybe(t, "max", rapid.IntRange(0, 9)), Base: maybe(t, "base", durations),
			Factor: maybe(t, "factor", rapid.Float64Range(1, 100)), Cap: maybe(t, "cap", durations),
		},
		ToolExecution: maybe(t, "execution", rapid.SampledFrom([]profile.ToolExecution{{Strategy: "parallel"}, {Strategy: "batched", Size: 3}})),
		Cache:         maybe(t, "cache", word("auto", "off")), Workspace: maybe(t, "workspace", anyText),
		Extends: maybe(t, "extends", rapid.SampledFrom([][]string{{}, {"base"}, {"team/base", "b.1"}})), SubagentTools: maybe(t, "subagents.tools", rapid.SampledFrom([][]string{{}, {"read", "x"}, {"*"}})), SubagentMaxDepth: maybe(t, "depth", rapid.IntRange(0, 5)),
	}
	if rapid.Bool().Draw(t, "add") {
		p.Tools.V.Add, p.SubagentToolsAdd, p.Details.V.AddKeyTools = p.Tools.Set, p.SubagentTools.Set, p.Details.V.KeyTools != nil
	}
	if rapid.Bool().Draw(t, "settings") {
		p.ToolSettings = []profile.Setting{{Tool: "read", JSON: []byte(`{"limit":3,"line-numbers":false}`)}, {Tool: "bash", JSON: []byte(`{"timeout":"1m30s"}`)}}
	}
	if rapid.Bool().Draw(t, "extra") {
		p.Extra = []profile.Extra{
			{Key: "habits", YAML: []byte("\n  planning: true # yes\n  anti-stall: {threshold: 3}"), Known: true},
			{Key: "+skills", YAML: []byte(" [a, b]"), Known: true},
			{Key: "my_key", YAML: []byte(" |\n  text\n\n  more")},
		}
	}
	return p
}

func TestRoundTripOpencode(t *testing.T) {
	d, _ := dialect.ByName("opencode")
	rapid.Check(t, func(t *rapid.T) {
		a := anyProfile(t)
		p := &profile.Profile{
			Name: a.Name, Body: a.Body, Dialect: "opencode", Mode: a.Mode, Hidden: a.Hidden, Model: a.Model, Temperature: a.Temperature,
			TopP: a.TopP, Tools: a.Tools, ToolSettings: a.ToolSettings,
			Description: profile.Value[string]{V: anyText.Filter(nonBlank).Draw(t, "description"), Set: true},
			Limits:      profile.Limits{Turns: maybe(t, "steps", rapid.IntRange(1, 1e6))},
		}
		seen := map[string]bool{}
		for _, r := range anyRules(t) { // what a map can hold: each tool in one place
			if seen[r.Tool] || r.Tool == "write" || r.Subject == "<<" {
				continue
			}
			seen[r.Tool] = true
			p.Permission = append(p.Permission, r)
			if r.Tool == "edit" {
				p.Permission = append(p.Permission, permission.Rule{Tool: "write", Subject: r.Subject, Effect: r.Effect})
			}
		}
		if len(a.Extra) > 0 {
			p.Extra = []profile.Extra{{Key: "color", YAML: []byte(` "#fff"`), Known: true}}
		}
		check(t, d, ".opencode/agents/a.md", p)
	})
}

func TestRoundTripKnot(t *testing.T) {
	d, _ := dialect.ByName("knot")
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) profile.Value[string] {
			return profile.Value[string]{V: anyText.Filter(nonBlank).Draw(t, label), Set: true}
		}
		p := &profile.Profile{
			Name: anyName.Draw(t, "name"), Body: anyBody(t), Dialect: "knot",
			Provider: text("provider"), Model: text("model"), SystemPrompt: text("system"), Tools: anyTools(t),
		}
		p.Tools.Set = true
		if p.Tools.V.All {
			p.Permission = []permission.Rule{{Tool: "*", Subject: "*", Effect: permission.Allow}}
		}
		for _, n := range p.Tools.V.Names {
			p.Permission = append(p.Permission, permission.Rule{Tool: n, Subject: "*", Effect: permission.Allow})
		}
		check(t, d, "rig/profiles/a.md", p)
	})
}

func TestEncodeSaysWhatIsLost(t *testing.T) {
	set := func(s string) profile.Value[string] { return profile.Value[string]{V: s, Set: true} }
	p := &profile.Profile{
		Name: "real-estate", Dialect: "roster", Title: set("Real Estate"), Description: set("d"), Provider: set("p"), Model: set("m"),
		SystemPrompt: set("s"), Limits: profile.Limits{Turns: profile.Value[int]{V: 3, Set: true}},
		Permission: []permission.Rule{{Tool: "bash", Subject: "*", Effect: permission.Ask}, {Tool: "read", Subject: "*", Effect: permission.Deny}, {Tool: "bash", Subject: "ls", Effect: permission.Allow}},
		Extra:      []profile.Extra{{Key: "habits", YAML: []byte(" {}"), Known: true}},
	}
	tests := []struct{ dialect, want, holds string }{
		{"roster", "", "tool: bash"},
		{"knot", "description habits limits.turns permission", "name: Real Estate"},
		{"opencode", "habits permission", "permission:\n  \"*\": deny\n  task: deny\n"},
	}
	for _, tt := range tests {
		t.Run(tt.dialect, func(t *testing.T) {
			d, _ := dialect.ByName(tt.dialect)
			parts, lost := d.Encode(p)
			data := parts[0].Data
			var keys []string
			for _, l := range lost {
				keys = append(keys, l.Key)
			}
			if got := strings.Join(sorted(keys), " "); got != tt.want {
				t.Errorf("lost %q, want %q", got, tt.want)
			}
			if !strings.Contains(string(data), tt.holds) {
				t.Errorf("%q is not in\n%s", tt.holds, data)
			}
		})
	}
}

func TestRevision(t *testing.T) {
	base, _ := decode(t, "profiles/a.md", native("model: m\ntemperature: 0.5"))
	for name, tt := range map[string]struct {
		text string
		same bool
	}{
		"order and spelling do not count": {"---\ntemperature: 0.50\nmodel:   m\n\ndescription: d\nname: a\n---\nprompt\n", true},
		"a value counts":                  {native("model: m\ntemperature: 0.6"), false},
		"unset is not zero":               {native("model: m"), false},
		"the body counts":                 {native("model: m\ntemperature: 0.5") + "x", false},
		"an unknown key counts":           {native("model: m\ntemperature: 0.5\nx: 1"), false},
	} {
		p, _ := decode(t, "profiles/a.md", tt.text)
		if (p.Revision() == base.Revision()) != tt.same {
			t.Errorf("%s: %s and %s", name, base.Revision(), p.Revision())
		}
	}
	if len(base.Revision()) != 32 {
		t.Errorf("revision %q", base.Revision())
	}
}

func fuzz(f *testing.F, name, path string, seeds ...string) {
	d, ok := dialect.ByName(name)
	if !ok {
		f.Fatal(name)
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &dialect.File{Name: path, Path: path, Data: data}
		ps, ds := d.Decode(in)
		for i := range ds {
			if ds[i].Message == "" || ds[i].Line < 0 || ds[i].Column < 0 || ds[i].Line > 1+strings.Count(string(data), "\n")+1 {
				t.Errorf("bad diagnostic %+v", ds[i])
			}
		}
		if profile.Refused(ds) {
			return
		}
		p := ps[0]
		if err := profile.CheckName(p.Name); err != nil {
			t.Fatal(err)
		}
		parts, lost := dialect.Encode(d, p)
		if len(lost) > 0 {
			return
		}
		out := parts[0].Data
		again, ds := d.Decode(&dialect.File{Name: path, Path: path, Data: out})
		if profile.Refused(ds) {
			t.Fatalf("its own writing is refused: %v\n%s", ds, out)
		}
		if diff := same(p, again[0]); diff != "" {
			t.Errorf("(-want +got):\n%s\n%s", diff, out)
		}
	})
}

func FuzzRoster(f *testing.F) {
	fuzz(f, "roster", "profiles/a.md", native("permission:\n  bash: {\"*\": ask, \"git *\": allow}\nlimits: {turns: 3, duration: 1h}\nhooks:\n  before-tool:\n    - command: x"),
		native("x: &a [1, 2]\ny: *a\ntools: Read, Bash(git push:*)"), native("subagents: {tools: [read], prompt: |-\n  x\n }"),
		native("extends: [base, team/b]\n+tools: [glob, Bash(git *)]\n+skills: [s]\nsubagents: {+tools: [read], planning: {mandatory: true}}\ndetails: {+key-tools: [a]}"),
		native("habits: {anti_stall: {threshold: 3}, planning: true}\nvars: {a: b}\nmcp-servers: {x: {command: y, args: [z]}}\nlimits: {final-answer: on}"))
}

func FuzzKnot(f *testing.F) {
	fuzz(f, "knot", "rig/profiles/a.md", native("provider: p\nmodel: m\ntools:\n- fs\nsystem-prompt: |\n  You are fast."), native("provider: p\nmodel: m\ntools: '*'\nx: [a, {b: c}]"),
		native("provider: p\nmodel: m\nsystem-prompt: s\nextends: base\n+tools: [read]\n+fallbacks: [x]"))
}

func FuzzOpencode(f *testing.F) {
	fuzz(f, "opencode", ".opencode/agent/a.md", native("mode: subagent\ntools: {write: false, 'mcp_*': true}\npermission:\n  edit: deny\n  bash:\n    \"*\": deny\nsteps: 3\noptions: {a: b}"))
}
