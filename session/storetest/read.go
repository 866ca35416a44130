package storetest

import (
	"errors"
	"fmt"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

var readTests = []test{
	{"yields all events in order without gaps", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		var want []session.Event
		for i := range 40 {
			evs := []session.Event{}
			for j := range i%9 + 1 {
				evs = append(evs, f.note(i+j))
			}
			f.append(k, l, int64(len(want))+1, evs...)
			want = append(want, evs...)
		}
		f.same("all", want, f.read(k, 0)[1:])
		for i, n := range numbers(f.read(k, 0)) {
			f.equal("number", int64(i+1), n)
		}
	}},
	{"yields the events after a number", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		evs := f.work(1)
		f.append(k, l, 1, evs...)
		for after := int64(1); after <= 6; after++ {
			f.same(fmt.Sprint("after ", after), evs[after-1:], f.read(k, after))
		}
		f.equal("after what is not there", 0, len(f.read(k, 99)))
		f.equal("after a negative number", 6, len(f.read(k, -3)))
	}},
	{"yields nothing for an unknown stream", func(f *fixture) {
		f.equal("events", 0, len(f.read(key("none"), 0)))
	}},
	{"may be left early and begun again", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.append(k, l, 1, f.work(1)...)
		for n := range 20 {
			seen := 0
			for _, err := range f.Read(f.ctx, k, 0) {
				if err != nil {
					f.Fatal(err)
				}
				if seen++; seen > n%6 {
					break
				}
			}
		}
		f.append(k, l, 6, f.note(0))
		f.equal("events", 7, len(f.read(k, 0)))
	}},
	{"allows other calls while it yields", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.append(k, l, 1, f.work(1)...)
		var want int64 = 1
		for e, err := range f.Read(f.ctx, k, 0) {
			if err != nil {
				f.Fatal(err)
			}
			f.equal("number", want, e.Seq)
			want++
			if e.Seq <= 6 {
				f.append(k, l, f.last(k), f.note(0))
				f.equal("events", int(f.last(k)), len(f.read(k, 0)))
			}
		}
		if want <= 6 {
			f.Fatalf("it ended at %d", want-1)
		}
	}},
	{"gives bodies that decode to what was stored", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		evs := f.work(1)
		f.append(k, l, 1, evs...)
		for i, e := range f.read(k, 1) {
			if e.Body != nil {
				f.Errorf("event %d has a body before Decode", e.Seq)
			}
			body, err := e.Decode()
			if err != nil {
				f.Fatal(err)
			}
			f.equal(e.Type, evs[i].Body, body)
		}
	}},
}

var listTests = []test{
	{"yields the newest first, in pages", func(f *fixture) {
		for i := range 7 {
			f.post(key(fmt.Sprintf("01-%d", i)), session.Post{Events: []session.Event{f.prompt("x")}})
		}
		f.equal("all", []string{"01-6", "01-5", "01-4", "01-3", "01-2", "01-1", "01-0"}, f.list("acme", session.Query{}))
		f.equal("first page", []string{"01-6", "01-5", "01-4"}, f.list("acme", session.Query{Limit: 3}))
		f.equal("second page", []string{"01-3", "01-2", "01-1"}, f.list("acme", session.Query{Limit: 3, Before: "01-4"}))
		f.equal("last page", []string{"01-0"}, f.list("acme", session.Query{Limit: 3, Before: "01-1"}))
		f.equal("after the last", []string{}, f.list("acme", session.Query{Limit: 3, Before: "01-0"}))
	}},
	{"may be narrowed to a status", func(f *fixture) {
		for _, id := range []string{"idle", "failed", "running"} {
			l := f.start(key(id), "w1")
			if id == "running" {
				continue
			}
			f.append(key(id), l, 1, f.work(1)...)
			reason := session.ReasonDone
			if id == "failed" {
				reason = session.ReasonError
			}
			f.append(key(id), l, 6, f.end(reason))
		}
		for _, s := range []session.Status{session.Idle, session.Failed, session.Running} {
			f.equal(string(s), []string{string(s)}, f.list("acme", session.Query{Status: s, Limit: 2}))
		}
		f.equal("waiting", []string{}, f.list("acme", session.Query{Status: session.Waiting}))
	}},
	{"may be narrowed to a profile", func(f *fixture) {
		for i, name := range []string{"fast", "reviewer", "team/fast", "fast"} {
			f.post(key(fmt.Sprint(i)), session.Post{Events: []session.Event{f.event(&session.Prompt{Parts: text("x"), Profile: name, Shared: true})}})
		}
		f.equal("fast", []string{"3", "0"}, f.list("acme", session.Query{Profile: "fast"}))
		f.equal("the first page", []string{"3"}, f.list("acme", session.Query{Profile: "fast", Limit: 1}))
		f.equal("the next page", []string{"0"}, f.list("acme", session.Query{Profile: "fast", Before: "3"}))
		f.equal("with a status", []string{}, f.list("acme", session.Query{Profile: "fast", Status: session.Idle}))
		f.equal("another one", []string{"2"}, f.list("acme", session.Query{Profile: "team/fast"}))
		f.equal("none", []string{}, f.list("acme", session.Query{Profile: "fas%"}))
	}},
	{"may be left early", func(f *fixture) {
		for _, id := range []string{"a", "b", "c"} {
			f.start(key(id), "w1")
		}
		for range 10 {
			for range f.List(f.ctx, "acme", session.Query{}) {
				break
			}
		}
		f.equal("all", []string{"c", "b", "a"}, f.list("acme", session.Query{}))
	}},
	{"the summary is what Apply makes of the events", testSummary},
	{"there is no summary of an unknown stream", func(f *fixture) {
		if _, err := f.Summary(f.ctx, key("none")); !errors.Is(err, session.ErrNoStream) {
			f.Fatalf("err = %v, want ErrNoStream", err)
		}
	}},
}

