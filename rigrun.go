package roster

import (
	"context"
	"errors"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
	"github.com/rosterrun/roster/rig/tieoff"
)

// RunKnot has a knot of a rig work on a file, absolute or relative to the workspace, or
// on none, and waits until that has ended, done or dead. The process that runs the rig
// does the work, or this one where none does: for that the App has to be opened with
// Options.Claim. queued is told of the job before it begins. A job that cannot begin is
// taken out, with the reason as the error; where ctx ends first, the job stays for the
// next process. Errors are as of runner.Ask and Finish.
func (a *App) RunKnot(ctx context.Context, rig, knot, strand string, queued func(view.RigJob)) (view.RigJob, error) {
	r, err := a.rigRunner(ctx, RigOptions{})
	if err != nil {
		return view.RigJob{}, err
	}
	job, err := r.Ask(ctx, rig, runner.Wish{Knot: knot, Path: strand})
	if err != nil {
		return view.RigJob{}, err
	}
	queued(view.NewRigJob(&job))
	job, err = r.Finish(ctx, rig, job.ID)
	if waits := (*runner.Waiting)(nil); errors.As(err, &waits) && !waits.Begun {
		if dropped := a.DropJob(ctx, rig, job.ID); !errors.Is(dropped, ledger.ErrNoJob) { // else another process has begun it
			err = errors.Join(err, dropped)
		}
	}
	return answered(&job), err
}

// AskKnot queues a job for a knot of a rig, as RunKnot does, and does not wait for it: the
// process that runs the rig works on it. Errors are as of runner.Ask.
func (a *App) AskKnot(ctx context.Context, rig string, w runner.Wish) (view.RigJob, error) {
	r, err := a.rigReader(ctx)
	if err != nil {
		return view.RigJob{}, err
	}
	job, err := r.Ask(ctx, rig, w)
	if err != nil {
		return view.RigJob{}, err
	}
	return answered(&job), nil
}

// answered is the view of a job with its answer, if it has one.
func answered(j *ledger.Job) view.RigJob {
	out := view.NewRigJob(j)
	if sections, _ := tieoff.Parse(j.Section); j.State == ledger.Done && len(sections) > 0 {
		out.Answer = sections[0].Answer
	}
	return out
}
