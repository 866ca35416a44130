package roster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool/history"
)

// UndoOptions say what of a session's changes to files is taken back. The zero
// UndoOptions take all of them back.
type UndoOptions = host.Undo

// notKept is said of a session that has run commands.
const notKept = "not looked at: what .gitignore names, .git, files over 5 MiB, and what lies outside of the workspace"

// Undo takes back what a session and those that it delegated to have changed of
// files. What somebody else has changed of them since is kept; where that cannot
// be told apart the file is left alone, and the answer says so. The session must
// be at rest. An undo stands in the log, and can be taken back itself.
func (a *App) Undo(ctx context.Context, k session.Key, o UndoOptions) (view.Undo, error) {
	d, err := a.dispatcher(ctx)
	if err != nil {
		return view.Undo{}, err
	}
	k = a.withTenant(k)
	log, err := a.changes(ctx, k)
	if err != nil {
		return view.Undo{}, err
	}
	plan, err := log.Plan(history.Options{Redo: o.Redo, Last: o.Last, Shared: o.Shared})
	if err != nil {
		return view.Undo{}, err
	}
	name := planName(plan)
	if o.Plan != "" && o.Plan != name {
		return view.Undo{}, &PlanError{k.Stream}
	}
	if !o.DryRun && len(plan.Of) > 0 {
		err = a.takeBack(ctx, d, k, plan, o.User)
	}
	out := undone(k, o, log, plan)
	out.Plan = name
	return out, err
}

// PlanError: an undo would do something else than the dry run has said.
type PlanError struct{ Session string }

func (e *PlanError) Error() string {
	return fmt.Sprintf("session %s: files have changed since it was shown what would be undone: look again", e.Session)
}

// planName is another one for each thing that could be done.
func planName(p *history.Plan) string {
	h := sha256.New()
	for _, s := range p.Steps {
		fmt.Fprintf(h, "%q %q %s %q %q %s\n", s.Root, s.Path, s.Outcome, s.Why, s.Diff, s.Becomes())
	}
	return hex.EncodeToString(h.Sum(nil))
}

// changes reads what the log of a session at rest says of files.
func (a *App) changes(ctx context.Context, k session.Key) (*history.Log, error) {
	sum, err := a.backend.Summary(ctx, k)
	if err != nil {
		return nil, err
	}
	if !sum.AtRest() {
		return nil, &session.Busy{Key: k}
	}
	log := history.NewLog(ctx, a.backend, k.Tenant)
	for e, err := range a.backend.Read(ctx, k, 0) {
		if err == nil {
			err = log.Add(&e)
		}
		if err != nil {
			return nil, err
		}
	}
	return log, nil
}

// takeBack does what a plan says, and notes it in the log. A prompt that came in
// meanwhile does not keep it from that.
func (a *App) takeBack(ctx context.Context, d *dispatch.Local, k session.Key, p *history.Plan, user string) error {
	c := clock.From(ctx)
	body := &session.FilesUndone{Of: p.Of, By: user}
	var open []*history.Window
	for root, paths := range p.Paths() {
		w, err := a.files.Begin(ctx, history.Call{Stream: k.String(), Session: k.Stream, ID: "undo " + c.ID(), Root: root, Paths: paths})
		if err != nil {
			for _, w := range open {
				w.Leave()
			}
			return err
		}
		open = append(open, w)
	}
	p.Apply()
	ctx = context.WithoutCancel(ctx) // it is done, so it has to be noted
	event := a.inbound(c, k, "", body)
	for _, w := range open {
		b, err := w.End(ctx, a.backend, k.Tenant)
		if err != nil {
			return fmt.Errorf("what was taken back cannot be noted: %w", err)
		}
		if b != nil {
			body.Changed = append(body.Changed, *b)
			event.Refs = append(event.Refs, b.Refs()...)
		}
	}
	body.Left = p.LeftAlone()
	slices.Sort(event.Refs)
	event.Refs = slices.Compact(event.Refs)
	_, err := d.Submit(ctx, k, session.Post{Events: []session.Event{event}})
	return err
}

// undone says what came of it.
func undone(k session.Key, o UndoOptions, log *history.Log, p *history.Plan) view.Undo {
	out := view.Undo{ID: k.Stream, DryRun: o.DryRun, Files: []view.UndoFile{}}
	for _, s := range p.Steps {
		out.Files = append(out.Files, view.UndoFile{Path: filepath.Join(s.Root, s.Path), Outcome: s.Outcome, Why: s.Why, Diff: s.Diff})
	}
	for _, l := range log.Lost {
		out.Lost = append(out.Lost, fmt.Sprintf("not known: what the call %s has changed: %s", l.Call, l.Lost))
	}
	if log.Any {
		out.Notes = append(out.Notes, notKept)
	}
	return out
}
