// Package engine drives loops: it asks a model, runs the tools it calls for,
// and writes all of it to the log before anybody is told. It knows no files and
// no HTTP. Every step is decided by the fold of the log, so a loop that is
// taken up again after a crash goes the same way as one that never stopped.
package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rosterrun/roster/engine/habit"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// Deps is where a loop reads and writes.
type Deps struct {
	Store session.Store
	Blobs session.Blobs
	// Cancelled is done when a cancel has been posted, and Steered gives the
	// number of the newest steering message, so that the loop need not wait
	// for a model or a tool to end. They are hints: what happens is decided by
	// the log. Both may be nil; posts are then noticed at the next commit.
	Cancelled context.Context
	Steered   func() int64
	// Redact hides secrets in the texts that tools and providers give; nil:
	// there are none.
	Redact func(string) string
	// Refresh has the key of a model's provider read anew for the next call, after
	// one that began at a time was refused for it. False: there is none, or nil.
	Refresh func(model string, began time.Time) bool
	// Jobs has the commands that calls have left at work: they end with their loops.
	// nil: there are none.
	Jobs *tool.Jobs
	// Grants lists what may be done without being asked for, for a profile, as
	// it is now; nil: nothing. AnswerTime is how long a person has to answer;
	// 0: any time.
	Grants     func(profile string) []permission.Grant
	AnswerTime time.Duration
	// Files keeps what calls change of files; nil: nothing does.
	Files Files
	// Child makes what a session runs by that a call gives work to; nil: no
	// call can. Its error is told to the model. It is called from several
	// goroutines.
	Child func(ctx context.Context, c Child) (*Blueprint, error)
	// Switch makes what a session goes on by as another profile; nil: it cannot.
	// Its error is told to the model.
	Switch func(ctx context.Context, s Switch) (*Blueprint, error)
}

// handOverTime bounds the last write of a worker that shuts down.
const handOverTime = 2 * time.Second

// ErrIdle is yielded by Run when the state has no open loop and no prompt.
var ErrIdle = errors.New("engine: nothing to do")

// Run drives one loop in the caller's goroutine: the open loop of st, or a new
// one for the first post in its inbox. It yields stored events after their
// commit, and live ones between. st is brought up to date and belongs to Run
// until the range ends. Where a person has to be asked, it leaves the loop open:
// st is not runnable then, and nobody owns the stream.
//
// A loop that fails yields its loop.end like any other. Run yields an error
// only when it cannot write the log: *session.Fenced when another worker owns
// the stream, the context's error when ctx ends, in which case the loop is left
// open for the next owner. Leaving the range cancels the loop.
func Run(ctx context.Context, d Deps, b *Blueprint, st *session.State, l session.Lease) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		r := newRun(ctx, d, b, st, l, yield)
		defer r.stop(nil)
		if d.Cancelled != nil {
			defer context.AfterFunc(d.Cancelled, func() {
				r.stop(errCancelled)
				d.Jobs.Cancel(st.Key, "")
			})()
		}
		parked := false
		defer func() {
			if !parked {
				d.Jobs.End(st.Key, "")
			}
		}()
		r.mu.Lock()
		defer r.mu.Unlock()
		defer r.closeOpened()
		err := r.drive()
		parked = err == nil && r.s.Loop != nil
		if err != nil {
			r.handOver(err)
		}
		if err != nil && !r.left.Load() {
			yield(session.Event{}, err)
		}
	}
}

func newRun(ctx context.Context, d Deps, b *Blueprint, st *session.State, l session.Lease, yield func(session.Event, error) bool) *run {
	work, stop := context.WithCancelCause(ctx)
	t := &struct { // in one piece of memory
		tree
		root run
	}{tree: tree{
		deps: d, st: st, ctx: ctx, yield: yield, clock: clock.From(ctx),
		log: journal{ctx: ctx, store: d.Store, key: st.Key, lease: l, last: st.Last},
	}}
	t.settled.L = &t.mu
	t.observers.add(st.Root.ID, b)
	t.root = run{Blueprint: b, tree: &t.tree, id: st.Root.ID, s: &st.Root, work: work, stop: stop}
	return &t.root
}

// tree is what the runs of a stream's sessions share: the root's, and those of
// the children that it gives work to. Who works on the stream holds mu, but
// while it waits for a model, a tool or a child.
type tree struct {
	mu    sync.Mutex
	deps  Deps
	st    *session.State
	ctx   context.Context // ends when the worker gives the stream up
	yield func(session.Event, error) bool
	left  atomic.Bool // the reader left the range: nobody listens any more
	clock clock.Clock
	log   journal

	out      chan session.Event // from children to the root's run, which alone yields
	broken   error              // why a child could not go on, which ends all
	settled  sync.Cond          // on mu: a reservation was given back
	resuming map[string]bool    // children that were at work when this run began

	observers observers
}

