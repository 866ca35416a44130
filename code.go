package roster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// Bounds of what a program is asked for profiles.
const (
	// buildTime is how long a resolver, a PromptFunc or a Create may take.
	buildTime = 30 * time.Second
	// keptBuilt is how much is kept of what was built for requests, apart from the rest:
	// it may never come again.
	keptBuilt = 64
	// keptPrompt is how long the prompt of one may be, in bytes, to be kept.
	keptPrompt = 64 << 10
)

// BuildError says that a program's own function failed that was asked for a profile,
// or for its agent. The request is refused, and nothing is run.
type BuildError struct {
	Profile string
	Asked   string // resolver or agent
	Err     error
}

func (e *BuildError) Error() string {
	if e.Asked == askedResolver {
		return fmt.Sprintf("profile %s: the resolver failed: %v", e.Profile, e.Err)
	}
	return fmt.Sprintf("profile %s: its agent could not be built: %v", e.Profile, e.Err)
}

func (e *BuildError) Unwrap() error { return e.Err }

const (
	askedResolver = "resolver"
	askedAgent    = "agent"
)

// ownOf is the profile of the program; nil: a file's.
func ownOf(c *profile.Coded) *Profile {
	if c == nil {
		return nil
	}
	own, _ := c.Own.(*Profile)
	return own
}

func isBuilt(c *profile.Coded) bool { return c != nil && c.Built }

// basisOf is the profile that stands for others of it, which go by another name.
func basisOf(p *profile.Profile) *profile.Profile {
	if own := ownOf(p.Code); own != nil {
		return own.base
	}
	return p
}

// built keeps what was compiled of profiles that were built for requests.
type built struct {
	compiled   *compiled
	blueprints *blueprints
}

func newBuilt() built { return built{&compiled{most: keptBuilt}, &blueprints{most: keptBuilt}} }

// worthKeeping says whether what is compiled of a spec may come again, or is at least
// small.
func worthKeeping(s *spec.Spec) bool {
	size := 0
	for _, l := range s.Prompt {
		size += len(l.Text)
	}
	return !isBuilt(s.Code) || size <= keptPrompt
}

// tenant is whose request it is.
func (r request) tenant() string {
	if r.key.Tenant == "" {
		return LocalTenant
	}
	return r.key.Tenant
}

// named finds a profile of the catalog, or the one in place of a knot.
func (a *App) named(ctx context.Context, all *catalog.Snapshot, name string) (*profile.Profile, error) {
	p, err := all.Get(name)
	if !errors.Is(err, profile.ProfileNotFound) {
		return p, err
	}
	inline, failed := a.knotProfile(ctx, name)
	if inline == nil && failed == nil {
		return nil, err
	}
	return inline, failed
}

// profileHere is profileOf for who looks at a profile.
func (a *App) profileHere(ctx context.Context, from *setup, name string) (*profile.Profile, error) {
	tenant := identity.From(ctx).Tenant
	if a.host != nil {
		tenant = a.tenant.Name
	}
	return a.profileOf(ctx, from.catalog.Snapshot(), tenant, name)
}

// profileOf finds the profile of a name for a tenant: what the program's resolver
// gives, else what the catalog has, in which those of a StaticResolver stand.
func (a *App) profileOf(ctx context.Context, all *catalog.Snapshot, tenant, name string) (*profile.Profile, error) {
	r := a.opts.ResolveProfile
	if _, ok := r.(*static); r == nil || ok || profile.CheckName(name) != nil {
		return a.named(ctx, all, name)
	}
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	var p *Profile
	err := guarded(func() (err error) {
		p, err = r.ResolveProfile(ctx, ProfileRequest{name, tenant})
		return err
	})
	switch {
	case errors.Is(err, profile.ProfileNotFound):
		return nil, err
	case err != nil:
		return nil, &BuildError{name, askedResolver, err}
	case p == nil:
		return a.named(ctx, all, name)
	case p.err != nil:
		return nil, p.err
	}
	return p.as(name, a.opts.Capabilities)
}

// as is the profile by the name that it was asked for, in a program that has these
// capabilities besides.
func (p *Profile) as(name string, beside []Capability) (*profile.Profile, error) {
	if err := p.apart(beside); err != nil {
		return nil, err
	}
	if p.base.Name == name {
		return p.base, nil
	}
	c := *p.base
	c.Name = name
	c.Seal()
	return &c, nil
}

