package roster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/catalog"
	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/task"
)

// The modes that bound who reaches a profile.
const (
	primary  = "primary"  // is given no tasks
	subagent = "subagent" // is given tasks, and no session
)

// reach finds the profiles of the catalog that an agent may give tasks to and,
// unless it works for another, those that it may hand its session over to.
func (a *App) reach(from *setup, all *catalog.Snapshot, s *spec.Spec, headless, child bool) error {
	permit, err := s.Permit(headless)
	if err != nil {
		return err
	}
	has := func(tool string) bool { return s.AllTools || slices.Contains(s.Tools, tool) }
	if s.Subagents.MaxDepth > 0 && has(task.Name) {
		s.Targets = targets(all, func(p *profile.Profile) bool {
			return from.mode(p) != primary && callable(permit, s.Name, p.Name).Effect != permission.Deny
		})
	}
	if !child && has(task.Switch) {
		s.Switches = targets(all, func(p *profile.Profile) bool {
			return p.Name != s.Name && from.mode(p) != subagent &&
				permit.Decide(permission.Query{Tool: task.Switch, Subject: p.Name}).Effect != permission.Deny
		})
	}
	return nil
}

func targets(all *catalog.Snapshot, may func(*profile.Profile) bool) []spec.Target {
	var list []spec.Target
	for p := range all.List() {
		if !p.Hidden.V && may(p) {
			list = append(list, spec.Target{Name: p.Name, Summary: summary(p)})
		}
	}
	return list
}

// callable judges whether an agent may give a task to a profile. To itself it
// may only if a rule names it.
func callable(permit *permission.Engine, from, to string) permission.Decision {
	d := permit.Decide(permission.Query{Tool: task.Name, Subject: to})
	if from == to && (d.Rule == nil || d.Rule.Subject != to) {
		d.Effect = permission.Deny
	}
	return d
}

// mode is the mode of a profile: its own, or that of the strongest parent or
// default that has one.
func (s *setup) mode(p *profile.Profile) string {
	mode := ""
	for _, l := range s.config.Defaults {
		if l.Keys.Mode.Set {
			mode = l.Keys.Mode.V
		}
	}
	for _, parent := range p.Parents {
		if parent.Mode.Set {
			mode = parent.Mode.V
		}
	}
	if p.Mode.Set {
		mode = p.Mode.V
	}
	return mode
}

// summary says in one line what a profile is for.
func summary(p *profile.Profile) string {
	if p.Summary.V != "" {
		return p.Summary.V
	}
	return firstSentence(p.Description.V)
}

func firstSentence(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i+1]
	}
	return text
}

// delegating makes the tool task of a spec, also where it is not offered: who
// calls it all the same is told why.
func (a *App) delegating(s *spec.Spec) tool.Tool {
	if s.Subagents.MaxDepth < 1 {
		why := "no agent may work below this one (subagents.max-depth)"
		return task.Withheld(task.Name, "Too deep: "+why+". Do the task yourself.")
	}
	if len(s.Targets) == 0 {
		return task.Withheld(task.Name, "There is no agent that you can give a task to. Do it yourself.")
	}
	return task.New(named(s.Targets), func(name string) string { return a.refusal(s, name) })
}

func named(list []spec.Target) []task.Target {
	targets := make([]task.Target, len(list))
	for i, t := range list {
		targets[i] = task.Target(t)
	}
	return targets
}

// refusal says why a profile cannot be given a task, as things are now.
func (a *App) refusal(s *spec.Spec, name string) string {
	from := a.now()
	p, err := from.catalog.Get(name)
	switch {
	case errors.Is(err, profile.ProfileNotFound):
		return fmt.Sprintf("Unknown profile %q.", name)
	case err != nil:
		return fmt.Sprintf("The profile %q does not load.", name)
	case from.mode(p) == primary:
		return fmt.Sprintf("The profile %q is primary: only people start it.", name)
	case p.Hidden.V:
		return fmt.Sprintf("The profile %q is hidden: it cannot be given tasks.", name)
	case name == s.Name:
		return fmt.Sprintf("You are %q: an agent gives itself a task only where a rule for task names it.", name)
	}
	permit, err := s.Permit(false)
	if err != nil {
		return err.Error()
	}
	if d := callable(permit, s.Name, name); d.Effect == permission.Deny && d.Rule != nil {
		return fmt.Sprintf("The profile %q is not allowed: the rule %s %q at %s denies it.", name, d.Rule.Tool, d.Rule.Subject, d.Rule.At)
	}
	return fmt.Sprintf("The profile %q is not allowed.", name)
}

// child makes what a session runs by that an agent gives a task to.
func (a *App) child(ctx context.Context, c engine.Child) (*engine.Blueprint, error) {
	if c.Open != nil {
		return a.storedBlueprint(ctx, c.Key, c.Open)
	}
	from := a.now()
	of := request{key: c.Key, session: c.Session, user: c.User, chain: c.Chain, depth: c.Depth}
	p, err := a.profileOf(ctx, from.catalog.Snapshot(), of.tenant(), c.Profile)
	if err != nil {
		return nil, err
	}
	if from.mode(p) == primary {
		return nil, errors.New(a.refusal(c.Above.Spec, c.Profile))
	}
	return a.housed(ctx, c.Session, nil, compiling{name: c.Profile, of: of, over: passedOn(c.Overrides), headless: c.Headless, above: c.Above})
}

// permissionMode is the key of what a person says of a whole run, and not of
// one profile.
const permissionMode = "permission-mode"

// passedOn is what of the overrides of a prompt holds also for those that work
// for its agent.
func passedOn(o session.Overrides) session.Overrides {
	only := func(m map[string]string) map[string]string {
		if mode, ok := m[permissionMode]; ok {
			return map[string]string{permissionMode: mode}
		}
		return nil
	}
	return session.Overrides{Set: only(o.Set), Flags: only(o.Flags), AllowAll: o.AllowAll}
}
