package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

func (f *fixture) used(tenant string, q session.UsageQuery) []session.Used {
	f.Helper()
	sums, err := f.Usage(f.ctx, tenant, q)
	if err != nil {
		f.Fatalf("Usage(%s, %+v): %v", tenant, q, err)
	}
	return sums
}

// everything asks for each row of its own.
var everything = session.UsageQuery{By: session.UsageBys}

// call is what one model call leaves in the log.
func (f *fixture) call(model string, input int64) []session.Event {
	return []session.Event{
		f.event(&session.TurnStart{}),
		f.event(&session.Usage{Usage: message.Usage{Input: input, Output: 1, CacheRead: 2, CacheWrite: 3, Cost: 0.5}, Model: model}),
	}
}

// of makes events those of another loop of a child.
func of(loop string, evs ...session.Event) []session.Event {
	for i := range evs {
		evs[i].Session, evs[i].Loop, evs[i].Depth = "child", loop, 1
	}
	return evs
}

func (f *fixture) loopOf(profile, model, user, key string) session.Event {
	return f.event(&session.LoopStart{Number: 1, Why: "prompt", Profile: profile, Model: model, User: user, KeyID: key})
}

// spend runs a loop with one call of 10 tokens.
func (f *fixture) spend(k session.Key, profile, model, user, key string) int64 {
	f.Helper()
	posted := f.post(k, session.Post{Events: []session.Event{f.prompt("x")}, Worker: "w1"})
	evs := append([]session.Event{f.loopOf(profile, model, user, key), f.event(&session.Message{ID: "m1", Role: message.User, Source: "prompt", Post: posted.First})}, f.call(model, 10)...)
	return f.append(k, *posted.Lease, posted.Last, append(evs, f.end(session.ReasonDone))...)
}

func row(profile, model, user, key string, loops, turns, errors, input int64) session.Used {
	u := session.Used{
		Tenant: "acme", Day: session.DayOf(NewClock().Now()), Loops: loops, Turns: turns, Errors: errors,
		Account: session.Account{Profile: profile, Model: model, User: user, KeyID: key},
	}
	if input > 0 {
		u.Usage = message.Usage{Input: input, Output: 1, CacheRead: 2, CacheWrite: 3, Cost: 0.5}
	}
	return u
}