func testSummary(f *fixture) {
	k := key("s1")
	want := session.Summary{Key: k}
	check := func(when string, evs ...session.Event) {
		f.Helper()
		for i := range evs {
			if err := want.Apply(&evs[i]); err != nil {
				f.Fatal(err)
			}
		}
		f.equal(when, want, f.summary(k))
		for sum, err := range f.List(f.ctx, k.Tenant, session.Query{}) {
			if err != nil {
				f.Fatal(err)
			}
			f.equal(when+", in the list", want, sum)
		}
		f.clock.Pass(1500 * 1000)
	}
	first := []session.Event{f.prompt("Title\nand more")}
	l := f.post(k, session.Post{Events: first, Worker: "w1"}).Lease
	check("after the prompt", first...)
	work := f.work(1)
	f.append(k, *l, 1, work...)
	check("in the loop", work...)
	notes := []session.Event{f.steer("x"), f.prompt("again")}
	f.post(k, session.Post{Events: notes})
	check("with notes", notes...)
	usage := message.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Cost: 0.1, Estimated: true}
	end := []session.Event{f.event(&session.Usage{Usage: usage}), f.end(session.ReasonError)}
	f.append(k, *l, f.last(k), end...)
	check("after an error", end...)
}

var blobTests = []test{
	{"are found by their digest", func(f *fixture) {
		for _, b := range [][]byte{[]byte("hello"), {}, {0, 1, 2, 0xff, 0}, make([]byte, 5<<20)} {
			digest := f.put(b)
			f.equal("digest", session.Digest(b), digest)
			got, err := f.Blob(f.ctx, "acme", digest)
			if err != nil || string(got) != string(b) {
				f.Fatalf("a blob of %d bytes came back with %d bytes, %v", len(b), len(got), err)
			}
		}
	}},
	{"may be put twice", func(f *fixture) {
		f.equal("digest", f.put([]byte("x")), f.put([]byte("x")))
	}},
	{"that are not there are ErrNoBlob", func(f *fixture) {
		for _, digest := range []string{session.Digest([]byte("x")), "", "no digest"} {
			if _, err := f.Blob(f.ctx, "acme", digest); !errors.Is(err, session.ErrNoBlob) {
				f.Errorf("%q: err = %v, want ErrNoBlob", digest, err)
			}
		}
	}},
	{"are copied", func(f *fixture) {
		b := []byte("hello")
		digest := f.put(b)
		b[0] = '#'
		for range 2 {
			got, err := f.Blob(f.ctx, "acme", digest)
			if err != nil || string(got) != "hello" {
				f.Fatalf("blob = %q, %v", got, err)
			}
			got[1] = '#'
		}
	}},
	{"that an event names must be there", testRefs},
	{"stay for an hour, or as long as an event needs them", testBlobTime},
}

func testRefs(f *fixture) {
	k := key("s1")
	missing := session.Digest([]byte("never put"))
	p := f.prompt("x")
	p.Refs = []string{missing}
	_, err := f.Post(f.ctx, k, session.Post{Events: []session.Event{p}})
	if !errors.Is(err, session.ErrNoBlob) {
		f.Fatalf("post: err = %v, want ErrNoBlob", err)
	}
	f.equal("list", []string{}, f.list("acme", session.Query{}))

	l := f.start(k, "w1")
	evs := f.work(1)
	evs[0].Refs = []string{f.put([]byte("there")), missing}
	_, err = f.Append(f.ctx, k, l, 1, evs)
	if !errors.Is(err, session.ErrNoBlob) {
		f.Fatalf("append: err = %v, want ErrNoBlob", err)
	}
	f.equal("last", int64(1), f.last(k))
	f.put([]byte("never put"))
	f.append(k, l, 1, evs...)
	f.equal("refs", evs[0].Refs, f.read(k, 1)[0].Refs)
}

func testBlobTime(f *fixture) {
	k := key("s1")
	l := f.start(k, "w1")
	needed := f.put([]byte("needed"))
	e := f.note(0)
	e.Refs = []string{needed}
	f.append(k, l, 1, e)
	renewed := f.put([]byte("renewed"))
	for i := range 10 {
		f.clock.Pass(59 * 60 * 1e9)
		for _, digest := range []string{needed, renewed} {
			if _, err := f.Blob(f.ctx, "acme", digest); err != nil {
				f.Fatalf("after %d hours: %v", i+1, err)
			}
		}
		f.put([]byte("renewed"))
		f.put([]byte{byte(i)})
	}
	e = f.note(0)
	e.Refs = []string{renewed}
	f.append(k, l, 2, e)
}
