// Package resolve makes a spec of a profile: built-in defaults, the workspace's
// defaults, the profile, overrides and flags, in that order, with the place of
// every value, capped by the host's policy. It is the only way to a spec. It
// reads the files that prompts name, and nothing else.
package resolve

import (
	"cmp"
	"fmt"
	"os"
	"runtime"

	"github.com/rosterrun/roster/config"
	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/prompt"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/trust"
)

// Input is all that a spec is made of.
type Input struct {
	Profile *profile.Profile
	// Config gives the workspace, its defaults and the host's policy.
	Config *config.Config
	Models *catalog.Catalog

	// Session, Overrides and Flags are profile keys and their text, as with
	// `--set KEY=VALUE`, from the weakest to the strongest. Keys of maps are
	// dotted: limits.turns. Overrides are a request's: they narrow limits, tools
	// and permissions, and never widen them.
	Session, Overrides, Flags map[string]string
	// Inline is what stands beside the reference to the profile, in a file or in
	// code (Agent.Resolve): below Overrides, and not bounded as they are.
	Inline *profile.Profile
	// Workspace is the directory for this run; empty: the profile's, else the
	// workspace's root.
	Workspace string
	// Worktree is the tree that the session works in, and Shared says that it is
	// that of the agent that delegates; nil: the session has none yet.
	Worktree *spec.Worktree
	Shared   bool
	// Inherit is the delegating agent's model, for `model: inherit` and for a
	// profile that names none.
	Inherit *spec.Model
	// Above is the spec of the agent that delegates to the profile, whose bounds
	// hold for it; nil: none does.
	Above *spec.Spec
	// Skills lists the skills that there are for a model, by name; nil: none. It is
	// asked only where the profile may have some.
	Skills func() []spec.Skill
	// Default says what a model may be chosen from when none is named.
	Default catalog.DefaultOptions
	// Trust says what of the workspace counts. What does not is taken out of the
	// profile, and its allow rules are marked (permission.Rule.Untrusted).
	Trust trust.View
	// LookupEnv reads the variables in subjects of rules; nil: os.LookupEnv.
	LookupEnv func(string) (string, bool)
	// Strategies are prompt strategies by name that are written in Go.
	Strategies map[string]prompt.Strategy
	// AllowAll lets the permission mode bypass have its effect.
	AllowAll bool
	// RulesOnly leaves out all but what decides on permissions: no model is
	// looked up, and no file read.
	RulesOnly bool
	// Lookable resolves also what names no model, to be looked at: a diagnostic says so,
	// and Spec.Model is empty. It cannot be run.
	Lookable bool
	// WithServers, beside RulesOnly, finds the MCP servers too, and where they run.
	WithServers bool
	// Platform is told to the model; empty: this one's.
	Platform string
}

// The codes of diagnostics about what a profile resolves to. They are stable.
const (
	CodeSampling = "S101"
	CodeModel    = "S102"
	CodeAllow    = "S103"
	CodeWidens   = "S104"
	CodeThinking = "S105"
	CodeNoModel  = "S106"
)

// Codes lists every code in order.
func Codes() []profile.Code {
	return []profile.Code{
		{Code: CodeSampling, Severity: profile.SeverityWarning, Meaning: "The model refuses temperature and top-p; they are left out."},
		{Code: CodeWidens, Severity: profile.SeverityWarning, Meaning: "A request would widen the limits, tools or permissions of a profile; that part of it is left out."},
		{Code: CodeAllow, Severity: profile.SeverityWarning, Meaning: "Allow rules of a workspace that nobody has trusted count as ask."},
		{Code: CodeThinking, Severity: profile.SeverityNote, Meaning: "The model does not think as much, or as little, as somebody asks for."},
		{Code: CodeNoModel, Severity: profile.SeverityWarning, Meaning: "No model is named, and none is found, so that the profile cannot be run; the rest of it is shown."},
		{Code: CodeModel, Severity: profile.SeverityNote, Meaning: "The catalog has a remark on the model, such as the day on which it retires."},
	}
}

// resolver holds the layers while a spec is put together. The first error ends
// it.
type resolver struct {
	in     Input
	layers []config.Layer // the weakest first
	own    int            // the first layer of the profile and its parents
	asked  int            // the layer of the request; 0: none
	// written are the layers from own on with what has no effect.
	written     []*profile.Profile
	won         map[string]int // which layer a key is from
	thoughtless thoughtless
	out         *spec.Spec
	ds          []profile.Diagnostic
	err         error
	root        *os.Root
	variant     *catalog.Variant // of the model; nil: none
}

