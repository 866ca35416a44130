package ledgertest

import (
	"fmt"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
)

var stepTests = []test{
	{"Begin counts an attempt for each session", func(f *fixture) {
		f.queue("a/x", "j1")
		var began []time.Time
		for i, c := range []struct {
			session string
			attempt int
		}{{"s1", 1}, {"s1", 1}, {"s2", 2}} {
			j := f.claim("w1", "j1")
			f.begin(j, c.session)
			f.begin(j, c.session)
			got := f.look("j1")
			f.equal(fmt.Sprint("attempt ", i), fmt.Sprint(c.attempt, c.session, ledger.Running), fmt.Sprint(got.Attempt, got.Session, got.State))
			began = append(began, got.Began)
			f.settle(j, ledger.Outcome{State: ledger.Queued})
			f.clock.Pass(time.Second)
		}
		f.equal("the first began", f.clock.Now().Add(-3*time.Second), began[0])
		f.equal("it went on", began[0], began[1])
		f.equal("the second began", began[0].Add(2*time.Second), began[2])
	}},
	{"Write keeps the section for whoever has the job next", func(f *fixture) {
		f.queue("a/x", "j1")
		j := f.claim("w1", "j1")
		f.begin(j, "s")
		f.must(f.Write(f.ctx, f.rig, "j1", j.Epoch, "rig/tie-offs/Größe.md", 1<<40, []byte("## section\x00")))
		f.bury("w1")
		j = f.claim("w2", "j1")
		f.equal("state", ledger.Writing, j.State)
		f.equal("where", fmt.Sprint("rig/tie-offs/Größe.md", int64(1<<40)), fmt.Sprint(j.File, j.Offset))
		f.equal("what", "## section\x00", string(j.Section))
		f.equal("content", "content of j1", string(j.Content))
		f.must(f.Write(f.ctx, f.rig, "j1", j.Epoch, "f", 7, []byte("another")))
		f.settle(j, ledger.Outcome{State: ledger.Done})
		j = f.look("j1")
		f.equal("done", "f 7 another", fmt.Sprint(j.File, " ", j.Offset, " ", string(j.Section)))
	}},
	{"Begin of another session forgets the section of the one before", func(f *fixture) {
		f.queue("a/x", "j1")
		j := f.claim("w1", "j1")
		f.begin(j, "s1")
		f.must(f.Write(f.ctx, f.rig, "j1", j.Epoch, "f", 7, []byte("section")))
		f.settle(j, ledger.Outcome{State: ledger.Queued})
		j = f.claim("w1", "j1")
		f.equal("it is kept", "f 7 section", fmt.Sprint(j.File, " ", j.Offset, " ", string(j.Section)))
		f.begin(j, "s2")
		j = f.look("j1")
		f.equal("it is forgotten", " 0 ", fmt.Sprint(j.File, " ", j.Offset, " ", string(j.Section)))
	}},
	{"Settle of what is done removes the content, and keeps the rest", func(f *fixture) {
		f.queue("a/x", "j1:1")
		j := f.claim("w1", "j1")
		f.begin(j, "s")
		f.settle(j, ledger.Outcome{State: ledger.Done, Cost: 0.5, Tokens: 7})
		want := f.job("j1", "a/x", "1")
		want.Content, want.State, want.Attempt, want.Session, want.Began, want.Ended = nil, ledger.Done, 1, "s", f.clock.Now(), f.clock.Now()
		want.Epoch, want.Cost, want.Tokens, want.Seq = j.Epoch, 0.5, 7, j.Seq
		f.equal("the job", want, f.look("j1"))
		f.noWork("w1")
	}},
	{"Settle of what is dead keeps the content and the error", func(f *fixture) {
		f.queue("a/x", "j1:1")
		j := f.claim("w1", "j1")
		f.begin(j, "s")
		f.settle(j, ledger.Outcome{State: ledger.Dead, Error: "it broke", Code: "Broken"})
		got := f.look("j1")
		f.equal("the job", "dead it broke Broken content of j1", fmt.Sprint(got.State, " ", got.Error, " ", got.Code, " ", string(got.Content)))
		f.equal("ended", f.clock.Now(), got.Ended)
		f.noWork("w1")
	}},
	{"Settle of what is tried again says when, and why", func(f *fixture) {
		f.queue("a/x", "j1")
		j := f.claim("w1", "j1")
		f.begin(j, "s")
		after := f.clock.Now().Add(time.Minute)
		f.settle(j, ledger.Outcome{State: ledger.Queued, After: after, Error: "it broke", Code: "Broken"})
		got := f.look("j1")
		f.equal("the job", "queued it broke Broken 1 s", fmt.Sprint(got.State, " ", got.Error, " ", got.Code, " ", got.Attempt, " ", got.Session))
		f.equal("after", after, got.After)
		f.equal("ended", true, got.Ended.IsZero())
	}},
	{"Settle queues what the job fires, in the same commit", func(f *fixture) {
		f.queue("a/x", "j1:1", "j2:1")
		j := f.claim("w1", "j1")
		f.settle(j, ledger.Outcome{State: ledger.Done, Fires: []ledger.Job{f.job("j3", "a/y", "e1"), f.job("j4", "a/x", "1"), f.job("j1", "a/y", "e2")}})
		f.equal("jobs", "j1=done j2=queued j3=queued j4=queued", f.states())
		f.claim("w1", "j2")
		f.equal("content", "content of j3", string(f.claim("w1", "j3").Content))
		f.noWork("w1") // j4 is behind j2
	}},
	{"Settle gives a job back as if the attempt had not been", func(f *fixture) {
		f.queue("a/x", "j1")
		j := f.claim("w1", "j1")
		f.settle(j, ledger.Outcome{Back: true}) // before it was begun
		f.equal("not begun", 0, f.look("j1").Attempt)
		j = f.claim("w1", "j1")
		f.begin(j, "s1")
		f.settle(j, ledger.Outcome{State: ledger.Queued, Error: "it broke", Code: "Broken"})
		j = f.claim("w1", "j1")
		f.begin(j, "s2")
		f.settle(j, ledger.Outcome{State: ledger.Queued, Back: true, After: f.clock.Now().Add(time.Second), Cost: 1})
		got := f.look("j1")
		f.equal("given back", "queued 1 it broke Broken  1", fmt.Sprint(got.State, " ", got.Attempt, " ", got.Error, " ", got.Code, " ", got.Session, " ", got.Cost))
		f.equal("it has not begun", true, got.Began.IsZero())
		f.noWork("w2")
		f.clock.Pass(time.Second)
		j = f.claim("w2", "j1")
		f.begin(j, "s2")
		f.equal("begun again", 2, f.look("j1").Attempt)
		f.settle(j, ledger.Outcome{Back: true, Error: "no profile", Code: "NoProfile"})
		got = f.look("j1")
		f.equal("given back with a reason", "1 no profile NoProfile", fmt.Sprint(got.Attempt, " ", got.Error, " ", got.Code))
	}},
	{"Settle gives a job back that is Writing with its attempt and section", func(f *fixture) {
		f.queue("a/x", "j1")
		j := f.claim("w1", "j1")
		f.begin(j, "s1")
		f.must(f.Write(f.ctx, f.rig, "j1", j.Epoch, "f", 7, []byte("section")))
		f.settle(j, ledger.Outcome{Back: true})
		j = f.claim("w1", "j1")
		f.equal("the job", "queued 1 s1 f 7 section", fmt.Sprint(j.State, " ", j.Attempt, " ", j.Session, " ", j.File, " ", j.Offset, " ", string(j.Section)))
	}},
	{"Settle refuses what is no end", func(f *fixture) {
		f.queue("a/x", "j1")
		j := f.claim("w1", "j1")
		for _, o := range []ledger.Outcome{
			{}, {State: ledger.Running}, {State: ledger.Writing}, {State: "x"}, {State: ledger.Done, Back: true},
			{State: ledger.Done, Fires: []ledger.Job{{Knot: "a/x"}}},
		} {
			if err := f.Settle(f.ctx, f.rig, "j1", j.Epoch, o); err == nil {
				f.Fatalf("%+v was taken", o)
			}
		}
		f.equal("the job", j, f.look("j1"))
	}},
}
