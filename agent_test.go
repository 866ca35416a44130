package roster_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// gated is a model that says when it is asked, and answers when it is let.
type gated struct {
	model.Model
	asked chan string // the last message
	let   chan struct{}
}

func newGated() *gated {
	s := script.New(script.Reply{Text: "Yes."})
	s.Loop = true
	return &gated{s.Model("gate/m"), make(chan string, 64), make(chan struct{}, 64)}
}

func (m *gated) Stream(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		m.asked <- r.Messages[len(r.Messages)-1].Text()
		select {
		case <-m.let:
			m.Model.Stream(ctx, r)(yield)
		case <-ctx.Done():
			yield(model.Chunk{}, ctx.Err())
		}
	}
}

// agents opens a workspace whose profiles ask m.
func agents(t testing.TB, m model.Model, keys string) *roster.App {
	dir := t.TempDir()
	write(t, dir, "roster.yaml", "providers:\n  gate: {api: script, base-url: none.yaml}\n")
	write(t, dir, "profiles/worker.md", "---\ndescription: Works.\nmodel: gate/m\n"+keys+"---\nWork.\n")
	write(t, dir, "profiles/other.md", "---\ndescription: Works too.\nmodel: gate/m\n---\nWork.\n")
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Models: map[string]model.Model{"gate/m": m},
		Backend: memory.New(memory.Options{}), Trust: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

func newAgent(t testing.TB, app *roster.App, profile string, o roster.AgentOptions) *roster.Agent {
	t.Helper()
	o.Headless = true
	g, err := app.NewAgent(profile, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// ended lets a prompt be answered.
func ended(t testing.TB, run *roster.Run, err error) *session.LoopEnd {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	end, err := run.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return end
}

func prompted(t testing.TB, g *roster.Agent, text string) *session.LoopEnd {
	t.Helper()
	run, err := g.Prompt(t.Context(), text)
	return ended(t, run, err)
}

func stateOf(t testing.TB, g *roster.Agent) roster.AgentState {
	t.Helper()
	s, err := g.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// yes is a model that answers all at once.
func yes() model.Model {
	s := script.New(script.Reply{Text: "Yes."})
	s.Loop = true
	return s.Model("gate/m")
}

// TestAgentIdentity: every event of an agent's loops has its id, which is its own
// also where the profile, or the session, is another's too.
func TestAgentIdentity(t *testing.T) {
	app := agents(t, yes(), "")
	a, b := newAgent(t, app, "worker", roster.AgentOptions{}), newAgent(t, app, "worker", roster.AgentOptions{})
	if a.ID() == b.ID() || a.Session().Stream != "" {
		t.Fatalf("new agents are %s and %s, the session %s", a.ID(), b.ID(), a.Session())
	}
	prompted(t, a, "one")
	prompted(t, a, "two")
	prompted(t, b, "one")
	if a.Session() == b.Session() || a.Session().Stream == "" {
		t.Errorf("the sessions are %s and %s", a.Session(), b.Session())
	}
	c := newAgent(t, app, "", roster.AgentOptions{Session: a.Session()})
	prompted(t, c, "three")
	store, _ := app.Backend(t.Context())
	seen := map[string]int{}
	for e, err := range store.Read(t.Context(), a.Session(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Type == "loop.start" {
			seen[e.Agent]++
		}
		if !session.Inbound(e.Type) && e.Agent == "" {
			t.Errorf("%s has no agent_id", e.Type)
		}
	}
	if seen[a.ID()] != 2 || seen[c.ID()] != 1 || len(seen) != 2 {
		t.Errorf("loops by agent: %v; want 2 of %s and 1 of %s", seen, a.ID(), c.ID())
	}
	s := stateOf(t, c)
	if s.Profile != "worker" || len(s.Messages) != 6 || s.Loops != 3 || s.Streaming || s.Usage.Output == 0 || s.LastActive.IsZero() {
		t.Errorf("state %+v", s)
	}
}

func TestNewAgentRefuses(t *testing.T) {
	app := agents(t, yes(), "")
	for _, c := range []struct {
		name    string
		profile string
		o       roster.AgentOptions
		want    string
	}{
		{"neither profile nor session", "", roster.AgentOptions{}, "name either"},
		{"an id that is none", "worker", roster.AgentOptions{ID: "me"}, `"me" is no UUID`},
		{"a key that there is not", "worker", roster.AgentOptions{Set: map[string]string{"modle": "x"}}, "modle is not a known key"},
		{"a hook without a function", "worker", roster.AgentOptions{Hooks: []roster.Hook{{On: hook.BeforeTool}}}, "nothing to ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := app.NewAgent(c.profile, c.o); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
	g := newAgent(t, app, "nobody", roster.AgentOptions{})
	if _, err := g.Prompt(t.Context(), "hi"); roster.Code(err) != "ProfileNotFound" || g.Session().Stream != "" {
		t.Errorf("got %v, session %s", err, g.Session())
	}
	if _, err := g.Prompt(t.Context(), ""); err == nil {
		t.Error("an empty prompt is taken")
	}
	for name, err := range map[string]error{"steer": g.Steer(t.Context(), "x"), "follow up": g.FollowUp(t.Context(), "x"), "abort": g.Abort(t.Context())} {
		if !errors.Is(err, session.ErrNoStream) {
			t.Errorf("%s before the first prompt: %v", name, err)
		}
	}
}

// TestAgentWhileItWorks steers it, queues for it, looks at it and aborts it while
// a prompt runs.
func TestAgentWhileItWorks(t *testing.T) {
	m := newGated()
	app := agents(t, m, "")
	g := newAgent(t, app, "worker", roster.AgentOptions{})
	run, err := g.Prompt(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	<-m.asked
	var busy *session.Busy
	if _, err := g.Prompt(t.Context(), "second"); !errors.As(err, &busy) {
		t.Errorf("a second prompt: %v", err)
	}
	for _, err := range []error{g.FollowUp(t.Context(), "later"), g.Steer(t.Context(), "aside")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if s := stateOf(t, g); !s.Streaming || s.Profile != "worker" || len(s.Queued) < 2 {
		t.Errorf("state at work: %+v", s)
	}
	for _, want := range []string{"aside", "later"} {
		m.let <- struct{}{}
		if got := <-m.asked; got != want {
			t.Errorf("the model is asked %q, want %q", got, want)
		}
	}
	if err := g.Abort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, run, nil); end.Reason != session.ReasonCancelled {
		t.Errorf("aborted: %+v", end)
	}
	if s := stateOf(t, g); s.Streaming || s.Loop != "" || s.LastLoop == "" {
		t.Errorf("state after: %+v", s)
	}
	if _, err := g.Continue(t.Context()); !errors.Is(err, session.ErrNoWork) {
		t.Errorf("continue with nothing to do: %v", err)
	}
}

// TestAgentSteeredTooLate: what comes after the end begins a loop of its own.
func TestAgentSteeredTooLate(t *testing.T) {
	m := newGated()
	app := agents(t, m, "")
	g := newAgent(t, app, "worker", roster.AgentOptions{})
	m.let <- struct{}{}
	prompted(t, g, "first")
	<-m.asked
	if err := g.Steer(t.Context(), "aside"); err != nil {
		t.Fatal(err)
	}
	if got := <-m.asked; got != "aside" {
		t.Errorf("the model is asked %q", got)
	}
	m.let <- struct{}{}
	run := newAgent(t, app, "", roster.AgentOptions{Session: g.Session(), OnBusy: "queue"})
	m.let <- struct{}{}
	prompted(t, run, "last")
	if s := stateOf(t, g); s.Loops != 3 {
		t.Errorf("%d loops", s.Loops)
	}
}

// TestAgentReset: the next prompt knows nothing of what was said, and what runs
// ends.
func TestAgentReset(t *testing.T) {
	m := newGated()
	app := agents(t, m, "")
	g := newAgent(t, app, "worker", roster.AgentOptions{})
	if err := g.Reset(t.Context()); err != nil {
		t.Errorf("reset of a new agent: %v", err)
	}
	run, err := g.Prompt(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	<-m.asked
	before, id := g.Session(), g.ID()
	if err := g.FollowUp(t.Context(), "later"); err != nil {
		t.Fatal(err)
	}
	if err := g.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, run, nil); end.Reason != session.ReasonCancelled {
		t.Errorf("the run before: %+v", end)
	}
	if s := stateOf(t, g); s.Session.Stream != "" || len(s.Messages) != 0 || s.Profile != "worker" {
		t.Errorf("state after: %+v", s)
	}
	m.let <- struct{}{}
	prompted(t, g, "new")
	if s := stateOf(t, g); s.Session == before || len(s.Messages) != 2 || s.ID != id || len(s.Queued) != 0 {
		t.Errorf("state of the new session: %+v", s)
	}
}

// fixed is a clock that stands.
type fixed struct{ now time.Time }

func (c fixed) Now() time.Time { return c.now }
func (c fixed) ID() string     { return "later" }

func TestAgentRotates(t *testing.T) {
	app := agents(t, yes(), "")
	g := newAgent(t, app, "worker", roster.AgentOptions{})
	later := clock.With(t.Context(), fixed{time.Now().Add(2 * time.Hour)})
	if left, err := g.CheckAndRotate(later, time.Hour); left || err != nil {
		t.Errorf("before the first prompt: %v, %v", left, err)
	}
	prompted(t, g, "one")
	before := g.Session()
	if left, err := g.CheckAndRotate(t.Context(), time.Hour); left || err != nil || g.Session() != before {
		t.Errorf("at once: %v, %v", left, err)
	}
	if left, err := g.CheckAndRotate(later, time.Hour); !left || err != nil {
		t.Errorf("after two hours: %v, %v", left, err)
	}
	next := g.Session()
	prompted(t, g, "two")
	if s := stateOf(t, g); next == before || s.Session != next || len(s.Messages) != 2 || s.Profile != "worker" {
		t.Errorf("the session is %s, before %s; state %+v", next, before, s)
	}
}

// TestAgentDoesNotLeaveWork: a session that is at work is not rotated, however old
// its prompt is.
func TestAgentDoesNotLeaveWork(t *testing.T) {
	m := newGated()
	app := agents(t, m, "")
	g := newAgent(t, app, "worker", roster.AgentOptions{})
	run, err := g.Prompt(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	<-m.asked
	later := clock.With(t.Context(), fixed{time.Now().Add(2 * time.Hour)})
	if left, err := g.CheckAndRotate(later, time.Hour); left || err != nil {
		t.Errorf("left %v, %v", left, err)
	}
	m.let <- struct{}{}
	ended(t, run, nil)
}

// TestAgentHooks: an agent's own are asked in its loops and in no other's, also in
// the agents below it, and can be changed.
func TestAgentHooks(t *testing.T) {
	deny := func(reason string) roster.Hook {
		return roster.Hook{On: hook.BeforeTurn, Ask: func(context.Context, *hook.Moment) (hook.Verdict, error) {
			return hook.Verdict{Reason: reason}, nil
		}}
	}
	app := agents(t, yes(), "")
	a, b := newAgent(t, app, "worker", roster.AgentOptions{Hooks: []roster.Hook{deny("not now")}}), newAgent(t, app, "worker", roster.AgentOptions{})
	if end := prompted(t, a, "go"); end.Reason != session.ReasonDenied || !strings.Contains(end.Error.Error, "not now") {
		t.Errorf("with the hook: %+v", end)
	}
	if end := prompted(t, b, "go"); end.Reason != session.ReasonDone {
		t.Errorf("another agent: %+v", end)
	}
	if err := a.SetHooks(deny("nor now")); err != nil {
		t.Fatal(err)
	}
	if end := prompted(t, a, "go"); !strings.Contains(end.Error.Error, "nor now") {
		t.Errorf("with another hook: %+v", end)
	}
	if err := a.SetHooks(); err != nil {
		t.Fatal(err)
	}
	if end := prompted(t, a, "go"); end.Reason != session.ReasonDone {
		t.Errorf("without: %+v", end)
	}
}

// TestAgentHooksHoldBelow: who works for the agent asks its hooks too.
func TestAgentHooksHoldBelow(t *testing.T) {
	s := script.New(
		script.Reply{When: script.When{Contains: "delegate"}, Tools: []script.Call{{Name: "task", Input: `{"profile":"other","prompt":"look"}`}}},
		script.Reply{When: script.When{Contains: "look"}, Text: "Seen."}, script.Reply{Text: "Done."})
	app := agents(t, s.Model("gate/m"), "permission: {task: allow}\n")
	var mu sync.Mutex
	var told []string
	g := newAgent(t, app, "worker", roster.AgentOptions{Hooks: []roster.Hook{{On: hook.BeforeTurn, Ask: func(_ context.Context, m *hook.Moment) (hook.Verdict, error) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, fmt.Sprint(m.Profile, " ", m.Depth))
		return hook.Verdict{Decision: hook.Allow}, nil
	}}}})
	if end := prompted(t, g, "delegate"); end.Reason != session.ReasonDone {
		t.Fatalf("%+v", end)
	}
	if got := strings.Join(told, ", "); got != "worker 0, other 1, worker 0" {
		t.Errorf("the hook was asked of %s", got)
	}
}

// TestAgentSet: what is set holds for this agent from the next prompt on.
func TestAgentSet(t *testing.T) {
	app := agents(t, yes(), "")
	g := newAgent(t, app, "worker", roster.AgentOptions{Set: map[string]string{"limits.turns": "7"}})
	turns := func() int {
		t.Helper()
		prompted(t, g, "go")
		sp := fold(t, app, g.Session()).Root.Asked.Set
		n := 0
		fmt.Sscan(sp["limits.turns"], &n)
		return n
	}
	if n := turns(); n != 7 {
		t.Errorf("at the start %d", n)
	}
	if err := g.Set("limits.turns", "3"); err != nil {
		t.Fatal(err)
	}
	if n := turns(); n != 3 {
		t.Errorf("set to 3: %d", n)
	}
	if err := g.Set("limits.turns", "many"); err == nil {
		t.Error("a value that does not fit is taken")
	}
	if err := g.Set("limits.turns", ""); err != nil {
		t.Fatal(err)
	}
	if n := turns(); n != 0 {
		t.Errorf("taken back: %d", n)
	}
}

// TestRunEvents: who looks at a run late, when all comes from the store, sees the same
// events, each with its body.
func TestRunEvents(t *testing.T) {
	g := newAgent(t, agents(t, yes(), ""), "worker", roster.AgentOptions{})
	run, err := g.Prompt(t.Context(), "go")
	if err == nil {
		_, err = run.Wait(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	var answer string
	var end *session.LoopEnd
	for e, err := range run.Events(t.Context()) {
		switch b := e.Body.(type) {
		case nil:
			t.Fatalf("%s, %v has no body", e.Type, err)
		case *session.Message:
			answer = message.PartsText(b.Parts)
		case *session.LoopEnd:
			end = b
		}
	}
	if answer != "Yes." || end == nil {
		t.Errorf("%q, %+v", answer, end)
	}
}

// TestAgentConcurrently has many goroutines use one agent. Its first prompts are
// of one session, and each that was taken is answered.
func TestAgentConcurrently(t *testing.T) {
	app := agents(t, yes(), "")
	g := newAgent(t, app, "worker", roster.AgentOptions{OnBusy: "queue"})
	const each = 8
	var wg sync.WaitGroup
	for i := range each {
		wg.Go(func() {
			run, err := g.Prompt(t.Context(), fmt.Sprint("prompt ", i))
			if err != nil {
				t.Error(err)
				return
			}
			if end, err := run.Wait(t.Context()); err != nil || end.Reason != session.ReasonDone {
				t.Errorf("%+v, %v", end, err)
			}
		})
		wg.Go(func() {
			if _, err := g.State(t.Context()); err != nil {
				t.Error(err)
			}
			if err := g.Set("thinking", "low"); err != nil {
				t.Error(err)
			}
			_, _ = g.Session(), g.SetHooks()
		})
	}
	wg.Wait()
	if s := stateOf(t, g); s.Loops != each || len(s.Messages) != 2*each {
		t.Errorf("%d loops and %d messages, want %d and %d", s.Loops, len(s.Messages), each, 2*each)
	}
}

// TestAgentGoesOnInAnotherProcess: a loop whose process ended is taken up with
// Continue, by an agent of the same id.
func TestAgentGoesOnInAnotherProcess(t *testing.T) {
	m := newGated()
	store := memory.New(memory.Options{})
	dir, home := t.TempDir(), t.TempDir()
	write(t, dir, "roster.yaml", "providers:\n  gate: {api: script, base-url: none.yaml}\n")
	write(t, dir, "profiles/worker.md", "---\ndescription: Works.\nmodel: gate/m\n---\nWork.\n")
	open := func() *roster.App {
		app, _, err := roster.Open(dir, roster.Options{
			State: t.TempDir(), Getenv: env{"ROSTER_HOME": home}.get, Models: map[string]model.Model{"gate/m": m}, Backend: store,
		})
		if err != nil {
			t.Fatal(err)
		}
		return app
	}
	first := open()
	g := newAgent(t, first, "worker", roster.AgentOptions{})
	if _, err := g.Prompt(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	<-m.asked
	hurry, cancel := context.WithCancel(t.Context())
	cancel()
	first.Close(hurry)
	second := open()
	defer second.Close(context.Background())
	again := newAgent(t, second, "", roster.AgentOptions{ID: g.ID(), Session: g.Session()})
	m.let <- struct{}{}
	run, err := again.Continue(t.Context())
	if end := ended(t, run, err); end.Reason != session.ReasonDone || end.Text != "Yes." {
		t.Errorf("%+v", end)
	}
	s := stateOf(t, again)
	if len(s.Messages) != 2 || s.Messages[0].Role != message.User || s.Loops != 1 {
		t.Errorf("state: %+v", s)
	}
}

// TestAgentSchema: what does not fit is asked for again.
func TestAgentSchema(t *testing.T) {
	m := script.New(script.Reply{Text: "seven"}, script.Reply{Text: "7"}).Model("gate/m")
	g, err := agents(t, m, "").NewAgent("worker", roster.AgentOptions{Schema: []byte(`{"type": "integer"}`)})
	if err != nil {
		t.Fatal(err)
	}
	run, err := g.Prompt(t.Context(), "How many?")
	if err != nil {
		t.Fatal(err)
	}
	if end, err := run.Wait(t.Context()); err != nil || end.Text != "7" || end.Reason != session.ReasonDone {
		t.Errorf("%+v, %v", end, err)
	}
}
