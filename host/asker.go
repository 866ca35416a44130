package host

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rosterrun/roster/session"
)

// Asker has somebody asked what a run waits for, while its events are followed. The
// question is taken back when another one has answered it, on another way. It is
// not safe for concurrent use.
type Asker struct {
	// Ask asks the first of what the run waits for and answers it. It returns when
	// ctx ends: the question is taken back.
	Ask func(ctx context.Context)
	// Resume has the run go on after an answer.
	Resume func(ctx context.Context)

	leave context.CancelFunc // takes back the question that is asked now
	asked sync.WaitGroup
}

// See looks at the next event of the run.
func (a *Asker) See(ctx context.Context, e *session.Event) {
	switch {
	case e.Type == "loop.waiting" && e.Depth == 0:
		a.Begin(ctx)
	case e.Type == "permission.resolved" || e.Type == "input.answered":
		a.Dismiss()
		a.Resume(ctx)
	case (e.Type == "loop.resumed" || e.Type == "loop.end") && e.Depth == 0:
		a.Dismiss()
	}
}

// Begin asks what the run waits for already.
func (a *Asker) Begin(ctx context.Context) {
	a.Dismiss()
	ctx, a.leave = context.WithCancel(ctx)
	a.asked.Go(func() { a.Ask(ctx) })
}

// Dismiss takes the question back, if there is one, and waits for that.
func (a *Asker) Dismiss() {
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
	a.asked.Wait()
}

// Resume goes on with a run that its process has left, as one that was killed, and
// logs why that cannot be. resume is that of the workspace; session.ErrNoWork from
// it says that somebody is at it.
func Resume(ctx context.Context, d Deps, resume func(context.Context, session.Key) error, k session.Key) {
	if err := resume(ctx, k); err != nil && !errors.Is(err, session.ErrNoWork) && ctx.Err() == nil {
		d.Log.Error("a run does not go on", "session", k.Stream, "error", err)
	}
}

// WhyEnded says why a run has not come to its answer.
func WhyEnded(end *session.LoopEnd) string {
	switch {
	case end.Error != nil:
		return fmt.Sprintf("The run failed: %s (%s)", end.Error.Error, end.Error.Code)
	case end.Limit != "":
		return fmt.Sprintf("The run was ended by its limit on %s.", end.Limit)
	}
	return fmt.Sprintf("The run ended before it was done: %s.", end.Reason)
}
