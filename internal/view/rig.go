package view

import (
	"cmp"
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/rig"
	"github.com/rosterrun/roster/rig/ledger"
)

// Rig is how a rig stands.
type Rig struct {
	Name  string `json:"name"`
	Knots []Knot `json:"knots"`
	// Problems is how many problems its files have: roster rig check names them.
	Problems int `json:"problems,omitempty"`
	// Budget is what its knots may spend together; absent: there is no limit.
	Budget *DayBudget `json:"budget,omitempty"`
}

// DayBudget is what may be spent on a day, in USD, and what of it is.
type DayBudget struct {
	CostPerDay float64 `json:"cost_per_day"`
	Spent      float64 `json:"spent"`
}

// RigState is how a rig stood, as its state.json has it.
type RigState struct {
	Updated time.Time `json:"updated"`
	Rig
}

// Knot is how a knot stands.
type Knot struct {
	ID   string `json:"id"`             // LOOM/NAME
	File string `json:"file,omitempty"` // absent: there is no such knot any more, and its jobs wait
	// Status is ok, refused, no profile, or gone where there is no such knot any more.
	Status   string `json:"status"`
	Problems int    `json:"problems,omitempty"` // errors and warnings of its file
	Profile  string `json:"profile,omitempty"`  // absent: it has one in place
	Input    string `json:"input,omitempty"`    // a folder, or event:PRODUCER:ID
	// On are the changes of the folder that count: created, modified, deleted.
	On       []string `json:"on"`
	Schedule string   `json:"schedule,omitempty"` // as written
	// NextRun is when the schedule is due.
	NextRun *time.Time `json:"next_run,omitempty"`
	Queued  int        `json:"queued"`
	Running int        `json:"running"`
	Done    int        `json:"done"`
	Dead    int        `json:"dead"`
	// Waits is why queued jobs do not begin: the knot or its rig rests, or what was said of
	// the newest that was tried.
	Waits string `json:"waits,omitempty"`
	// Budget is what it may spend; absent: the knot has no limit of its own.
	Budget *DayBudget `json:"budget,omitempty"`
}

// RigJob is one strand for one knot.
type RigJob struct {
	ID      string     `json:"id"`
	Seq     int64      `json:"seq"` // its place in the order of the rig
	Knot    string     `json:"knot"`
	Event   string     `json:"event"`
	Path    string     `json:"path,omitempty"`
	State   string     `json:"state"` // queued, running, writing, done or dead
	Attempt int        `json:"attempt"`
	Hops    int        `json:"hops,omitempty"`
	Parent  string     `json:"parent,omitempty"` // the job that caused it
	Queued  time.Time  `json:"queued"`
	After   *time.Time `json:"after,omitempty"` // it does not begin before
	Began   *time.Time `json:"began,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	Session string     `json:"session,omitempty"` // of the newest attempt
	TieOff  string     `json:"tie_off,omitempty"` // the file that has the answer, below the rig
	Error   string     `json:"error,omitempty"`
	Code    string     `json:"code,omitempty"`
	Cost    float64    `json:"cost"`
	Tokens  int64      `json:"tokens"`
	// Of one job alone, not of those in a list: what was answered, and why it does not go
	// on until something is mended, or for a long time.
	Answer string `json:"answer,omitempty"`
	Waits  string `json:"waits,omitempty"`
}

// NewRigJob is the view of a job.
func NewRigJob(j *ledger.Job) RigJob {
	return RigJob{
		ID: j.ID, Seq: j.Seq, Knot: j.Knot, Event: j.Event, Path: j.Path, State: string(j.State), Attempt: j.Attempt, Hops: j.Hops, Parent: j.Parent,
		Queued: j.Queued, After: orNone(j.After), Began: orNone(j.Began), Ended: orNone(j.Ended), Session: j.Session, TieOff: j.File,
		Error: j.Error, Code: j.Code, Cost: j.Cost, Tokens: j.Tokens,
	}
}

// RigJobs is a page of the jobs of a rig, the newest first.
type RigJobs struct {
	Jobs   []RigJob `json:"jobs"`
	Before int64    `json:"before,omitempty"` // of the next page; absent: this is the last one
}

// NewRigJobs is the view of what a query has found.
func NewRigJobs(q ledger.Query, jobs []RigJob) RigJobs {
	out := RigJobs{Jobs: jobs}
	if n := len(jobs); n > 0 && n == q.Page() {
		out.Before = jobs[n-1].Seq
	}
	return out
}

// NewRig is the view of a rig, its counts of jobs, and the jobs that wait with an error.
// noProfile says whether the profile of a knot is not there.
func NewRig(r *rig.Rig, noProfile func(*rig.Knot) bool, counts []ledger.Count, waiting []ledger.Job, now time.Time) Rig {
	out := Rig{Name: r.Name, Knots: []Knot{}, Problems: len(r.Diagnostics())}
	at := map[string]int{}
	for _, l := range r.Looms {
		for _, f := range l.Files {
			id := l.Name + "/" + f.Name
			at[id] = len(out.Knots)
			out.Knots = append(out.Knots, newKnot(id, &f, noProfile, now))
		}
	}
	of := func(id string) *Knot {
		i, known := at[id]
		if !known {
			i, at[id] = len(out.Knots), len(out.Knots)
			out.Knots = append(out.Knots, Knot{ID: id, Status: "gone", On: []string{}})
		}
		return &out.Knots[i]
	}
	for _, c := range counts {
		of(c.Knot).count(c)
	}
	for i := range waiting {
		if one := of(waiting[i].Knot); waiting[i].Error != "" {
			one.Waits = cmp.Or(one.Waits, waiting[i].Error)
		}
	}
	return out
}

func newKnot(id string, f *rig.File, noProfile func(*rig.Knot) bool, now time.Time) Knot {
	out := Knot{ID: id, File: f.Path, Status: "ok", On: []string{}}
	for _, d := range f.Diagnostics {
		if d.Severity != profile.SeverityNote {
			out.Problems++
		}
	}
	k := f.Knot
	if k == nil {
		out.Status = "refused"
		return out
	}
	if noProfile(k) {
		out.Status = "no profile"
	}
	out.Profile, out.Input = k.Agent.Ref, k.Input.V.String()
	if k.Input.V.Dir != "" {
		for _, e := range k.On.V {
			out.On = append(out.On, string(e))
		}
	}
	if s := k.Schedule.V; s != nil {
		out.Schedule, out.NextRun = s.Text, orNone(k.Next(now))
	}
	return out
}

func (k *Knot) count(c ledger.Count) {
	switch c.State {
	case ledger.Queued:
		k.Queued += c.Jobs
	case ledger.Running, ledger.Writing:
		k.Running += c.Jobs
	case ledger.Done:
		k.Done += c.Jobs
	case ledger.Dead:
		k.Dead += c.Jobs
	}
}
