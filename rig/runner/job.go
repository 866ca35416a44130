package runner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/event"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
)

// do works on a claimed job until it has ended, or rests. What could not be done because
// ctx ended is taken up by another process, or the next one here.
func (n *running) do(ctx context.Context, j *ledger.Job) {
	log := n.r.o.Log.With("rig", n.key.Name, "knot", j.Knot, "job", j.ID, "path", j.Path)
	k, err := n.now().Knot(j.Knot)
	if err != nil { // its file is gone, or broken, since the claim
		err = n.settle(ctx, j, ledger.Outcome{State: ledger.Queued, Back: true, Error: err.Error()})
	} else {
		err = n.begin(ctx, k, j)
	}
	switch {
	case err == nil, ctx.Err() != nil:
	case errors.Is(err, ledger.ErrLost):
		log.Warn("another process has taken the job over")
	default:
		log.Error("the job rests until its process is gone", "error", err)
	}
}

// begin works on a job, unless it is found not to be worth it.
func (n *running) begin(ctx context.Context, k *rig.Knot, j *ledger.Job) error {
	if j.State != ledger.Queued {
		return n.attempt(ctx, k, j)
	}
	if j.Digest != "" {
		n.awaitCalls(ctx)
	}
	by, err := n.cause(ctx, j)
	switch {
	case err != nil:
		return err
	case by == k.ID() && !k.Self.V:
		return n.settle(ctx, j, ledger.Outcome{State: ledger.Done, Code: "Self"})
	case j.State == ledger.Dead:
		return n.settle(ctx, j, ledger.Outcome{State: ledger.Dead, Error: j.Error, Code: j.Code})
	}
	return n.attempt(ctx, k, j)
}

// cause has a job stand behind the one that wrote what it is about, and names the knot of
// that. It may have become known since: see awaitCalls. The job is Dead where too many
// stand before it.
func (n *running) cause(ctx context.Context, j *ledger.Job) (knot string, err error) {
	if j.Digest == "" || j.Event == string(rig.Asked) {
		return "", nil
	}
	w, byJob, err := n.r.o.Ledger.Writer(ctx, n.key, j.Path, j.Digest)
	if byJob && w.Hops >= j.Hops {
		j.Hops = w.Hops + 1
		n.bound(j)
	}
	return w.Knot, err
}

// attempt begins the work on a job, or goes on with it, and settles what came of it.
func (n *running) attempt(ctx context.Context, k *rig.Knot, j *ledger.Job) error {
	begun := j.State != ledger.Queued && j.Session != ""
	if !begun {
		if j.Code != notWritten { // else only the answer is to be written
			j.Session, j.Began = newID(), time.Now()
			j.Attempt++
			j.File, j.Offset, j.Section = "", 0, nil
		}
		if err := n.store(ctx, "begin a job", func(ctx context.Context) error {
			return n.r.o.Ledger.Begin(ctx, n.key, j.ID, j.Epoch, j.Session)
		}); err != nil {
			return err
		}
	}
	end, err := n.work(ctx, k, j)
	var not *NotBegun
	switch {
	case errors.As(err, &not):
		n.block(k, not)
		return n.settle(ctx, j, ledger.Outcome{State: ledger.Queued, Back: true, After: time.Now().Add(blockedFor), Error: not.Error(), Code: not.Code})
	case err != nil:
		return err
	}
	n.unblock(k)
	if _, err := n.cause(ctx, j); err != nil {
		return err
	}
	if end.Reason != session.ReasonDone {
		return n.failed(ctx, k, j, &end)
	}
	return n.finish(ctx, k, j, &end)
}

// work has the agent work, for as long as the knot says.
func (n *running) work(ctx context.Context, k *rig.Knot, j *ledger.Job) (End, error) {
	task, err := n.task(k, j)
	if err != nil {
		return End{}, &NotBegun{Code: "InvalidStrand", Err: err}
	}
	if err := n.r.o.Agents.Begin(ctx, task); err != nil {
		return End{}, err
	}
	var late atomic.Bool
	left := k.Timeout.V - time.Since(j.Began)
	timer := time.AfterFunc(max(left, 0), func() {
		late.Store(true)
		n.cancel(ctx, j, fmt.Sprintf("the knot %s gives a run %s", k.ID(), k.Timeout.V))
	})
	defer timer.Stop()
	w := &watch{n: n, ctx: ctx, knot: k, job: j}
	defer w.end()
	end, err := n.r.o.Agents.Await(ctx, j.Session, w)
	end.files = w.own
	if err == nil && late.Load() && end.Reason == session.ReasonCancelled {
		end.Code, end.Error = "Timeout", fmt.Sprintf("it took longer than %s (timeout of the knot)", k.Timeout.V)
	}
	return end, err
}

// watch is told what the run of a job does.
type watch struct {
	n     *running
	ctx   context.Context
	knot  *rig.Knot
	job   *ledger.Job
	calls map[string]*call // under way
	own   []string         // files that it alone has changed
}

// Calls implements Watch.
func (w *watch) Calls(id string) {
	if w.calls == nil {
		w.calls = map[string]*call{}
	}
	if w.calls[id] == nil { // else it is begun again, after a wait
		w.calls[id] = w.n.calls.add()
	}
}

// Wrote implements Watch.
func (w *watch) Wrote(files []Wrote) {
	if _, err := w.n.cause(w.ctx, w.job); err != nil && w.ctx.Err() == nil {
		w.n.r.o.Log.Error("what a run stands behind is not known", "job", w.job.ID, "error", err)
	}
	w.n.wrote(w.ctx, w.knot, w.job, files)
	for _, f := range files {
		if f.Alone {
			w.own = append(w.own, f.Path)
		}
	}
}

