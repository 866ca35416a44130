package ledgertest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/session/storetest"
)

// testModel has workers do anything in any order, and die, and compares the store with
// a model that is as plain as the contract. Each history has a rig and workers of its
// own.
func testModel(t *testing.T, s Store, clock *storetest.Clock) {
	histories := 0
	ctx := t.Context()
	rapid.Check(t, func(t *rapid.T) {
		histories++
		r := ledger.Rig{Tenant: "model", Name: fmt.Sprint(histories)}
		m := &model{fixture: &fixture{t, s, clock, ctx, r}, beats: map[string]time.Time{}, revs: map[string]int64{}}
		t.Repeat(map[string]func(*rapid.T){
			"queue": m.queueSome, "note": m.noteSome, "claim": m.claimOne, "claim again": m.claimOne, "begin": m.beginOne, "write": m.writeOne,
			"settle": m.settleOne, "settle again": m.settleOne, "beat": m.beatOne, "bury": m.buryOne, "pass": m.pass,
			"replay": m.replayOne, "drop": m.dropOne, "forget": m.forgetSome, "": m.check,
		})
	})
}

// model is what the store should hold.
type model struct {
	*fixture
	jobs  []*ledger.Job        // in the order of their Seq
	beats map[string]time.Time // of the workers that are not dead
	revs  map[string]int64     // of strands, by their path
	made  int                  // how many jobs
	costs []paid
}

// paid is what an attempt has cost.
type paid struct {
	time time.Time
	usd  float64
}

func (m *model) worker(t *rapid.T) string {
	return m.rig.Name + rapid.SampledFrom([]string{"-w1", "-w2", "-w3"}).Draw(t, "worker")
}

// one is a job, or nil if there is none.
func (m *model) one(t *rapid.T) *ledger.Job {
	if len(m.jobs) == 0 {
		return nil
	}
	return rapid.SampledFrom(m.jobs).Draw(t, "job")
}

// fresh is a job that may be queued.
func (m *model) fresh(t *rapid.T) ledger.Job {
	m.made++
	knot, path := rapid.SampledFrom([]string{"a/x", "a/y", "b/x"}).Draw(t, "knot"), rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "path")
	j := m.job(fmt.Sprint("j", m.made), knot, path)
	if rapid.IntRange(0, 4).Draw(t, "late") == 0 {
		j.After = m.clock.Now().Add(3 * time.Second)
	}
	if rapid.IntRange(0, 9).Draw(t, "dead") == 0 {
		j.State, j.Error = ledger.Dead, "too many hops"
	}
	return j
}

// add queues jobs in the model.
func (m *model) add(list ...ledger.Job) {
	for _, j := range list {
		if j.State == ledger.Dead {
			j.Ended, j.After = m.clock.Now(), time.Time{}
		} else {
			j.State = ledger.Queued
		}
		m.jobs = append(m.jobs, &j)
	}
}

func (m *model) queueSome(t *rapid.T) {
	list := []ledger.Job{m.fresh(t), m.fresh(t)}
	m.must(m.Queue(m.ctx, m.rig, append(list, list[0])))
	m.add(list...)
}

func (m *model) noteSome(t *rapid.T) {
	j := m.fresh(t)
	path := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "strand")
	rev := m.revs[path] - int64(rapid.IntRange(0, 3).Draw(t, "late")/3)
	var want []int
	if rev == m.revs[path] {
		m.revs[path]++
		m.add(j)
	} else {
		want = []int{0}
	}
	m.note([]ledger.Change{change(strand("a/x", path, rev), &j)}, want...)
}

func (m *model) lives(worker string) bool {
	beat, alive := m.beats[worker]
	return alive && m.clock.Now().Sub(beat) < session.LeaseTime
}

func open(j *ledger.Job) bool { return j.State != ledger.Done && j.State != ledger.Dead }

