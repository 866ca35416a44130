package storetest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rosterrun/roster/session"
)

// prunedAfter is when a blob is gone that nothing needs.
const prunedAfter = 3 * time.Hour

// talk makes a stream that has come to rest after a question and its answer.
func (f *fixture) talk(k session.Key, asks string, more ...session.Event) int64 {
	f.Helper()
	posted := f.post(k, session.Post{Events: []session.Event{f.prompt(asks)}, Worker: "w1"})
	f.append(k, *posted.Lease, 1, append(f.work(1), more...)...)
	f.append(k, *posted.Lease, f.last(k), f.end(session.ReasonDone))
	return f.last(k)
}

func (f *fixture) refers(blobs ...string) session.Event {
	e := f.note(0)
	e.Refs = blobs
	return e
}

var retentionTests = []test{
	{"a store that can be written says so, and stays as it is", func(f *fixture) {
		f.talk(key("a"), "one")
		before := f.summary(key("a"))
		if err := f.Writable(f.ctx); err != nil {
			f.Error(err)
		}
		f.equal("summary", before, f.summary(key("a")))
		f.Close()
		if err := f.Writable(f.ctx); err == nil {
			f.Error("one that is closed can be written")
		}
	}},
	{"prune removes a stream with its events", func(f *fixture) {
		last := f.talk(key("a"), "one")
		f.talk(key("b"), "two")
		if err := f.Prune(f.ctx, key("a"), last); err != nil {
			f.Fatal(err)
		}
		f.equal("events", 0, len(f.read(key("a"), 0)))
		if _, err := f.Summary(f.ctx, key("a")); !errors.Is(err, session.ErrNoStream) {
			f.Errorf("the summary: %v", err)
		}
		f.equal("list", []string{"b"}, f.list("acme", session.Query{}))
		if err := f.Prune(f.ctx, key("a"), last); !errors.Is(err, session.ErrNoStream) {
			f.Errorf("pruned twice: %v", err)
		}
		f.equal("the other's events", 7, len(f.read(key("b"), 0)))
		f.talk(key("a"), "again") // the id is free
		if err := f.Reclaim(f.ctx); err != nil {
			f.Error(err)
		}
		f.equal("events of the new one", 7, len(f.read(key("a"), 0)))
	}},
	{"prune leaves a stream alone that has work to do or has gone on", func(f *fixture) {
		k := key("a")
		l := f.start(k, "w1")
		busy := func(when string, last int64) {
			f.Helper()
			var b *session.Busy
			if err := f.Prune(f.ctx, k, last); !errors.As(err, &b) || b.Key != k {
				f.Errorf("%s: err = %v, want *Busy", when, err)
			}
		}
		busy("a prompt waits", 1)
		f.append(k, l, 1, f.work(1)...)
		busy("a loop is open", 6)
		f.append(k, l, 6, f.end(session.ReasonDone))
		busy("it has gone on", 6)
		f.equal("events", 7, len(f.read(k, 0)))
	}},
	{"prune takes blobs along that no other stream needs", func(f *fixture) {
		own, both := f.put([]byte("own")), f.put([]byte("both"))
		last := f.talk(key("a"), "one", f.refers(own, both), f.refers(own))
		f.talk(key("b"), "two", f.refers(both))
		f.clock.Pass(prunedAfter)
		if err := f.Prune(f.ctx, key("a"), last); err != nil {
			f.Fatal(err)
		}
		f.put([]byte("another"))
		if _, err := f.Blob(f.ctx, "acme", own); !errors.Is(err, session.ErrNoBlob) {
			f.Errorf("its own blob: %v", err)
		}
		if data, err := f.Blob(f.ctx, "acme", both); err != nil || string(data) != "both" {
			f.Errorf("a blob that another stream needs: %q, %v", data, err)
		}
	}},
	{"prune leaves a blob that was put a short while ago", func(f *fixture) {
		last := f.talk(key("a"), "one", f.refers(f.put([]byte("x"))))
		if err := f.Prune(f.ctx, key("a"), last); err != nil {
			f.Fatal(err)
		}
		f.clock.Pass(30 * time.Minute)
		f.talk(key("b"), "two", f.refers(f.put([]byte("x"))))
		f.clock.Pass(prunedAfter)
		f.put([]byte("another"))
		if data, err := f.Blob(f.ctx, "acme", session.Digest([]byte("x"))); err != nil || string(data) != "x" {
			f.Errorf("%q, %v", data, err)
		}
	}},
	{"prune makes an idempotency key free", func(f *fixture) {
		post := func() session.Posted {
			return f.post(key("a"), session.Post{Idem: "k", Events: []session.Event{f.prompt("x")}, Worker: "w1"})
		}
		l := *post().Lease
		f.append(key("a"), l, 1, append(f.work(1), f.end(session.ReasonDone))...)
		if err := f.Prune(f.ctx, key("a"), 7); err != nil {
			f.Fatal(err)
		}
		if again := post(); again.Duplicate || again.First != 1 {
			f.Errorf("%+v", again)
		}
	}},
	{"restore brings a stream back as it was", func(f *fixture) {
		k := key("a")
		last := f.talk(k, "one", f.refers(f.put([]byte("x"))))
		want, sum := f.read(k, 0), f.summary(k)
		if err := f.Restore(f.ctx, k, want); !errors.As(err, new(*session.Exists)) {
			f.Errorf("one that is there: %v", err)
		}
		if err := f.Prune(f.ctx, k, last); err != nil {
			f.Fatal(err)
		}
		if err := f.Restore(f.ctx, k, want); err != nil {
			f.Fatal(err)
		}
		f.same("events", want, f.read(k, 0))
		f.equal("summary", sum, f.summary(k))
		f.talkOn(k)
		f.clock.Pass(prunedAfter)
		f.put([]byte("another"))
		if _, err := f.Blob(f.ctx, "acme", session.Digest([]byte("x"))); err != nil {
			f.Errorf("its blob: %v", err)
		}
	}},
	{"restore refuses what is no whole stream at rest", func(f *fixture) {
		k := key("a")
		f.talk(k, "one")
		good := f.read(k, 0)
		to := key("b")
		for name, evs := range map[string][]session.Event{
			"nothing":         nil,
			"no beginning":    good[1:],
			"a gap":           append(append([]session.Event{}, good[:2]...), good[3:]...),
			"with work to do": good[:3],
			"a missing blob":  {good[0], withRefs(good[1], session.Digest([]byte("none")))},
			"a broken body":   append(append([]session.Event{}, good...), session.Event{Seq: 8, V: 1, Type: "usage", Data: []byte(`{"usage":7}`)}),
			"a live event":    append(append([]session.Event{}, good...), session.Event{Seq: 8, V: 1, Type: "delta", Data: []byte(`{}`)}),
		} {
			if err := f.Restore(f.ctx, to, evs); err == nil {
				f.Errorf("%s: was restored", name)
			}
			if _, err := f.Summary(f.ctx, to); !errors.Is(err, session.ErrNoStream) {
				f.Errorf("%s: something is left: %v", name, err)
			}
		}
	}},
}