var usageTests = []test{
	{"an empty store has used nothing", func(f *fixture) {
		f.equal("usage", 0, len(f.used("acme", everything))+len(f.used("acme", session.UsageQuery{})))
	}},
	{"a commit counts its loops, turns and tokens for profile, model, user and key", func(f *fixture) {
		f.spend(key("a"), "reviewer", "p/m", "ann", "k1")
		f.equal("usage", []session.Used{row("reviewer", "p/m", "ann", "k1", 1, 1, 0, 10)}, f.used("acme", everything))
		f.equal("in all", int64(10), f.used("acme", session.UsageQuery{})[0].Usage.Input)
	}},
	{"a loop that fails counts as an error", func(f *fixture) {
		l := f.start(key("a"), "w1")
		f.append(key("a"), l, 1, f.loopOf("reviewer", "p/m", "", ""), f.end(session.ReasonError))
		f.equal("usage", []session.Used{row("reviewer", "p/m", "", "", 1, 0, 1, 0)}, f.used("acme", everything))
	}},
	{"children, switches and fallbacks are counted for what they run", func(f *fixture) {
		l := f.start(key("a"), "w1")
		last := f.append(key("a"), l, 1, append([]session.Event{f.loopOf("lead", "p/m", "ann", "")}, f.call("p/m", 10)...)...)
		last = f.append(key("a"), l, last, append(of("c1", f.loopOf("helper", "p/small", "ann", "")), of("c1", f.call("p/small", 20)...)...)...)
		last = f.append(key("a"), l, last, f.event(&session.Switched{From: "lead", To: "other", Model: "p/big"}), f.event(&session.TurnStart{}))
		last = f.append(key("a"), l, last, of("c1", f.event(&session.Fallback{From: "p/small", To: "p/tiny"}), f.event(&session.TurnStart{}))...)
		last = f.append(key("a"), l, last, of("c1", f.end(session.ReasonPoisoned))...)
		f.append(key("a"), l, last, f.end(session.ReasonDone))
		f.equal("usage", []session.Used{
			row("helper", "p/small", "ann", "", 1, 1, 0, 20),
			row("helper", "p/tiny", "ann", "", 0, 1, 1, 0),
			row("lead", "p/m", "ann", "", 1, 1, 0, 10),
			row("other", "p/big", "ann", "", 0, 1, 0, 0),
		}, f.used("acme", everything))
		f.equal("payers", 0, len(f.summary(key("a")).Payers))
	}},
	{"what is not stored is not counted", func(f *fixture) {
		l := f.start(key("a"), "w1")
		missing := f.event(&session.ToolUpdate{Call: "c"})
		missing.Refs = []string{session.Digest([]byte("nowhere"))}
		for name, try := range map[string]struct {
			lease session.Lease
			after int64
			evs   []session.Event
		}{
			"another's lease": {session.Lease{Worker: "w2", Epoch: 9}, 1, f.call("m", 1)},
			"an old number":   {l, 0, f.call("m", 1)},
			"no blob":         {l, 1, append(f.call("m", 1), missing)},
		} {
			if _, err := f.Append(f.ctx, key("a"), try.lease, try.after, try.evs); err == nil {
				f.Errorf("%s: it was stored", name)
			}
		}
		f.equal("usage", 0, len(f.used("acme", everything)))
	}},
	{"queries narrow and tell apart", func(f *fixture) {
		f.spend(key("a"), "one", "p/m", "ann", "k1")
		f.spend(key("b"), "two", "p/m", "bob", "k2")
		f.clock.Pass(24 * time.Hour)
		f.spend(key("c"), "one", "p/n", "ann", "k1")
		f.spend(session.Key{Tenant: "other", Stream: "a"}, "one", "p/m", "ann", "k1")
		day := session.DayOf(NewClock().Now())
		for name, c := range map[string]struct {
			q    session.UsageQuery
			want []session.Used
		}{
			"by profile":      {session.UsageQuery{By: []session.UsageBy{session.ByProfile}}, []session.Used{{Account: session.Account{Profile: "one"}, Loops: 2}, {Account: session.Account{Profile: "two"}, Loops: 1}}},
			"by day":          {session.UsageQuery{By: []session.UsageBy{session.ByDay}}, []session.Used{{Day: day, Loops: 2}, {Day: day + 1, Loops: 1}}},
			"by user and day": {session.UsageQuery{By: []session.UsageBy{session.ByUser, session.ByDay}}, []session.Used{{Account: session.Account{User: "ann"}, Day: day, Loops: 1}, {Account: session.Account{User: "ann"}, Day: day + 1, Loops: 1}, {Account: session.Account{User: "bob"}, Day: day, Loops: 1}}},
			"the first":       {session.UsageQuery{By: []session.UsageBy{session.ByKey}, Limit: 1}, []session.Used{{Account: session.Account{KeyID: "k1"}, Loops: 2}}},
			"from":            {session.UsageQuery{From: day + 1}, []session.Used{{Loops: 1}}},
			"to":              {session.UsageQuery{To: day}, []session.Used{{Loops: 2}}},
			"of a key":        {session.UsageQuery{KeyID: "k1"}, []session.Used{{Loops: 2}}},
			"of a user":       {session.UsageQuery{User: "bob"}, []session.Used{{Loops: 1}}},
			"of a model":      {session.UsageQuery{Model: "p/n"}, []session.Used{{Loops: 1}}},
			"of none":         {session.UsageQuery{Profile: "three"}, nil},
			"of all tenants":  {session.UsageQuery{AllTenants: true, By: []session.UsageBy{session.ByTenant}}, []session.Used{{Tenant: "acme", Loops: 3}, {Tenant: "other", Loops: 1}}},
		} {
			got := f.used("acme", c.q)
			for i := range got { // of the counts, one is enough
				got[i] = session.Used{Tenant: got[i].Tenant, Day: got[i].Day, Account: got[i].Account, Loops: got[i].Loops}
			}
			f.equal(name, c.want, got)
		}
		for _, by := range [][]session.UsageBy{{"colour"}, {session.ByDay, session.ByDay}} {
			if _, err := f.Usage(f.ctx, "acme", session.UsageQuery{By: by}); err == nil {
				f.Errorf("by %v: no error", by)
			}
		}
	}},
	{"pruning keeps what was used, and restoring does not count it again", func(f *fixture) {
		last := f.spend(key("a"), "reviewer", "p/m", "ann", "")
		want, log := f.used("acme", everything), f.read(key("a"), 0)
		if err := f.Prune(f.ctx, key("a"), last); err != nil {
			f.Fatal(err)
		}
		f.equal("after pruning", want, f.used("acme", everything))
		if err := f.Restore(f.ctx, key("a"), log); err != nil {
			f.Fatal(err)
		}
		f.equal("after restoring", want, f.used("acme", everything))
	}},
}

// Recounts looks for what a database has used that an older version has filled:
// forget makes it one of those, and closes it.
func Recounts(t *testing.T, open func() session.Backend, forget func(session.Backend)) {
	clock := NewClock()
	f := &fixture{t, open(), clock, t.Context()}
	f.spend(key("a"), "reviewer", "p/m", "ann", "k1")
	clock.Pass(48 * time.Hour)
	posted := f.post(key("b"), session.Post{Events: []session.Event{f.prompt("x")}, Worker: "w1"})
	f.append(key("b"), *posted.Lease, 1, append([]session.Event{f.loopOf("lead", "p/n", "bob", "")}, f.call("p/n", 20)...)...)
	last := f.spend(key("c"), "elsewhere", "p/m", "", "")
	log := append(f.read(key("c"), 0), f.event(&session.Imported{}))
	log[last].Seq = last + 1
	want, summary := f.used("acme", everything), f.summary(key("b"))
	if err := f.Prune(f.ctx, key("c"), last); err != nil {
		t.Fatal(err)
	}
	if err := f.Restore(f.ctx, key("c"), log); err != nil {
		t.Fatal(err)
	}
	forget(f.Backend)
	f.Backend = open()
	defer f.Close()
	want = slices.DeleteFunc(want, func(u session.Used) bool { return u.Profile == "elsewhere" }) // what was imported was used elsewhere
	f.equal("usage", want, f.used("acme", everything))
	f.equal("summary", summary, f.summary(key("b")))
	f.append(key("b"), *posted.Lease, f.last(key("b")), f.call("p/n", 5)...)
	want[1].Turns, want[1].Usage = 2, want[1].Usage.Add(message.Usage{Input: 5, Output: 1, CacheRead: 2, CacheWrite: 3, Cost: 0.5})
	f.equal("usage of the open loop", want, f.used("acme", everything))
}
