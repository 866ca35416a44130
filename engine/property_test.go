package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rosterrun/roster/engine"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
	"github.com/rosterrun/roster/store/memory"
	"github.com/rosterrun/roster/tool"
)

// TestAnyInterleaving posts, kills and resumes at random places, and holds what
// must be true of every log that comes of it.
func TestAnyInterleaving(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t, rt)
		w.post(0)
		w.rest()
	})
}

var errDied = errors.New("the worker died")

// world is a store that interferes with the run that writes to it.
type world struct {
	*bench
	rt      *rapid.T
	mu      sync.Mutex // of rt: a late flush comes from another goroutine
	left    int        // how many times more to interfere
	dead    bool       // the worker writes no more
	workers int
	effects map[string]int
	hints   bool
	cancel  context.CancelFunc // the hint that a cancel was posted
	live    *session.State     // of the run
	folded  *session.State     // of the log, up to the last commit
	steered int64
	kill    context.CancelFunc // the worker shuts down
	names   []string           // of the tools that the model calls
	child   func(context.Context, engine.Child) (*engine.Blueprint, error)
}

func newWorld(t *testing.T, rt *rapid.T) *world {
	w := &world{rt: rt, left: rapid.IntRange(0, 12).Draw(rt, "left"), effects: map[string]int{}, hints: rapid.Bool().Draw(rt, "hints")}
	effect := newProbe("effect", func(ctx context.Context, c tool.Call) (tool.Result, error) {
		w.effects[c.ID]++
		w.meddle("tool")
		return tool.Text("done"), ctx.Err()
	})
	safe := newProbe("safe", func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		w.meddle("safe tool")
		return tool.Text("done"), ctx.Err()
	})
	safe.recovery = tool.Repeat
	risky := newProbe("risky", effect.run)
	w.bench = newBench(t, w, effect, safe, risky, &inquirer{newProbe("inquire", func(_ context.Context, c tool.Call) (tool.Result, error) {
		if c.Reply == nil {
			return tool.Result{}, errors.New("it runs without an answer")
		}
		return tool.Text("done"), nil
	})})
	w.asks = true
	w.spec.Rules = append(w.spec.Rules, ask("risky"))
	w.names = []string{"effect", "safe", "unheard-of", "risky", "inquire"}
	w.spec.Limits.Turns = rapid.IntRange(1, 6).Draw(rt, "turns")
	w.spec.ToolExecution.Strategy = "sequential"
	w.spec.Steering = rapid.SampledFrom([]string{spec.OneAtATime, spec.QueueAll}).Draw(rt, "steering")
	w.spec.FollowUp = rapid.SampledFrom([]string{spec.OneAtATime, spec.QueueAll}).Draw(rt, "follow-up")
	w.spec.Retry.Base, w.spec.Retry.Cap = time.Microsecond, time.Microsecond
	w.lease.Worker = "w0"
	return w
}

// post adds an inbound event of the n-th kind.
func (w *world) post(n int) {
	parts := text("x")
	if n == answering {
		w.postBody(w.anyAnswer(rapid.IntRange(1, 9).Draw(w.rt, "asked")))
		return
	}
	w.postBody([]session.Body{&session.Prompt{Parts: parts, Profile: "p"}, &session.Steer{Parts: parts}, &session.Followup{Parts: parts}, &session.Cancel{}}[n])
	if n == 3 && w.hints && w.cancel != nil {
		w.cancel()
	}
}

// answering is the kind of an answer to any question, asked or not.
const answering = 8

func (w *world) anyAnswer(n int) session.Body {
	if rapid.Bool().Draw(w.rt, "is a text") {
		a := rapid.SampledFrom([]session.Answer{session.AnswerText, session.AnswerNo, session.AnswerTimeout}).Draw(w.rt, "reply")
		return &session.InputAnswered{Ask: session.AskID("s", n), Answer: a}
	}
	a := rapid.SampledFrom([]session.Answer{session.AnswerOnce, session.AnswerSession, session.AnswerAlways, session.AnswerNo, session.AnswerTimeout}).Draw(w.rt, "answer")
	return &session.PermissionResolved{Ask: session.AskID("s", n), Answer: a, ForSession: rapid.Bool().Draw(w.rt, "for the session")}
}

// postAnswer answers what the session waits for; false: it does not.
func (w *world) postAnswer() bool {
	st := w.state()
	if st.Root.Loop == nil || st.Root.Runnable() {
		return false
	}
	for q := range st.Questions() {
		_, n, _ := session.ParseAskID(q.Ask)
		w.postBody(w.anyAnswer(n))
		w.postBody(q.Resolved(session.AnswerNo)) // if that was none
		return true
	}
	w.rt.Fatal("the session waits for nothing")
	return false
}

func (w *world) postBody(body session.Body) {
	e := session.Event{Session: "s", Chain: "c", Time: time.Now().UTC(), Body: body}
	posted, err := w.store.Post(context.Background(), key, session.Post{Worker: w.lease.Worker, Events: []session.Event{e}})
	if err != nil {
		w.rt.Fatal(err)
	}
	if posted.Lease != nil {
		w.lease = *posted.Lease
	}
	if e.Type == "steer" {
		w.steered = posted.Last
	}
}

