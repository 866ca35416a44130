package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/rosterrun/roster/session"
)

// model is the simplest store there can be: no locks, no copies saved, no
// indexes.
type model struct {
	now     func() time.Time
	streams map[session.Key]*modelStream
	workers map[string]*session.Worker
	idem    map[[2]string]modelPost // by tenant and key
	queue   []*modelStream          // runnable, the longest waiting first
	tally   session.Tally
	feeds   map[string][]modelFed // by tenant
}

type modelFed struct {
	Stream string
	Seq    int64
}

type modelStream struct {
	sum    session.Summary
	events []session.Event
	owner  string
	epoch  int64
}

type modelPost struct {
	body string
	done session.Posted
}

func (s *modelStream) holds(l session.Lease) bool {
	return s.owner != "" && s.owner == l.Worker && s.epoch == l.Epoch
}

func (m *model) settle(s *modelStream) {
	i := slices.Index(m.queue, s)
	switch {
	case !s.sum.Runnable():
		s.owner = ""
		if i >= 0 {
			m.queue = slices.Delete(m.queue, i, i+1)
		}
	case i < 0:
		m.queue = append(m.queue, s)
	}
}

func (m *model) add(s *modelStream, evs []session.Event) {
	for i := range evs {
		evs[i].Encode()
		evs[i].Seq = s.sum.Last + 1
		if err := errors.Join(m.tally.Add(&s.sum, &evs[i]), s.sum.Apply(&evs[i])); err != nil {
			panic(err)
		}
		m.feeds[s.sum.Key.Tenant] = append(m.feeds[s.sum.Key.Tenant], modelFed{s.sum.Key.Stream, evs[i].Seq})
	}
	s.events = append(s.events, bare(evs)...)
	m.settle(s)
}

func (m *model) take(s *modelStream, worker string, how session.Takeover) session.Lease {
	if w := m.workers[worker]; w == nil || w.Dead {
		m.workers[worker] = &session.Worker{ID: worker, Beat: m.now()}
	}
	s.owner = worker
	s.epoch++
	return session.Lease{Worker: worker, Epoch: s.epoch, Takeover: how}
}

func (m *model) append(k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	s := m.streams[k]
	switch {
	case s == nil:
		return 0, session.ErrNoStream
	case !s.holds(l):
		return 0, &session.Fenced{Key: k, Held: l.Epoch, Epoch: s.epoch}
	case after < s.sum.Last:
		return 0, &session.Behind{Key: k, Events: s.events[after:]}
	}
	m.add(s, evs)
	return s.sum.Last, nil
}

func (m *model) post(k session.Key, p session.Post) (session.Posted, error) {
	body := ""
	for i := range p.Events {
		p.Events[i].Encode()
		body += p.Events[i].Type + string(p.Events[i].Data) + "\n"
	}
	idem := [2]string{k.Tenant, p.Idem}
	if old, ok := m.idem[idem]; ok {
		if old.body != body {
			return session.Posted{}, &session.Conflict{Idem: p.Idem}
		}
		old.done.Duplicate, old.done.Lease = true, nil
		return old.done, nil
	}
	s := m.streams[k]
	if s == nil {
		if p.Events[0].Type != "prompt" {
			return session.Posted{}, session.ErrNoStream
		}
		s = &modelStream{sum: session.Summary{Key: k}}
		m.streams[k] = s
	}
	if p.OnlyIdle && (s.sum.Runnable() || s.sum.Open) {
		return session.Posted{}, &session.Busy{Key: k}
	}
	done := session.Posted{Key: k, First: s.sum.Last + 1, Last: s.sum.Last + int64(len(p.Events))}
	m.add(s, p.Events)
	if p.Worker != "" && s.owner == "" && s.sum.Runnable() {
		l := m.take(s, p.Worker, session.TakeoverNone)
		done.Lease = &l
	}
	if p.Idem != "" {
		m.idem[idem] = modelPost{body, done}
	}
	return done, nil
}

func (m *model) claim(worker string, only *session.Key) (session.Key, session.Lease, error) {
	for _, s := range m.queue {
		if only != nil && *only != s.sum.Key || only == nil && !s.sum.Shared {
			continue
		}
		how, w := session.TakeoverNone, m.workers[s.owner]
		if s.owner != "" {
			how = session.TakeoverExpired
			if w.Dead {
				how = session.TakeoverDead
			} else if m.now().Sub(w.Beat) < session.LeaseTime {
				continue
			}
		}
		return s.sum.Key, m.take(s, worker, how), nil
	}
	return session.Key{}, session.Lease{}, session.ErrNoWork
}

