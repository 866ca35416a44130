package roster

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/tool/contract"
)

// Definition is a profile in code: who an agent is, and how it is put together. It
// knows nothing of routes, of stores or of how a server starts. ID, Name, and one of
// Agent and Create are needed.
type Definition struct {
	// ID is the name in the catalog, by which clients (agentId) and other agents ask
	// for it: letters, digits, '.', '_' and '-', in segments joined by '/'.
	ID string
	// Name is the name for people.
	Name string
	// Description says what it is for, to people and to agents that delegate. The
	// first sentence is its summary.
	Description string

	// Agent says once for all how the agent is built: it is compiled once, and not for
	// each request. Only its Prompt, if it has one, is asked each time.
	Agent Static
	// Create builds the agent for each request, with DefineAgent. It is asked when a
	// prompt is accepted, and again when its loop begins later than that, as after
	// other prompts, so that it should have no effects.
	Create func(ctx context.Context, c ProfileContext) (*Agent, error)

	// Capabilities are what it can do: those built in, of the packages below
	// capability, and the program's own. nil: what Options.Tools says, as for a file
	// without tools; empty: nothing.
	Capabilities []Capability
	// ContextWindow bounds what a request may have, in tokens, below the model's own
	// window; 0: that. A model that nobody has described has 200,000.
	ContextWindow int
	// ModelConfig is what Agent, or what Create gives, leaves open of the model.
	ModelConfig ModelConfig
	// ContextProviders add to each request, by name; they are asked in the order of
	// their names. At most 16 of them.
	ContextProviders map[string]ContextProvider
	// Transform may change each request as a whole: after those of the capabilities,
	// and before those of Options. nil: none.
	Transform Transform
	// Keys are further keys of a profile, as a file has them, and their values as
	// text: "permission": "{bash: {'git *': allow}}", "limits.cost": "0.5". They win
	// over what capabilities say. Keys that have a field here are refused.
	Keys map[string]string
}

// Static is an agent that is the same for every request, but for its prompt.
type Static struct {
	// Model is provider:model-id or provider/model-id, or an alias; empty: that of
	// ModelConfig, else the default.
	Model string
	// System is the system prompt, and Prompt makes it for each request; at most one
	// of them. Either may name the variables that the text of a file may.
	System string
	Prompt PromptFunc
	// MaxTurns bounds the model calls of one loop; 0: the default, 50.
	MaxTurns int
}

func (s Static) set() bool {
	return s.Model != "" || s.System != "" || s.Prompt != nil || s.MaxTurns != 0
}

// PromptFunc makes the system prompt of a request. ctx ends with the request, and
// after 30 seconds. It is called from several goroutines; as Create, it may be asked
// more than once for a prompt. Its error, or panic, is a *BuildError: nothing is run.
type PromptFunc = func(ctx context.Context, c ProfileContext) (string, error)

// ModelConfig is a part of what is to be known of the model. What is not set is
// left to the provider, or to the defaults.
type ModelConfig struct {
	Provider, ModelID string
	Temperature, TopP *float64 // 0 to 2, and 0 to 1
	MaxTokens         int      // of one answer; 0: the model's own bound
	Thinking          string   // off, minimal, low, medium or high
}

// Profile is a profile that a program has: DefineProfile makes one, and
// CatalogResolver gives those of files. It is immutable and safe for concurrent use;
// one value serves any number of apps, tenants and requests. A resolver that gives
// the same value each time has it compiled once.
type Profile struct {
	def  Definition
	base *profile.Profile // as it stands in a catalog
	err  error            // a *DefinitionError
}

// DefineProfile makes a profile of a definition, which it copies. What is wrong with
// it is the error of NewApp or, where a ProfileResolver gives it, of the request: a
// *DefinitionError.
func DefineProfile(d Definition) *Profile {
	d.Capabilities = slices.Clone(d.Capabilities)
	d.ContextProviders, d.Keys = maps.Clone(d.ContextProviders), maps.Clone(d.Keys)
	p := &Profile{def: d}
	if p.err = d.check(); p.err == nil {
		p.base, p.err = d.profile(p)
	}
	return p
}

