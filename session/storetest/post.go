package storetest

import (
	"errors"
	"time"

	"github.com/rosterrun/roster/session"
)

var postTests = []test{
	{"numbers the events in place", func(f *fixture) {
		k := key("s1")
		evs := []session.Event{f.prompt("one"), f.steer("two")}
		done := f.post(k, session.Post{Events: evs})
		f.equal("posted", session.Posted{Key: k, First: 1, Last: 2}, done)
		f.equal("numbers", []int64{1, 2}, numbers(evs))
		done = f.post(k, session.Post{Events: []session.Event{f.steer("three")}})
		f.equal("posted", session.Posted{Key: k, First: 3, Last: 3}, done)
	}},
	{"is needed before anything else: an unknown stream begins with a prompt", func(f *fixture) {
		k := key("s1")
		for _, e := range []session.Event{f.steer("x"), f.event(&session.Followup{Parts: text("x")}), f.event(&session.Cancel{})} {
			evs := []session.Event{e}
			_, err := f.Post(f.ctx, k, session.Post{Events: evs, Worker: "w1"})
			if !errors.Is(err, session.ErrNoStream) {
				f.Errorf("%s: err = %v, want ErrNoStream", evs[0].Type, err)
			}
			f.equal("number given", int64(0), evs[0].Seq)
		}
		if _, err := f.Summary(f.ctx, k); !errors.Is(err, session.ErrNoStream) {
			f.Errorf("Summary after refused posts: %v, want ErrNoStream", err)
		}
		f.equal("list", []string{}, f.list("acme", session.Query{}))
	}},
	{"may begin with what another session has said", func(f *fixture) {
		k := key("a")
		f.post(k, session.Post{Events: []session.Event{f.event(&session.Branch{From: "o", Why: session.BranchFork, Profile: "p", Title: "t", Shared: true})}})
		sum := f.summary(k)
		f.equal("what the branch says", []any{"o", session.BranchFork, "p", "t", true, session.Idle},
			[]any{sum.Origin, sum.Why, sum.Profile, sum.Title, sum.Shared, sum.Status()})
		f.noWork("w1", &k)
		done := f.post(k, session.Post{Events: []session.Event{f.prompt("go on")}, Worker: "w1"})
		if done.Lease == nil {
			f.Error("a prompt does not claim it")
		}
		for got := range f.List(f.ctx, "acme", session.Query{}) {
			f.equal("listed", "o", got.Origin)
		}
	}},
	{"refuses the owner's events, all or none", func(f *fixture) {
		k := key("s1")
		for _, evs := range [][]session.Event{
			f.work(1),
			{f.prompt("x"), f.note(0)},
			{f.event(&session.Raw{Name: "future.thing", JSON: []byte("{}")})},
		} {
			if _, err := f.Post(f.ctx, k, session.Post{Events: evs}); err == nil {
				f.Errorf("posted %s", evs[len(evs)-1].Type)
			}
		}
		f.equal("events", 0, len(f.read(k, 0)))
	}},
	{"refuses an empty post and names that are empty", func(f *fixture) {
		if _, err := f.Post(f.ctx, key("s1"), session.Post{}); err == nil {
			f.Error("an empty post was accepted")
		}
		for _, k := range []session.Key{{Tenant: "acme"}, {Stream: "s1"}} {
			if _, err := f.Post(f.ctx, k, session.Post{Events: []session.Event{f.prompt("x")}}); err == nil {
				f.Errorf("a post to %q was accepted", k)
			}
		}
	}},
	{"needs no lease while another owns the stream", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		done := f.post(k, session.Post{Events: []session.Event{f.steer("x")}, Worker: "w2"})
		f.equal("posted, without a lease", session.Posted{Key: k, First: 2, Last: 2}, done)
		f.append(k, l, 2, f.note(0))
	}},
	{"marks the stream runnable", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.finish(k, l, 1)
		f.noWork("w2", nil)
		f.post(k, session.Post{Events: []session.Event{f.prompt("more")}})
		got, _ := f.claim("w2", nil)
		f.equal("claimed", k, got)
	}},
	{"claims a free stream for its worker", func(f *fixture) {
		k := key("s1")
		done := f.post(k, session.Post{Events: []session.Event{f.private("x")}, Worker: "w1"})
		if done.Lease == nil {
			f.Fatal("there is no lease")
		}
		f.equal("lease", session.Lease{Worker: "w1", Epoch: done.Lease.Epoch}, *done.Lease)
		f.append(k, *done.Lease, 1, f.work(1)...)
		f.noWork("w2", &k)
	}},
	{"claims nothing if there is nothing to do", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.finish(k, l, 1)
		done := f.post(k, session.Post{Events: []session.Event{f.event(&session.Cancel{})}, Worker: "w2"})
		if done.Lease != nil {
			f.Fatalf("a cancel for an idle stream gave the lease %+v", *done.Lease)
		}
	}},
	{"does not claim from a worker that is dead or late", func(f *fixture) {
		k := key("s1")
		f.start(k, "w1")
		f.clock.Pass(2 * session.LeaseTime)
		for range 2 {
			done := f.post(k, session.Post{Events: []session.Event{f.steer("x")}, Worker: "w2"})
			if done.Lease != nil {
				f.Fatalf("the post took the stream: %+v", *done.Lease)
			}
			f.bury("w1")
		}
	}},
	{"with OnlyIdle is refused by a stream that has work", testOnlyIdle},
	{"gives an event without a time the store's", func(f *fixture) {
		k := key("s1")
		e := f.prompt("x")
		e.Time = time.Time{}
		f.post(k, session.Post{Events: []session.Event{e}})
		f.equal("time", f.clock.Now(), f.read(k, 0)[0].Time)
	}},
}

