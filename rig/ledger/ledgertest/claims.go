package ledgertest

import (
	"fmt"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session"
)

var claimTests = []test{
	{"takes the first of the knots that are named, with its content", func(f *fixture) {
		f.noWork("w1")
		f.queue("a/x", "j1", "j2")
		f.queue("a/y", "j3")
		f.noWorkOf("w1", limits("b/x"))
		f.noWorkOf("w1", ledger.Limits{})
		f.claimOf("w1", limits("a/y"), "j3")
		j := f.claim("w1", "j1")
		f.equal("content", "content of j1", string(j.Content))
		want := f.look("j1")
		f.equal("the job", want, j)
		f.equal("state and epoch", "queued 1", fmt.Sprint(j.State, " ", j.Epoch))
		f.claim("w1", "j2")
		f.noWork("w1")
	}},
	{"asks who it is", func(f *fixture) {
		f.queue("a/x", "j1")
		if j, err := f.ClaimJob(f.ctx, f.rig, "", all); err == nil {
			f.Fatalf("nobody claimed %s", j.ID)
		}
	}},
	{"waits until a job is due", func(f *fixture) {
		j := f.job("j1", "a/x", "")
		j.After = f.clock.Now().Add(5 * time.Second)
		f.must(f.Queue(f.ctx, f.rig, []ledger.Job{j}))
		f.queue("a/x", "j2")
		f.claim("w1", "j2")
		f.clock.Pass(5*time.Second - time.Microsecond)
		f.noWork("w1")
		f.clock.Pass(time.Microsecond)
		f.claim("w1", "j1")
	}},
	{"takes nothing from a worker that lives", func(f *fixture) {
		f.queue("a/x", "j1", "j2")
		f.claim("w1", "j1")
		f.begin(f.claim("w1", "j2"), "s")
		for range 3 {
			f.clock.Pass(session.LeaseTime - time.Millisecond)
			f.beat("w2")
			f.noWork("w2")
			f.noWork("w1")
			f.beat("w1")
		}
	}},
	{"makes a worker live that nobody knew", func(f *fixture) {
		f.queue("a/x", "j1")
		f.claim("w9", "j1")
		f.noWork("w1")
		f.clock.Pass(session.LeaseTime)
		f.beat("w1")
		f.claim("w1", "j1")
	}},
	{"takes from a worker that has not beaten for the lease time", func(f *fixture) {
		f.queue("a/x", "j1")
		f.begin(f.claim("w1", "j1"), "s")
		f.clock.Pass(session.LeaseTime)
		f.beat("w2")
		j := f.claim("w2", "j1")
		f.equal("state, session and epoch", "running s 2", fmt.Sprint(j.State, " ", j.Session, " ", j.Epoch))
	}},
	{"takes from a worker that was buried, or is not known any more, at once", func(f *fixture) {
		f.queue("a/x", "j1", "j2")
		f.begin(f.claim("w1", "j1"), "s")
		f.bury("w1")
		f.begin(f.claim("w2", "j1"), "s")
		f.bury("w2")
		f.bury("w2") // now no row is left of it
		f.bury("w2")
		f.claim("w3", "j1")
		f.claim("w3", "j2")
	}},
	{"takes what dead workers have begun first, in its order, then what is queued", func(f *fixture) {
		f.queue("a/x", "j1", "j2", "j3", "j4", "j5", "j6")
		f.begin(f.claim("w1", "j1"), "s")
		f.claim("w1", "j2") // claimed, and not begun
		f.begin(f.claim("w3", "j3"), "s")
		j := f.claim("w1", "j4")
		f.begin(j, "s")
		f.must(f.Write(f.ctx, f.rig, "j4", j.Epoch, "f", 0, nil))
		f.settle(f.look("j3"), ledger.Outcome{State: ledger.Queued})
		f.bury("w1")
		for _, id := range []string{"j1", "j4", "j2", "j3", "j5", "j6"} {
			f.claim("w2", id)
		}
		f.noWork("w2")
	}},
	{"keeps jobs of a path in their order, also when the first is tried again", func(f *fixture) {
		f.queue("a/x", "j1:1", "j2:1", "j3:2", "j4:1")
		j := f.claim("w1", "j1")
		f.claim("w2", "j3")
		f.noWork("w2")
		f.begin(j, "s")
		f.noWork("w2")
		f.settle(j, ledger.Outcome{State: ledger.Queued, After: f.clock.Now().Add(time.Second)})
		f.noWork("w2")
		f.clock.Pass(time.Second)
		j = f.claim("w2", "j1")
		f.settle(j, ledger.Outcome{State: ledger.Dead})
		f.settle(f.claim("w1", "j2"), ledger.Outcome{State: ledger.Done})
		f.claim("w1", "j4")
	}},
	{"keeps jobs of a path in their order when their worker dies", func(f *fixture) {
		f.queue("a/x", "j1:1", "j2:1")
		f.claim("w1", "j1")
		f.bury("w1")
		f.claim("w2", "j1")
		f.noWork("w3")
	}},
	{"lets jobs of a path in other knots, and jobs without a path, go side by side", func(f *fixture) {
		f.queue("a/x", "j1:1", "j2", "j3")
		f.queue("a/y", "j4:1")
		for _, id := range []string{"j1", "j2", "j3", "j4"} {
			f.claim("w1", id)
		}
	}},
	{"keeps the limit of a knot, of jobs whose worker lives", func(f *fixture) {
		two := ledger.Limits{Knots: map[string]int{"a/x": 2, "a/y": 1, "b/x": 0}}
		f.queue("b/x", "j0")
		f.queue("a/x", "j1", "j2", "j3")
		f.queue("a/y", "j4", "j5")
		f.begin(f.claimOf("w1", two, "j1"), "s")
		f.claimOf("w2", two, "j2")
		f.claimOf("w1", two, "j4")
		f.noWorkOf("w3", two)
		f.bury("w1")
		f.claimOf("w3", two, "j1")
		f.claimOf("w3", two, "j4")
		f.noWorkOf("w3", two)
		f.settle(f.look("j2"), ledger.Outcome{State: ledger.Done})
		f.claimOf("w3", two, "j3")
		f.noWorkOf("w3", two)
	}},
	{"keeps the limit of the rig, of all its knots", func(f *fixture) {
		three := limits("a/x")
		three.Total = 3
		f.queue("a/y", "j1", "j2")
		f.queue("a/x", "j3", "j4")
		f.claimOf("w1", limits("a/y"), "j1")
		f.claimOf("w1", limits("a/y"), "j2")
		f.claimOf("w2", three, "j3")
		f.noWorkOf("w2", three)
		f.bury("w1")
		f.claimOf("w2", three, "j4")
	}},
	{"raises the epoch, and whoever held the one before has lost the job", func(f *fixture) {
		f.queue("a/x", "j1")
		old := f.claim("w1", "j1")
		f.must(f.Holds(f.ctx, f.rig, "j1", old.Epoch))
		f.bury("w1")
		j := f.claim("w2", "j1")
		if j.Epoch <= old.Epoch {
			f.Fatalf("epoch %d after %d", j.Epoch, old.Epoch)
		}
		f.lost("the epoch before", "j1", old.Epoch)
		f.lost("a later epoch", "j1", j.Epoch+1)
		f.lost("a job that is not there", "j2", j.Epoch)
		f.equal("the job", f.look("j1"), j)
		f.settle(j, ledger.Outcome{State: ledger.Queued})
		f.lost("a job that is nobody's", "j1", j.Epoch)
		j = f.claim("w2", "j1")
		f.settle(j, ledger.Outcome{State: ledger.Dead})
		f.lost("a job that is dead", "j1", j.Epoch)
		f.must(f.Replay(f.ctx, f.rig, "j1"))
		f.lost("a job that is replayed", "j1", j.Epoch)
		again := f.claim("w2", "j1")
		f.lost("the epoch before the replay", "j1", j.Epoch)
		f.settle(again, ledger.Outcome{State: ledger.Done})
		f.lost("a job that is done", "j1", again.Epoch)
	}},
	{"leaves a job with a worker that nobody has taken it from", func(f *fixture) {
		f.queue("a/x", "j1")
		j := f.claim("w1", "j1")
		f.clock.Pass(time.Hour)
		f.must(f.Holds(f.ctx, f.rig, "j1", j.Epoch))
		f.begin(j, "s")
		f.settle(j, ledger.Outcome{State: ledger.Done})
	}},
}

// lost checks that an epoch of a job does nothing.
func (f *fixture) lost(what, id string, epoch int64) {
	f.Helper()
	f.is(what+": Holds", ledger.ErrLost, f.Holds(f.ctx, f.rig, id, epoch))
	f.is(what+": Begin", ledger.ErrLost, f.Begin(f.ctx, f.rig, id, epoch, "s9"))
	f.is(what+": Write", ledger.ErrLost, f.Write(f.ctx, f.rig, id, epoch, "f9", 9, []byte("x")))
	f.is(what+": Settle", ledger.ErrLost, f.Settle(f.ctx, f.rig, id, epoch, ledger.Outcome{State: ledger.Done, Cost: 9, Fires: []ledger.Job{f.job("j9", "a/x", "")}}))
	if _, err := f.Job(f.ctx, f.rig, "j9"); err == nil {
		f.Fatalf("%s: it fired", what)
	}
}