// Called implements Watch.
func (w *watch) Called(id string) {
	if c := w.calls[id]; c != nil {
		w.n.calls.drop(c)
		delete(w.calls, id)
	}
}

// end has nobody wait for calls that were broken off.
func (w *watch) end() {
	for id := range w.calls {
		w.Called(id)
	}
}

// cancel ends a run that takes too long. It is tried until it is stored, for the run is
// waited for.
func (n *running) cancel(ctx context.Context, j *ledger.Job, reason string) {
	for ctx.Err() == nil {
		err := n.r.o.Agents.Cancel(ctx, j.Session, reason)
		if err == nil || errors.Is(err, session.ErrNoStream) {
			return
		}
		n.r.o.Log.Error("a run cannot be cancelled; it is tried again", "session", j.Session, "error", err)
		pause(ctx, time.Second)
	}
}

// wrote notes the files that a run has written, so that they carry its hops.
func (n *running) wrote(ctx context.Context, k *rig.Knot, j *ledger.Job, files []Wrote) {
	var list []ledger.Written
	for _, f := range files {
		if f.Digest == "" {
			continue
		}
		w := ledger.Written{Path: n.r.shown(f.Path), Digest: f.Digest, Job: j.ID, Hops: j.Hops}
		if f.Gone {
			w.Digest = ledger.Removed(f.Digest)
		}
		if f.Sure {
			w.Knot = k.ID()
		}
		list = append(list, w)
	}
	if len(list) == 0 {
		return
	}
	err := n.store(ctx, "note what a run wrote", func(ctx context.Context) error { return n.r.o.Ledger.Wrote(ctx, n.key, list) })
	if err != nil && ctx.Err() == nil {
		n.r.o.Log.Error("what a run wrote is not noted", "job", j.ID, "error", err)
	}
}

// failed has a job tried again, later, or ends it: what would come to the same again is
// not tried.
func (n *running) failed(ctx context.Context, k *rig.Knot, j *ledger.Job, end *End) error {
	o := ledger.Outcome{State: ledger.Dead, Error: end.Error, Code: end.Code, Cost: end.Usage.Cost, Tokens: end.Usage.Limited()}
	if o.Error == "" {
		o.Error = "the run ended: " + string(end.Reason)
		if end.Code != "" {
			o.Error += " (" + end.Code + ")"
		}
	}
	if o.Code == "" {
		o.Code = string(end.Reason)
	}
	again := end.Code == "Timeout"
	switch end.Reason {
	case session.ReasonError, session.ReasonStalled, session.ReasonDegenerate, session.ReasonPoisoned:
		again = true
	}
	if j.State == ledger.Dead { // too many stand before it, as was found meanwhile
		o.Code, o.Error, again = j.Code, j.Error, false
	}
	if wait, ok := k.Retries.Wait(j.Attempt); again && ok {
		o.State, o.After = ledger.Queued, time.Now().Add(wait)
	}
	n.r.o.Log.Warn("a run failed", "rig", n.key.Name, "knot", k.ID(), "job", j.ID, "attempt", j.Attempt, "session", j.Session, "code", o.Code, "error", o.Error, "next", string(o.State))
	return n.settle(ctx, j, o)
}

// fires are the jobs that the events of a run ask for: one for each knot that waits.
func (n *running) fires(k *rig.Knot, j *ledger.Job, end *End) []ledger.Job {
	found, problems := event.Find(end.Text)
	for _, p := range problems {
		n.r.o.Log.Warn("an event of an answer is not sent", "rig", n.key.Name, "knot", k.ID(), "job", j.ID, "session", j.Session, "problem", p)
	}
	var jobs []ledger.Job
	for _, e := range append(append([]event.Event{}, end.Fired...), found...) {
		for _, to := range n.now().Consumers(k.Loom, k.Name, e.Name) {
			one := ledger.Job{
				ID: newID(), Knot: to.ID(), Event: e.Name, Path: "event:" + k.ID() + ":" + e.Name, Content: encode(e, about(j)), Hops: j.Hops + 1, Parent: j.ID, Queued: time.Now(),
			}
			n.bound(&one)
			jobs = append(jobs, one)
		}
	}
	return jobs
}

// bound ends a job before it begins that has too many before it.
func (n *running) bound(j *ledger.Job) {
	if j.Hops <= n.r.o.MaxHops {
		return
	}
	j.State, j.Code = ledger.Dead, "MaxHops"
	j.Error = fmt.Sprintf("%d jobs of knots stand before it, each having caused the next, and max-hops is %d: do the knots go in a circle (roster rig graph)? roster rig replay runs it all the same", j.Hops, n.r.o.MaxHops)
	n.r.o.Log.Warn("a chain of knots is ended", "rig", n.key.Name, "knot", j.Knot, "job", j.ID, "hops", j.Hops)
}

func (n *running) settle(ctx context.Context, j *ledger.Job, o ledger.Outcome) error {
	o.Hops = j.Hops
	err := n.store(ctx, "settle a job", func(ctx context.Context) error {
		return n.r.o.Ledger.Settle(ctx, n.key, j.ID, j.Epoch, o)
	})
	n.signal(n.jobs)
	n.signal(n.changed)
	if err == nil && o.State != ledger.Queued {
		n.log(ctx, append([]string{j.ID}, ended(o.Fires)...)...)
	}
	return err
}

func (n *running) store(ctx context.Context, what string, f func(context.Context) error) error {
	return n.r.retried(ctx, what, f)
}

// root is the absolute path of the rig.
func (n *running) root() string { return filepath.Join(n.r.o.Dir, n.key.Name) }
