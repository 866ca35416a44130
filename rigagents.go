package roster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig/event"
	"github.com/rosterrun/roster/rig/runner"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/task"
)

// rigAgents runs the tasks of a rig as sessions of a workspace.
type rigAgents struct {
	app         *App
	tenant      string
	onlyTrusted bool
}

var _ runner.Agents = rigAgents{}

func (r rigAgents) key(stream string) session.Key {
	return session.Key{Tenant: r.tenant, Stream: stream}
}

// Begin implements runner.Agents.
func (r rigAgents) Begin(ctx context.Context, t runner.Task) error {
	store, err := r.app.Backend(ctx)
	if err != nil {
		return err
	}
	if _, err := store.Summary(ctx, r.key(t.Session)); !errors.Is(err, session.ErrNoStream) {
		return err
	}
	if r.onlyTrusted && !r.app.Trust().Workspace() {
		return &runner.NotBegun{Code: string(profile.ExecutingKey), Err: errUntrustedRig}
	}
	ask := Ask{
		Key: r.key(t.Session), Profile: t.Profile, Set: t.Set, Parts: []message.Part{message.Text{Text: t.Text}},
		Agent: t.Knot, Shared: true, Headless: true, Idem: "rig/" + t.Session,
	}
	if t.System != "" || len(t.Events) > 0 {
		ask.Client = &session.Client{System: t.System, Events: t.Events}
	}
	_, err = r.app.Submit(ctx, ask)
	if err == nil || ctx.Err() != nil {
		return err
	}
	return &runner.NotBegun{Code: cmp.Or(Code(err), "AgentExecutionFailed"), Err: err}
}

var errUntrustedRig = errors.New("nobody has trusted the workspace, whose knots would run by themselves: roster trust does, and roster rig watch runs them for who asks for it")

// Cancel implements runner.Agents.
func (r rigAgents) Cancel(ctx context.Context, stream, reason string) error {
	return r.app.Cancel(ctx, r.key(stream), reason)
}

// Await implements runner.Agents.
func (r rigAgents) Await(ctx context.Context, stream string, watch runner.Watch) (runner.End, error) {
	w := awaited{r: r, stream: stream, watch: watch, asked: map[string]event.Event{}}
	for after := int64(0); ; {
		for batch, err := range r.app.Follow(ctx, r.key(stream), after) {
			if behind := (*dispatch.FellBehind)(nil); errors.As(err, &behind) {
				break // and go on behind the newest event that was seen
			}
			if err != nil {
				return w.end, err
			}
			for i := range batch {
				if ended, err := w.see(ctx, &batch[i]); ended || err != nil {
					return w.end, err
				}
				after = max(after, batch[i].Seq)
			}
		}
		if ctx.Err() != nil {
			return w.end, ctx.Err()
		}
	}
}

// awaited is a run whose end is waited for.
type awaited struct {
	r      rigAgents
	stream string
	watch  runner.Watch
	end    runner.End
	asked  map[string]event.Event // by call
}

// see looks at an event, and says whether it ends the run.
func (w *awaited) see(ctx context.Context, e *session.Event) (ended bool, err error) {
	own := e.Session == w.stream
	switch e.Type {
	case "files.changed":
		return false, w.files(ctx, e)
	case "loop.start", "profile.switched", "tool.before", "tool.after", "loop.end":
	default:
		return false, nil
	}
	body, err := e.Decode()
	if err != nil {
		return false, err
	}
	switch b := body.(type) {
	case *session.ToolBefore:
		if b.Tool != task.Name { // the calls of whom it asks are told of
			w.watch.Calls(e.Session + " " + b.Call)
		}
	case *session.ToolAfter:
		w.watch.Called(e.Session + " " + b.Call)
	}
	if !own {
		return false, nil
	}
	switch b := body.(type) {
	case *session.LoopStart:
		w.end.Profile, w.end.Revision, w.end.Model, w.end.Began = b.Profile, b.Revision, b.Model, e.Time
	case *session.Switched:
		w.end.Profile, w.end.Revision, w.end.Model = b.To, b.Revision, b.Model
	case *session.ToolBefore:
		var said tool.Emitted
		if b.Tool == tool.Emit && json.Unmarshal(b.Input, &said) == nil {
			w.asked[b.Call] = event.Event{Name: said.Event, Description: said.Description, Payload: said.Payload}
		}
	case *session.ToolAfter:
		if said, ok := w.asked[b.Call]; ok && b.Outcome == session.OK {
			w.end.Fired = append(w.end.Fired, said)
		}
	case *session.LoopEnd:
		w.end.Reason, w.end.Text, w.end.Usage, w.end.Done = b.Reason, b.Text, b.Usage, e.Time
		w.end.Code = b.Limit
		if b.Error != nil {
			w.end.Error, w.end.Code = b.Error.Error, b.Error.Code
		}
		return true, nil
	}
	return false, nil
}

// files tells of the files that a call of the run, or of an agent below it, has changed.
func (w *awaited) files(ctx context.Context, e *session.Event) error {
	body, err := e.Decode()
	if err != nil {
		return err
	}
	b := body.(*session.FilesChanged)
	files := b.Files
	if b.List != "" {
		data, err := w.r.app.backend.Blob(ctx, w.r.tenant, b.List)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &files); err != nil {
			return err
		}
	}
	alone := !b.Late && len(b.Beside) == 0
	var list []runner.Wrote
	for _, f := range files {
		if isDir(f.Before) || isDir(f.After) {
			continue
		}
		one := runner.Wrote{Path: filepath.Join(b.Root, filepath.FromSlash(f.Path)), Sure: alone && !b.Any, Alone: alone}
		was := f.After
		if one.Gone = was == nil; one.Gone {
			was = f.Before
		}
		if was != nil && was.Kind == session.KindFile {
			one.Digest = was.Digest
		}
		list = append(list, one)
	}
	w.watch.Wrote(list)
	return nil
}

func isDir(s *session.FileState) bool { return s != nil && s.Kind == session.KindDir }