// ID is the name in the catalog.
func (p *Profile) ID() string {
	if p.base != nil {
		return p.base.Name
	}
	return p.def.ID
}

// Name is the name for people.
func (p *Profile) Name() string {
	if p.base != nil && p.base.Title.Set {
		return p.base.Title.V
	}
	return p.def.Name
}

// DefinitionError says what is wrong with a profile that a program defines. It is
// profile.SchemaValidation for errors.Is.
type DefinitionError struct {
	Profile string // its ID; may be empty
	Field   string // of Definition
	Reason  string
	Err     error // what else there is to know; may be nil
}

func (e *DefinitionError) Error() string {
	s := fmt.Sprintf("roster: profile %q is not defined: %s %s", e.Profile, e.Field, e.Reason)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap gives the error's name, and its cause.
func (e *DefinitionError) Unwrap() []error {
	if e.Err == nil {
		return []error{profile.SchemaValidation}
	}
	return []error{profile.SchemaValidation, e.Err}
}

// check says what is missing, or said twice.
func (d *Definition) check() error {
	bad := func(field, reason string) error { return &DefinitionError{Profile: d.ID, Field: field, Reason: reason} }
	switch {
	case d.ID == "":
		return bad("ID", "is missing: give the name by which clients ask for it")
	case strings.TrimSpace(d.Name) == "":
		return bad("Name", "is missing: give the name for people")
	case !d.Agent.set() && d.Create == nil:
		return bad("Agent", "is missing: say how the agent is built, in Agent or with Create")
	case d.Agent.set() && d.Create != nil:
		return bad("Create", "is set beside Agent: only one of them can say how the agent is built")
	case d.Agent.System != "" && d.Agent.Prompt != nil:
		return bad("Agent.Prompt", "is set beside Agent.System: only one of them can be the prompt")
	case d.Agent.MaxTurns < 0:
		return bad("Agent.MaxTurns", "is below zero; 0 is the default")
	case d.ContextWindow < 0:
		return bad("ContextWindow", "is below zero; 0 is the model's own")
	case d.ModelConfig.MaxTokens < 0:
		return bad("ModelConfig.MaxTokens", "is below zero; 0 is the model's own")
	case len(d.Agent.System) > maxPrompt:
		return bad("Agent.System", tooLong(len(d.Agent.System)))
	}
	if err := profile.CheckName(d.ID); err != nil {
		return &DefinitionError{Profile: d.ID, Field: "ID", Reason: "is no name", Err: err}
	}
	for name, p := range d.ContextProviders {
		if p == nil || !nameFits(name) {
			return bad("ContextProviders", fmt.Sprintf("has %q, which is nil or no name: letters, digits, _ and -, at most 64", name))
		}
	}
	if err := checkDefined(d.Capabilities); err != nil {
		return &DefinitionError{Profile: d.ID, Field: "Capabilities", Reason: "cannot be used", Err: err}
	}
	return nil
}

// maxPrompt is how long a prompt may be, in bytes: as long as a file.
const maxPrompt = profile.MaxFile

func tooLong(n int) string {
	return fmt.Sprintf("has %d bytes, more than %d: leave the bulk of it to tools and context providers", n, maxPrompt)
}

// checkDefined is checkCapabilities for those of a definition, which may stand for
// what is built in.
func checkDefined(all []Capability) error {
	var own []Capability
	for _, c := range all {
		if len(c.Builtin) == 0 {
			own = append(own, c)
			continue
		}
		if len(c.Tools) > 0 || c.Context != nil || c.Transform != nil || c.Open != nil || c.Fragment != "" {
			return fmt.Errorf("capability %q stands for what is built in, and has no tools or anything else of its own", c.Name)
		}
		for _, name := range c.Builtin {
			if contract.Find(name) == nil && len(contract.In(contract.Group(name))) == 0 {
				return fmt.Errorf("capability %q: no built-in tool or group is called %q", c.Name, name)
			}
		}
	}
	return checkCapabilities(own)
}

// profile makes what stands in a catalog. The keys are read as those of a file are.
func (d *Definition) profile(own *Profile) (*profile.Profile, error) {
	keys, err := d.keys()
	if err != nil {
		return nil, err
	}
	p, err := resolve.Keys(source.Profile, keys)
	if err != nil {
		return nil, &DefinitionError{Profile: d.ID, Field: "Keys", Reason: "do not fit", Err: err}
	}
	p.Name, p.File, p.Dialect, p.Body = d.ID, catalog.Memory, "code", strings.ToValidUTF8(d.Agent.System, "\uFFFD")
	if d.Capabilities != nil {
		p.Tools.Set, p.Tools.V.Names = true, []string{}
		for _, c := range d.Capabilities {
			p.Tools.V.Names = append(p.Tools.V.Names, listedNames(c)...)
		}
	}
	for i := range p.Permission { // there is no line to name
		p.Permission[i].At = source.Origin{File: catalog.Memory}
	}
	p.Code = &profile.Coded{Own: own, PerRequest: d.Agent.Prompt != nil || d.Create != nil}
	p.Seal()
	return p, nil
}

// listedNames are the names under which a profile lists a capability.
func listedNames(c Capability) (names []string) {
	if len(c.Builtin) == 0 {
		return []string{c.Name}
	}
	for _, name := range c.Builtin {
		if tools := contract.In(contract.Group(name)); len(tools) > 0 {
			names = append(names, tools...)
		} else {
			names = append(names, name)
		}
	}
	return names
}

// keys gathers the keys of a profile: what the capabilities say, over it
// Definition.Keys, and what the fields say.
func (d *Definition) keys() (map[string]string, error) {
	keys := map[string]string{}
	for _, c := range d.Capabilities {
		for key, text := range c.Keys {
			if _, twice := keys[key]; twice {
				return nil, &DefinitionError{Profile: d.ID, Field: "Capabilities", Reason: "say " + key + " twice, once in " + c.Name}
			}
			keys[key] = text
		}
	}
	for key, text := range d.Keys {
		if field, ok := fieldOf[strings.ReplaceAll(key, "_", "-")]; ok {
			return nil, &DefinitionError{Profile: d.ID, Field: "Keys", Reason: fmt.Sprintf("has %s: say it in %s", key, field)}
		}
		keys[key] = text
	}
	set := func(key, text string, yes bool) {
		if yes {
			keys[key] = text
		}
	}
	m := d.ModelConfig
	keys["title"] = d.Name
	set("description", d.Description, d.Description != "")
	if d.Agent.Model != "" {
		keys["model"] = d.Agent.Model
	} else {
		set("provider", m.Provider, m.Provider != "")
		set("model", m.ModelID, m.ModelID != "")
	}
	if m.Temperature != nil {
		keys["temperature"] = number(*m.Temperature)
	}
	if m.TopP != nil {
		keys["top-p"] = number(*m.TopP)
	}
	set("max-tokens", strconv.Itoa(m.MaxTokens), m.MaxTokens > 0)
	set("thinking", m.Thinking, m.Thinking != "")
	set("limits.turns", strconv.Itoa(d.Agent.MaxTurns), d.Agent.MaxTurns > 0)
	set("context.window", strconv.Itoa(d.ContextWindow), d.ContextWindow > 0)
	names := slices.Sorted(maps.Keys(d.ContextProviders))
	set("context.providers", "["+strings.Join(names, ", ")+"]", len(names) > 0)
	return keys, nil
}

// fieldOf says which field of a Definition has a key.
var fieldOf = map[string]string{
	"name": "ID", "title": "Name", "description": "Description",
	"model": "Agent.Model, ModelConfig or AgentDef.Model", "provider": "ModelConfig.Provider or AgentDef.Model",
	"temperature": "ModelConfig.Temperature", "top-p": "ModelConfig.TopP",
	"max-tokens": "ModelConfig.MaxTokens", "thinking": "ModelConfig.Thinking",
	"system-prompt": "Agent.System or Agent.Prompt", "prompt": "Agent.System or Agent.Prompt",
	"tools": "Capabilities", "max-turns": "Agent.MaxTurns or AgentDef.MaxTurns", "limits.turns": "Agent.MaxTurns or AgentDef.MaxTurns",
	"context.window": "ContextWindow", "context.providers": "ContextProviders",
	"extends": "Go: profiles in code share code",
}
