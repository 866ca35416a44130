package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
)

// How much Race does: in all, each knot and path has a few jobs.
const (
	raceJobs    = 120
	raceWorkers = 6
	raceTime    = time.Minute
)

// Race has workers of two stores of one database, whose clock is the real one, claim
// and die side by side while jobs are queued. Each job is done once, nobody has one whose
// worker lives, and jobs of a knot and path are done one after the other.
func Race(t *testing.T, one, other Store) {
	ctx, cancel := context.WithTimeout(t.Context(), raceTime)
	defer cancel()
	r := &race{T: t, left: raceJobs, holder: map[string]string{}, gone: map[string]bool{}}
	var wg sync.WaitGroup
	for i := range raceWorkers {
		s := []Store{one, other}[i%2]
		wg.Go(func() { r.produce(ctx, s, i) })
		wg.Go(func() { r.work(ctx, s, i) })
	}
	wg.Wait()
	if r.left != 0 {
		t.Fatalf("%d jobs are not done", r.left)
	}
	r.order(one)
}

type race struct {
	*testing.T
	mu     sync.Mutex
	left   int
	holder map[string]string // the worker of a job, as long as it may have it
	gone   map[string]bool   // workers that are dead, or about to be
}

// produce notes changes of files of its own, and queues jobs of paths of all.
func (r *race) produce(ctx context.Context, s Store, number int) {
	for i := range raceJobs / raceWorkers {
		j := ledger.Job{ID: fmt.Sprintf("j%d-%d", number, i), Knot: fmt.Sprint("a/", i%2), Path: fmt.Sprint(rand.N(4)), Content: []byte("x")}
		var err error
		if i%3 == 0 {
			err = s.Queue(ctx, acme, []ledger.Job{j})
		} else {
			_, err = s.Note(ctx, acme, []ledger.Change{change(strand("a/0", j.ID, 0), &j)})
		}
		if err != nil {
			r.Errorf("queue: %v", err)
			return
		}
	}
}

// work claims until all is done. It dies now and then, with the job it has, and lives on
// under another name.
func (r *race) work(ctx context.Context, s Store, number int) {
	for life := 0; r.going() && ctx.Err() == nil; life++ {
		name := fmt.Sprintf("w%d-%d", number, life)
		for alive := true; alive && r.going(); {
			var err error
			if alive, err = r.once(ctx, s, name); err != nil {
				r.Errorf("%s: %v", name, err)
				return
			}
		}
	}
}

func (r *race) going() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left > 0
}

func (r *race) once(ctx context.Context, s Store, name string) (alive bool, err error) {
	if err := s.Beat(ctx, name); err != nil {
		return false, err
	}
	j, err := s.ClaimJob(ctx, acme, name, ledger.Limits{Knots: map[string]int{"a/0": 2, "a/1": 3}, Total: 4})
	if errors.Is(err, ledger.ErrNoWork) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.take(&j)
	if err := s.Begin(ctx, acme, j.ID, j.Epoch, name); err != nil {
		return false, err
	}
	o := ledger.Outcome{State: ledger.Done}
	switch rand.N(5) {
	case 0:
		r.mu.Lock()
		r.gone[name] = true
		r.mu.Unlock()
		return false, s.Bury(ctx, name)
	case 1:
		o.State = ledger.Queued
	}
	r.mu.Lock()
	delete(r.holder, j.ID)
	r.mu.Unlock()
	if err := s.Settle(ctx, acme, j.ID, j.Epoch, o); err != nil {
		return false, err
	}
	if o.State == ledger.Done {
		r.mu.Lock()
		r.left--
		r.mu.Unlock()
	}
	return true, nil
}

// take notes who has a job.
func (r *race) take(j *ledger.Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w := r.holder[j.ID]; w != "" && !r.gone[w] {
		r.Errorf("%s has job %s, of %s, which lives", j.Worker, j.ID, w)
	}
	r.holder[j.ID] = j.Worker
}

// order looks whether each job began after the one before it had ended.
func (r *race) order(s Store) {
	list, err := s.Jobs(r.Context(), acme, ledger.Query{Limit: ledger.MaxPage})
	if err != nil || len(list) != raceJobs {
		r.Fatalf("%d jobs, %v, want %d", len(list), err, raceJobs)
	}
	type place struct{ knot, path string }
	next := map[place]ledger.Job{}
	for _, j := range list { // the newest first
		if j.State != ledger.Done {
			r.Errorf("job %s is %s", j.ID, j.State)
		}
		at := place{j.Knot, j.Path}
		if n, ok := next[at]; ok && n.Began.Before(j.Ended) {
			r.Errorf("job %s of %v began at %v, before %s had ended at %v", n.ID, at, n.Began, j.ID, j.Ended)
		}
		next[at] = j
	}
}
