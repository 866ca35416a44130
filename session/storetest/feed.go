package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rosterrun/roster/session"
)

// feed reads a tenant's feed from a position to its end. Positions must go up,
// and the last one must be the end.
func (f *fixture) feed(tenant string, after session.Position) []session.Fed {
	f.Helper()
	var all []session.Fed
	at := after
	for fed, err := range f.ReadFeed(f.ctx, tenant, after) {
		if err != nil {
			f.Fatalf("ReadFeed(%s, after %v): %v", tenant, after, err)
		}
		if fed.At.Compare(at) <= 0 {
			f.Fatalf("%v comes after %v", fed.At, at)
		}
		at = fed.At
		if fed.Key.Tenant != tenant || fed.At.Seq != fed.Event.Seq {
			f.Fatalf("%v of %s is event %d of %s", fed.At, tenant, fed.Event.Seq, fed.Key)
		}
		all = append(all, fed)
	}
	return all
}

func (f *fixture) feedEnd(tenant string) session.Position {
	f.Helper()
	end, err := f.FeedEnd(f.ctx, tenant)
	if err != nil {
		f.Fatalf("FeedEnd(%s): %v", tenant, err)
	}
	return end
}

// shown lists events as stream/number.
func shown(all []session.Fed) []string {
	out := []string{}
	for _, fed := range all {
		out = append(out, fmt.Sprint(fed.Key.Stream, "/", fed.Event.Seq))
	}
	return out
}

var feedTests = []test{
	{"yields what was committed, in that order, from any position on", func(f *fixture) {
		f.equal("end of nothing", session.Position{}, f.feedEnd("acme"))
		f.equal("nothing", 0, len(f.feed("acme", session.Position{})))
		a := f.start(key("a"), "w1")
		b := f.start(key("b"), "w1")
		f.append(key("a"), a, 1, f.note(1), f.note(2))
		f.post(key("b"), session.Post{Events: []session.Event{f.steer("x")}})
		f.append(key("b"), b, 2, f.note(3))
		all := f.feed("acme", session.Position{})
		f.equal("feed", []string{"a/1", "b/1", "a/2", "a/3", "b/2", "b/3"}, shown(all))
		f.equal("end", all[5].At, f.feedEnd("acme"))
		for i := range all {
			f.equal("the rest", shown(all[i+1:]), shown(f.feed("acme", all[i].At)))
		}
		f.same("events of a", f.read(key("a"), 0), []session.Event{all[0].Event, all[2].Event, all[3].Event})
		f.append(key("a"), a, 3, f.note(4))
		f.equal("what came since", []string{"a/4"}, shown(f.feed("acme", all[5].At)))
	}},
	{"of a tenant has nothing of another", func(f *fixture) {
		f.start(key("a"), "w1")
		f.start(session.Key{Tenant: "other", Stream: "b"}, "w1")
		f.start(key("c"), "w1")
		f.equal("of the first", []string{"a/1", "c/1"}, shown(f.feed("acme", session.Position{})))
		f.equal("of the other", []string{"b/1"}, shown(f.feed("other", session.Position{})))
		f.equal("of nobody", session.Position{}, f.feedEnd("nobody"))
	}},
	{"has nothing of what was refused", func(f *fixture) {
		l := f.start(key("a"), "w1")
		end := f.feedEnd("acme")
		if _, err := f.Append(f.ctx, key("a"), session.Lease{Worker: "w2", Epoch: 9}, 1, []session.Event{f.note(0)}); err == nil {
			f.Error("a stranger's events are taken")
		}
		if _, err := f.Append(f.ctx, key("a"), l, 1, []session.Event{f.refers(strings.Repeat("0", 64))}); err == nil {
			f.Error("an event is taken whose blob is not there")
		}
		f.append(key("a"), l, 1) // nothing
		f.equal("end", end, f.feedEnd("acme"))
		f.append(key("a"), l, 1, f.note(0))
		f.equal("what came since", []string{"a/2"}, shown(f.feed("acme", end)))
	}},
	{"leaves out what is pruned, and gives no position twice", func(f *fixture) {
		f.talk(key("a"), "one")
		last := f.talk(key("b"), "two")
		end := f.feedEnd("acme")
		if err := f.Prune(f.ctx, key("b"), last); err != nil {
			f.Fatal(err)
		}
		f.equal("end", end, f.feedEnd("acme"))
		f.equal("what is left", 7, len(f.feed("acme", session.Position{})))
		f.start(key("b"), "w1")
		f.equal("what came since", []string{"b/1"}, shown(f.feed("acme", end)))
		if err := f.Prune(f.ctx, key("a"), 7); err != nil {
			f.Fatal(err)
		}
		f.equal("of all", []string{"b/1"}, shown(f.feed("acme", session.Position{})))
	}},
	{"has what is restored where it was restored", func(f *fixture) {
		f.talk(key("a"), "one")
		evs := f.read(key("a"), 0)
		if err := f.Prune(f.ctx, key("a"), 7); err != nil {
			f.Fatal(err)
		}
		f.start(key("b"), "w1")
		end := f.feedEnd("acme")
		if err := f.Restore(f.ctx, key("a"), evs); err != nil {
			f.Fatal(err)
		}
		f.equal("what came since", 7, len(f.feed("acme", end)))
	}},
	{"is read however long it is", func(f *fixture) {
		var want []string
		var ls []session.Lease
		for i := range 3 {
			ls = append(ls, f.start(key(fmt.Sprint("s", i)), "w1"))
			want = append(want, fmt.Sprint("s", i, "/1"))
		}
		for n := range int64(120) {
			for i, l := range ls {
				e := f.note(0)
				if n%40 == 0 {
					e = f.event(&session.ToolUpdate{Call: "c", Text: strings.Repeat("x", 400_000)})
				}
				f.append(key(fmt.Sprint("s", i)), l, n+1, e)
				want = append(want, fmt.Sprint("s", i, "/", n+2))
			}
		}
		all := f.feed("acme", session.Position{})
		f.equal("feed", want, shown(all))
		for _, i := range []int{1, 127, 254, 255, 256, 257, 300} {
			f.equal("the rest", want[i+1:], shown(f.feed("acme", all[i].At)))
		}
	}},
	{"is read past any number of pruned streams", func(f *fixture) {
		const n = 150
		for i := range n {
			f.talk(key(fmt.Sprintf("p%03d", i)), "x")
		}
		f.start(key("z"), "w1")
		for i := range n {
			if err := f.Prune(f.ctx, key(fmt.Sprintf("p%03d", i)), 7); err != nil {
				f.Fatal(err)
			}
		}
		f.equal("feed", []string{"z/1"}, shown(f.feed("acme", session.Position{})))
	}},
	{"loses and doubles nothing beside many writers", testFeedRace},
}