func (m *model) release(k session.Key, l session.Lease) error {
	s := m.streams[k]
	if s == nil {
		return session.ErrNoStream
	}
	if !s.holds(l) {
		return &session.Fenced{Key: k, Held: l.Epoch, Epoch: s.epoch}
	}
	s.owner = ""
	m.queue = append(slices.DeleteFunc(m.queue, func(q *modelStream) bool { return q == s }), s)
	return nil
}

func (m *model) due() []session.Key {
	keys := []session.Key{}
	for k, s := range m.streams {
		if at := s.sum.Until; !at.IsZero() && !m.now().Before(at) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b session.Key) int {
		if c := m.streams[a].sum.Until.Compare(m.streams[b].sum.Until); c != 0 {
			return c
		}
		return strings.Compare(a.String(), b.String())
	})
	return keys
}

// machine drives a backend and the model with the same calls.
type machine struct {
	*fixture
	rt     *rapid.T
	m      *model
	leases []session.Lease // that were given
	steps  int
}

func testModel(t *testing.T, open func(*testing.T, func() time.Time) session.Backend) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := NewClock()
		b := open(t, clock.Now)
		defer b.Close()
		x := &machine{
			fixture: &fixture{rt, b, clock, t.Context()},
			rt:      rt,
			m: &model{
				now:     clock.Now,
				streams: map[session.Key]*modelStream{},
				workers: map[string]*session.Worker{},
				idem:    map[[2]string]modelPost{},
				feeds:   map[string][]modelFed{},
			},
			leases: []session.Lease{{Worker: "none", Epoch: 1}},
		}
		rt.Repeat(map[string]func(*rapid.T){
			"append":  func(*rapid.T) { x.stepAppend() },
			"post":    func(*rapid.T) { x.stepPost() },
			"claim":   func(*rapid.T) { x.stepClaim() },
			"release": func(*rapid.T) { x.stepRelease() },
			"worker":  func(*rapid.T) { x.stepWorker() },
			"": func(*rapid.T) {
				if x.steps++; x.steps%5 == 0 {
					x.check()
				}
			},
		})
		x.check()
	})
}

func (x *machine) draw(label string, from ...string) string {
	return rapid.SampledFrom(from).Draw(x.rt, label)
}

func (x *machine) stream() session.Key {
	return session.Key{Tenant: x.draw("tenant", "acme", "other"), Stream: x.draw("stream", "a", "b", "c")}
}

func (x *machine) worker() string { return x.draw("worker", "w1", "w2", "w3") }

