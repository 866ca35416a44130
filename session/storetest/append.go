package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rosterrun/roster/session"
)

var appendTests = []test{
	{"numbers the events in place and returns the last", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		evs := f.work(1)
		last := f.append(k, l, 1, evs...)
		f.equal("last", int64(6), last)
		f.equal("numbers", []int64{2, 3, 4, 5, 6}, numbers(evs))
		f.equal("last of the next", int64(7), f.append(k, l, last, f.note(0)))
		f.same("read", evs, f.read(k, 1)[:5])
	}},
	{"keeps every field of the envelope", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		e := session.Event{
			V: 3, Session: "child", Loop: "loop", Turn: 7, Agent: "agent", Depth: 2, Chain: "chain",
			Time: f.clock.Now().Add(123 * time.Microsecond), Type: "some.fact", Data: []byte(`{"a":[1,2]}`),
			Refs: []string{f.put([]byte("one")), f.put([]byte("two"))},
		}
		want := e
		f.append(k, l, 1, e)
		want.Seq = 2
		f.same("event", []session.Event{want}, f.read(k, 1))
	}},
	{"keeps the time in UTC to the microsecond", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		e := f.note(0)
		at := time.Date(2031, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 3600))
		e.Time = at
		f.append(k, l, 1, e)
		got := f.read(k, 1)[0].Time
		if want := at.UTC().Truncate(time.Microsecond); !got.Equal(want) || got.Location() != time.UTC {
			f.Fatalf("time is %v, want %v", got, want)
		}
	}},
	{"refuses an unknown stream", func(f *fixture) {
		_, err := f.Append(f.ctx, key("none"), session.Lease{Worker: "w1", Epoch: 1}, 0, f.work(1))
		if !errors.Is(err, session.ErrNoStream) {
			f.Fatalf("err = %v, want ErrNoStream", err)
		}
	}},
	{"refuses inbound events, all or none", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		evs := []session.Event{f.note(0), f.steer("x"), f.note(1)}
		if _, err := f.Append(f.ctx, k, l, 1, evs); err == nil {
			f.Fatal("an inbound event was appended")
		}
		f.equal("numbers given", []int64{0, 0, 0}, numbers(evs))
		f.equal("last", int64(1), f.last(k))
	}},
	{"refuses live events", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		for _, b := range []session.Body{
			&session.Delta{Message: "m", Text: "x"}, &session.Thinking{}, &session.Partial{}, &session.Reset{Message: "m"},
		} {
			if _, err := f.Append(f.ctx, k, l, 1, []session.Event{f.event(b)}); err == nil {
				f.Errorf("%s was appended", b.Type())
			}
		}
		f.equal("last", int64(1), f.last(k))
	}},
	{"stores none if one body cannot be read", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		broken := f.note(0)
		broken.Body, broken.Type, broken.V, broken.Data = nil, "usage", 1, []byte(`{"usage":7}`)
		evs := []session.Event{f.note(0), f.note(1), broken}
		if _, err := f.Append(f.ctx, k, l, 1, evs); err == nil {
			f.Fatal("a body of the wrong form was appended")
		}
		f.equal("last", int64(1), f.last(k))
		f.equal("events", 1, len(f.read(k, 0)))
		f.append(k, l, 1, f.note(2))
	}},
	{"refuses a number that is ahead", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		_, err := f.Append(f.ctx, k, l, 5, []session.Event{f.note(0)})
		if err == nil || errors.As(err, new(*session.Behind)) {
			f.Fatalf("err = %v, want a plain error", err)
		}
		f.equal("last", int64(1), f.last(k))
	}},
	{"refuses an owner that forgot its own events", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.append(k, l, 1, f.note(0))
		f.post(k, session.Post{Events: []session.Event{f.steer("x")}})
		_, err := f.Append(f.ctx, k, l, 1, []session.Event{f.note(0)})
		if err == nil || errors.As(err, new(*session.Behind)) {
			f.Fatalf("err = %v, want an error that is not Behind: not only inbound events came in between", err)
		}
	}},
	{"hands over exactly the inbound events that came in between", testBehind},
	{"fences an owner whose stream was claimed", testFenced},
	{"fences a lease that was never given", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		for name, wrong := range map[string]session.Lease{
			"other worker": {Worker: "w2", Epoch: l.Epoch},
			"later epoch":  {Worker: "w1", Epoch: l.Epoch + 1},
			"no worker":    {Epoch: l.Epoch},
		} {
			f.fenced(name, k, wrong)
		}
	}},
	{"sets the stream free when nothing is left to do", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.finish(k, l, 1)
		f.fenced("after the end", k, l)
		l2 := f.post(k, session.Post{Events: []session.Event{f.prompt("more")}, Worker: "w2"}).Lease
		if l2 == nil || l2.Epoch <= l.Epoch || l2.Takeover != session.TakeoverNone {
			f.Fatalf("lease after the stream became free: %+v", l2)
		}
	}},
	{"keeps the stream owned while a prompt waits", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.post(k, session.Post{Events: []session.Event{f.prompt("second")}})
		f.finish(k, l, 1)
		f.append(k, l, f.last(k), f.note(0))
	}},
	{"adds nothing for no events but checks the lease", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		f.equal("last", int64(1), f.append(k, l, 1))
		if _, err := f.Append(f.ctx, k, session.Lease{Worker: "x", Epoch: 9}, 1, nil); !errors.As(err, new(*session.Fenced)) {
			f.Fatalf("err = %v, want *Fenced", err)
		}
	}},
	{"keeps big events", func(f *fixture) {
		k := key("s1")
		big := strings.Repeat("0123456789abcde\n", 5<<20/16)
		evs := []session.Event{f.prompt(big)}
		l := f.post(k, session.Post{Events: evs, Worker: "w1"}).Lease
		evs = append(evs, f.work(1)...)
		evs[4].Body.(*session.Message).Parts = text(big + "!")
		f.append(k, *l, 1, evs[1:]...)
		for i, e := range f.read(k, 0) {
			if !bytes.Equal(evs[i].Data, e.Data) {
				f.Errorf("event %d: %d bytes became %d, or others", e.Seq, len(evs[i].Data), len(e.Data))
			}
		}
		f.equal("last", int64(6), f.last(k))
	}},
	{"keeps a batch of any size", func(f *fixture) {
		k := key("s1")
		l := f.start(k, "w1")
		last := int64(1)
		for _, n := range []int{1, 15, 16, 17, 32, 33, 600} {
			var evs []session.Event
			for i := range n {
				evs = append(evs, f.note(i))
			}
			f.append(k, l, last, evs...)
			f.same(fmt.Sprint("a batch of ", n), evs, f.read(k, last))
			last += int64(n)
		}
		f.gapless(f.read(k, 0))
	}},
	{"keeps text of all kinds", func(f *fixture) {
		odd := "héllo 世界 🦉 \u202e \ufeff \x00 \t \"'; DROP TABLE events; --"
		k := session.Key{Tenant: "tenant '☃'", Stream: "stream \"ß\"; --"}
		e := f.prompt(odd)
		e.Session, e.Chain, e.Agent, e.Loop = "sess'ion ☃", "chain\"", "ägent", "lööp"
		f.post(k, session.Post{Events: []session.Event{e}, Idem: "key ' ☃"})
		got := f.read(k, 0)
		e.Seq = 1
		e.Encode()
		f.same("event", []session.Event{e}, got)
		body, err := got[0].Decode()
		if err != nil {
			f.Fatal(err)
		}
		f.equal("parts", text(odd), body.(*session.Prompt).Parts)
		f.equal("key", k, f.summary(k).Key)
	}},
	{"keeps unknown types and newer versions as they are", testRaw},
	{"copies what it is given", testCopies},
}

