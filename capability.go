package roster

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/contract"
)

// Capability is something that agents can do, which Options.Capabilities adds to what
// is built in: tools, what a model is told of them in common, and what they start. A
// profile lists it under tools by its name, or its tools by theirs. Rules are about the
// tools, which are asked for unless one allows them.
type Capability = engine.Capability

// Scope says for which run a Capability is opened.
type Scope = engine.Scope

// capabilities are what there is for a spec: the built-in tools by their groups, and
// what the program adds; and the operations of its services. The diagnostics say what
// of those is not offered, and why.
func (a *App) capabilities(s *spec.Spec) ([]engine.Capability, []profile.Diagnostic, error) {
	a.knowVariables(s)
	tools, err := a.tools(s)
	if err != nil {
		return nil, nil, err
	}
	var all []engine.Capability
	for _, t := range tools {
		c := builtinCapability(t.Def().Name)
		i := slices.IndexFunc(all, func(x engine.Capability) bool { return x.Name == c.Name })
		if i < 0 {
			i, all = len(all), append(all, c)
		}
		all[i].Tools = append(all[i].Tools, t)
	}
	more, err := a.browserOf(s)
	if err != nil {
		return nil, nil, err
	}
	texts, err := a.knowledgeOf(s, tools)
	if err != nil {
		return nil, nil, err
	}
	return a.withServiceTools(s, append(append(append(all, more...), texts...), a.added(s)...))
}

// builtinCapability is that of a tool, without its tools: a group, or the tool alone.
func builtinCapability(name string) engine.Capability {
	t := contract.Find(name)
	if t.Group != "" {
		return engine.Capability{Name: string(t.Group), Summary: t.Group.Summary()}
	}
	return engine.Capability{Name: name, Summary: t.Summary}
}

// allCapabilities adds what a spec's servers have. They are shown as they are known;
// to be used, they come from serve.
func (a *App) allCapabilities(s *spec.Spec) ([]engine.Capability, []profile.Diagnostic, error) {
	all, ds, err := a.capabilities(s)
	if err == nil && len(s.Servers) > 0 {
		all = a.shown(s).beside(all)
	}
	return all, ds, err
}

// taken are the names that tools of servers cannot have.
func (a *App) taken(s *spec.Spec) []string {
	names := append(append(contract.Names(), resourceTools()...), namesOf(a.added(s))...)
	for _, g := range contract.Groups() {
		names = append(names, string(g))
	}
	return names
}

// Capabilities lists what agents can do at most: what is built in, and what the
// program adds.
func (a *App) Capabilities() []view.Capability {
	var all []view.Capability
	for i := range contract.All() {
		t := &contract.All()[i]
		if t.Later {
			continue
		}
		c := builtinCapability(t.Name)
		at := slices.IndexFunc(all, func(x view.Capability) bool { return x.Name == c.Name })
		if at < 0 {
			at, all = len(all), append(all, view.Capability{Name: c.Name, Summary: c.Summary})
		}
		all[at].Tools = append(all[at].Tools, view.CapableOf{Name: t.Name, Summary: t.Summary, Effect: byDefault(t.Name), Named: t.Named})
	}
	for _, c := range a.opts.Capabilities {
		v := view.Capability{Name: c.Name, Summary: c.Summary}
		for _, t := range c.Tools {
			v.Tools = append(v.Tools, view.CapableOf{Name: t.Def().Name, Summary: firstSentence(t.Def().Description), Effect: byDefault(t.Def().Name)})
		}
		all = append(all, v)
	}
	return all
}

// byDefault is what holds for a tool without a rule of anybody's.
func byDefault(tool string) permission.Effect {
	effect := permission.Ask
	for _, r := range permission.Builtin() {
		if r.Tool == tool && r.Subject == "*" {
			effect = r.Effect
		}
	}
	return effect
}

// checkCapabilities refuses capabilities that could not be used: at once, and not in
// the run that first would.
func checkCapabilities(all []engine.Capability) error {
	var errs []error
	names := contract.Names()
	for _, g := range contract.Groups() {
		names = append(names, string(g))
	}
	taken := func(name string) error {
		if !nameFits(name) {
			return fmt.Errorf("the name %q: letters, digits, _ and -, at most 64", name)
		}
		if slices.Contains(names, name) {
			return fmt.Errorf("the name %q is taken: choose another", name)
		}
		names = append(names, name)
		return nil
	}
	for _, c := range all {
		problems := []error{taken(c.Name)}
		if len(c.Tools) == 0 {
			problems = append(problems, errors.New("it has no tools"))
		}
		for _, t := range c.Tools {
			problems = append(problems, checkTool(c.Name, t, taken))
		}
		if err := errors.Join(problems...); err != nil {
			errs = append(errs, fmt.Errorf("roster: capability %q: %w", c.Name, err))
		}
	}
	return errors.Join(errs...)
}

// nameFits says whether every provider takes the name for a tool.
func nameFits(name string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return name != "" && len(name) <= 64 && strings.Trim(name, letters) == ""
}

// checkTool checks one tool. A capability of one tool may have its name.
func checkTool(capability string, t tool.Tool, taken func(string) error) error {
	if t == nil || t.Def() == nil {
		return errors.New("a tool of it is nil, or has no definition")
	}
	if name := t.Def().Name; name != capability {
		if err := taken(name); err != nil {
			return err
		}
	}
	_, err := tool.NewValidator(t.Def())
	return err
}
