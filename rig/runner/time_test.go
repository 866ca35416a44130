package runner_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
)

const everyHour = "---\nagent-profile-ref: fast\nschedule: 0 * * * *\n---\nLook around.\n"

// TestMissedTimes: what was due while nothing ran is made up for by one job, of two
// processes by one, and a knot that is new is due from now on.
func TestMissedTimes(t *testing.T) {
	s := newSite(t, map[string]string{"old": everyHour, "new": everyHour})
	row := ledger.Strand{Knot: "docs-loom/old", Path: "schedule:0 * * * *", ModTime: time.Now().Add(-5 * time.Hour)}
	if _, err := s.store.Note(t.Context(), s.key, []ledger.Change{{Strand: row}}); err != nil {
		t.Fatal(err)
	}
	first, second := s.run(&agents{}), s.run(&agents{})
	known := func(knot string) bool {
		rows, err := s.store.Strands(t.Context(), s.key, knot, row.Path)
		if err != nil {
			t.Fatal(err)
		}
		return len(rows) == 1
	}
	s.until("a job that is done, and the other knot is known", func() bool {
		counts, err := s.store.Counts(t.Context(), s.key)
		return err == nil && len(counts) == 1 && counts[0].State == ledger.Done && known("docs-loom/new")
	})
	first()
	second()
	jobs, err := s.store.Jobs(t.Context(), s.key, ledger.Query{})
	if err != nil || len(jobs) != 1 || jobs[0].Knot != "docs-loom/old" || jobs[0].Event != "scheduled" {
		t.Errorf("%+v, %v", jobs, err)
	}
	rows, err := s.store.Strands(t.Context(), s.key, "docs-loom/old", row.Path)
	if err != nil || len(rows) != 1 || time.Since(rows[0].ModTime) > time.Hour {
		t.Errorf("the last time that was due: %+v, %v", rows, err)
	}
}

// TestQuietHours: no job begins while a knot is quiet, and others go on.
func TestQuietHours(t *testing.T) {
	now := time.Now()
	hours := now.Add(-time.Hour).Format("15:04") + "-" + now.Add(time.Hour).Format("15:04")
	s := newSite(t, map[string]string{"quiet": knot("quiet-hours: " + hours + "\n"), "loud": knot("")})
	s.write("strands/a.md", "one\n")
	stop := s.run(&agents{})
	defer stop()
	s.until("the end of one", func() bool {
		done, err := s.store.Jobs(t.Context(), s.key, ledger.Query{States: []ledger.State{ledger.Done}})
		return err == nil && len(done) == 1 && done[0].Knot == "docs-loom/loud"
	})
	s.until("the other that waits", func() bool {
		waiting, err := s.store.Jobs(t.Context(), s.key, ledger.Query{States: []ledger.State{ledger.Queued}})
		return err == nil && len(waiting) == 1 && waiting[0].Knot == "docs-loom/quiet" && waiting[0].Worker == ""
	})
}

// TestSpentBudgetOfTheRig: the knots of a rig that has spent what it may on a day begin
// nothing more, whichever of them it was, and it is said why.
func TestSpentBudgetOfTheRig(t *testing.T) {
	s := newSite(t, map[string]string{"one": knot(""), "other": knot("ignore: [a.md]\n")})
	s.perDay = 0.3
	defer s.run(&agents{cost: 0.3})()
	s.write("strands/a.md", "one\n")
	s.until("a run", func() bool {
		done, err := s.store.Jobs(t.Context(), s.key, ledger.Query{States: []ledger.State{ledger.Done}})
		return err == nil && len(done) == 1
	})
	s.write("strands/b.md", "two\n")
	s.until("two that wait", func() bool {
		waiting, err := s.store.Jobs(t.Context(), s.key, ledger.Query{States: []ledger.State{ledger.Queued}})
		return err == nil && len(waiting) == 2
	})
	r := runner.New(runner.Options{Dir: s.dir, Tenant: "local", Ledger: s.store, PerDay: s.perDay})
	_, err := r.Ask(t.Context(), "rig", runner.Wish{Knot: "other", Path: "strands/b.md"})
	if waits := (*runner.Waiting)(nil); !errors.As(err, &waits) || waits.Why != "of the budget of the rig of $0.3 a day $0.3000 are spent" {
		t.Error(err)
	}
	if done, err := s.store.Jobs(t.Context(), s.key, ledger.Query{States: []ledger.State{ledger.Done}}); err != nil || len(done) != 1 {
		t.Errorf("%d are done, %v", len(done), err)
	}
}

// TestSpentBudget: a knot that has spent what it may on a day begins nothing more.
func TestSpentBudget(t *testing.T) {
	s := newSite(t, map[string]string{"poor": knot("budget: {cost-per-day: 0.5}\n")})
	a := &agents{cost: 0.3}
	defer s.run(a)()
	s.write("strands/a.md", "one\n")
	s.write("strands/b.md", "two\n")
	s.until("two runs", func() bool {
		done, err := s.store.Jobs(t.Context(), s.key, ledger.Query{States: []ledger.State{ledger.Done}})
		return err == nil && len(done) == 2
	})
	s.write("strands/c.md", "three\n")
	s.until("a third that waits", func() bool {
		waiting, err := s.store.Jobs(t.Context(), s.key, ledger.Query{States: []ledger.State{ledger.Queued}})
		return err == nil && len(waiting) == 1 && waiting[0].Path == "strands/c.md"
	})
	cost, _, err := s.store.Spent(t.Context(), s.key, "docs-loom/poor", time.Now().Add(-time.Hour))
	if err != nil || cost != 0.6 {
		t.Errorf("spent %v, %v", cost, err)
	}
}
