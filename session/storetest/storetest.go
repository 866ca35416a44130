// Package storetest is the conformance suite of session stores: each clause of
// the contract in package session is one named test.
package storetest

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Run tests a backend. Each call of open returns a new, empty one, which takes
// the time from now; Run closes it.
func Run(t *testing.T, open func(t *testing.T, now func() time.Time) session.Backend) {
	groups := []struct {
		name  string
		tests []test
	}{
		{"append", appendTests},
		{"post", postTests},
		{"idempotency", idemTests},
		{"claim", claimTests},
		{"workers", workerTests},
		{"wait for a person", waitTests},
		{"read", readTests},
		{"list", listTests},
		{"feed", feedTests},
		{"blobs", blobTests},
		{"tenants", tenantTests},
		{"retention", retentionTests},
		{"search", searchTests},
		{"usage", usageTests},
		{"calls", callTests},
		{"concurrent", concurrentTests},
	}
	for _, g := range groups {
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.tests {
				t.Run(c.name, func(t *testing.T) { c.run(newFixture(t, open)) })
			}
		})
	}
	t.Run("any history agrees with the model", func(t *testing.T) { testModel(t, open) })
}

type test struct {
	name string
	run  func(*fixture)
}

// Clock is a clock that stands still until it is told to go on. It is safe for
// concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock at a fixed time.
func NewClock() *Clock {
	return &Clock{now: time.Date(2030, 1, 2, 3, 4, 5, 678901000, time.UTC)}
}

// Now is the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Pass lets time pass.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// tb is what a testing.T and a rapid.T have in common.
type tb interface {
	Helper()
	Error(...any)
	Errorf(string, ...any)
	Fatal(...any)
	Fatalf(string, ...any)
}

// fixture is a backend with its clock. Its methods end the test on an error
// that the test does not look for.
type fixture struct {
	tb
	session.Backend
	clock *Clock
	ctx   context.Context
}

func newFixture(t *testing.T, open func(*testing.T, func() time.Time) session.Backend) *fixture {
	clock := NewClock()
	b := open(t, clock.Now)
	t.Cleanup(func() { b.Close() })
	return &fixture{t, b, clock, t.Context()}
}

func key(stream string) session.Key { return session.Key{Tenant: "acme", Stream: stream} }

func (f *fixture) event(b session.Body) session.Event {
	return session.Event{
		Session: "s", Loop: "l", Turn: 1, Agent: "a", Depth: 0, Chain: "c",
		Time: f.clock.Now(), Body: b,
	}
}

func text(s string) []message.Part { return []message.Part{message.Text{Text: s}} }

func (f *fixture) prompt(s string) session.Event {
	return f.event(&session.Prompt{Parts: text(s), Profile: "reviewer", Shared: true})
}

func (f *fixture) private(s string) session.Event {
	return f.event(&session.Prompt{Parts: text(s), Profile: "reviewer"})
}

func (f *fixture) steer(s string) session.Event {
	return f.event(&session.Steer{Parts: text(s)})
}

func (f *fixture) note(n int) session.Event {
	return f.event(&session.ToolUpdate{Call: "call", Text: string(rune('a' + n%26))})
}

// work is what an owner appends for the prompt with a number, up to the answer.
func (f *fixture) work(prompt int64) []session.Event {
	return []session.Event{
		f.event(&session.LoopStart{Number: 1, Why: "prompt", Profile: "reviewer"}),
		f.event(&session.Message{ID: "m1", Role: message.User, Source: "prompt", Post: prompt}),
		f.event(&session.TurnStart{}),
		f.event(&session.Message{ID: "m2", Parent: "m1", Role: message.Assistant, Parts: text("done")}),
		f.event(&session.Usage{Usage: message.Usage{Input: 10, Output: 5, Cost: 0.25}, Model: "m"}),
	}
}

func (f *fixture) end(r session.Reason) session.Event {
	return f.event(&session.LoopEnd{Reason: r, Text: "done"})
}

