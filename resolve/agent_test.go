package resolve

import (
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// inPlace reads the keys of an agent-config.
func inPlace(t *testing.T, file, text string) *profile.Profile {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Load([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	p, ds := dialect.Keys(file, doc.Content[0])
	if profile.Refused(ds) {
		t.Fatal(ds)
	}
	return p
}

const fast = "---\nname: fast\nprovider: openai\nmodel: gpt-5\ntools: [read, grep]\nsystem-prompt: You are fast.\nlimits: {turns: 4}\n---\n"

// TestAgent names agents in all the ways that a file and code can.
func TestAgent(t *testing.T) {
	const knot = "rig/looms/x/knot.md"
	for _, c := range []struct {
		name, ref, config, goal string
		code                    bool
		fails                   profile.ErrorName
		model, prompt           string
		turns                   int
	}{
		{name: "a profile", ref: "fast", model: "openai/gpt-5", prompt: "You are fast.", turns: 4},
		{name: "a configuration", config: "{provider: anthropic, model: claude-sonnet-4-6, system-prompt: Be slow.}", model: "anthropic/claude-sonnet-4-6", prompt: "Be slow.", turns: DefaultTurns},
		{name: "a profile and another model", ref: "fast", config: "{model: claude-sonnet}", model: "openai/claude-sonnet", prompt: "You are fast.", turns: 4},
		{name: "another model of another provider", ref: "fast", config: "{model: anthropic/claude-sonnet-4-6}", model: "anthropic/claude-sonnet-4-6", prompt: "You are fast.", turns: 4},
		{name: "single keys of a map", ref: "fast", config: "{limits: {tokens: 9}, temperature: 0.1}", model: "openai/gpt-5", prompt: "You are fast.", turns: 4},
		{name: "a wider limit", ref: "fast", config: "{limits: {turns: 9}}", model: "openai/gpt-5", prompt: "You are fast.", turns: 9},
		{name: "both: provider and model", ref: "fast", config: "{provider: openai, model: gpt-5}", fails: BothProfileAndConfig},
		{name: "both: a prompt", ref: "fast", config: "{system-prompt: Be slow.}", fails: BothProfileAndConfig},
		{name: "both: a goal", ref: "fast", config: "{temperature: 0.1}", goal: "Review.", fails: BothProfileAndConfig},
		{name: "neither", fails: MissingAgentConfigOrProfileRef},
		{name: "no such profile", ref: "fats", fails: profile.ProfileNotFound},
		{name: "in code both are a base and what is over it", code: true, ref: "fast", config: "{provider: anthropic, model: claude-sonnet-4-6, system-prompt: Be slow.}", model: "anthropic/claude-sonnet-4-6", prompt: "Be slow.", turns: 4},
		{name: "in code neither", code: true, fails: AgentExecutionFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := newWorld(t, map[string]string{"roster.yaml": "providers: {openai: {models: {claude-sonnet: {}}}}\n"}).input(t, "rig/profiles/fast.md", fast)
			in.Trust = trust.View{}
			a := Agent{Ref: c.ref, Goal: c.goal}
			file := ""
			if !c.code {
				file, a.At = knot, source.Origin{File: knot, Line: 3}
			}
			if c.config != "" {
				a.Config = inPlace(t, file, c.config)
			}
			base, inline, err := a.Resolve(func(name string) (*profile.Profile, error) {
				if name != "fast" {
					return nil, profile.ProfileNotFound
				}
				return in.Profile, nil
			})
			if c.fails != "" {
				if !errors.Is(err, c.fails) {
					t.Fatalf("error %v, want %s", err, c.fails)
				}
				if c.fails != profile.ProfileNotFound && !c.code && !strings.HasPrefix(err.Error(), knot+":3: ") {
					t.Errorf("the error does not say where: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			in.Profile, in.Inline = base, inline
			s, _, err := Spec(in)
			if err != nil {
				t.Fatal(err)
			}
			if s.Model.String() != c.model || layer(s, "profile") != c.prompt || s.Limits.Turns != c.turns {
				t.Errorf("model %s, prompt %q, turns %d", s.Model, layer(s, "profile"), s.Limits.Turns)
			}
		})
	}
}

// TestInlineLayer: what stands beside the reference is above the session and below a
// request; each value says so.
func TestInlineLayer(t *testing.T) {
	in := newWorld(t, nil).input(t, "rig/profiles/fast.md", fast)
	in.Inline = inPlace(t, "knot.md", "{temperature: 0.3, top-p: 0.3, max-tokens: 3}")
	in.Session = map[string]string{"temperature": "0.2", "top-p": "0.2", "max-tokens": "2"}
	in.Overrides = map[string]string{"top-p": "0.4", "max-tokens": "4"}
	in.Flags = map[string]string{"max-tokens": "5"}
	s, _, err := Spec(in)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"temperature": "knot.md:1:2", "top-p": "override", "max-tokens": "flag"} {
		if got := s.Origins[key].Origin.String(); got != want {
			t.Errorf("%s is from %s, want %s", key, got, want)
		}
	}
	if s.Origins["temperature"].Overrode[0].Layer != source.Session {
		t.Errorf("temperature overrode %+v", s.Origins["temperature"].Overrode)
	}
}

// TestOverriddenModelKeepsItsProvider: an id that the profile's provider does not
// have is an error that says where else it could be; it never falls back.
func TestOverriddenModelKeepsItsProvider(t *testing.T) {
	for _, c := range []struct {
		model, says string
		kind        error
	}{
		{"claude-sonnet-4-6", "write provider: anthropic for its model claude-sonnet-4-6", catalog.ErrUnknownModel},
		{"gpt-55", "did you mean gpt-5", catalog.ErrUnknownModel},
		{"antropic/claude-sonnet-4-6", "the whole text is its model id", catalog.ErrUnknownModel},
		{"two words", "agent override", catalog.ErrMalformed},
		{" ", "agent override", catalog.ErrMalformed},
	} {
		in := newWorld(t, map[string]string{"roster.yaml": "defaults: {model: builtin/demo}\n"}).input(t, "rig/profiles/fast.md", fast)
		in.Inline = inPlace(t, "knot.md", "{temperature: 0.1}")
		in.Inline.Model = profile.Value[string]{V: c.model, Set: true, At: source.Origin{File: "knot.md", Line: 4}}
		_, _, err := Spec(in)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "knot.md:4: ") {
			t.Errorf("%q: %v, want %q", c.model, err, c.says)
		}
	}
}
