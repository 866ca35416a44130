package roster

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/resolve"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
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
	p, err := from.catalog.Get(name)
	if err != nil {
		return view.Permit{}, nil, err
	}
	in := a.input(from, p, over)
	in.RulesOnly = true
	s, ds, err := resolve.Spec(in)
	if err != nil {
		return view.Permit{}, nil, err
	}
	engine, err := s.Permit(false)
	if err != nil {
		return view.Permit{}, nil, err
	}
	needs, err := tool.Needs(a.env(s), toolName, subject)
	if state := (*tool.StateDirError)(nil); errors.As(err, &state) {
		return view.NewPermit(permission.Decision{Step: permission.StepState, Reason: permission.ReasonState}), ds, nil
	} else if err != nil {
		return view.Permit{}, nil, err
	}
	return view.NewPermit(engine.Decide(needs...)), ds, nil
}