// run is one loop at work.
type run struct {
	*Blueprint
	*tree
	s     *session.Session
	id    string // of s, which begins with its first event
	depth int
	above *run            // of the session that gave it the work; nil: the root
	work  context.Context // of models and tools: ends also on cancel and at the time limit
	stop  context.CancelCauseFunc

	permit             *permission.Engine // with the answers that hold for this batch
	lends              lends
	link               *link // the model that is asked
	loop, agent, chain string
	turn               int
	now                time.Time
	working            int // children
	heard, seen        int // turns whose answer, and whose end, hooks were told of
	held               reserved
	opened             openings
	timer              *time.Timer // of the time limit
	next               *next
	form               *form          // of the answers; nil: see wants
	reminder           habit.Reminder // of the present turn
	concluding         bool           // a limit has been reached, and the model sums up
}

func (r *run) drive() error {
	if ended, err := r.begin(); err != nil || ended {
		return err
	}
	return r.steps()
}

// steps runs the loop to its end, or to where only a person can tell how it goes
// on.
func (r *run) steps() error {
	r.bound()
	defer func() {
		if r.timer != nil {
			r.timer.Stop()
		}
	}()
	for {
		if ended, err := r.step(); err != nil || ended {
			return err
		}
	}
}

// bound ends what the loop waits for when its time is over.
func (r *run) bound() {
	if r.timer != nil {
		r.timer.Stop()
	}
	if max := r.Spec.Limits.Duration; max > 0 {
		r.timer = time.AfterFunc(max-r.s.Loop.Active, func() { r.stop(overtime{r}) })
	}
}

// overtime ends what a loop waits for when its time is over. What it has given
// work to ends with it.
type overtime struct{ of *run }

func (overtime) Error() string { return "the time limit has been reached" }

// late returns the run whose time is over: this one, or one above it.
func (r *run) late() *run {
	cause := context.Cause(r.work)
	if cause == nil {
		return nil
	}
	var o overtime
	if errors.As(cause, &o) {
		return o.of
	}
	return nil
}

// handOver writes what is known and not yet committed before the stream is
// given up, such as the end of a call that will not be made again. What the
// store has just refused it may take now.
func (r *run) handOver(why error) {
	var fenced *session.Fenced
	if errors.As(why, &fenced) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.ctx), handOverTime)
	defer cancel()
	_, _ = r.log.commit(ctx, r.learn, func() bool { return true }) // the run's own error is the one to report
}

// begin starts a new loop, unless a hook refuses its prompt, or takes the open
// one up.
func (r *run) begin() (ended bool, err error) {
	r.tick()
	root := r.s
	if l := root.Loop; l != nil {
		r.inherit()
		r.continues(l)
		return false, r.resume(l)
	}
	post := NextPost(root)
	if post == nil {
		return false, ErrIdle
	}
	if err := r.storeBlobs(); err != nil {
		return false, err
	}
	r.loop, r.agent, r.chain = r.clock.ID(), cmp.Or(NextAgent(root), clock.AgentID()), post.Chain
	said, err := r.screen(post.Parts, true)
	if err != nil {
		return false, err
	}
	start := &session.LoopStart{
		Number: root.NextNumber(r.Spec.ConfigID), Config: r.Spec.ConfigID, Parent: root.LastLoop, Why: "prompt",
		Profile: r.Spec.Name, Revision: r.Spec.Revision, Model: r.Model.Name(),
		Spec: r.specDigest, Prefix: r.prefixDigest,
	}
	if p := post.Prompt; p != nil {
		start.Headless, start.OnDeny, start.Schema, start.ClientCalls = p.Headless, p.OnDeny, p.Schema, p.Client.MakesCalls()
		start.User, start.KeyID, start.Request = p.User, p.KeyID, p.Request
	} else {
		start.User, start.KeyID = root.User, root.KeyID
		start.Why, start.Headless, start.Schema, start.ClientCalls = "followup", root.Headless, root.Asked.Schema, root.Asked.Client.MakesCalls()
	}
	if root.Took != "" {
		start.Why = root.Took
	}
	if !root.Started {
		r.emit(&session.Start{Profile: r.Spec.Name, Title: session.Title(post.Parts)})
	}
	r.emitRefs(start, r.specDigest, r.prefixDigest)
	r.moveIn()
	r.delivered(post, said)
	return r.refused(said)
}

