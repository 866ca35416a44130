// Package jobs is what all stores do alike with the jobs of a rig.
package jobs

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
)

// Check returns what keeps jobs from being queued. One without an ID would be
// taken for another, and be lost.
func Check(jobs []ledger.Job) error {
	for i := range jobs {
		if jobs[i].ID == "" || jobs[i].Knot == "" {
			return fmt.Errorf("job %d (id %q, knot %q): a job is queued with an id and a knot", i, jobs[i].ID, jobs[i].Knot)
		}
	}
	return nil
}

// New is a job as it is queued: what has happened to it before does not count, but
// that it may be dead.
func New(j *ledger.Job, seq int64, now time.Time) ledger.Job {
	n := ledger.Job{
		ID: j.ID, Seq: seq, Knot: j.Knot, Event: j.Event, Path: j.Path, Digest: j.Digest, Content: j.Content, Hops: j.Hops, Parent: j.Parent,
		Queued: j.Queued, State: ledger.Queued, After: j.After,
	}
	if n.Queued.IsZero() {
		n.Queued = now
	}
	if j.State == ledger.Dead {
		n.State, n.Error, n.Code, n.Ended, n.After = ledger.Dead, j.Error, j.Code, now, time.Time{}
	}
	return n
}

// CheckOutcome returns what keeps a job from ending, or resting, like this.
func CheckOutcome(o *ledger.Outcome) error {
	switch {
	case o.Back && o.State != ledger.Queued && o.State != "":
		return fmt.Errorf("a job that is given back is queued, and not %s", o.State)
	case !o.Back && o.State != ledger.Done && o.State != ledger.Dead && o.State != ledger.Queued:
		return fmt.Errorf("a job is settled as done, dead or queued, and not as %q", o.State)
	}
	return Check(o.Fires)
}

// CheckClaim returns what keeps a worker from claiming.
func CheckClaim(worker string) error {
	if worker == "" {
		return errors.New("a job is claimed by a worker with a name")
	}
	return nil
}

// Ended says whether a job is over, unless it is replayed.
func Ended(s ledger.State) bool { return s == ledger.Done || s == ledger.Dead }

// Begun says whether a session may have worked on a job.
func Begun(s ledger.State) bool { return s == ledger.Running || s == ledger.Writing }

// Holds says whether a worker with this epoch has the job.
func Holds(j *ledger.Job, epoch int64) bool { return j.Worker != "" && j.Epoch == epoch }

// Begin has a claimed job run as a session.
func Begin(j *ledger.Job, session string, now time.Time) {
	if session != j.Session {
		j.Attempt++
		j.Session, j.Began = session, now
		j.File, j.Offset, j.Section = "", 0, nil
	}
	j.State = ledger.Running
}

// Settle ends a claimed job's work.
func Settle(j *ledger.Job, o *ledger.Outcome, now time.Time) {
	if !o.Back || o.Error != "" || o.Code != "" {
		j.Error, j.Code = o.Error, o.Code
	}
	if o.Back && j.State == ledger.Running {
		j.Attempt--
		j.Session, j.Began = "", time.Time{}
	}
	j.State = o.State
	if o.Back {
		j.State = ledger.Queued
	}
	j.After = o.After
	if Ended(j.State) {
		j.After, j.Ended = time.Time{}, now
	}
	if j.State == ledger.Done {
		j.Content = nil
	}
	j.Worker = ""
	j.Hops = max(j.Hops, o.Hops)
	j.Cost += o.Cost
	j.Tokens += o.Tokens
}

// Replay queues a dead job anew, as the last one of the rig.
func Replay(j *ledger.Job, seq int64, now time.Time) {
	*j = ledger.Job{
		ID: j.ID, Seq: seq, Knot: j.Knot, Event: j.Event, Path: j.Path, Digest: j.Digest, Content: j.Content, Hops: j.Hops, Parent: j.Parent,
		Queued: now, State: ledger.Queued, Epoch: j.Epoch, Cost: j.Cost, Tokens: j.Tokens,
	}
}

// Held is a job that a worker has, or had when it died.
type Held struct {
	ID     string
	Seq    int64
	Knot   string
	Begun  bool
	Living bool // the worker is
}

// Room is what may be claimed of a rig.
type Room struct {
	Begun  *Held    // the first job that was begun and whose worker is dead; nil: there is none
	Queued *Held    // the first that was only claimed; nil: there is none
	Knots  []string // those that may have one more job, in their order
}

// Look finds what the limits leave. The jobs are in the order of their Seq.
func Look(held []Held, l ledger.Limits) Room {
	var r Room
	living, busy := 0, map[string]int{}
	for i := range held {
		if held[i].Living {
			living++
			busy[held[i].Knot]++
		}
	}
	if l.Total > 0 && living >= l.Total {
		return r
	}
	for knot, most := range l.Knots {
		if busy[knot] < most {
			r.Knots = append(r.Knots, knot)
		}
	}
	slices.Sort(r.Knots)
	for i := range held {
		h := &held[i]
		switch {
		case h.Living || busy[h.Knot] >= l.Knots[h.Knot]:
		case h.Begun && r.Begun == nil:
			r.Begun = h
		case !h.Begun && r.Queued == nil:
			r.Queued = h
		}
	}
	return r
}
