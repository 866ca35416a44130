package roster

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/task"
)

// Permit says what would become of a call of a tool on a subject, such as a
// command line or a path: as if somebody were there to answer questions, and
// whether or not the tool and the subject exist. It starts nothing.
func (a *App) Permit(ctx context.Context, name string, over session.Overrides, toolName, subject string) (view.Permit, []profile.Diagnostic, error) {
	if err := ctx.Err(); err != nil {
		return view.Permit{}, nil, err
	}
	from := a.now()
	if from.err != nil {
		return view.Permit{}, nil, from.err
	}
	p, err := a.profileHere(ctx, from, name)
	if err != nil {
		return view.Permit{}, nil, err
	}
	in := a.input(from, p, over)
	in.RulesOnly = true
	s, ds, err := resolve.Spec(in)
	if err != nil {
		return view.Permit{}, nil, err
	}
	permit, err := s.Permit(false)
	if err != nil {
		return view.Permit{}, nil, err
	}
	needs, err := tool.Needs(a.env(s), toolName, subject)
	if state := (*tool.StateDirError)(nil); errors.As(err, &state) {
		return view.NewPermit(permission.Decision{Step: permission.StepState, Reason: permission.ReasonState}), ds, nil
	} else if err != nil {
		return view.Permit{}, nil, err
	}
	return view.NewPermit(permit.Decide(needs...)), ds, nil
}

// Tools says which tools the model of a profile's runs is told of, which not,
// and why, and which profiles it can reach: as if somebody were there to answer
// questions. It starts nothing, and needs no model and no key.
func (a *App) Tools(ctx context.Context, name string, over session.Overrides) (view.Tools, []profile.Diagnostic, error) {
	s, ds, err := a.Resolve(ctx, name, over)
	if err != nil {
		return view.Tools{}, nil, err
	}
	from := a.now()
	if err := a.reach(from, from.catalog.Snapshot(), s, false, false); err != nil {
		return view.Tools{}, nil, err
	}
	permit, err := s.Permit(false)
	if err != nil {
		return view.Tools{}, nil, err
	}
	all, noted, err := a.allCapabilities(s)
	if err != nil {
		return view.Tools{}, nil, err
	}
	ds = append(ds, noted...)
	v := view.Tools{Name: s.Name, Revision: s.Revision, Tools: []view.Tool{}, Targets: []view.Target{}, Switches: []view.Target{}}
	for _, o := range engine.Offers(s, permit, all) {
		v.Tools = append(v.Tools, view.NewTool(o.Name, o.Capability, o.Decision))
	}
	for _, t := range s.Targets {
		v.Targets = append(v.Targets, view.NewTarget(t, callable(permit, s.Name, t.Name)))
	}
	for _, t := range s.Switches {
		v.Switches = append(v.Switches, view.NewTarget(t, permit.Decide(permission.Query{Tool: task.Switch, Subject: t.Name})))
	}
	return v, ds, nil
}