// apart refuses capabilities that have the names of others.
func (p *Profile) apart(beside []Capability) error {
	if len(beside) == 0 || len(p.def.Capabilities) == 0 {
		return nil
	}
	taken := namesOf(beside)
	for _, c := range beside {
		taken = append(taken, c.Name)
	}
	for _, name := range append(namesOf(p.def.Capabilities), ownNames(p.def.Capabilities)...) {
		if slices.Contains(taken, name) {
			return &DefinitionError{Profile: p.def.ID, Field: "Capabilities", Reason: fmt.Sprintf("has %q, which is one of Options.Capabilities too: choose another name", name)}
		}
	}
	return nil
}

// ownNames are the names of capabilities that are not built in.
func ownNames(all []Capability) (names []string) {
	for _, c := range all {
		if len(c.Builtin) == 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

// guarded turns a panic of the program's function into an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("it panicked: %v", p)
		}
	}()
	return f()
}

// built has the program build the agent of a request, if that is how the profile is
// defined. observe is told of what works for it; nil: nobody is.
func (a *App) built(ctx context.Context, from *setup, p *profile.Profile, c compiling) (_ *profile.Profile, observe func(session.Event), err error) {
	if p.Code == nil || !p.Code.PerRequest || c.of.looking() {
		return p, nil, nil
	}
	permit, err := a.policyOf(from, p, c)
	if err != nil {
		return nil, nil, err
	}
	own, into := ownOf(p.Code), *p
	into.Code = &profile.Coded{Own: own, Built: true}
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	err = guarded(func() (err error) {
		observe, err = own.built(ctx, a.context(p.Name, c.of, permit), &into)
		return err
	})
	if err != nil {
		return nil, nil, &BuildError{p.Name, askedAgent, err}
	}
	into.Seal()
	return &into, observe, nil
}

// policyOf is what the agent of a request may do.
func (a *App) policyOf(from *setup, p *profile.Profile, c compiling) (*permission.Engine, error) {
	in := a.input(from, p, c.over)
	in.RulesOnly = true
	in.Worktree, in.Shared = c.in()
	if c.above != nil {
		in.Above, in.Inherit = c.above.Spec, &c.above.Spec.Model
	}
	s, _, err := a.resolveInput(from, in)
	if err != nil {
		return nil, err
	}
	return s.Permit(c.headless)
}

// recall gives a spec that stands in a log what only the program has of its profile.
// The program may have changed since: what it has now is used, and a program without
// the profile refuses to go on.
func (a *App) recall(ctx context.Context, tenant string, s *spec.Spec) error {
	if !s.Coded {
		return nil
	}
	p, err := a.profileOf(ctx, a.now().catalog.Snapshot(), tenant, s.Name)
	if err != nil && !errors.Is(err, profile.ProfileNotFound) {
		return err
	}
	if err != nil || p.Code == nil {
		return fmt.Errorf("the profile %s is defined in the code of a program, and this one does not have it: run the session where it is defined: %w", s.Name, profile.ProfileNotFound)
	}
	s.Code = &profile.Coded{Own: p.Code.Own, Built: p.Code.PerRequest}
	return nil
}

// added are the program's own capabilities for a spec.
func (a *App) added(s *spec.Spec) []Capability {
	own := ownOf(s.Code)
	if own == nil {
		return a.opts.Capabilities
	}
	all := slices.Clone(a.opts.Capabilities)
	for _, c := range own.def.Capabilities {
		if len(c.Builtin) == 0 {
			all = append(all, c)
		}
	}
	return all
}

// contextProvider finds one by its name: the profile's own, else the program's.
func (a *App) contextProvider(s *spec.Spec, name string) ContextProvider {
	if own := ownOf(s.Code); own != nil && own.def.ContextProviders[name] != nil {
		return own.def.ContextProviders[name]
	}
	return a.opts.ContextProviders[name]
}

// transforms are those of a spec's profile, and then the program's.
func (a *App) transforms(s *spec.Spec) []Transform {
	if own := ownOf(s.Code); own != nil && own.def.Transform != nil {
		return append([]Transform{own.def.Transform}, a.opts.Transforms...)
	}
	return a.opts.Transforms
}

// notShown notes that what is looked at is not all that a request has.
func notShown(s *spec.Spec) []profile.Diagnostic {
	if s.Code == nil || !s.Code.PerRequest {
		return nil
	}
	return []profile.Diagnostic{profile.Diagnose(profile.CodePerRequest, source.Origin{Layer: source.Profile, File: catalog.Memory}, "system-prompt",
		fmt.Sprintf("the program builds the agent of %s for each request: its prompt, and maybe its model and its turns, are not shown", s.Name), "")}
}