func (w *world) postIdle() bool {
	if w.left == 0 {
		return false
	}
	w.left--
	w.post(rapid.IntRange(0, 3).Draw(w.rt, "idle post"))
	return true
}

// meddle does something, or not, and says what: 4 is to die before, 5 to die
// after, 6 to be shut down, 7 to fail once.
func (w *world) meddle(where string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left == 0 {
		return -1
	}
	n := rapid.IntRange(-3, answering).Draw(w.rt, where)
	if n >= 0 {
		w.left--
	}
	if n >= 0 && n <= 3 || n == answering {
		w.post(n)
	}
	if n == 6 {
		w.kill()
	}
	return n
}

func (w *world) draw(what string, most int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return rapid.IntRange(0, most).Draw(w.rt, what)
}

func (w *world) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	if w.dead {
		return 0, errDied
	}
	n := w.meddle("append")
	w.dead = n == 4 || n == 5
	if n == 4 || n == 7 {
		return 0, errDied
	}
	last, err := w.store.Append(ctx, k, l, after, evs)
	if err == nil {
		w.agrees(w.live, last)
	}
	if err == nil && n == 5 {
		err = errDied
	}
	return last, err
}

func (w *world) Name() string { return "test/world" }

func (w *world) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		w.meddle("model")
		n := w.draw("answer", 5)
		if n >= 4 && !yield(model.Chunk{Text: "half"}, nil) {
			return
		}
		if err := ctx.Err(); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		if n == 5 {
			yield(model.Chunk{}, &model.Error{Kind: model.Cut})
			return
		}
		done := &message.Message{Role: message.Assistant, Parts: text("half")}
		for i := range n % 4 {
			c := message.ToolCall{ID: fmt.Sprint(time.Now().UnixNano(), "-", i), Name: w.names[w.draw("tool name", len(w.names)-1)]}
			if c.Name == "task" {
				c.Input = []byte(`{"profile":"c","prompt":"x"}`)
			}
			done.Parts = append(done.Parts, c)
		}
		yield(model.Chunk{Done: done, Stop: "stop"}, nil)
	}
}

// interfering is the world as a store.
type interfering struct {
	*memory.Store
	w *world
}

func (s interfering) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	return s.w.Append(ctx, k, l, after, evs)
}

// runOnce runs one loop, or takes it up; false: there is nothing to do.
func (w *world) runOnce() bool {
	st := w.state()
	w.live = st
	w.same(st)
	if !st.Root.Runnable() {
		return false
	}
	if w.lease.Epoch == 0 {
		w.claim()
	}
	ctx, kill := context.WithCancel(context.Background())
	defer kill()
	cancelled, cancel := context.WithCancel(context.Background())
	defer cancel()
	w.kill, w.cancel = kill, cancel
	d := engine.Deps{Store: interfering{w.store, w}, Blobs: w.store, Child: w.child}
	if w.hints {
		d.Cancelled, d.Steered = cancelled, func() int64 { return w.steered }
	}
	for _, err := range engine.Run(ctx, d, w.blueprint(), st, w.lease) {
		if err != nil && !errors.Is(err, errDied) && ctx.Err() == nil {
			w.rt.Fatalf("%v", err)
		}
		if err != nil {
			w.lease = session.Lease{}
		}
	}
	if w.lease.Epoch == 0 {
		w.claim()
		return true
	}
	w.same(st)
	return true
}

// claim takes the stream from the worker that died.
func (w *world) claim() {
	if err := w.store.Bury(context.Background(), fmt.Sprint("w", w.workers)); err != nil {
		w.rt.Fatal(err)
	}
	w.workers++
	w.dead = false
	worker := fmt.Sprint("w", w.workers)
	_, l, err := w.store.Claim(context.Background(), worker, &key)
	if err != nil && !errors.Is(err, session.ErrNoWork) {
		w.rt.Fatal(err)
	}
	if l.Worker = worker; err != nil {
		l.Epoch = 0
	}
	w.lease = l
}

// same holds a state against the fold of the log, and that against the store's
// summary.
func (w *world) same(st *session.State) {
	folded := w.state()
	own, log := st.Root, folded.Root
	if own.Loop != nil && log.Loop != nil {
		own.Held, log.Held = 0, 0 // it says something only between loops
	}
	a, _ := json.Marshal([]any{&own, st.Children, st.Asks, st.Grants})
	b, _ := json.Marshal([]any{&log, folded.Children, folded.Asks, folded.Grants})
	if string(a) != string(b) {
		w.rt.Fatalf("the state of the run and that of the log differ:\n%s\n%s", a, b)
	}
	sum, err := w.store.Summary(context.Background(), key)
	if err != nil {
		w.rt.Fatal(err)
	}
	if sum.Runnable() != folded.Root.Runnable() || sum.Held != folded.Root.Held || sum.Last != folded.Last {
		w.rt.Fatalf("the summary %+v does not agree with the state %s", sum, b)
	}
}