func withRefs(e session.Event, refs ...string) session.Event {
	e.Refs = refs
	return e
}

// talkOn has a stream take another prompt.
func (f *fixture) talkOn(k session.Key) {
	f.Helper()
	posted := f.post(k, session.Post{Events: []session.Event{f.prompt("more")}, Worker: "w2"})
	f.append(k, *posted.Lease, posted.Last, append(f.work(posted.Last), f.end(session.ReasonDone))...)
}

var searchTests = []test{
	{"finds sessions by what was said", func(f *fixture) {
		f.talk(key("a"), "Where is the Großmutter-function of file.go?", f.event(&session.Message{ID: "m3", Role: "assistant", Parts: text("It stands in internal/things, line 12.")}))
		f.talk(key("b"), "Translate ÄPFEL und Birnen. Then stop")
		f.talk(key("c"), "x\x00y 世界 "+strings.Repeat("long ", 20_000)+"tail")
		for _, c := range []struct {
			query string
			want  []string
		}{
			{"function", []string{"a"}},
			{"FUNCTION großmutter", []string{"a"}},
			{"function nothing", []string{}},
			{"äpfel", []string{"b"}},
			{`"und birnen"`, []string{"b"}},
			{`"birnen und"`, []string{}},
			{"birnen und", []string{"b"}},
			{"internal/things", []string{"a"}},
			{"12", []string{"a"}},
			{"Großmutter things", []string{}}, // they stand in two texts
			{"done", []string{"c", "b", "a"}},
			{"世界", []string{"c"}},
			{"tail", []string{"c"}},
			{`') OR 1=1 --`, []string{}},
			{`"unfinished`, []string{}},
			{"*", []string{}},
			{"NEAR(done)", []string{}},
		} {
			f.equal(c.query, c.want, f.list("acme", session.Query{Search: session.ParseSearch(c.query)}))
		}
	}},
	{"finds what was said since", func(f *fixture) {
		f.talk(key("a"), "one")
		f.equal("before", []string{}, f.list("acme", session.Query{Search: session.ParseSearch("more")}))
		f.talkOn(key("a"))
		f.talk(key("b"), "more")
		f.equal("after", []string{"b", "a"}, f.list("acme", session.Query{Search: session.ParseSearch("more")}))
		f.equal("the other tenant's", []string{}, f.list("other", session.Query{Search: session.ParseSearch("more")}))
	}},
	{"does not find what was pruned", func(f *fixture) {
		last := f.talk(key("a"), "one")
		f.equal("before", []string{"a"}, f.list("acme", session.Query{Search: session.ParseSearch("one")}))
		if err := f.Prune(f.ctx, key("a"), last); err != nil {
			f.Fatal(err)
		}
		f.equal("after", []string{}, f.list("acme", session.Query{Search: session.ParseSearch("one")}))
		f.talk(key("b"), "two")
		f.equal("another one", []string{}, f.list("acme", session.Query{Search: session.ParseSearch("one")}))
	}},
	{"goes with the rest of a query, page by page", func(f *fixture) {
		var want []string
		for i := range 230 {
			id := fmt.Sprintf("s%03d", 229-i)
			if i%2 == 0 {
				want = append(want, id)
			}
		}
		for i := range 230 {
			word := "even"
			if i%2 == 1 {
				word = "odd"
			}
			f.talk(key(fmt.Sprintf("s%03d", i)), word)
		}
		q := session.Query{Search: session.ParseSearch("odd")}
		f.equal("all", want, f.list("acme", q))
		q.Before, q.Limit = "s100", 3
		f.equal("a page", []string{"s099", "s097", "s095"}, f.list("acme", q))
		q.Status = session.Failed
		f.equal("of another status", []string{}, f.list("acme", q))
	}},
}