func (x *machine) agree(what string, want, got any, wantErr, gotErr error) {
	x.Helper()
	if fmt.Sprintf("%T %v", wantErr, wantErr) != fmt.Sprintf("%T %v", gotErr, gotErr) {
		x.rt.Fatalf("%s: error %v, want %v", what, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		x.rt.Fatalf("%s (-want +got):\n%s", what, diff)
	}
	x.clock.Pass(time.Millisecond)
}

// lease draws one that was given before, mostly a good one.
func (x *machine) lease(k session.Key) session.Lease {
	if s := x.m.streams[k]; s != nil && s.owner != "" && rapid.IntRange(0, 9).Draw(x.rt, "luck") > 1 {
		return session.Lease{Worker: s.owner, Epoch: s.epoch}
	}
	return rapid.SampledFrom(x.leases).Draw(x.rt, "lease")
}

func (x *machine) stepAppend() {
	k := x.stream()
	l := x.lease(k)
	after := int64(0)
	if s := x.m.streams[k]; s != nil {
		after = s.sum.Last
		for after > 0 && session.Inbound(s.events[after-1].Type) && rapid.Bool().Draw(x.rt, "behind") {
			after--
		}
	}
	var evs []session.Event
	switch x.draw("events", "none", "note", "work", "wait", "end", "fail") {
	case "note":
		evs = []session.Event{x.note(0)}
	case "work":
		evs = x.work(after)
	case "wait":
		evs = append(x.work(after), x.waiting(x.clock.Now().Add(session.LeaseTime))...)
	case "end":
		evs = []session.Event{x.end(session.ReasonDone)}
	case "fail":
		evs = []session.Event{x.note(1), x.end(session.ReasonError)}
	}
	want, wantErr := x.m.append(k, l, after, slices.Clone(evs))
	got, gotErr := x.Append(x.ctx, k, l, after, evs)
	var wb, gb *session.Behind
	if errors.As(wantErr, &wb) && errors.As(gotErr, &gb) {
		x.same("behind", wb.Events, gb.Events)
	}
	x.agree("append", want, got, wantErr, gotErr)
}

func (x *machine) stepPost() {
	p := session.Post{
		Idem:     x.draw("idem", "", "", "i1", "i2"),
		Worker:   x.draw("for", "", "w1", "w2"),
		OnlyIdle: rapid.Bool().Draw(x.rt, "only idle"),
	}
	switch x.draw("events", "prompt", "private", "steer", "answer", "cancel", "set", "both") {
	case "prompt":
		p.Events = []session.Event{x.prompt("x")}
	case "private":
		p.Events = []session.Event{x.private("y")}
	case "steer":
		p.Events = []session.Event{x.steer("z")}
	case "answer":
		p.Events = []session.Event{x.answer()}
	case "cancel":
		p.Events = []session.Event{x.event(&session.Cancel{})}
	case "set":
		p.Events = []session.Event{x.event(&session.Set{Keys: map[string]string{"model": x.draw("model", "", "a/b"), "temperature": "0.5"}})}
	case "both":
		p.Events = []session.Event{x.prompt("x"), x.steer("z")}
	}
	k, q := x.stream(), p
	q.Events = slices.Clone(p.Events)
	want, wantErr := x.m.post(k, q)
	got, gotErr := x.Post(x.ctx, k, p)
	if want.Lease != nil {
		x.leases = append(x.leases, *want.Lease)
	}
	x.agree("post", want, got, wantErr, gotErr)
}

func (x *machine) stepClaim() {
	var only *session.Key
	if rapid.Bool().Draw(x.rt, "only") {
		k := x.stream()
		only = &k
	}
	w := x.worker()
	wantKey, want, wantErr := x.m.claim(w, only)
	gotKey, got, gotErr := x.Claim(x.ctx, w, only)
	if wantErr == nil {
		x.leases = append(x.leases, want)
	}
	x.agree("claim", []any{wantKey, want}, []any{gotKey, got}, wantErr, gotErr)
}

func (x *machine) stepRelease() {
	k := x.stream()
	l := x.lease(k)
	wantErr := x.m.release(k, l)
	x.agree("release", nil, nil, wantErr, x.Release(x.ctx, k, l))
}

func (x *machine) stepWorker() {
	w := x.worker()
	switch x.draw("what", "beat", "bury", "pass") {
	case "beat":
		x.beat(w)
		x.m.workers[w] = &session.Worker{ID: w, Beat: x.clock.Now()}
	case "bury":
		x.bury(w)
		if old := x.m.workers[w]; old != nil {
			old.Dead = true
		}
	case "pass":
		x.clock.Pass(session.LeaseTime / 2)
	}
	x.clock.Pass(time.Millisecond)
}

// check compares everything that can be seen.
func (x *machine) check() {
	lists := map[string]int{}
	for k, s := range x.m.streams {
		lists[k.Tenant]++
		x.same("events", s.events, x.read(k, 0))
		x.equal("summary", s.sum, x.summary(k))
	}
	for _, tenant := range []string{"acme", "other"} {
		x.equal("streams of "+tenant, lists[tenant], len(x.list(tenant, session.Query{})))
		var fed []modelFed
		for _, e := range x.feed(tenant, session.Position{}) {
			fed = append(fed, modelFed{e.Key.Stream, e.Event.Seq})
		}
		x.equal("feed of "+tenant, x.m.feeds[tenant], fed)
	}
	var want []session.Worker
	for _, w := range x.m.workers {
		owns := slices.ContainsFunc(x.m.queue, func(s *modelStream) bool { return s.owner == w.ID })
		if !w.Dead || owns {
			want = append(want, *w)
		}
	}
	slices.SortFunc(want, func(a, b session.Worker) int { return strings.Compare(a.ID, b.ID) })
	x.equal("workers", want, x.workers())
	used, err := x.m.tally.Sum("", session.UsageQuery{AllTenants: true, By: session.UsageBys})
	if err != nil {
		x.Fatal(err)
	}
	x.equal("usage", used, x.used("", session.UsageQuery{AllTenants: true, By: session.UsageBys}))
	x.equal("due", x.m.due(), x.due())
}
