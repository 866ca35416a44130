package roster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
)

func unheard(view.RigJob) {}

// TestRunKnotBesideTheRig: a job that somebody asks for is done once, whichever of those
// that may do it does.
func TestRunKnotBesideTheRig(t *testing.T) {
	r := newRigged(t, map[string]string{
		"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot("concurrency: 4\n"), "notes/b.md": "two\n",
	})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("It is clear.")})
	got := make(chan error, 4)
	for range cap(got) {
		go func() {
			job, err := r.app.RunKnot(t.Context(), "rig", "review", "notes/b.md", unheard)
			if err == nil && (job.State != "done" || job.Answer != "It is clear." || job.Path != "notes/b.md" || job.Event != "asked") {
				err = fmt.Errorf("the job is %+v", job)
			}
			got <- err
		}()
	}
	for range cap(got) {
		if err := <-got; err != nil {
			t.Error(err)
		}
	}
	if text := r.tieOff("docs-loom/review"); sections(text, "triggered by asked notes/b.md") != cap(got) {
		t.Error(text)
	}
}

// TestRunKnotAtRest: a knot that rests is not asked, and it is said until when.
func TestRunKnotAtRest(t *testing.T) {
	now := time.Now().UTC()
	quiet := reviewKnot("time-zone: UTC\nquiet-hours: " + today() + " 00:00-24:00\n")
	r := newRigged(t, map[string]string{"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": quiet, "strands/a.md": "one\n"})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("It is clear.")})
	var waits *runner.Waiting
	_, err := r.app.RunKnot(t.Context(), "rig", "review", "strands/a.md", unheard)
	if !errors.As(err, &waits) || !strings.Contains(err.Error(), "its quiet hours end at "+now.AddDate(0, 0, 2).Format("2006-01-02")+" 00:00 UTC") {
		t.Error(err)
	}
	if slices.ContainsFunc(r.jobs(), func(j view.RigJob) bool { return j.Event == "asked" }) {
		t.Error("it is queued all the same")
	}
}

// TestRunKnotInterrupted: a job that nobody waits for any more goes on with the rig.
func TestRunKnotInterrupted(t *testing.T) {
	r := newRigged(t, map[string]string{"rig/profiles/fast.md": fastProfile, "rig/docs-loom/review.md": reviewKnot(""), "strands/a.md": "one\n"})
	r.run(map[string]*script.Script{"openai/gpt-4o": says("It is clear.")})
	ctx, stop := context.WithCancel(t.Context())
	id := ""
	_, err := r.app.RunKnot(ctx, "rig", "review", "strands/a.md", func(j view.RigJob) {
		id = j.ID
		stop()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	r.until("the end of the job", func() bool {
		return slices.ContainsFunc(r.jobs(ledger.Done), func(j view.RigJob) bool { return j.ID == id })
	})
}

// TestWhyARigRests: that a rig has spent its budget is said of its knots that have
// something to do, of their jobs, and to who asks for more.
func TestWhyARigRests(t *testing.T) {
	r := newRigged(t, map[string]string{
		"roster.yaml": "rig: {budget: {cost-per-day: 0.01}}\n", "rig/profiles/fast.md": fastProfile,
		"rig/docs-loom/review.md": reviewKnot("budget: {cost-per-day: 5}\n"), "rig/docs-loom/idle.md": strings.Replace(reviewKnot(""), "name: review", "name: idle", 1), "strands/a.md": "one\n",
	})
	app, _, err := roster.Open(r.dir, roster.Options{State: r.state, Trust: true, Getenv: env{"ROSTER_HOME": t.TempDir()}.get})
	if err != nil {
		t.Fatal(err)
	}
	defer app.Close(context.Background())
	store, err := app.Ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	key := app.RigKey("rig")
	first, second := ledger.Job{ID: "1", Knot: "docs-loom/review"}, ledger.Job{ID: "2", Knot: "docs-loom/review"}
	if err := store.Queue(t.Context(), key, []ledger.Job{first, second}); err != nil {
		t.Fatal(err)
	}
	job, err := store.ClaimJob(t.Context(), key, "w", ledger.Limits{Knots: map[string]int{first.Knot: 1}})
	if err == nil {
		err = store.Settle(t.Context(), key, job.ID, job.Epoch, ledger.Outcome{State: ledger.Done, Cost: 0.02})
	}
	if err != nil {
		t.Fatal(err)
	}
	const why = "of the budget of the rig of $0.01 a day $0.0200 are spent"
	status, err := app.RigStatus(t.Context(), "rig")
	if err != nil || len(status.Knots) != 2 || status.Knots[0].Waits != "" || status.Knots[1].Waits != why {
		t.Errorf("the rig is %+v, %v", status, err)
	}
	if status.Budget == nil || *status.Budget != (view.DayBudget{CostPerDay: 0.01, Spent: 0.02}) {
		t.Errorf("the budget of the rig is %+v", status.Budget)
	}
	if idle, b := status.Knots[0].Budget, status.Knots[1].Budget; idle != nil || b == nil || *b != (view.DayBudget{CostPerDay: 5, Spent: 0.02}) {
		t.Errorf("the budgets of the knots are %+v, %+v", idle, b)
	}
	if one, err := app.RigJob(t.Context(), "rig", second.ID); err != nil || one.Waits != why {
		t.Errorf("the job is %+v, %v", one, err)
	}
	if _, err := app.RunKnot(t.Context(), "rig", "review", "strands/a.md", unheard); err == nil || !strings.Contains(err.Error(), why) {
		t.Error(err)
	}
}
