package roster

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/task"
)

// switching makes the tool switch_profile of a spec, also where it is not
// offered: who calls it all the same is told why.
func (a *App) switching(s *spec.Spec) tool.Tool {
	if len(s.Switches) == 0 {
		return task.Withheld(task.Switch, "There is no profile that you can switch to. Go on as you are.")
	}
	return task.NewSwitch(named(s.Switches), func(name string) string { return a.noSwitch(s, name) })
}

// noSwitch says why a session cannot be handed over to a profile, as things are
// now.
func (a *App) noSwitch(s *spec.Spec, name string) string {
	from := a.now()
	p, err := from.catalog.Get(name)
	switch {
	case name == s.Name:
		return fmt.Sprintf("You are %q.", name)
	case errors.Is(err, profile.ProfileNotFound):
		return fmt.Sprintf("Unknown profile %q.", name)
	case err != nil:
		return fmt.Sprintf("The profile %q does not load.", name)
	case from.mode(p) == subagent:
		return fmt.Sprintf("The profile %q is a subagent: it is given tasks, and no conversation.", name)
	case p.Hidden.V:
		return fmt.Sprintf("The profile %q is hidden: it cannot be switched to.", name)
	}
	permit, err := s.Permit(false)
	if err != nil {
		return err.Error()
	}
	if d := permit.Decide(permission.Query{Tool: task.Switch, Subject: name}); d.Effect == permission.Deny && d.Rule != nil {
		return fmt.Sprintf("The profile %q is not allowed: the rule %s %q at %s denies it.", name, d.Rule.Tool, d.Rule.Subject, d.Rule.At)
	}
	return fmt.Sprintf("The profile %q is not allowed.", name)
}

// switcher is goOnAs for a loop that began with these settings of its session.
func (a *App) switcher(settings session.Settings) func(context.Context, engine.Switch) (*engine.Blueprint, error) {
	return func(ctx context.Context, s engine.Switch) (*engine.Blueprint, error) {
		s.Overrides.Session = settings
		return a.goOnAs(ctx, s)
	}
}

// goOnAs makes what a session runs by that is handed over to another profile.
func (a *App) goOnAs(ctx context.Context, s engine.Switch) (*engine.Blueprint, error) {
	from := a.now()
	of := request{key: s.Key, session: s.Key.Stream, user: s.User, chain: s.Chain}
	p, err := a.profileOf(ctx, from.catalog.Snapshot(), of.tenant(), s.To)
	if err != nil {
		return nil, err
	}
	if from.mode(p) == subagent || p.Hidden.V {
		return nil, errors.New(a.noSwitch(s.From.Spec, s.To))
	}
	b, err := a.compileIn(ctx, compiling{name: s.To, of: of, over: handedOver(s.Overrides), headless: s.Headless, tree: s.From.Spec.Worktree})
	if err == nil && b.Spec.Worktree != nil && b.Spec.Worktree.Dir == "" {
		return nil, fmt.Errorf("the profile %q works in a worktree, which this session has not: give it a task instead", s.To)
	}
	return b, err
}

// handedOver is what of the overrides of a prompt holds also for the profile
// that its session is handed over to: all but who the agent is.
func handedOver(o session.Overrides) session.Overrides {
	rest := func(m map[string]string) map[string]string {
		m = maps.Clone(m)
		for _, key := range []string{"title", "description", "summary", "system-prompt", "subagent-prompt"} {
			delete(m, key)
		}
		return m
	}
	return session.Overrides{Set: rest(o.Set), Flags: rest(o.Flags), AllowAll: o.AllowAll, Client: o.Client, Session: o.Session}
}
