package engine_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/sandbox"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/store/memory"
	"github.com/rosterrun/roster/tool"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}

var key = session.Key{Tenant: "t", Stream: "s"}

func text(s string) []message.Part { return []message.Part{message.Text{Text: s}} }

// probe is a tool whose calls can be counted, held and failed.
type probe struct {
	name     string
	recovery tool.Recovery
	runs     atomic.Int64
	run      func(ctx context.Context, c tool.Call) (tool.Result, error)
	keys     []string
	state    string // of what it would change
	def      *model.ToolDef
}

func newProbe(name string, run func(ctx context.Context, c tool.Call) (tool.Result, error)) *probe {
	return &probe{name: name, run: run, def: &model.ToolDef{
		Name: name, Description: "a probe",
		Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`),
	}}
}

func (p *probe) Def() *model.ToolDef              { return p.def }
func (p *probe) Recovery(tool.Call) tool.Recovery { return p.recovery }
func (p *probe) Conflicts(tool.Call) []string     { return p.keys }
func (p *probe) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	return &probePlan{p, c}, nil
}

// inquirer is a probe that asks a person before it runs.
type inquirer struct{ *probe }

func (inquirer) Recovery(tool.Call) tool.Recovery { return tool.Resume }
func (inquirer) Asks([]byte) tool.Question {
	return tool.Question{Text: "Which?", Options: []string{"a", "b"}}
}

type probePlan struct {
	p *probe
	c tool.Call
}

func (p *probePlan) Needs() []permission.Query {
	return []permission.Query{{Tool: p.p.name, Subject: "x"}}
}
func (p *probePlan) Close() error  { return nil }
func (p *probePlan) State() string { return p.p.state }
func (p *probePlan) Run(ctx context.Context, _ func(string)) (tool.Result, error) {
	p.p.runs.Add(1)
	if p.p.run == nil {
		return tool.Text("ok"), nil
	}
	return p.p.run(ctx, p.c)
}

// bench is a store with one stream, and what runs on it.
type bench struct {
	t            testing.TB
	store        *memory.Store
	spec         *spec.Spec
	model        model.Model
	tools        []tool.Tool
	capabilities []engine.Capability
	lease        session.Lease
	asks         bool // somebody is there to answer

	fallbacks []model.Model
	hooks     []hook.Hook
}

func newBench(t testing.TB, m model.Model, tools ...tool.Tool) *bench {
	b := &bench{t: t, store: memory.New(memory.Options{}), model: m, tools: tools}
	b.spec = &spec.Spec{
		Name: "p", Revision: "r", AllTools: true,
		Rules:  []permission.Rule{{Tool: "*", Subject: "*", Effect: permission.Allow}, {Tool: "task", Subject: "*", Effect: permission.Allow}},
		Limits: spec.Limits{Turns: 50, Tokens: 1e6, Duration: 10 * time.Minute},
		Retry:  spec.Retry{Max: 3, Base: time.Millisecond, Factor: 2, Cap: 2 * time.Millisecond},
	}
	return b
}

func (b *bench) post(bodies ...session.Body) {
	b.t.Helper()
	for _, body := range bodies {
		p := session.Post{Worker: "w", Events: []session.Event{{Session: "s", Chain: "c", Time: time.Now().UTC(), Body: body}}}
		posted, err := b.store.Post(b.t.Context(), key, p)
		if err != nil {
			b.t.Fatal(err)
		}
		if posted.Lease != nil {
			b.lease = *posted.Lease
		}
	}
}

func (b *bench) state() *session.State {
	b.t.Helper()
	st := session.NewState(key)
	for e, err := range b.store.Read(b.t.Context(), key, 0) {
		if err != nil {
			b.t.Fatal(err)
		}
		if err := st.Apply(&e); err != nil {
			b.t.Fatal(err)
		}
	}
	return st
}

func (b *bench) blueprint() *engine.Blueprint {
	b.t.Helper()
	bp, err := engine.Compile(b.spec, b.model, append([]engine.Capability{{Name: "probes", Tools: b.tools}}, b.capabilities...), !b.asks, b.fallbacks...)
	if err != nil {
		b.t.Fatal(err)
	}
	if bp.Hooks, err = hook.NewSet(b.hooks...); err != nil {
		b.t.Fatal(err)
	}
	return bp
}

// run runs a loop to its end and returns all that it yields.
func (b *bench) run(d engine.Deps) []session.Event {
	b.t.Helper()
	return b.runAs(b.blueprint(), d)
}

func (b *bench) runAs(as *engine.Blueprint, d engine.Deps) []session.Event {
	b.t.Helper()
	d.Store, d.Blobs = b.store, b.store
	var events []session.Event
	for e, err := range engine.Run(b.t.Context(), d, as, b.state(), b.lease) {
		if err != nil {
			b.t.Fatal(err)
		}
		events = append(events, e)
	}
	b.checkLog()
	return events
}

// checkLog holds what must be true of every log: numbers without gaps, a fold
// that accepts it, and one end for each call that began.
func (b *bench) checkLog() {
	b.t.Helper()
	b.state()
	open := map[string]int{}
	var last int64
	for e := range b.store.Read(b.t.Context(), key, 0) {
		if e.Seq != last+1 {
			b.t.Errorf("event %d follows event %d", e.Seq, last)
		}
		last = e.Seq
		body, _ := e.Decode()
		switch x := body.(type) {
		case *session.ToolBefore:
			open[e.Session+" "+x.Call]++
		case *session.ToolAfter:
			open[e.Session+" "+x.Call]--
		case *session.LoopEnd:
			for call, n := range open {
				if s, _, _ := strings.Cut(call, " "); n != 0 && s == e.Session {
					b.t.Errorf("call %s: %+d ends are missing", call, n)
				}
			}
		}
	}
}

// types lists the stored events' types, and those of live ones in brackets.
func types(events []session.Event) string {
	var list []string
	for _, e := range events {
		if e.Seq == 0 {
			list = append(list, "["+e.Type+"]")
		} else {
			list = append(list, e.Type)
		}
	}
	return strings.Join(list, " ")
}

func end(t *testing.T, events []session.Event) *session.LoopEnd {
	t.Helper()
	e, ok := events[len(events)-1].Body.(*session.LoopEnd)
	if !ok {
		t.Fatalf("the last event is %s", events[len(events)-1].Type)
	}
	return e
}

func find[B session.Body](events []session.Event) []B {
	var found []B
	for _, e := range events {
		if b, ok := e.Body.(B); ok {
			found = append(found, b)
		}
	}
	return found
}
