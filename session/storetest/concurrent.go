package storetest

import (
	"errors"
	"fmt"
	"sync"

	"github.com/rosterrun/roster/session"
)

var concurrentTests = []test{
	{"owners of different streams do not disturb each other", func(f *fixture) {
		const owners, batches = 8, 20
		var wg sync.WaitGroup
		for i := range owners {
			k := key(fmt.Sprintf("s%d", i))
			l := f.start(k, "w1")
			wg.Go(func() {
				for n := range int64(batches) {
					evs := []session.Event{f.note(i), f.note(i + 1), f.note(i + 2)}
					if _, err := f.Append(f.ctx, k, l, 1+3*n, evs); err != nil {
						f.Errorf("%s: %v", k, err)
						return
					}
				}
			})
		}
		wg.Wait()
		for i := range owners {
			evs := f.read(key(fmt.Sprintf("s%d", i)), 0)
			f.equal("events", 1+3*batches, len(evs))
			f.gapless(evs)
		}
	}},
	{"posts to one stream take one number each", func(f *fixture) {
		const posters, posts = 8, 12
		k := key("s1")
		f.start(k, "w1")
		var wg sync.WaitGroup
		var mu sync.Mutex
		seen := map[int64]string{}
		for i := range posters {
			wg.Go(func() {
				for n := range posts {
					words := fmt.Sprint(i, "/", n)
					evs := []session.Event{f.steer(words)}
					done, err := f.Post(f.ctx, k, session.Post{Events: evs})
					if err != nil || done.First != evs[0].Seq {
						f.Errorf("post: %+v, %v", done, err)
						return
					}
					mu.Lock()
					seen[done.First] = words
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		evs := f.read(k, 0)
		f.gapless(evs)
		f.equal("numbers", posters*posts, len(seen))
		for _, e := range evs[1:] {
			body, err := e.Decode()
			if err != nil {
				f.Fatal(err)
			}
			f.equal("text", text(seen[e.Seq]), body.(*session.Steer).Parts)
		}
	}},
	{"posts with one key are stored once", func(f *fixture) {
		const posters = 8
		first := make([]session.Posted, posters)
		var wg sync.WaitGroup
		for i := range posters {
			wg.Go(func() {
				p := session.Post{Idem: "i1", Events: []session.Event{f.prompt("x")}}
				done, err := f.Post(f.ctx, key(fmt.Sprintf("s%d", i)), p)
				if err != nil {
					f.Error(err)
				}
				first[i] = done
			})
		}
		wg.Wait()
		f.equal("streams", 1, len(f.list("acme", session.Query{})))
		stored := 0
		for _, done := range first {
			f.equal("stream", first[0].Key, done.Key)
			if !done.Duplicate {
				stored++
			}
		}
		f.equal("posts that are no duplicate", 1, stored)
	}},
	{"an owner keeps up with posts, and readers see no gap", testRace},
}

// testRace has an owner, posters and readers on one stream.
func testRace(f *fixture) {
	const posters, posts, batches = 3, 10, 30
	k := key("s1")
	l := f.start(k, "w1")
	var writers, readers sync.WaitGroup
	for range posters {
		writers.Go(func() {
			for range posts {
				if _, err := f.Post(f.ctx, k, session.Post{Events: []session.Event{f.steer("x")}}); err != nil {
					f.Error(err)
				}
			}
		})
	}
	writers.Go(func() {
		last := int64(1)
		for range batches {
			last = f.insist(k, l, last)
		}
	})
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for last, ended := int64(0), false; !ended; {
				select {
				case <-done:
					ended = true
				default:
				}
				for e, err := range f.Read(f.ctx, k, last) {
					if err != nil || e.Seq != last+1 {
						f.Errorf("event %d after %d: %v", e.Seq, last, err)
						return
					}
					last = e.Seq
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	evs := f.read(k, 0)
	f.gapless(evs)
	f.equal("events", 1+posters*posts+2*batches, len(evs))
}

// insist appends two events, as often as posts come in between.
func (f *fixture) insist(k session.Key, l session.Lease, last int64) int64 {
	for {
		n, err := f.Append(f.ctx, k, l, last, []session.Event{f.note(1), f.note(2)})
		if err == nil {
			return n
		}
		var behind *session.Behind
		if !errors.As(err, &behind) || len(behind.Events) == 0 {
			f.Errorf("Append: %v", err)
			return last
		}
		for _, e := range behind.Events {
			if last++; e.Seq != last || !session.Inbound(e.Type) {
				f.Errorf("behind: event %d (%s), want an inbound event %d", e.Seq, e.Type, last)
			}
		}
	}
}

func (f *fixture) gapless(evs []session.Event) {
	f.Helper()
	for i, e := range evs {
		if e.Seq != int64(i+1) {
			f.Fatalf("event %d stands at place %d", e.Seq, i+1)
		}
	}
}
