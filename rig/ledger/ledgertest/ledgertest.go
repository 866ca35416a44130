// Package ledgertest is the conformance suite of what keeps the ledgers of rigs: each
// clause of the contract in package ledger is one named test.
package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/session/storetest"
)

// Store is what is tested: a ledger, and the workers (session.Claims) it shares.
type Store interface {
	ledger.Store
	Beat(ctx context.Context, worker string) error
	Bury(ctx context.Context, worker string) error
}

// Run tests a store. Each call of open returns an empty one, which takes the time
// from now and is closed when its test ends.
func Run(t *testing.T, open func(t *testing.T, now func() time.Time) Store) {
	for _, g := range []struct {
		name  string
		tests []test
	}{
		{"strands", strandTests},
		{"jobs", jobTests},
		{"lists", listTests},
		{"claim", claimTests},
		{"steps", stepTests},
	} {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.tests {
				t.Run(c.name, func(t *testing.T) {
					clock := storetest.NewClock()
					f := &fixture{t, open(t, clock.Now), clock, t.Context(), acme}
					f.beat("w1", "w2", "w3")
					c.run(f)
				})
			}
		})
	}
	t.Run("any history agrees with the model", func(t *testing.T) {
		clock := storetest.NewClock()
		testModel(t, open(t, clock.Now), clock)
	})
}

type test struct {
	name string
	run  func(*fixture)
}

var acme = ledger.Rig{Tenant: "acme", Name: "rig"}

// tb is what a testing.T and a rapid.T have in common.
type tb interface {
	Helper()
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// fixture is a store with its clock, and a rig. Its methods end the test on an error
// that the test does not look for.
type fixture struct {
	tb
	Store
	clock *storetest.Clock
	ctx   context.Context
	rig   ledger.Rig
}

func (f *fixture) equal(what string, want, got any) {
	f.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func (f *fixture) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

// is ends the test unless an error is the one that is wanted.
func (f *fixture) is(what string, want, got error) {
	f.Helper()
	if !errors.Is(got, want) {
		f.Fatalf("%s: %v, want %v", what, got, want)
	}
}

func (f *fixture) beat(workers ...string) {
	f.Helper()
	for _, w := range workers {
		f.must(f.Beat(f.ctx, w))
	}
}

func (f *fixture) bury(worker string) { f.Helper(); f.must(f.Bury(f.ctx, worker)) }

// job is one that is new.
func (f *fixture) job(id, knot, path string) ledger.Job {
	return ledger.Job{
		ID: id, Knot: knot, Event: "modified", Path: path, Digest: "d" + id, Content: []byte("content of " + id),
		Hops: 2, Parent: "p" + id, Queued: f.clock.Now(),
	}
}

// queue adds jobs to a knot, which are written as ID or ID:PATH.
func (f *fixture) queue(knot string, names ...string) {
	f.Helper()
	var list []ledger.Job
	for _, name := range names {
		id, path, _ := strings.Cut(name, ":")
		list = append(list, f.job(id, knot, path))
	}
	f.must(f.Queue(f.ctx, f.rig, list))
}

// limits let many jobs of each knot be at work.
func limits(knots ...string) ledger.Limits {
	l := ledger.Limits{Knots: map[string]int{}}
	for _, k := range knots {
		l.Knots[k] = 100
	}
	return l
}

// all are the knots of the tests.
var all = limits("a/x", "a/y", "b/x")

func (f *fixture) claim(worker, want string) ledger.Job {
	f.Helper()
	return f.claimOf(worker, all, want)
}

func (f *fixture) claimOf(worker string, l ledger.Limits, want string) ledger.Job {
	f.Helper()
	j, err := f.ClaimJob(f.ctx, f.rig, worker, l)
	if err != nil || j.ID != want {
		f.Fatalf("%s claimed %q, %v, want %s", worker, j.ID, err, want)
	}
	if j.Worker != worker {
		f.Fatalf("job %s is with %q, want %s", j.ID, j.Worker, worker)
	}
	return j
}

func (f *fixture) noWork(worker string) { f.Helper(); f.noWorkOf(worker, all) }

func (f *fixture) noWorkOf(worker string, l ledger.Limits) {
	f.Helper()
	if j, err := f.ClaimJob(f.ctx, f.rig, worker, l); !errors.Is(err, ledger.ErrNoWork) {
		f.Fatalf("%s claimed %q, %v, want ErrNoWork", worker, j.ID, err)
	}
}

func (f *fixture) begin(j ledger.Job, session string) {
	f.Helper()
	f.must(f.Begin(f.ctx, f.rig, j.ID, j.Epoch, session))
}

func (f *fixture) settle(j ledger.Job, o ledger.Outcome) {
	f.Helper()
	f.must(f.Settle(f.ctx, f.rig, j.ID, j.Epoch, o))
}

func (f *fixture) look(id string) ledger.Job {
	f.Helper()
	j, err := f.Job(f.ctx, f.rig, id)
	f.must(err)
	return j
}

// ids lists jobs by their IDs, with spaces between.
func (f *fixture) ids(q ledger.Query) string {
	f.Helper()
	list, err := f.Jobs(f.ctx, f.rig, q)
	f.must(err)
	var ids []string
	for _, j := range list {
		ids = append(ids, j.ID)
	}
	return strings.Join(ids, " ")
}

// states lists jobs with their states, in the order of their Seq.
func (f *fixture) states() string {
	f.Helper()
	list, err := f.Jobs(f.ctx, f.rig, ledger.Query{Limit: ledger.MaxPage})
	f.must(err)
	text := ""
	for _, j := range list {
		text = fmt.Sprintf("%s=%s ", j.ID, j.State) + text
	}
	return strings.TrimSpace(text)
}
