package engine

import (
	"context"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// Files keeps what the files that a call may change hold, so that the change can
// be taken back.
type Files interface {
	// Keep does that before the call runs.
	Keep(ctx context.Context, c FileCall) (Kept, error)
	// Left says what a call has changed whose worker is gone; nil: nothing, as far
	// as is known here.
	Left(ctx context.Context, c FileCall) (*session.FilesChanged, error)
}

// FileCall is a call that may change files below Root: those of Paths, or with nil
// any.
type FileCall struct {
	Key           session.Key
	Session, Call string
	Root          string
	Paths         []string
}

// Kept is what was kept for a call. One of its methods is called, once.
type Kept interface {
	// Changed says what the call has changed; nil: nothing.
	Changed(ctx context.Context) (*session.FilesChanged, error)
	// Leave leaves that to whoever takes the call up.
	Leave()
}

// filesTime bounds how long it may take to look at the files.
const filesTime = time.Minute

// watched is what was kept for a job.
type watched struct {
	kept Kept // nil: nothing
	call FileCall
	err  error // why not
}

// watch keeps what a job may change. It runs in any case: what cannot be taken
// back is said.
func (r *run) watch(ctx context.Context, j *job) (w watched) {
	c, ok := j.plan.(tool.Changing)
	if !ok || r.deps.Files == nil {
		return w
	}
	root, paths := c.Changes()
	if root == "" {
		return w
	}
	w.call = r.fileCall(j.call.ID)
	w.call.Root, w.call.Paths = root, paths
	w.kept, w.err = safelyAs("the history of files", func() (Kept, error) {
		ctx, cancel := context.WithTimeout(ctx, filesTime)
		defer cancel()
		return r.deps.Files.Keep(ctx, w.call)
	})
	return w
}

func (r *run) fileCall(call string) FileCall {
	return FileCall{Key: r.st.Key, Session: r.id, Call: call}
}

// changed is what a job has changed; nil: nothing.
func (r *run) changed(w *watched) *session.FilesChanged {
	if w.kept == nil && w.err == nil {
		return nil
	}
	var body *session.FilesChanged
	err := w.err
	if w.kept != nil {
		body, err = r.looked(w.kept.Changed)
	}
	if err != nil {
		body = &session.FilesChanged{Call: w.call.Call, Root: w.call.Root, Lost: r.clean(err.Error())}
	}
	return body
}

// looked bounds the look at files after a call, which is taken also where the
// run's own time is over.
func (r *run) looked(look func(context.Context) (*session.FilesChanged, error)) (*session.FilesChanged, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), filesTime)
	defer cancel()
	return safelyAs("the history of files", func() (*session.FilesChanged, error) { return look(ctx) })
}

// noteFiles logs what a call has changed.
func (r *run) noteFiles(b *session.FilesChanged) {
	if b != nil {
		r.emitRefs(b, b.Refs()...)
	}
}

// noteLeft logs what a call has changed that was begun by a worker which is gone.
func (r *run) noteLeft(call string) {
	if r.deps.Files == nil {
		return
	}
	c := r.fileCall(call)
	b, err := r.looked(func(ctx context.Context) (*session.FilesChanged, error) { return r.deps.Files.Left(ctx, c) })
	if err != nil {
		b = &session.FilesChanged{Call: call, Late: true, Lost: r.clean(err.Error())}
	}
	r.noteFiles(b)
}
