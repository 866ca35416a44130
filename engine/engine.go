// Package engine drives loops: it asks a model, runs the tools it calls for,
// and writes all of it to the log before anybody is told. It knows no files and
// no HTTP. Every step is decided by the fold of the log, so a loop that is
// taken up again after a crash goes the same way as one that never stopped.
package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
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
	// Grants lists what may be done without being asked for, for a profile, as
	// it is now; nil: nothing. AnswerTime is how long a person has to answer;
	// 0: any time.
	Grants     func(profile string) []permission.Grant
	AnswerTime time.Duration
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
		work, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		r := &run{
			Blueprint: b, deps: d, st: st, ctx: ctx, work: work, stop: stop, yield: yield, clock: clock.From(ctx),
			log: journal{ctx: ctx, store: d.Store, key: st.Key, lease: l, last: st.Last},
		}
		if d.Cancelled != nil {
			defer context.AfterFunc(d.Cancelled, func() { stop(errCancelled) })()
		}
		if err := r.drive(); err != nil && !r.left {
			yield(session.Event{}, err)
		}
	}
}

// run is one loop at work.
type run struct {
	*Blueprint
	deps  Deps
	st    *session.State
	ctx   context.Context // ends when the worker gives the stream up
	work  context.Context // of models and tools: ends also on cancel and at the time limit
	stop  context.CancelCauseFunc
	yield func(session.Event, error) bool
	left  bool // the reader left the range: nobody listens any more
	clock clock.Clock
	log   journal

	permit             *permission.Engine // with the answers that hold for this batch
	link               *link              // the model that is asked
	loop, agent, chain string
	turn               int
	now                time.Time
}

func (r *run) drive() error {
	if err := r.begin(); err != nil {
		return err
	}
	if max := r.Spec.Limits.Duration; max > 0 {
		left := max - r.st.Root.Loop.Active
		defer time.AfterFunc(left, func() { r.stop(errDuration) }).Stop()
	}
	for {
		ended, err := r.step()
		if err != nil {
			r.handOver(err)
		}
		if err != nil || ended {
			return err
		}
	}
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

// begin starts a new loop or takes the open one up.
func (r *run) begin() error {
	r.tick()
	root := &r.st.Root
	if l := root.Loop; l != nil {
		r.loop, r.agent, r.chain, r.turn = l.ID, l.Agent, l.Chain, l.Turn
		return r.resume(l)
	}
	post := NextPost(root)
	if post == nil {
		return ErrIdle
	}
	if err := r.storeBlobs(); err != nil {
		return err
	}
	r.loop, r.agent, r.chain = r.clock.ID(), clock.AgentID(), post.Chain
	start := &session.LoopStart{
		Number: root.Loops + 1, Parent: root.LastLoop, Why: "prompt",
		Profile: r.Spec.Name, Revision: r.Spec.Revision, Model: r.Model.Name(),
		Spec: r.specDigest, Prefix: r.prefixDigest,
	}
	if p := post.Prompt; p != nil {
		start.Headless, start.OnDeny = p.Headless, p.OnDeny
	} else {
		start.Why, start.Headless = "followup", root.Headless
	}
	if !root.Started {
		r.emit(&session.Start{Profile: r.Spec.Name, Title: session.Title(post.Parts)})
	}
	r.emitRefs(start, r.specDigest, r.prefixDigest)
	r.deliver(post)
	return nil
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

// storeBlobs puts what loop.start refers to, once for each tenant.
func (r *run) storeBlobs() error {
	tenant := r.st.Key.Tenant
	if _, ok := r.stored.Load(tenant); ok {
		return nil
	}
	for _, data := range [][]byte{r.specJSON, r.prefixJSON} {
		if _, err := r.deps.Blobs.PutBlob(r.ctx, tenant, data); err != nil {
			return err
		}
	}
	r.stored.Store(tenant, struct{}{})
	return nil
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
		V: 1, Session: r.st.Root.ID, Loop: r.loop, Turn: r.turn, Agent: r.agent, Chain: r.chain,
		Time: r.now,
	}
}

// tick reads the clock: at the beginning, and after each wait for somebody.
// What happens in between happens at the same time.
func (r *run) tick() { r.now = clock.Stamp(r.clock) }

// live shows an event that is not stored, after all that was committed before.
func (r *run) live(b session.Body) {
	r.show()
	e := r.envelope()
	e.Type, e.Body = b.Type(), b
	if !r.left && !r.yield(e, nil) {
		r.leave()
	}
}

// show yields what has been committed.
func (r *run) show() {
	done := r.log.take()
	for i := range done {
		if !r.left && !r.yield(done[i], nil) {
			r.leave()
		}
	}
	recycle(done)
}

func (r *run) leave() {
	r.left = true
	r.stop(errLeft)
}

var (
	errLeft      = errors.New("the reader left the run")
	errCancelled = errors.New("the run was cancelled")
	errDuration  = errors.New("the time limit has been reached")
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
	r.st.Last = r.log.last
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
		if b, ok := body.(*session.PermissionResolved); ok && r.log.asks(b.Ask) {
			e.Body = &session.PermissionResolved{} // to what nobody has been asked yet
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