// start posts a prompt to a new stream and claims it.
func (f *fixture) start(k session.Key, worker string) session.Lease {
	f.Helper()
	done := f.post(k, session.Post{Events: []session.Event{f.prompt("hello")}, Worker: worker})
	if done.Lease == nil {
		f.Fatalf("post to %s did not claim the free stream", k)
	}
	return *done.Lease
}

// finish does the work of the prompt with a number and ends the loop.
func (f *fixture) finish(k session.Key, l session.Lease, prompt int64) int64 {
	f.Helper()
	return f.append(k, l, f.last(k), append(f.work(prompt), f.end(session.ReasonDone))...)
}

func (f *fixture) post(k session.Key, p session.Post) session.Posted {
	f.Helper()
	done, err := f.Post(f.ctx, k, p)
	if err != nil {
		f.Fatalf("Post(%s): %v", k, err)
	}
	return done
}

func (f *fixture) append(k session.Key, l session.Lease, after int64, evs ...session.Event) int64 {
	f.Helper()
	last, err := f.Append(f.ctx, k, l, after, evs)
	if err != nil {
		f.Fatalf("Append(%s, after %d): %v", k, after, err)
	}
	return last
}

func (f *fixture) claim(worker string, only *session.Key) (session.Key, session.Lease) {
	f.Helper()
	k, l, err := f.Claim(f.ctx, worker, only)
	if err != nil {
		f.Fatalf("Claim(%s): %v", worker, err)
	}
	return k, l
}

func (f *fixture) beat(worker string) {
	f.Helper()
	if err := f.Beat(f.ctx, worker); err != nil {
		f.Fatalf("Beat(%s): %v", worker, err)
	}
}

func (f *fixture) bury(worker string) {
	f.Helper()
	if err := f.Bury(f.ctx, worker); err != nil {
		f.Fatalf("Bury(%s): %v", worker, err)
	}
}

func (f *fixture) put(b []byte) string {
	f.Helper()
	digest, err := f.PutBlob(f.ctx, "acme", b)
	if err != nil {
		f.Fatalf("PutBlob: %v", err)
	}
	return digest
}

func (f *fixture) read(k session.Key, after int64) []session.Event {
	f.Helper()
	var evs []session.Event
	for e, err := range f.Read(f.ctx, k, after) {
		if err != nil {
			f.Fatalf("Read(%s, after %d): %v", k, after, err)
		}
		evs = append(evs, e)
	}
	return evs
}

func (f *fixture) summary(k session.Key) session.Summary {
	f.Helper()
	sum, err := f.Summary(f.ctx, k)
	if err != nil {
		f.Fatalf("Summary(%s): %v", k, err)
	}
	return sum
}

func (f *fixture) last(k session.Key) int64 { f.Helper(); return f.summary(k).Last }

func (f *fixture) list(tenant string, q session.Query) []string {
	f.Helper()
	ids := []string{}
	for sum, err := range f.List(f.ctx, tenant, q) {
		if err != nil {
			f.Fatalf("List(%s): %v", tenant, err)
		}
		ids = append(ids, sum.Key.Stream)
	}
	return ids
}

// same compares what was read with what was stored, body apart.
func (f *fixture) same(what string, want, got []session.Event) {
	f.Helper()
	a, b := bare(want), bare(got)
	if reflect.DeepEqual(a, b) {
		return // the usual case, and much faster than cmp
	}
	if diff := cmp.Diff(a, b); diff != "" {
		f.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

// bare copies events without their bodies and with deep copies of the rest.
func bare(evs []session.Event) []session.Event {
	out := make([]session.Event, 0, len(evs))
	for _, e := range evs {
		e.Body = nil
		e.Data = slices.Clone(e.Data)
		e.Refs = append([]string{}, e.Refs...)
		out = append(out, e)
	}
	return out
}

func (f *fixture) equal(what string, want, got any) {
	f.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func numbers(evs []session.Event) []int64 {
	ns := []int64{}
	for _, e := range evs {
		ns = append(ns, e.Seq)
	}
	return ns
}