// claimable is what the contract says of ClaimJob.
func (m *model) claimable(l ledger.Limits) *ledger.Job {
	living, busy := 0, map[string]int{}
	for _, j := range m.jobs {
		if m.lives(j.Worker) {
			living++
			busy[j.Knot]++
		}
	}
	if l.Total > 0 && living >= l.Total {
		return nil
	}
	var first *ledger.Job
	for i, j := range m.jobs {
		if !open(j) || m.lives(j.Worker) || busy[j.Knot] >= l.Knots[j.Knot] || j.After.After(m.clock.Now()) {
			continue
		}
		if j.Path != "" && slices.ContainsFunc(m.jobs[:i], func(o *ledger.Job) bool { return open(o) && o.Knot == j.Knot && o.Path == j.Path }) {
			continue
		}
		if j.State != ledger.Queued {
			return j
		}
		first = cmp.Or(first, j)
	}
	return first
}

func (m *model) claimOne(t *rapid.T) {
	w := m.worker(t)
	l := ledger.Limits{Knots: map[string]int{}, Total: rapid.IntRange(0, 4).Draw(t, "total")}
	for _, k := range rapid.SliceOfN(rapid.SampledFrom([]string{"a/x", "a/y", "b/x"}), 0, 4).Draw(t, "knots") {
		l.Knots[k]++
	}
	want := m.claimable(l)
	got, err := m.ClaimJob(m.ctx, m.rig, w, l)
	if want == nil {
		if !errors.Is(err, ledger.ErrNoWork) {
			m.Fatalf("%s claimed %s, %v, want ErrNoWork", w, got.ID, err)
		}
		return
	}
	m.must(err)
	if _, alive := m.beats[w]; !alive {
		m.beats[w] = m.clock.Now()
	}
	want.Worker = w
	want.Epoch++
	got.Seq = 0
	m.equal("claimed", *want, got)
}

// held is a job, the epoch with which a step of it is tried, and whether that is the one
// of a worker that has it.
func (m *model) held(t *rapid.T) (j *ledger.Job, epoch int64, holds bool) {
	if j = m.one(t); j == nil {
		t.Skip("there is no job")
	}
	epoch = j.Epoch - int64(rapid.IntRange(0, 5).Draw(t, "old")/5)
	return j, epoch, j.Worker != "" && epoch == j.Epoch
}

// step checks what a step has come to.
func (m *model) step(holds bool, err error) {
	m.Helper()
	var want error
	if !holds {
		want = ledger.ErrLost
	}
	m.is("a step", want, err)
}

func (m *model) beginOne(t *rapid.T) {
	j, epoch, holds := m.held(t)
	s := rapid.SampledFrom([]string{"s1", "s2", "s3"}).Draw(t, "session")
	m.step(holds, m.Begin(m.ctx, m.rig, j.ID, epoch, s))
	if !holds {
		return
	}
	if j.State = ledger.Running; j.Session != s {
		j.Attempt++
		j.Session, j.Began, j.File, j.Offset, j.Section = s, m.clock.Now(), "", 0, nil
	}
}

func (m *model) writeOne(t *rapid.T) {
	j, epoch, holds := m.held(t)
	m.step(holds, m.Write(m.ctx, m.rig, j.ID, epoch, "f", int64(m.made), []byte("section")))
	if holds {
		j.State, j.File, j.Offset, j.Section = ledger.Writing, "f", int64(m.made), []byte("section")
	}
}

func (m *model) settleOne(t *rapid.T) {
	j, epoch, holds := m.held(t)
	o := ledger.Outcome{Cost: float64(rapid.IntRange(0, 3).Draw(t, "cost")), Tokens: 2}
	o.State = rapid.SampledFrom([]ledger.State{ledger.Done, ledger.Dead, ledger.Queued}).Draw(t, "state")
	if o.State == ledger.Queued {
		o.Back = rapid.Bool().Draw(t, "back")
		o.After = m.clock.Now().Add(time.Duration(rapid.IntRange(0, 2).Draw(t, "after")) * time.Second)
	}
	if !o.Back {
		o.Error = rapid.SampledFrom([]string{"", "it broke"}).Draw(t, "error")
	}
	if rapid.IntRange(0, 3).Draw(t, "fires") == 0 {
		o.Fires = []ledger.Job{m.fresh(t)}
	}
	m.step(holds, m.Settle(m.ctx, m.rig, j.ID, epoch, o))
	if !holds {
		return
	}
	switch {
	case !o.Back:
		j.Error = o.Error
	case j.State == ledger.Running:
		j.Attempt--
		j.Session, j.Began = "", time.Time{}
	}
	j.State, j.Worker, j.After = o.State, "", o.After
	j.Cost += o.Cost
	j.Tokens += o.Tokens
	m.costs = append(m.costs, paid{m.clock.Now(), o.Cost})
	if !open(j) {
		j.Ended, j.After = m.clock.Now(), time.Time{}
	}
	if j.State == ledger.Done {
		j.Content = nil
	}
	m.add(o.Fires...)
}

