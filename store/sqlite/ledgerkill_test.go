package sqlite_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/store/sqlite"
)

const ledgerKnot = "a-loom/x"

var (
	ledgerRig     = ledger.Rig{Tenant: "local", Name: "rig"}
	ledgerContent = bytes.Repeat([]byte("content\n"), 500) // several pages of the database
	ledgerSection = bytes.Repeat([]byte("section\n"), 2000)
	ledgerLimits  = ledger.Limits{Knots: map[string]int{ledgerKnot: 8}}
)

// childWorks queues jobs and works on them, three at once and without end, and prints
// each step after the store has acknowledged it.
func childWorks(ctx context.Context, s *sqlite.Store) error {
	errs := make(chan error)
	for i := range 3 {
		go func() {
			for n := 0; ; n++ {
				id := fmt.Sprintf("%s-%d-%d", os.Getenv(nameVar), i, n)
				j := ledger.Job{ID: id, Knot: ledgerKnot, Path: fmt.Sprint("in/", i, ".md"), Content: ledgerContent}
				if err := s.Queue(ctx, ledgerRig, []ledger.Job{j}); err != nil {
					errs <- err
					return
				}
				said(ledger.Queued, id)
				if err := workOne(ctx, s, os.Getenv(nameVar), said); err != nil && !errors.Is(err, ledger.ErrNoWork) {
					errs <- err
					return
				}
			}
		}()
	}
	return <-errs
}

func said(state ledger.State, id string) { fmt.Println(state, id) }

// workOne takes a job through all its steps, and says which are done.
func workOne(ctx context.Context, s *sqlite.Store, worker string, say func(ledger.State, string)) error {
	j, err := s.ClaimJob(ctx, ledgerRig, worker, ledgerLimits)
	if err != nil {
		return err
	}
	if j.State == ledger.Queued { // else a process that is dead has begun it
		if err := s.Begin(ctx, ledgerRig, j.ID, j.Epoch, "session-"+j.ID); err != nil {
			return err
		}
		say(ledger.Running, j.ID)
	}
	if err := s.Write(ctx, ledgerRig, j.ID, j.Epoch, "tie-offs/a-loom/tie-off-x.md", 7, ledgerSection); err != nil {
		return err
	}
	say(ledger.Writing, j.ID)
	err = s.Settle(ctx, ledgerRig, j.ID, j.Epoch, ledger.Outcome{
		State: ledger.Done, Cost: 1, Tokens: 10, Fires: []ledger.Job{{ID: j.ID + "-fired", Knot: "a-loom/y", Path: "event:" + ledgerKnot + ":Next", Content: ledgerContent}},
	})
	if err == nil {
		say(ledger.Done, j.ID)
	}
	return err
}

// ledgerSteps are the states of a job, in their order.
var ledgerSteps = []ledger.State{ledger.Queued, ledger.Running, ledger.Writing, ledger.Done}

// TestLedgerKilled kills a process that works on jobs, at random moments, and looks
// whether each step that was acknowledged is there, and each step whole or not at all.
func TestLedgerKilled(t *testing.T) {
	path := file(t)
	acknowledged := map[string]int{} // by job, a place in ledgerSteps
	cut := 0                         // jobs that were at work when their process was killed
	for round := range 20 {
		worker := fmt.Sprint("round", round)
		cmd := child(t, "work", path, worker)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for left := 1 + rand.IntN(60); lines.Scan(); left-- {
			var state, id string
			if _, err := fmt.Sscan(lines.Text(), &state, &id); err == nil {
				acknowledged[id] = max(acknowledged[id], slices.Index(ledgerSteps, ledger.State(state)))
			}
			if left == 0 {
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		cut += verifyLedger(t, path, worker, acknowledged)
	}
	if cut == 0 {
		t.Error("no process was killed at work")
	}
	s := open(t, path, sqlite.Options{})
	for {
		err := workOne(t.Context(), s, "last", func(ledger.State, string) {})
		if errors.Is(err, ledger.ErrNoWork) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if done := ledgerDone(t, s); len(done) != len(ledgerJobs(t, s)) || len(done) < 20 {
		t.Errorf("of %d jobs %d are done", len(ledgerJobs(t, s)), len(done))
	}
}

// verifyLedger looks at what a worker that was killed has left, counts the jobs that it was
// at work on, and says that it is dead.
func verifyLedger(t *testing.T, path, worker string, acknowledged map[string]int) (cut int) {
	t.Helper()
	s := open(t, path, sqlite.Options{})
	defer s.Close()
	for id, step := range acknowledged {
		if j, err := s.Job(t.Context(), ledgerRig, id); err != nil || slices.Index(ledgerSteps, j.State) < step {
			t.Fatalf("%s was acknowledged as %s, and is %s: %v", id, ledgerSteps[step], j.State, err)
		}
	}
	done := ledgerDone(t, s)
	for _, listed := range ledgerJobs(t, s) {
		j, err := s.Job(t.Context(), ledgerRig, listed.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Job(t.Context(), ledgerRig, j.ID+"-fired")
		if fired := !errors.Is(err, ledger.ErrNoJob); fired != (j.State == ledger.Done) || fired && err != nil {
			t.Fatalf("%s is %s, and what comes of it: %v", j.ID, j.State, err)
		}
		if !bytes.Equal(j.Content, ledgerContent) != (j.State == ledger.Done) {
			t.Fatalf("%s is %s, with %d bytes of content", j.ID, j.State, len(j.Content))
		}
		written := j.State == ledger.Writing || j.State == ledger.Done
		if written != bytes.Equal(j.Section, ledgerSection) || written != (j.Offset == 7) {
			t.Fatalf("%s is %s, with %d bytes of a section at %d", j.ID, j.State, len(j.Section), j.Offset)
		}
	}
	cost, tokens, err := s.Spent(t.Context(), ledgerRig, ledgerKnot, time.Time{})
	if err != nil || int(cost) != len(done) || int(tokens) != 10*len(done) {
		t.Fatalf("%d jobs are done and %v, %d were spent: %v", len(done), cost, tokens, err)
	}
	if ok, err := s.Text(t.Context(), "PRAGMA integrity_check"); err != nil || ok != "ok" {
		t.Fatalf("integrity_check: %s, %v", ok, err)
	}
	if err := s.Bury(t.Context(), worker); err != nil {
		t.Fatal(err)
	}
	return len(ledgerJobs(t, s, ledger.Running, ledger.Writing))
}

// ledgerJobs are all jobs that the children have queued, the newest first.
func ledgerJobs(t *testing.T, s *sqlite.Store, states ...ledger.State) (all []ledger.Job) {
	t.Helper()
	for q := (ledger.Query{Knot: ledgerKnot, States: states, Limit: ledger.MaxPage}); ; q.Before = all[len(all)-1].Seq {
		page, err := s.Jobs(t.Context(), ledgerRig, q)
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page...); len(page) < ledger.MaxPage {
			return all
		}
	}
}

// ledgerDone are those that are done, of which those of one file ended in their order.
func ledgerDone(t *testing.T, s *sqlite.Store) []ledger.Job {
	t.Helper()
	done := ledgerJobs(t, s, ledger.Done)
	after := map[string]ledger.Job{}
	for _, j := range done {
		if next, ok := after[j.Path]; ok && next.Ended.Before(j.Ended) {
			t.Errorf("%s ended before %s, which stands before it", next.ID, j.ID)
		}
		after[j.Path] = j
	}
	return done
}
