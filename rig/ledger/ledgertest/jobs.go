package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/rig/ledger"
)

var jobTests = []test{
	{"are queued as they were given, in their order", func(f *fixture) {
		one, two := f.job("j1", "a/x", "docs/Größe.md"), f.job("j2", "a/y", "")
		two.After, two.Content, two.Parent = f.clock.Now().Add(time.Hour), nil, ""
		f.note([]ledger.Change{change(strand("a/x", "docs/Größe.md", 0), &one)})
		f.must(f.Queue(f.ctx, f.rig, []ledger.Job{two}))
		one.State, two.State = ledger.Queued, ledger.Queued
		got1, got2 := f.look("j1"), f.look("j2")
		if got1.Seq <= 0 || got2.Seq <= got1.Seq {
			f.Fatalf("the jobs have the places %d and %d", got1.Seq, got2.Seq)
		}
		one.Seq, two.Seq = got1.Seq, got2.Seq
		f.equal("the first", one, got1)
		f.equal("the second", two, got2)
	}},
	{"do not bring their own state", func(f *fixture) {
		j := f.job("j1", "a/x", "")
		want := j
		j.Seq, j.State, j.Attempt, j.Worker, j.Epoch, j.Session, j.Error, j.Ended, j.Cost = 99, ledger.Done, 3, "w9", 7, "s", "x", f.clock.Now(), 1
		f.must(f.Queue(f.ctx, f.rig, []ledger.Job{j}))
		got := f.look("j1")
		want.Seq, want.State = got.Seq, ledger.Queued
		f.equal("the job", want, got)
		f.claim("w1", "j1")
	}},
	{"whose ID is there are left as they are", func(f *fixture) {
		f.queue("a/x", "j1:1")
		want := f.look("j1")
		again := f.job("j1", "a/y", "2")
		f.must(f.Queue(f.ctx, f.rig, []ledger.Job{again, f.job("j2", "a/y", "2"), f.job("j2", "a/y", "3")}))
		f.equal("the job", want, f.look("j1"))
		f.equal("jobs", "j2 j1", f.ids(ledger.Query{}))
		f.settle(f.claim("w1", "j1"), ledger.Outcome{State: ledger.Done})
		f.settle(f.claim("w1", "j2"), ledger.Outcome{State: ledger.Done})
		f.queue("a/x", "j1:1", "j3:1")
		f.claim("w1", "j3") // it does not wait for the one that ended
	}},
	{"may be dead from the beginning", func(f *fixture) {
		noted, fired := f.job("j1", "a/x", "1"), f.job("j2", "a/x", "1")
		noted.State, noted.Error, noted.Code, noted.After = ledger.Dead, "too many hops", "MaxHops", f.clock.Now()
		fired.State = ledger.Dead
		f.note([]ledger.Change{change(strand("a/x", "1", 0), &noted)})
		got := f.look("j1")
		noted.Seq, noted.Ended, noted.After = got.Seq, f.clock.Now(), time.Time{}
		f.equal("the job", noted, got)
		f.noWork("w1")
		f.queue("a/x", "j3:1")
		f.settle(f.claim("w1", "j3"), ledger.Outcome{State: ledger.Done, Fires: []ledger.Job{fired}})
		f.noWork("w1")
		f.must(f.Replay(f.ctx, f.rig, "j1"))
		j := f.claim("w1", "j1")
		f.equal("replayed", "content of j1  ", fmt.Sprint(string(j.Content), " ", j.Error, " ", j.Code))
	}},
	{"have an id and a knot", func(f *fixture) {
		for _, bad := range []ledger.Job{f.job("", "a/x", ""), f.job("j2", "", "")} {
			if err := f.Queue(f.ctx, f.rig, []ledger.Job{f.job("j1", "a/x", ""), bad}); err == nil {
				f.Fatalf("job %q of knot %q was queued", bad.ID, bad.Knot)
			}
		}
		f.equal("jobs", "", f.ids(ledger.Query{}))
	}},
	{"without a time were queued now", func(f *fixture) {
		f.must(f.Queue(f.ctx, f.rig, []ledger.Job{{ID: "j1", Knot: "a/x"}}))
		f.equal("queued", f.clock.Now(), f.look("j1").Queued)
	}},
	{"that are not there are ErrNoJob", func(f *fixture) {
		_, err := f.Job(f.ctx, f.rig, "j1")
		f.is("Job", ledger.ErrNoJob, err)
		f.is("Replay", ledger.ErrNoJob, f.Replay(f.ctx, f.rig, "j1"))
		f.is("Drop", ledger.ErrNoJob, f.Drop(f.ctx, f.rig, "j1"))
		f.queue("a/x", "j1")
		f.is("Replay", ledger.ErrNoJob, f.Replay(f.ctx, f.rig, "j2"))
		f.is("Drop", ledger.ErrNoJob, f.Drop(f.ctx, f.rig, "j2"))
	}},
	{"that are dead are replayed from the beginning", func(f *fixture) {
		f.queue("a/x", "j1:1")
		j := f.claim("w1", "j1")
		f.begin(j, "s1")
		f.must(f.Write(f.ctx, f.rig, "j1", j.Epoch, "tie-off.md", 5, []byte("section")))
		f.settle(j, ledger.Outcome{State: ledger.Dead, Error: "it broke", Code: "Broken", Cost: 2, Tokens: 10})
		f.clock.Pass(time.Minute)
		f.beat("w1", "w2")
		f.queue("a/x", "j2:1")
		f.must(f.Replay(f.ctx, f.rig, "j1"))
		f.claim("w2", "j2")
		got := f.look("j1")
		want := f.job("j1", "a/x", "1")
		want.State, want.Epoch, want.Cost, want.Tokens, want.Seq = ledger.Queued, j.Epoch, 2, 10, got.Seq
		f.equal("replayed", want, got)
		f.noWork("w1") // it waits for the one of its path
		f.settle(f.look("j2"), ledger.Outcome{State: ledger.Done})
		j = f.claim("w1", "j1")
		f.equal("content", "content of j1", string(j.Content))
		f.begin(j, "s1")
		f.equal("attempt", 1, f.look("j1").Attempt)
	}},
	{"are replayed only when they are dead", func(f *fixture) {
		f.queue("a/x", "j1")
		f.is("queued", ledger.ErrNoJob, f.Replay(f.ctx, f.rig, "j1"))
		j := f.claim("w1", "j1")
		f.begin(j, "s1")
		f.is("running", ledger.ErrNoJob, f.Replay(f.ctx, f.rig, "j1"))
		f.settle(j, ledger.Outcome{State: ledger.Done})
		f.is("done", ledger.ErrNoJob, f.Replay(f.ctx, f.rig, "j1"))
	}},
	{"are dropped when they are queued or dead", func(f *fixture) {
		f.queue("a/x", "j1:1", "j2:1", "j3", "j4")
		f.must(f.Drop(f.ctx, f.rig, "j1"))
		j := f.claim("w1", "j2") // it waited for the first
		f.begin(j, "s")
		f.is("running", ledger.ErrNoJob, f.Drop(f.ctx, f.rig, "j2"))
		f.settle(j, ledger.Outcome{State: ledger.Done})
		f.is("done", ledger.ErrNoJob, f.Drop(f.ctx, f.rig, "j2"))
		f.settle(f.claim("w1", "j3"), ledger.Outcome{State: ledger.Dead, Cost: 3, Tokens: 30})
		f.must(f.Drop(f.ctx, f.rig, "j3"))
		j = f.claim("w1", "j4")
		f.must(f.Drop(f.ctx, f.rig, "j4"))
		f.is("Begin", ledger.ErrLost, f.Begin(f.ctx, f.rig, "j4", j.Epoch, "s"))
		f.equal("jobs", "j2=done", f.states())
		cost, _, err := f.Spent(f.ctx, f.rig, "", time.Time{})
		f.must(err)
		f.equal("what they have cost stays", 3.0, cost)
	}},
	{"that are done are forgotten when they are old", func(f *fixture) {
		f.queue("a/x", "j1", "j2", "j3", "j4")
		f.settle(f.claim("w1", "j1"), ledger.Outcome{State: ledger.Done, Cost: 1})
		f.settle(f.claim("w1", "j2"), ledger.Outcome{State: ledger.Dead})
		f.clock.Pass(time.Minute)
		f.beat("w1")
		f.settle(f.claim("w1", "j3"), ledger.Outcome{State: ledger.Done, Cost: 2})
		f.must(f.Forget(f.ctx, f.rig, f.clock.Now()))
		f.equal("jobs", "j2=dead j3=done j4=queued", f.states())
		cost, _, err := f.Spent(f.ctx, f.rig, "", time.Time{})
		f.must(err)
		f.equal("costs", 2.0, cost)
	}},
	{"keep any bytes of a path, and what is readable of an error", func(f *fixture) {
		f.queue("a/x", "j1:\xff", "j2:\xfe", "j3:\xff", "j4:a\x00b")
		for _, id := range []string{"j1", "j2", "j4"} {
			j := f.claim("w1", id)
			f.begin(j, "s")
			f.must(f.Write(f.ctx, f.rig, id, j.Epoch, "tie-off \xff", 1, []byte{0, 255}))
		}
		f.noWork("w1")
		got := f.look("j1")
		f.equal("path, file and section", "\xff tie-off \xff \x00\xff", fmt.Sprintf("%s %s %s", got.Path, got.File, got.Section))
		f.settle(got, ledger.Outcome{State: ledger.Dead, Error: "before\x00after\xff"})
		if e := f.look("j1").Error; len(e) < len("before after") || e[:6] != "before" {
			f.Fatalf("error %q", e)
		}
		f.equal("listed", "j3 j1", f.ids(ledger.Query{Path: "\xff"}))
	}},
	{"are not touched by a call whose context has ended", func(f *fixture) {
		f.queue("a/x", "j1")
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		_, noted := f.Note(ctx, f.rig, []ledger.Change{change(strand("a/x", "1", 0), nil)})
		_, claimed := f.ClaimJob(ctx, f.rig, "w1", all)
		_, listed := f.Jobs(ctx, f.rig, ledger.Query{})
		for what, err := range map[string]error{
			"Note": noted, "Claim": claimed, "Jobs": listed,
			"Queue": f.Queue(ctx, f.rig, []ledger.Job{f.job("j2", "a/x", "")}), "Drop": f.Drop(ctx, f.rig, "j1"),
		} {
			if !errors.Is(err, context.Canceled) {
				f.Errorf("%s: %v", what, err)
			}
		}
		f.equal("jobs", "j1=queued", f.states())
		f.equal("strands", 0, len(f.strands("a/x")))
	}},
}