func testOnlyIdle(f *fixture) {
	k := key("s1")
	post := func() error {
		_, err := f.Post(f.ctx, k, session.Post{Events: []session.Event{f.prompt("x")}, OnlyIdle: true, Worker: "w1"})
		return err
	}
	if err := post(); err != nil {
		f.Fatalf("a new stream: %v", err)
	}
	l := session.Lease{Worker: "w1", Epoch: 1}
	busy := func(when string) {
		f.Helper()
		last := f.last(k)
		var b *session.Busy
		if err := post(); !errors.As(err, &b) || b.Key != k {
			f.Fatalf("%s: err = %v, want *Busy", when, err)
		}
		f.equal(when+": last", last, f.last(k))
	}
	busy("a prompt waits")
	f.append(k, l, 1, f.work(1)...)
	busy("a loop is open")
	f.append(k, l, f.last(k), f.end(session.ReasonDone))
	if err := post(); err != nil {
		f.Fatalf("an idle stream: %v", err)
	}
	_, err := f.Post(f.ctx, k, session.Post{Events: []session.Event{f.steer("x")}})
	if err != nil {
		f.Fatalf("without OnlyIdle: %v", err)
	}
}

var idemTests = []test{
	{"the same post is stored once", func(f *fixture) {
		k := key("s1")
		p := func() session.Post {
			return session.Post{Idem: "i1", Events: []session.Event{f.prompt("x"), f.steer("y")}}
		}
		f.post(k, p())
		f.post(k, session.Post{Events: []session.Event{f.steer("z")}})
		f.clock.Pass(time.Hour)
		again := p()
		again.Events[0].Chain = "another request"
		done := f.post(k, again)
		f.equal("posted", session.Posted{Key: k, First: 1, Last: 2, Duplicate: true}, done)
		f.equal("numbers", []int64{1, 2}, numbers(again.Events))
		f.equal("last", int64(3), f.last(k))
	}},
	{"with other events is a conflict", func(f *fixture) {
		k := key("s1")
		f.post(k, session.Post{Idem: "i1", Events: []session.Event{f.prompt("x")}})
		for name, evs := range map[string][]session.Event{
			"other text": {f.prompt("y")},
			"other type": {f.event(&session.Followup{Parts: text("x")})},
			"one more":   {f.prompt("x"), f.prompt("x")},
		} {
			_, err := f.Post(f.ctx, k, session.Post{Idem: "i1", Events: evs})
			var c *session.Conflict
			if !errors.As(err, &c) || c.Idem != "i1" {
				f.Errorf("%s: err = %v, want *Conflict", name, err)
			}
		}
		f.equal("last", int64(1), f.last(k))
	}},
	{"for another stream answers with the first", func(f *fixture) {
		k, other := key("s1"), key("s2")
		f.post(k, session.Post{Idem: "i1", Events: []session.Event{f.prompt("x")}, Worker: "w1"})
		done := f.post(other, session.Post{Idem: "i1", Events: []session.Event{f.prompt("x")}, Worker: "w1"})
		f.equal("posted", session.Posted{Key: k, First: 1, Last: 1, Duplicate: true}, done)
		f.equal("list", []string{"s1"}, f.list("acme", session.Query{}))
	}},
	{"is the tenant's own", func(f *fixture) {
		k, other := key("s1"), session.Key{Tenant: "other", Stream: "s1"}
		f.post(k, session.Post{Idem: "i1", Events: []session.Event{f.prompt("x")}})
		done := f.post(other, session.Post{Idem: "i1", Events: []session.Event{f.prompt("y")}})
		f.equal("posted", session.Posted{Key: other, First: 1, Last: 1}, done)
	}},
	{"a duplicate is no error for a busy stream", func(f *fixture) {
		k := key("s1")
		p := func() session.Post {
			return session.Post{Idem: "i1", Events: []session.Event{f.prompt("x")}, OnlyIdle: true}
		}
		f.post(k, p())
		f.equal("duplicate", true, f.post(k, p()).Duplicate)
	}},
	{"a refused post does not use up its key", func(f *fixture) {
		k := key("s1")
		f.start(k, "w1")
		_, err := f.Post(f.ctx, k, session.Post{Idem: "i1", Events: []session.Event{f.prompt("x")}, OnlyIdle: true})
		if !errors.As(err, new(*session.Busy)) {
			f.Fatalf("err = %v, want *Busy", err)
		}
		done := f.post(k, session.Post{Idem: "i1", Events: []session.Event{f.steer("other")}})
		f.equal("posted", session.Posted{Key: k, First: 2, Last: 2}, done)
	}},
	{"ends after 24 hours", func(f *fixture) {
		k := key("s1")
		p := func(s string) session.Post { return session.Post{Idem: "i1", Events: []session.Event{f.prompt(s)}} }
		f.post(k, p("x"))
		f.clock.Pass(24*time.Hour - time.Second)
		f.equal("duplicate before", true, f.post(k, p("x")).Duplicate)
		f.clock.Pass(2 * time.Second)
		f.equal("posted after", session.Posted{Key: k, First: 2, Last: 2}, f.post(k, p("y")))
		f.clock.Pass(time.Hour)
		f.equal("duplicate again", true, f.post(k, p("y")).Duplicate)
	}},
}