func testBehind(f *fixture) {
	k := key("s1")
	l := f.start(k, "w1")
	last := f.append(k, l, 1, f.work(1)...)
	posted := []session.Event{f.steer("one"), f.event(&session.Followup{Parts: text("two")}), f.event(&session.Cancel{Reason: "three"})}
	f.post(k, session.Post{Events: posted[:2]})
	f.post(k, session.Post{Events: posted[2:]})
	for name, after := range map[string]int64{"all": last, "one known": last + 1, "two known": last + 2} {
		evs := []session.Event{f.note(0)}
		_, err := f.Append(f.ctx, k, l, after, evs)
		var behind *session.Behind
		if !errors.As(err, &behind) {
			f.Fatalf("%s: err = %v, want *Behind", name, err)
		}
		f.equal(name+": key", k, behind.Key)
		f.same(name+": events", posted[after-last:], behind.Events)
		f.equal(name+": number given", int64(0), evs[0].Seq)
		for i := range behind.Events {
			if _, err := behind.Events[i].Decode(); err != nil {
				f.Fatalf("%s: %v", name, err)
			}
			clear(behind.Events[i].Data)
		}
	}
	f.same("read afterwards", posted, f.read(k, last))
	f.append(k, l, last+3, f.note(0))
}

// fenced checks that a lease is worth nothing.
func (f *fixture) fenced(what string, k session.Key, l session.Lease) {
	f.Helper()
	last := f.last(k)
	evs := []session.Event{f.note(0)}
	_, err := f.Append(f.ctx, k, l, last, evs)
	var fenced *session.Fenced
	if !errors.As(err, &fenced) {
		f.Fatalf("%s: err = %v, want *Fenced", what, err)
	}
	f.equal(what+": key and epoch held", session.Fenced{Key: k, Held: l.Epoch, Epoch: fenced.Epoch}, *fenced)
	f.equal(what+": number given", int64(0), evs[0].Seq)
	f.equal(what+": last", last, f.last(k))
}