var listTests = []test{
	{"have the newest first, without content and section", func(f *fixture) {
		f.queue("a/x", "j1")
		j := f.claim("w1", "j1")
		f.must(f.Write(f.ctx, f.rig, "j1", j.Epoch, "f", 0, []byte("section")))
		f.queue("a/y", "j2:1")
		list, err := f.Jobs(f.ctx, f.rig, ledger.Query{})
		f.must(err)
		want := []ledger.Job{f.look("j2"), f.look("j1")}
		f.equal("section", "section", string(want[1].Section))
		for i := range want {
			want[i].Content, want[i].Section = nil, nil
		}
		if diff := cmp.Diff(want, list); diff != "" {
			f.Fatalf("(-want +got):\n%s", diff)
		}
	}},
	{"are narrowed by each filter", func(f *fixture) {
		f.queue("a/x", "j1:1", "j2:2")
		f.queue("a/y", "j3:1", "j4:2", "j5")
		f.settle(f.claim("w1", "j1"), ledger.Outcome{State: ledger.Done})
		f.settle(f.claim("w1", "j2"), ledger.Outcome{State: ledger.Dead})
		f.begin(f.claim("w1", "j3"), "s")
		for _, c := range []struct {
			q    ledger.Query
			want string
		}{
			{ledger.Query{}, "j5 j4 j3 j2 j1"},
			{ledger.Query{Knot: "a/x"}, "j2 j1"},
			{ledger.Query{Path: "1"}, "j3 j1"},
			{ledger.Query{Knot: "a/y", Path: "1"}, "j3"},
			{ledger.Query{States: []ledger.State{ledger.Queued}}, "j5 j4"},
			{ledger.Query{States: []ledger.State{ledger.Done, ledger.Dead}}, "j2 j1"},
			{ledger.Query{States: []ledger.State{ledger.Running}, Knot: "a/x"}, ""},
			{ledger.Query{Before: f.look("j4").Seq}, "j3 j2 j1"},
			{ledger.Query{Before: f.look("j4").Seq, Limit: 2}, "j3 j2"},
			{ledger.Query{Knot: "' OR 1=1 --"}, ""},
		} {
			f.equal(fmt.Sprintf("%+v", c.q), c.want, f.ids(c.q))
		}
	}},
	{"have pages of 100, and of 1000 at most", func(f *fixture) {
		var list []ledger.Job
		for i := range ledger.MaxPage + 1 {
			list = append(list, ledger.Job{ID: fmt.Sprint("j", i), Knot: "a/x"})
		}
		f.must(f.Queue(f.ctx, f.rig, list))
		for limit, want := range map[int]int{0: 100, -1: 100, 7: 7, 1 << 30: ledger.MaxPage} {
			got, err := f.Jobs(f.ctx, f.rig, ledger.Query{Limit: limit})
			f.must(err)
			f.equal(fmt.Sprint("jobs with the limit ", limit), want, len(got))
		}
	}},
	{"count jobs by knot and state, in the order of both", func(f *fixture) {
		f.queue("b/x", "j1")
		f.queue("a/x", "j2", "j3", "j4")
		f.queue("B/x", "j5")
		f.settle(f.claimOf("w1", limits("a/x"), "j2"), ledger.Outcome{State: ledger.Done})
		got, err := f.Counts(f.ctx, f.rig)
		f.must(err)
		f.equal("counts", []ledger.Count{
			{Knot: "B/x", State: ledger.Queued, Jobs: 1}, {Knot: "a/x", State: ledger.Done, Jobs: 1},
			{Knot: "a/x", State: ledger.Queued, Jobs: 2}, {Knot: "b/x", State: ledger.Queued, Jobs: 1},
		}, got)
	}},
	{"tell when the next job is due", func(f *fixture) {
		due := func(want time.Time) {
			f.Helper()
			got, err := f.NextDue(f.ctx, f.rig)
			f.must(err)
			f.equal("due", want, got)
		}
		begin := f.clock.Now()
		due(time.Time{})
		late, soon, now := f.job("j1", "a/x", "1"), f.job("j2", "a/y", "2"), f.job("j3", "b/x", "3")
		late.After, soon.After = begin.Add(time.Hour), begin.Add(time.Minute)
		f.must(f.Queue(f.ctx, f.rig, []ledger.Job{late}))
		due(late.After)
		f.must(f.Queue(f.ctx, f.rig, []ledger.Job{soon}))
		due(soon.After)
		f.clock.Pass(time.Second)
		f.beat("w1")
		f.must(f.Queue(f.ctx, f.rig, []ledger.Job{now, f.job("j4", "b/x", "3")}))
		due(begin)
		j := f.claim("w1", "j3")
		due(soon.After) // neither one that is at work nor one that waits for it
		f.settle(j, ledger.Outcome{State: ledger.Queued, After: begin.Add(30 * time.Second)})
		due(begin.Add(30 * time.Second))
	}},
	{"sum up what was spent", func(f *fixture) {
		f.queue("a/x", "j1")
		f.queue("a/y", "j2")
		begin := f.clock.Now()
		f.settle(f.claim("w1", "j1"), ledger.Outcome{State: ledger.Queued, Cost: 1, Tokens: 10})
		f.clock.Pass(time.Hour)
		f.beat("w1")
		f.settle(f.claim("w1", "j1"), ledger.Outcome{State: ledger.Done, Cost: 2, Tokens: 20})
		f.settle(f.claim("w1", "j2"), ledger.Outcome{State: ledger.Dead, Cost: 4})
		j := f.look("j1")
		f.equal("cost and tokens of all attempts", "3 30", fmt.Sprint(j.Cost, j.Tokens))
		for _, c := range []struct {
			knot  string
			since time.Time
			want  string
		}{
			{"", time.Time{}, "7 30"}, {"", begin, "7 30"}, {"", begin.Add(time.Minute), "6 20"}, {"a/x", begin, "3 30"},
			{"a/x", f.clock.Now(), "2 20"}, {"a/y", begin, "4 0"}, {"b/x", begin, "0 0"}, {"", f.clock.Now().Add(time.Minute), "0 0"},
		} {
			cost, tokens, err := f.Spent(f.ctx, f.rig, c.knot, c.since)
			f.must(err)
			f.equal(fmt.Sprintf("knot %q since %v", c.knot, c.since), c.want, fmt.Sprint(cost, tokens))
		}
	}},
}