// check holds the whole log.
func (w *world) check() {
	c := checker{world: w, posts: map[int64]string{}, calls: map[string]int{}, asked: map[string]string{}, allowed: map[string]bool{}}
	sum, sessions := session.Summary{}, map[string]*checker{"s": &c}
	for e := range w.store.Read(context.Background(), key, 0) {
		e.Body, _ = e.Decode()
		if e.Type == "cancel" && (sum.Open || sum.Runnable()) {
			c.cancel = true
		}
		if in := sessions[e.Session]; in != nil {
			in.see(&e)
		} else {
			sessions[e.Session] = &checker{world: w, posts: c.posts, calls: map[string]int{}, asked: c.asked, allowed: c.allowed, cancel: true}
			sessions[e.Session].see(&e)
		}
		if err := sum.Apply(&e); err != nil {
			w.rt.Fatal(err)
		}
	}
	for id, in := range sessions {
		if in.loop != "" {
			w.rt.Errorf("session %s: loop %s is open", id, in.loop)
		}
	}
	left := 0
	for seq, typ := range c.posts {
		if typ == "prompt" {
			w.rt.Errorf("prompt %d had no answer", seq)
		}
		left++
	}
	if left != sum.Held {
		w.rt.Errorf("%d posts are left, %d held", left, sum.Held)
	}
	for call, n := range w.effects {
		if n > 1 {
			w.rt.Errorf("call %s took effect %d times", call, n)
		}
	}
}

// checker is what is known of a log in the middle of it.
type checker struct {
	*world
	posts  map[int64]string // not delivered
	calls  map[string]int   // 1: begun, 2: ended
	loop   string
	head   string
	cancel bool // the open loop, or the next one, is to end

	asked   map[string]string // question → call
	allowed map[string]bool   // calls, and "" for all of the session
}

func (c *checker) see(e *session.Event) {
	switch b := e.Body.(type) {
	case *session.Prompt, *session.Steer, *session.Followup:
		c.posts[e.Seq] = e.Type
	case *session.LoopStart:
		if c.loop != "" {
			c.rt.Errorf("event %d: loop %s is open", e.Seq, c.loop)
		}
		c.loop = e.Loop
	case *session.Message:
		if b.Source != "" && c.posts[b.Post] != b.Source {
			c.rt.Errorf("event %d: delivers %s %d, which does not wait", e.Seq, b.Source, b.Post)
		}
		delete(c.posts, b.Post)
		if b.Parent != c.head || e.Loop != c.loop {
			c.rt.Errorf("event %d: message after %q in loop %q, want %q in %q", e.Seq, b.Parent, e.Loop, c.head, c.loop)
		}
		c.head = b.ID
	case *session.PermissionAsked:
		c.asked[b.Ask] = b.Call
	case *session.PermissionResolved:
		if call, ok := c.asked[b.Ask]; ok {
			delete(c.asked, b.Ask)
			c.allowed[call] = c.allowed[call] || b.Answer.Allows()
			c.allowed[""] = c.allowed[""] || b.Answer == session.AnswerSession
		}
	case *session.ToolBefore:
		c.call(e, b.Call, 1)
		if b.Tool == "risky" && b.Effect == "allow" && !c.allowed[b.Call] && !c.allowed[""] {
			c.rt.Errorf("event %d: call %s begins, and nobody allowed it", e.Seq, b.Call)
		}
	case *session.ToolAfter:
		c.call(e, b.Call, 2)
		if (b.Tool == "effect" || b.Tool == "risky") && b.Outcome == session.OK && c.effects[b.Call] != 1 {
			c.rt.Errorf("event %d: call %s is said to be done and had %d effects", e.Seq, b.Call, c.effects[b.Call])
		}
		if b.Outcome == session.Skipped && c.effects[b.Call] > 0 {
			c.rt.Errorf("event %d: call %s is said not to have run", e.Seq, b.Call)
		}
	case *session.LoopEnd:
		c.end(e, b)
	}
}

func (c *checker) call(e *session.Event, id string, stage int) {
	if c.calls[id] != stage-1 {
		c.rt.Errorf("event %d: %s of call %s at stage %d", e.Seq, e.Type, id, c.calls[id])
	}
	c.calls[id] = stage
}

func (c *checker) end(e *session.Event, b *session.LoopEnd) {
	if e.Loop != c.loop {
		c.rt.Errorf("event %d: loop %q is open", e.Seq, c.loop)
	}
	if b.Reason == session.ReasonCancelled && !c.cancel {
		c.rt.Errorf("event %d: nobody cancelled this loop", e.Seq)
	}
	for id, stage := range c.calls {
		if stage == 1 {
			c.rt.Errorf("event %d: call %s has no end", e.Seq, id)
		}
	}
	c.loop, c.cancel = "", false
}