func testFenced(f *fixture) {
	k := key("s1")
	old := f.start(k, "w1")
	f.append(k, old, 1, f.work(1)...)
	f.bury("w1")
	_, l := f.claim("w2", &k)
	if l.Epoch <= old.Epoch {
		f.Fatalf("epoch %d after %d: a claim must raise it", l.Epoch, old.Epoch)
	}
	f.fenced("old owner", k, old)
	f.post(k, session.Post{Events: []session.Event{f.steer("x")}})
	_, err := f.Append(f.ctx, k, old, 1, nil)
	var fenced *session.Fenced
	if !errors.As(err, &fenced) || fenced.Epoch != l.Epoch {
		f.Fatalf("an old owner that is also behind: err = %v, want *Fenced with epoch %d", err, l.Epoch)
	}
	f.append(k, l, f.last(k), f.note(0))
}

func testRaw(f *fixture) {
	k := key("s1")
	l := f.start(k, "w1")
	future := f.event(&session.Raw{Name: "future.thing", JSON: []byte(`{"x": 1 ,"y":"☃"}`)})
	newer := f.event(nil)
	newer.Type, newer.V, newer.Data = "usage", 9, []byte(`{"usage":{"form":"unknown"}}`)
	f.append(k, l, 1, future, newer)
	for i, want := range []struct {
		v    uint16
		name string
		json string
	}{{1, "future.thing", `{"x": 1 ,"y":"☃"}`}, {9, "usage", `{"usage":{"form":"unknown"}}`}} {
		e := f.read(k, 1)[i]
		body, err := e.Decode()
		if err != nil {
			f.Fatal(err)
		}
		raw, ok := body.(*session.Raw)
		if !ok || raw.Name != want.name || string(raw.JSON) != want.json || e.V != want.v {
			f.Fatalf("event %d: version %d, body %#v, want raw %+v", e.Seq, e.V, body, want)
		}
	}
}

// testCopies changes what was given and what was read, in all ways, and finds
// the log unchanged.
func testCopies(f *fixture) {
	k := key("s1")
	digest := f.put([]byte("blob"))
	p := f.prompt("hello")
	p.Refs = []string{digest}
	posted := []session.Event{p}
	l := f.post(k, session.Post{Events: posted, Worker: "w1"}).Lease
	appended := f.work(1)
	appended[0].Refs = []string{digest}
	f.append(k, *l, 1, appended...)
	want := bare(append(posted, appended...))

	for _, evs := range [][]session.Event{posted, appended} {
		spoil(f, evs)
	}
	first := f.read(k, 0)
	f.same("after the given events were changed", want, first)
	second := f.read(k, 0)
	spoil(f, first)
	f.same("a second reader, after the first one changed what it had read", want, second)
	f.same("a later reader", want, f.read(k, 0))
}

func spoil(t tb, evs []session.Event) {
	t.Helper()
	for i := range evs {
		if len(evs[i].Data) == 0 {
			t.Fatalf("event %d has no data", evs[i].Seq)
		}
		for j := range evs[i].Data {
			evs[i].Data[j] = '#'
		}
		_ = append(evs[i].Data, "and what follows in memory"...)
		for j := range evs[i].Refs {
			evs[i].Refs[j] = "#"
		}
		evs[i].Type = "#"
		evs[i].Body = nil
	}
}