// continues makes this the run of an open loop.
func (r *run) continues(l *session.Loop) {
	r.loop, r.agent, r.chain, r.turn = l.ID, l.Agent, l.Chain, l.Turn
}

// NextPost picks what a new loop is for: the first prompt, else the first
// message that was left over.
func NextPost(s *session.Session) *session.Letter {
	for i := range s.Inbox {
		if s.Inbox[i].Type == "prompt" {
			return &s.Inbox[i]
		}
	}
	if len(s.Inbox) > 0 {
		return &s.Inbox[0]
	}
	return nil
}

// NextAgent is the agent_id of the loop that is open, or else of the next one;
// "": a new one.
func NextAgent(s *session.Session) string {
	if s.Loop != nil {
		return s.Loop.Agent
	}
	if post := NextPost(s); post != nil && post.Prompt != nil {
		return post.Prompt.Agent
	}
	return s.Agent
}

func (r *run) storeBlobs() error {
	return r.Blueprint.storeBlobs(r.ctx, r.deps.Blobs, r.st.Key.Tenant)
}

// emit queues an event and applies it.
func (r *run) emit(b session.Body) { r.emitRefs(b) }

func (r *run) emitRefs(b session.Body, refs ...string) {
	if err := r.log.add(r.envelope(), b, refs, r.st.Apply); err != nil {
		panic(fmt.Sprintf("engine: own event does not fold: %v", err))
	}
}

// envelope is an event without its content.
func (r *run) envelope() session.Event {
	return session.Event{
		V: 1, Session: r.id, Loop: r.loop, Turn: r.turn, Agent: r.agent, Depth: r.depth, Chain: r.chain,
		Time: r.now,
	}
}

// tick reads the clock: at the beginning, and after each wait for somebody.
// What happens in between happens at the same time.
func (r *run) tick() { r.now = clock.Stamp(r.clock) }

// live shows an event that is not stored, after all that was committed before.
func (r *run) live(b session.Body) {
	e := r.envelope()
	e.Type, e.Body = b.Type(), b
	if r.above != nil {
		r.out <- e
		return
	}
	r.show()
	r.give(e)
}

// show yields what has been committed, or has the root's run do it.
func (r *run) show() {
	if r.above != nil {
		r.out <- session.Event{}
		return
	}
	done := r.log.take()
	for i := range done {
		r.give(done[i])
	}
	recycle(done)
}

func (r *run) give(e session.Event) {
	r.observers.tell(e)
	if !r.left.Load() && !r.yield(e, nil) {
		r.left.Store(true)
		r.stop(errLeft)
	}
}

var (
	errLeft      = errors.New("the reader left the run")
	errCancelled = errors.New("the run was cancelled")
)

// commit makes all events so far durable and shows them. It folds the posts
// that came in between.
func (r *run) commit() error {
	_, err := r.commitIf(func() bool { return true })
	return err
}

// commitIf is commit for a queue whose last event was decided without knowing
// the posts that may have come in between: after each of those, stands is asked
// whether it still holds. If not, that event is dropped and nothing committed.
func (r *run) commitIf(stands func() bool) (committed bool, err error) {
	committed, err = r.log.commit(r.ctx, r.learn, stands)
	if errors.Is(err, session.ErrNoBlob) { // pruned since it was put
		r.stored.Delete(r.st.Key.Tenant)
		if err = r.storeBlobs(); err == nil {
			committed, err = r.log.commit(r.ctx, r.learn, stands)
		}
	}
	r.st.Last = r.log.newest()
	r.show()
	return committed, err
}

// learn folds posts, which precede what is queued in the log.
func (r *run) learn(posts []session.Event) error {
	for i := range posts {
		e := posts[i]
		body, err := e.Decode()
		if err != nil {
			return err
		}
		switch b := body.(type) { // an answer to what nobody has been asked yet
		case *session.PermissionResolved:
			if r.log.asks(b.Ask) {
				e.Body = &session.PermissionResolved{}
			}
		case *session.InputAnswered:
			if r.log.asks(b.Ask) {
				e.Body = &session.InputAnswered{}
			}
		}
		if err := r.st.Apply(&e); err != nil {
			return err
		}
	}
	return nil
}

func digest(b []byte) string {
	return hexDigest(sha256.Sum256(b))
}

func hexDigest(sum [sha256.Size]byte) string {
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}