// testFeedRace has readers follow the feed while owners append to their streams
// and others post to them.
func testFeedRace(f *fixture) {
	const owners, batches, readers = 6, 25, 3
	var writers sync.WaitGroup
	for i := range owners {
		k := key(fmt.Sprint("s", i))
		l := f.start(k, "w1")
		writers.Go(func() {
			for last, n := int64(1), 0; n < batches; n++ {
				last = f.insist(k, l, last)
			}
		})
		writers.Go(func() {
			for range batches {
				if _, err := f.Post(f.ctx, k, session.Post{Events: []session.Event{f.steer("x")}}); err != nil {
					f.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	seen := make([][]session.Fed, readers)
	var following sync.WaitGroup
	for i := range readers {
		following.Go(func() { seen[i] = f.followFeed(done) })
	}
	writers.Wait()
	close(done)
	following.Wait()
	all := shown(f.feed("acme", session.Position{}))
	f.equal("events", owners*(1+3*batches), len(all))
	for i := range seen {
		if !slices.Equal(all, shown(seen[i])) {
			f.Errorf("reader %d has seen %d events, or others, of %d", i, len(seen[i]), len(all))
		}
	}
	numbers := map[string]int64{}
	for _, fed := range seen[0] {
		if numbers[fed.Key.Stream]++; fed.Event.Seq != numbers[fed.Key.Stream] {
			f.Errorf("event %d of %s comes as its %d.", fed.Event.Seq, fed.Key, numbers[fed.Key.Stream])
		}
	}
}

// followFeed reads on from where it stands until there is nothing more after
// done.
func (f *fixture) followFeed(done chan struct{}) (seen []session.Fed) {
	var at session.Position
	for last := false; ; {
		before := at
		for fed, err := range f.ReadFeed(f.ctx, "acme", at) {
			if err != nil {
				f.Errorf("ReadFeed: %v", err)
				return seen
			}
			at = fed.At
			seen = append(seen, fed)
		}
		if last && at == before {
			return seen
		}
		select {
		case <-done:
			last = true
		default:
		}
	}
}
