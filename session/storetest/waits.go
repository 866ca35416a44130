package storetest

import (
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// waiting is what an owner appends when only a person can tell how it goes on.
func (f *fixture) waiting(until time.Time) []session.Event {
	return []session.Event{
		f.event(&session.PermissionAsked{Ask: "s.1", Call: "c", Tool: "bash", Expires: until}),
		f.event(&session.LoopWaiting{Asks: []string{"s.1"}, Until: until}),
	}
}

func (f *fixture) answer() session.Event {
	return f.event(&session.PermissionResolved{Ask: "s.1", Answer: session.AnswerOnce})
}

// park brings a new stream to where it waits.
func (f *fixture) park(k session.Key, until time.Time) session.Lease {
	f.Helper()
	l := f.start(k, "w1")
	f.append(k, l, 1, append(f.work(1), f.waiting(until)...)...)
	return l
}

func (f *fixture) due() []session.Key {
	f.Helper()
	keys, err := f.Due(f.ctx)
	if err != nil {
		f.Fatalf("Due: %v", err)
	}
	return append([]session.Key{}, keys...)
}

var waitTests = []test{
	{"sets the stream free and leaves nothing to do", func(f *fixture) {
		k := key("a")
		l := f.park(k, time.Time{})
		f.noWork("w2", nil)
		f.noWork("w2", &k)
		f.fenced("the owner's lease", k, l)
		sum := f.summary(k)
		f.equal("status", session.Waiting, sum.Status())
		f.equal("until", time.Time{}, sum.Until)
		f.equal("listed", []string{"a"}, f.list("acme", session.Query{Status: session.Waiting}))
	}},
	{"is found among those that ask, from the question to the end of its batch", func(f *fixture) {
		k := key("a")
		l := f.start(k, "w1")
		f.finish(key("b"), f.start(key("b"), "w1"), 1)
		asking := session.Query{Asking: true}
		f.append(k, l, 1, f.work(1)...)
		f.equal("at first", []string{}, f.list("acme", asking))
		f.append(k, l, f.last(k), f.waiting(time.Time{})[0])
		f.equal("asked", []string{"a"}, f.list("acme", asking))
		f.post(k, session.Post{Events: []session.Event{f.answer()}})
		f.equal("answered, others may be open", []string{"a"}, f.list("acme", asking))
		f.append(k, l, f.last(k), f.event(&session.Message{ID: "m3", Parent: "m2", Role: message.Tool}))
		f.equal("at the end of the batch", []string{}, f.list("acme", asking))
		f.append(k, l, f.last(k), append(f.waiting(time.Time{})[:1], f.end(session.ReasonDone))...)
		f.equal("at the end of the loop", []string{}, f.list("acme", asking))
	}},
	{"ends with an answer, in the same commit", func(f *fixture) {
		k := key("a")
		f.park(k, f.clock.Now().Add(time.Hour))
		done := f.post(k, session.Post{Events: []session.Event{f.answer()}, Worker: "w2"})
		if done.Lease == nil || done.Lease.Epoch != 2 || done.Lease.Takeover != session.TakeoverNone {
			f.Fatalf("the answer did not claim the stream: %+v", done.Lease)
		}
		f.status(k, session.Running)
		f.equal("until", time.Time{}, f.summary(k).Until)
	}},
	{"ends with a cancel", func(f *fixture) {
		k := key("a")
		f.park(k, time.Time{})
		f.post(k, session.Post{Events: []session.Event{f.event(&session.Cancel{})}})
		got, _ := f.claim("w2", nil)
		f.equal("claimed", k, got)
	}},
	{"does not end with a prompt or a note", func(f *fixture) {
		k := key("a")
		f.park(k, time.Time{})
		done := f.post(k, session.Post{Events: []session.Event{f.prompt("more"), f.steer("x")}, Worker: "w2"})
		if done.Lease != nil {
			f.Error("a prompt claimed a stream that waits for an answer")
		}
		f.noWork("w2", &k)
		f.status(k, session.Waiting)
	}},
	{"refuses a post that wants it idle", func(f *fixture) {
		k := key("a")
		f.park(k, time.Time{})
		f.busy(k)
	}},
	{"goes on when it is taken up", func(f *fixture) {
		k := key("a")
		f.park(k, f.clock.Now().Add(time.Hour))
		done := f.post(k, session.Post{Events: []session.Event{f.answer()}, Worker: "w2"})
		f.append(k, *done.Lease, done.Last, f.event(&session.LoopResumed{Why: "answered"}))
		f.status(k, session.Running)
		f.append(k, *done.Lease, done.Last+1, f.waiting(time.Time{})...)
		f.status(k, session.Waiting)
	}},
	{"of a child alone does not stop the stream", func(f *fixture) {
		k := key("a")
		l := f.start(k, "w1")
		child := f.event(&session.LoopWaiting{Asks: []string{"s.1"}})
		child.Depth = 1
		f.append(k, l, 1, append(f.work(1), child)...)
		f.status(k, session.Running)
	}},
	{"is due when its time has come", func(f *fixture) {
		first, second := f.clock.Now().Add(time.Hour), f.clock.Now().Add(2*time.Hour)
		other := session.Key{Tenant: "other", Stream: "c"}
		f.park(key("a"), second)
		f.park(key("b"), time.Time{})
		f.park(other, first)
		f.equal("at first", []session.Key{}, f.due())
		f.equal("until", second, f.summary(key("a")).Until)
		f.clock.Pass(time.Hour)
		f.equal("after an hour", []session.Key{other}, f.due())
		f.clock.Pass(time.Hour)
		f.equal("after two", []session.Key{other, key("a")}, f.due())
		f.post(other, session.Post{Events: []session.Event{f.answer()}})
		f.equal("answered", []session.Key{key("a")}, f.due())
	}},
}

func (f *fixture) busy(k session.Key) {
	f.Helper()
	_, err := f.Post(f.ctx, k, session.Post{Events: []session.Event{f.prompt("x")}, OnlyIdle: true})
	if _, ok := err.(*session.Busy); !ok {
		f.Errorf("Post: %v, want Busy", err)
	}
}

func (f *fixture) status(k session.Key, want session.Status) {
	f.Helper()
	sum := f.summary(k)
	f.equal("status", want, sum.Status())
}
