package roster

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/trust"
)

// Survey lists all that trusting the workspace is about: what its files would
// start, reach or read, and the allow rules that go beyond the built-in ones and
// the user's.
func (a *App) Survey() trust.Survey {
	s := a.now()
	out := trust.Survey{Items: slices.Clone(s.config.Executing)}
	others := permission.Builtin()
	for _, l := range s.config.Defaults {
		if !l.Workspace {
			others = append(others, l.Keys.Permission...)
		}
	}
	for _, l := range s.config.Defaults {
		if l.Workspace {
			out.Allows = append(out.Allows, allows(l.Keys, others)...)
		}
	}
	seen := map[*profile.Profile]bool{}
	for p := range s.catalog.List() {
		for _, p := range append(slices.Clone(p.Parents), p) {
			if seen[p] || s.view.Own(p.File) {
				continue
			}
			seen[p] = true
			out.Items = append(out.Items, trust.OfProfile(p)...)
			out.Allows = append(out.Allows, allows(p, others)...)
		}
	}
	a.commandSurvey(&out)
	out.Allows = append(out.Allows, s.skillAllows(others)...)
	out.Items = slices.DeleteFunc(out.Items, func(i trust.Item) bool { return s.view.Own(i.At.File) })
	out.Sort()
	return out
}

// allows gives the rules of a profile that allow more than others do.
func allows(p *profile.Profile, others []permission.Rule) []permission.Rule {
	var out []permission.Rule
	for _, r := range p.Permission {
		if permission.Beyond(r, others) {
			out = append(out, r)
		}
	}
	if d := p.DefaultPermission; d.V == permission.Allow && d.Set {
		out = append(out, permission.Rule{Tool: "default-permission", Subject: "*", Effect: permission.Allow, At: d.At})
	}
	if m := p.PermissionMode; m.V == permission.ModeAcceptEdits.String() || m.V == permission.ModeBypass.String() {
		out = append(out, permission.Rule{Tool: "permission-mode", Subject: m.V, Effect: permission.Allow, At: m.At})
	}
	return out
}

// Wants says whether a run of a profile would use something that has no effect
// while the workspace is not trusted. The diagnostics say what.
func (a *App) Wants(ctx context.Context, name string, over session.Overrides) (bool, []profile.Diagnostic) {
	s := a.now()
	if s.view.Workspace() && len(s.view.Inert(trust.Survey{Items: s.config.Executing}).Items) == 0 && !a.inertIn(name) {
		return false, nil
	}
	sp, ds, err := a.Resolve(ctx, name, over)
	ds = slices.DeleteFunc(ds, func(d profile.Diagnostic) bool { return d.Code != profile.CodeExecuting && d.Code != resolve.CodeAllow })
	wants := len(ds) > 0 || errors.Is(err, profile.ExecutingKey) || sp != nil && len(sp.Withheld) > 0
	for _, i := range s.view.Inert(trust.Survey{Items: s.config.Executing}).Items {
		if i.Kind == trust.Server {
			continue // the spec says whether it would be used
		}
		wants = wants || !strings.HasPrefix(i.Key, "providers.") || sp != nil && strings.HasPrefix(i.Key, "providers."+sp.Model.Provider+".")
	}
	return wants, ds
}

// inertIn says whether a profile, or a parent of it, says something without
// effect.
func (a *App) inertIn(name string) bool {
	s := a.now()
	p, err := s.catalog.Get(name)
	if err != nil {
		return false
	}
	for _, p := range append(slices.Clone(p.Parents), p) {
		if len(s.view.Inert(trust.Survey{Items: trust.OfProfile(p)}).Items) > 0 {
			return true
		}
	}
	return false
}

// TrustWorkspace trusts the workspace, with the items as a person has seen them:
// another one, or one that changes, has no effect until it is trusted too.
func (a *App) TrustWorkspace(ctx context.Context, seen []trust.Item) error {
	return a.trusts.Trust(ctx, a.dir, seen)
}

// DeclineTrust notes that a person has seen a survey and does not trust it.
func (a *App) DeclineTrust(ctx context.Context, seen trust.Survey) error {
	return a.trusts.Decline(ctx, a.dir, seen.Digest())
}

// RevokeTrust takes back the trust of the workspace. What runs goes on to the
// end of its loop. It says whether the workspace was trusted.
func (a *App) RevokeTrust(ctx context.Context) (was bool, err error) {
	return a.trusts.Revoke(ctx, a.dir)
}
