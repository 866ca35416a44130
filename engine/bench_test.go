package engine_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
	"github.com/rosterrun/roster/tool"
	"github.com/rosterrun/roster/tool/task"
)

// loops runs prompts through the engine on an in-memory store, which encodes
// every event. One operation is a prompt that is posted, run and stored.
type loops struct {
	b     testing.TB
	store *memory.Store
	bp    *engine.Blueprint
	child func(context.Context, engine.Child) (*engine.Blueprint, error)
}

func newLoops(b testing.TB, s *script.Script, tools ...tool.Tool) *loops {
	bench := newBench(b, s.Model("script/x"), tools...)
	bench.spec.Limits.Turns = 0
	return &loops{b: b, store: bench.store, bp: bench.blueprint()}
}

func (l *loops) prompt(ctx context.Context, k session.Key, st *session.State) *session.State {
	post := session.Post{Worker: "w", Events: []session.Event{{
		V: 1, Session: k.Stream, Chain: "c", Time: time.Now().UTC(), Type: "prompt",
		Body: &session.Prompt{Parts: text("hello"), Profile: "p"},
	}}}
	posted, err := l.store.Post(ctx, k, post)
	if err != nil {
		l.b.Fatal(err)
	}
	if st == nil {
		st = session.NewState(k)
	}
	if err := st.Apply(&post.Events[0]); err != nil {
		l.b.Fatal(err)
	}
	for _, err := range engine.Run(ctx, engine.Deps{Store: l.store, Blobs: l.store, Child: l.child}, l.bp, st, *posted.Lease) {
		if err != nil {
			l.b.Fatal(err)
		}
	}
	return st
}

func BenchmarkTextTurn(b *testing.B) {
	s := script.New(script.Reply{Text: "Hello."})
	s.Loop = true
	l := newLoops(b, s)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		l.prompt(b.Context(), session.Key{Tenant: "t", Stream: fmt.Sprint(n)}, nil)
	}
}

func BenchmarkToolTurn(b *testing.B) {
	s := script.New(script.Reply{Tools: []script.Call{{Name: "probe", Input: `{"n":1}`}}}, script.Reply{Text: "Done."})
	p := newProbe("probe", nil)
	p.recovery = tool.Repeat
	l := newLoops(b, s, p)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		l.prompt(b.Context(), session.Key{Tenant: "t", Stream: fmt.Sprint(n)}, nil)
	}
}

// BenchmarkLongSession measures a text turn in a session that has had so many
// before.
func BenchmarkLongSession(b *testing.B) {
	for _, turns := range []int{5, 5000} {
		b.Run(fmt.Sprint("turn-", turns), func(b *testing.B) {
			s := script.New(script.Reply{Text: "Hello."})
			s.Loop = true
			l := newLoops(b, s)
			k := session.Key{Tenant: "t", Stream: "s"}
			var st *session.State
			for range turns {
				st = l.prompt(b.Context(), k, st)
			}
			b.ReportAllocs()
			for b.Loop() {
				st = l.prompt(b.Context(), k, st)
			}
		})
	}
}

// BenchmarkNewAgent makes an agent of a spec that is compiled: an id, the state
// of a new session and a run that is ready to be ranged over.
func BenchmarkNewAgent(b *testing.B) {
	l := newLoops(b, script.New(script.Reply{Text: "x"}))
	d := engine.Deps{Store: l.store, Blobs: l.store}
	b.ReportAllocs()
	for b.Loop() {
		agentSink = clock.AgentID()
		runSink = engine.Run(b.Context(), d, l.bp, session.NewState(key), session.Lease{})
	}
}

var (
	agentSink string
	runSink   iter.Seq2[session.Event, error]
)

// BenchmarkDelegation is a turn whose tool call gives a task to an agent that
// answers at once; BenchmarkToolTurn is the same with another tool.
func BenchmarkDelegation(b *testing.B) {
	helper := script.New(script.Reply{Text: "Done."})
	helper.Loop = true
	child := newBench(b, helper.Model("script/helper"))
	child.spec.Name = "helper"
	below := child.blueprint()
	s := script.New(script.Reply{Tools: []script.Call{{Name: "task", Input: `{"profile":"helper","prompt":"do it"}`}}}, script.Reply{Text: "Done."})
	l := newLoops(b, s, task.New([]task.Target{{Name: "helper"}}, func(name string) string { return name }))
	l.child = func(context.Context, engine.Child) (*engine.Blueprint, error) { return below, nil }
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		l.prompt(b.Context(), session.Key{Tenant: "t", Stream: fmt.Sprint(n)}, nil)
	}
}

// BenchmarkFold makes the state of a session of its log, as it stands in a store.
func BenchmarkFold(b *testing.B) {
	for _, size := range []int{100, 10_000} {
		b.Run(fmt.Sprint(size, "-events"), func(b *testing.B) {
			s := script.New(script.Reply{Tools: []script.Call{{Name: "probe", Input: `{"n":1}`}}}, script.Reply{Text: "Done."})
			s.Loop = true
			p := newProbe("probe", nil)
			p.recovery = tool.Repeat
			l := newLoops(b, s, p)
			k := session.Key{Tenant: "t", Stream: "s"}
			var st *session.State
			for st == nil || st.Last < int64(size) {
				st = l.prompt(b.Context(), k, st)
			}
			var log []session.Event
			for e, err := range l.store.Read(b.Context(), k, 0) {
				if err != nil {
					b.Fatal(err)
				}
				if log = append(log, e); len(log) == size {
					break
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				st := session.NewState(k)
				for i := range log {
					e := log[i] // without the body, which is decoded
					if err := st.Apply(&e); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(size)*float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