func (m *model) beatOne(t *rapid.T) {
	w := m.worker(t)
	m.beat(w)
	m.beats[w] = m.clock.Now()
}

func (m *model) buryOne(t *rapid.T) {
	w := m.worker(t)
	m.bury(w)
	delete(m.beats, w)
}

func (m *model) pass(t *rapid.T) {
	m.clock.Pass(rapid.SampledFrom([]time.Duration{time.Microsecond, time.Second, 4 * time.Second}).Draw(t, "time"))
}

func (m *model) replayOne(t *rapid.T) {
	j := m.one(t)
	if j == nil || j.State != ledger.Dead {
		t.Skip("no job is dead")
	}
	m.must(m.Replay(m.ctx, m.rig, j.ID))
	m.remove(j)
	again := m.job(j.ID, j.Knot, j.Path)
	again.Epoch, again.Cost, again.Tokens = j.Epoch, j.Cost, j.Tokens
	m.add(again)
}

func (m *model) remove(j *ledger.Job) {
	m.jobs = slices.DeleteFunc(m.jobs, func(o *ledger.Job) bool { return o == j })
}

func (m *model) dropOne(t *rapid.T) {
	j := m.one(t)
	if j == nil {
		t.Skip("there is no job")
	}
	err := m.Drop(m.ctx, m.rig, j.ID)
	if j.State != ledger.Queued && j.State != ledger.Dead {
		m.is("Drop", ledger.ErrNoJob, err)
		return
	}
	m.must(err)
	m.remove(j)
}

func (m *model) forgetSome(*rapid.T) {
	before := m.clock.Now().Add(-5 * time.Second)
	m.must(m.Forget(m.ctx, m.rig, before))
	m.jobs = slices.DeleteFunc(m.jobs, func(j *ledger.Job) bool { return j.State == ledger.Done && j.Ended.Before(before) })
	m.costs = slices.DeleteFunc(m.costs, func(p paid) bool { return p.time.Before(before) })
}

// check compares all that can be asked for.
func (m *model) check(*rapid.T) {
	list, err := m.Jobs(m.ctx, m.rig, ledger.Query{Limit: ledger.MaxPage})
	m.must(err)
	slices.Reverse(list)
	list = append([]ledger.Job{}, list...)
	want := []ledger.Job{}
	for i, j := range m.jobs {
		want = append(want, *j)
		want[i].Content, want[i].Section = nil, nil
	}
	for i := range list {
		if i > 0 && list[i].Seq <= list[i-1].Seq {
			m.Fatalf("job %s has the place %d, behind %d", list[i].ID, list[i].Seq, list[i-1].Seq)
		}
	}
	for i := range list {
		list[i].Seq = 0
	}
	m.equal("jobs", want, list)
	due, err := m.NextDue(m.ctx, m.rig)
	m.must(err)
	m.equal("due", m.due(), due)
	since, sum := m.clock.Now().Add(-2*time.Second), 0.0
	for _, p := range m.costs {
		if !p.time.Before(since) {
			sum += p.usd
		}
	}
	cost, _, err := m.Spent(m.ctx, m.rig, "", since)
	m.must(err)
	m.equal("spent", sum, cost)
}

// due is what the contract says of NextDue.
func (m *model) due() time.Time {
	var first *ledger.Job
	for i, j := range m.jobs {
		waits := j.Path != "" && slices.ContainsFunc(m.jobs[:i], func(o *ledger.Job) bool { return open(o) && o.Knot == j.Knot && o.Path == j.Path })
		if j.State == ledger.Queued && j.Worker == "" && !waits && (first == nil || j.After.Before(first.After)) {
			first = j
		}
	}
	switch {
	case first == nil:
		return time.Time{}
	case first.After.IsZero():
		return first.Queued
	}
	return first.After
}
