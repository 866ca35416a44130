package storetest

import (
	"errors"
	"time"

	"github.com/rosterrun/roster/session"
)

// noWork checks that there is nothing to claim.
func (f *fixture) noWork(worker string, only *session.Key) {
	f.Helper()
	k, _, err := f.Claim(f.ctx, worker, only)
	if !errors.Is(err, session.ErrNoWork) {
		f.Fatalf("Claim(%s) = %s, %v, want ErrNoWork", worker, k, err)
	}
}

var claimTests = []test{
	{"takes the stream that has waited longest", func(f *fixture) {
		for _, id := range []string{"b", "c", "a"} {
			f.post(key(id), session.Post{Events: []session.Event{f.prompt("x")}})
			f.clock.Pass(time.Second)
		}
		f.post(key("b"), session.Post{Events: []session.Event{f.steer("x")}})
		for _, want := range []string{"b", "c", "a"} {
			k, l := f.claim("w1", nil)
			f.equal("claimed", key(want), k)
			f.equal("lease", session.Lease{Worker: "w1", Epoch: 1}, l)
		}
		f.noWork("w1", nil)
	}},
	{"takes only the one that is named", func(f *fixture) {
		a, b, none := key("a"), key("b"), key("none")
		f.post(a, session.Post{Events: []session.Event{f.prompt("x")}})
		f.clock.Pass(time.Second)
		f.post(b, session.Post{Events: []session.Event{f.prompt("x")}})
		k, _ := f.claim("w1", &b)
		f.equal("claimed", b, k)
		f.noWork("w1", &b)
		f.noWork("w1", &none)
	}},
	{"leaves out streams that are not shared, unless one is named", func(f *fixture) {
		a, b := key("a"), key("b")
		f.post(a, session.Post{Events: []session.Event{f.private("x")}})
		f.noWork("w1", nil)
		f.post(a, session.Post{Events: []session.Event{f.prompt("the first prompt decides")}})
		f.noWork("w1", nil)
		f.clock.Pass(time.Second)
		f.post(b, session.Post{Events: []session.Event{f.prompt("x"), f.private("y")}})
		k, _ := f.claim("w1", nil)
		f.equal("claimed", b, k)
		k, _ = f.claim("w1", &a)
		f.equal("claimed by name", a, k)
	}},
	{"finds nothing in an empty store or an idle stream", func(f *fixture) {
		f.noWork("w1", nil)
		k := key("a")
		f.finish(k, f.start(k, "w1"), 1)
		f.noWork("w1", nil)
		f.noWork("w1", &k)
	}},
	{"raises the epoch each time", func(f *fixture) {
		k := key("a")
		l := f.start(k, "w1")
		for _, w := range []string{"w2", "w1", "w3"} {
			if err := f.Release(f.ctx, k, l); err != nil {
				f.Fatal(err)
			}
			_, next := f.claim(w, nil)
			if next.Epoch <= l.Epoch || next.Worker != w {
				f.Fatalf("lease %+v after %+v", next, l)
			}
			f.fenced("the lease before", k, l)
			l = next
		}
	}},
	{"does not take from a worker that lives", func(f *fixture) {
		k := key("a")
		f.beat("w1")
		f.start(k, "w1")
		for range 10 {
			f.clock.Pass(session.LeaseTime - time.Millisecond)
			f.noWork("w2", nil)
			f.noWork("w2", &k)
			f.noWork("w1", &k)
			f.beat("w1")
		}
	}},
	{"takes from a worker that was buried, at once", func(f *fixture) {
		k := key("a")
		old := f.start(k, "w1")
		f.append(k, old, 1, f.work(1)...)
		f.bury("w1")
		got, l := f.claim("w2", nil)
		f.equal("claimed", k, got)
		f.equal("lease", session.Lease{Worker: "w2", Epoch: old.Epoch + 1, Takeover: session.TakeoverDead}, l)
		f.fenced("the dead worker", k, old)
		f.noWork("w3", nil)
	}},
	{"takes from a worker that did not beat for LeaseTime", func(f *fixture) {
		k := key("a")
		f.beat("w1")
		f.clock.Pass(session.LeaseTime / 2)
		old := f.start(k, "w1")
		f.clock.Pass(session.LeaseTime/2 - time.Microsecond)
		f.noWork("w2", nil)
		f.clock.Pass(time.Microsecond)
		got, l := f.claim("w2", nil)
		f.equal("claimed", k, got)
		f.equal("lease", session.Lease{Worker: "w2", Epoch: old.Epoch + 1, Takeover: session.TakeoverExpired}, l)
		f.fenced("the late worker", k, old)
	}},
	{"takes from a worker that died before the clock was put back", func(f *fixture) {
		k := key("a")
		f.beat("w1")
		old := f.start(k, "w1")
		f.clock.Pass(-24 * time.Hour)
		f.beat("w2")
		f.noWork("w2", nil)
		f.clock.Pass(session.LeaseTime - time.Microsecond)
		f.noWork("w2", nil)
		f.clock.Pass(time.Microsecond)
		_, l := f.claim("w2", nil)
		f.equal("lease", session.Lease{Worker: "w2", Epoch: old.Epoch + 1, Takeover: session.TakeoverExpired}, l)
		f.fenced("the dead worker", k, old)
	}},
	{"does not take from a worker that lives when the clock is put back", func(f *fixture) {
		k := key("a")
		f.beat("w1")
		l := f.start(k, "w1")
		f.clock.Pass(-24 * time.Hour)
		f.append(k, l, 1, f.work(1)...)
		for range 3 {
			f.beat("w2")
			f.beat("w1")
			f.clock.Pass(session.LeaseTime / 2)
			f.noWork("w2", nil)
		}
	}},
	{"leaves a lease good until it is taken", func(f *fixture) {
		k := key("a")
		l := f.start(k, "w1")
		f.clock.Pass(2 * session.LeaseTime)
		f.append(k, l, 1, f.work(1)...)
		f.beat("w1")
		f.noWork("w2", nil)
	}},
	{"takes a stream that was taken over and abandoned again", func(f *fixture) {
		k := key("a")
		f.start(k, "w1")
		f.bury("w1")
		f.claim("w2", nil)
		f.clock.Pass(session.LeaseTime)
		_, l := f.claim("w3", nil)
		f.equal("lease", session.Lease{Worker: "w3", Epoch: 3, Takeover: session.TakeoverExpired}, l)
	}},
	{"gives each stream to one of many", testOneOwner},
	{"after a release the stream is free, at the end of the queue", func(f *fixture) {
		a, b := key("a"), key("b")
		l := f.start(a, "w1")
		f.clock.Pass(time.Second)
		f.post(b, session.Post{Events: []session.Event{f.prompt("x")}})
		f.clock.Pass(time.Second)
		if err := f.Release(f.ctx, a, l); err != nil {
			f.Fatal(err)
		}
		f.fenced("the lease that was given back", a, l)
		k, _ := f.claim("w2", nil)
		f.equal("claimed first", b, k)
		k, l2 := f.claim("w2", nil)
		f.equal("claimed second", a, k)
		f.equal("lease", session.Lease{Worker: "w2", Epoch: l.Epoch + 1, Takeover: session.TakeoverNone}, l2)
	}},
	{"a release needs the lease", func(f *fixture) {
		k := key("a")
		l := f.start(k, "w1")
		for _, wrong := range []session.Lease{{Worker: "w2", Epoch: l.Epoch}, {Worker: "w1", Epoch: l.Epoch + 1}} {
			if err := f.Release(f.ctx, k, wrong); !errors.As(err, new(*session.Fenced)) {
				f.Errorf("Release(%+v) = %v, want *Fenced", wrong, err)
			}
		}
		if err := f.Release(f.ctx, key("none"), l); !errors.Is(err, session.ErrNoStream) {
			f.Errorf("Release of an unknown stream: %v, want ErrNoStream", err)
		}
		f.append(k, l, 1, f.note(0))
	}},
}