// Spec resolves a profile. The diagnostics are what the user should know and
// does not keep it from running. Errors name the place: a *catalog.ModelError,
// a *prompt.FileError, a *ValueError, or one of the operating system.
func Spec(in Input) (*spec.Spec, []profile.Diagnostic, error) {
	if in.LookupEnv == nil {
		in.LookupEnv = os.LookupEnv
	}
	in.Platform = cmp.Or(in.Platform, runtime.GOOS+"/"+runtime.GOARCH)
	r := &resolver{in: in, won: make(map[string]int, 48), out: &spec.Spec{Trusted: in.Trust.Workspace(), Origins: make(map[string]spec.Trace, 48)}}
	if err := r.stack(); err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(in.Config.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("workspace: %w", err)
	}
	defer root.Close()
	r.root = root
	steps := []func(){r.identity, r.ids, r.workspace, r.model, r.fallbacks, r.habits, r.params, r.prompt, r.tools, r.services, r.rules, r.subagents, r.skills, r.limits, r.running, r.context, r.sandbox, r.hooks, r.servers}
	if in.RulesOnly {
		steps = []func(){r.identity, r.workspace, r.tools, r.services, r.rules, r.subagents}
	}
	if in.RulesOnly && in.WithServers {
		steps = append(steps, r.sandbox, r.servers)
	}
	for _, step := range steps {
		if step(); r.err != nil {
			return nil, nil, r.err
		}
	}
	return r.out, r.ds, nil
}

// stack puts the layers in order.
func (r *resolver) stack() error {
	r.layers = append([]config.Layer{{Name: source.Builtin, Keys: builtin}}, r.in.Config.Defaults...)
	r.own = len(r.layers)
	for _, p := range r.in.Profile.Layers() {
		name := source.Extends
		if p == r.in.Profile {
			name = source.Profile
		}
		r.push(name, p)
	}
	if err := r.pushKeys(source.Session, r.in.Session); err != nil {
		return err
	}
	if r.in.Inline != nil {
		r.push(source.Override, r.in.Inline)
	}
	if err := r.pushKeys(source.Override, r.in.Overrides); err != nil {
		return err
	}
	return r.pushKeys(source.Flag, r.in.Flags)
}

// push puts a layer on top, without what of it has no effect.
func (r *resolver) push(name source.Layer, p *profile.Profile) {
	keys, inert := r.in.Trust.Strip(p)
	for _, e := range inert {
		r.ds = append(r.ds, e.Diagnostic())
	}
	r.layers = append(r.layers, config.Layer{Name: name, Keys: keys})
	r.written = append(r.written, p)
}

// pushKeys puts keys on top, if there are any. Those of a request narrow what is
// below them.
func (r *resolver) pushKeys(name source.Layer, set map[string]string) error {
	if len(set) == 0 {
		return nil
	}
	keys, err := Keys(name, set)
	if err != nil {
		return err
	}
	if name == source.Override {
		r.narrow(keys)
		r.asked = len(r.layers)
	}
	r.layers = append(r.layers, config.Layer{Name: name, Keys: keys})
	r.written = append(r.written, keys)
	return nil
}

// pick takes a key from the strongest layer that sets it, and records who set
// it and whom that overrode.
func pick[T any](r *resolver, key string, get func(*profile.Profile) profile.Value[T]) profile.Value[T] {
	v := profile.Value[T]{At: source.Origin{Layer: source.Builtin}}
	trace := spec.Trace{Origin: v.At}
	for i, l := range r.layers {
		next := get(l.Keys)
		if !next.Set {
			continue
		}
		r.won[key] = i
		next.At.Layer = l.Name
		if v.Set {
			trace.Overrode = append(trace.Overrode, trace.Origin)
		}
		v, trace.Origin = next, next.At
	}
	r.out.Origins[key] = trace
	return v
}

func (r *resolver) set(key string, at source.Origin) {
	r.out.Origins[key] = spec.Trace{Origin: at}
}

func (r *resolver) identity() {
	p := r.in.Profile
	r.out.Name, r.out.Revision = p.Name, p.Revision()
	r.out.Code, r.out.Coded = p.Code, p.Code != nil
	at := p.NameAt
	at.Layer = source.Profile
	r.set("name", at)
	r.set("revision", source.Origin{Layer: source.Profile, File: p.File})
	r.out.Title = pick(r, "title", func(p *profile.Profile) profile.Value[string] { return p.Title }).V
	r.out.Description = pick(r, "description", func(p *profile.Profile) profile.Value[string] { return p.Description }).V
	r.out.Mode = pick(r, "mode", func(p *profile.Profile) profile.Value[string] { return p.Mode }).V
}

// ValueError says that a value of a key cannot be used, where it is written and
// what to do.
type ValueError struct {
	Key     string
	At      source.Origin
	Message string
	Hint    string
}

func (e *ValueError) Error() string {
	s := fmt.Sprintf("%s: %s: %s", e.At, e.Key, e.Message)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap gives the name under which a value fails that does not fit.
func (e *ValueError) Unwrap() error { return profile.SchemaValidation }

func (r *resolver) fail(key string, at source.Origin, message, hint string) {
	r.err = &ValueError{Key: key, At: at, Message: message, Hint: hint}
}

func (r *resolver) note(code string, severity profile.Severity, at source.Origin, key, message, hint string) {
	r.ds = append(r.ds, profile.Diagnostic{Severity: severity, Code: code, File: at.File, Line: at.Line, Column: at.Column,
		Key: key, Message: message, Hint: hint})
}