// testOneOwner lets workers race for streams.
func testOneOwner(f *fixture) {
	const streams, workers = 24, 4
	for i := range streams {
		f.post(key(string(rune('a'+i))), session.Post{Events: []session.Event{f.prompt("x")}})
	}
	type got struct {
		k   session.Key
		err error
	}
	claimed := make(chan got)
	for i := range workers {
		go func() {
			for {
				k, _, err := f.Claim(f.ctx, string(rune('A'+i)), nil)
				claimed <- got{k, err}
				if err != nil {
					return
				}
			}
		}()
	}
	seen := map[session.Key]int{}
	for done := 0; done < workers; {
		c := <-claimed
		if c.err == nil {
			seen[c.k]++
			continue
		}
		if !errors.Is(c.err, session.ErrNoWork) {
			f.Error(c.err)
		}
		done++
	}
	for k, n := range seen {
		if n != 1 {
			f.Errorf("%s was claimed %d times", k, n)
		}
	}
	f.equal("streams claimed", streams, len(seen))
}

var workerTests = []test{
	{"a beat registers and renews", func(f *fixture) {
		f.beat("w2")
		at := f.clock.Now()
		f.clock.Pass(time.Second)
		f.beat("w1")
		f.equal("workers", []session.Worker{{ID: "w1", Beat: f.clock.Now()}, {ID: "w2", Beat: at}}, f.workers())
		f.clock.Pass(time.Second)
		f.beat("w2")
		f.equal("renewed", f.clock.Now(), f.workers()[1].Beat)
	}},
	{"a claim registers a worker that has not beaten", func(f *fixture) {
		f.start(key("a"), "w1")
		f.post(key("b"), session.Post{Events: []session.Event{f.prompt("x")}})
		f.claim("w2", nil)
		f.equal("workers", []session.Worker{{ID: "w1", Beat: f.clock.Now()}, {ID: "w2", Beat: f.clock.Now()}}, f.workers())
	}},
	{"one that said goodbye is gone", func(f *fixture) {
		f.beat("w1")
		f.beat("w2")
		f.bury("w1")
		f.equal("workers", []session.Worker{{ID: "w2", Beat: f.clock.Now()}}, f.workers())
		f.bury("never seen")
		f.equal("workers", 1, len(f.workers()))
	}},
	{"one that is dead is shown while it owns a stream", func(f *fixture) {
		k := key("a")
		f.start(k, "w1")
		f.bury("w1")
		f.equal("workers", []session.Worker{{ID: "w1", Beat: f.clock.Now(), Dead: true}}, f.workers())
		f.claim("w2", &k)
		f.equal("workers", []session.Worker{{ID: "w2", Beat: f.clock.Now()}}, f.workers())
	}},
	{"one that was buried too early beats again", func(f *fixture) {
		k := key("a")
		f.start(k, "w1")
		f.bury("w1")
		f.beat("w1")
		f.noWork("w2", nil)
		f.equal("workers", []session.Worker{{ID: "w1", Beat: f.clock.Now()}}, f.workers())
	}},
	{"one that was buried too early claims again", func(f *fixture) {
		f.beat("w1")
		f.bury("w1")
		f.clock.Pass(time.Second)
		f.start(key("a"), "w1")
		f.noWork("w2", nil)
		f.equal("workers", []session.Worker{{ID: "w1", Beat: f.clock.Now()}}, f.workers())
	}},
	{"an expired one is shown until it is buried", func(f *fixture) {
		f.beat("w1")
		at := f.clock.Now()
		f.clock.Pass(5 * session.LeaseTime)
		f.equal("workers", []session.Worker{{ID: "w1", Beat: at}}, f.workers())
	}},
}

func (f *fixture) workers() []session.Worker {
	f.Helper()
	ws, err := f.Workers(f.ctx)
	if err != nil {
		f.Fatalf("Workers: %v", err)
	}
	return ws
}
