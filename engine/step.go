package engine

import (
	"cmp"
	"slices"
	"time"

	"github.com/rosterrun/roster/engine/habit"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// maxResumes bounds how often a loop is taken up without any progress.
const maxResumes = 3

// resume takes the open loop up. A takeover that is not sure that the worker
// before is gone waits one lease more if that worker may still be at something
// that must not happen twice.
func (r *run) resume(l *session.Loop) error {
	again := &session.LoopResumed{Attempt: l.Resumed, Why: "handed over"}
	takeover := r.log.lease.Takeover
	if r.above != nil && !r.resuming[r.id] { // this worker began it, and it waited for a person
		takeover = session.TakeoverNone
	}
	delete(r.resuming, r.id)
	if slices.ContainsFunc(l.Calls, func(c session.CallState) bool { return (c.Asked != nil || c.Inquiry != nil) && c.After == nil }) {
		again.Why = "the wait for an answer is over"
	}
	switch takeover { // only a worker that broke off counts against the loop
	case session.TakeoverDead:
		again.Attempt, again.Why = l.Resumed+1, "the worker before died"
	case session.TakeoverExpired:
		again.Attempt, again.Why = l.Resumed+1, "the worker before was not heard of any more"
	}
	r.emit(again)
	if r.above != nil {
		return nil
	}
	if err := r.commit(); err != nil {
		return err
	}
	if takeover == session.TakeoverExpired && r.hasOpenCall(l) {
		return r.sleep(session.LeaseTime)
	}
	return nil
}

// hasOpenCall says whether something may still be going on that must not happen
// twice, here or in a child.
func (r *run) hasOpenCall(l *session.Loop) bool {
	for _, c := range l.Calls {
		switch {
		case c.Before == nil || c.After != nil || c.Before.Recovery == repeat:
		case c.Before.Recovery != resume:
			return true
		default:
			if child := r.st.Session(c.Before.Child); child != nil && child.Loop != nil && r.hasOpenCall(child.Loop) {
				return true
			}
		}
	}
	return false
}

// step does what the log asks for next.
func (r *run) step() (ended bool, err error) {
	root := r.s
	l := root.Loop
	switch {
	case l.Resumed >= maxResumes:
		r.closeCalls(l, textCancelled)
		return r.fail(session.ReasonPoisoned, &session.Error{
			Code:  "Poisoned",
			Error: "the loop was taken up three times without any progress; the work it begins with seems to end its worker",
		})
	case r.hasAnswer(l):
		return r.onAnswer(l)
	case len(l.Calls) > 0 && l.Start.ClientCalls:
		return r.giveCalls(l)
	case len(l.Calls) > 0:
		return r.runCalls(l)
	case r.st.Root.Cancel || r.left.Load():
		return r.end(&session.LoopEnd{Reason: session.ReasonCancelled})
	case l.Limit != nil: // the worker before came no further
		return r.endLimit(l.Limit)
	case r.hasTurn(l):
		return r.afterTurn(l)
	case answered(root):
		return r.afterAnswer(root)
	}
	if l.Answered || l.Turn == 0 {
		if limit := r.limit(l); limit != nil {
			return r.endLimit(limit)
		}
		if err := r.takeRest(l); err != nil {
			return false, err
		}
		if done, ended, err := r.fit(); done || ended || err != nil {
			return ended, err
		}
		if done, ended, err := r.think(); done || ended || err != nil {
			return ended, err
		}
		if why := habit.Stalled(r.habits()); why != "" {
			return r.stalled(why)
		}
		if ended, err := r.beforeTurn(l); ended || err != nil {
			return ended, err
		}
		if err := r.retool(); err != nil {
			return false, err
		}
	}
	return r.ask(l)
}

// answered says whether the model has spoken last and asked for nothing.
func answered(s *session.Session) bool {
	n := len(s.Messages)
	return n > 0 && s.Loop.Answered && s.Messages[n-1].Role == message.Assistant
}

// afterAnswer goes on with what waits, or ends the loop. What waits when no
// turn is left for it becomes the next prompt.
func (r *run) afterAnswer(root *session.Session) (ended bool, err error) {
	full := r.limit(root.Loop) != nil
	if !full {
		if found, err := r.take("steer"); found || err != nil {
			return false, err
		}
	}
	if fits, ended, err := r.fits(root.Loop); !fits {
		return ended, err
	}
	if !full {
		if found, err := r.take("followup"); found || err != nil {
			return false, err
		}
	}
	return r.endIf(&session.LoopEnd{Reason: session.ReasonDone}, func() bool {
		return !root.Cancel && (full || len(root.Letters("steer"))+len(root.Letters("followup")) == 0)
	})
}

// deliver makes a message of a post.
func (r *run) deliver(post *session.Letter) error {
	said, err := r.screen(post.Parts, false)
	if err == nil {
		r.delivered(post, said)
	}
	return err
}

// delivered does so for one that hooks have seen.
func (r *run) delivered(post *session.Letter, said screened) {
	r.note(said.notes...)
	r.emit(&session.Message{
		ID: r.clock.ID(), Parent: r.head(), Role: session.RoleOf(said.or(post.Parts)), Source: post.Type, Post: post.Seq, Parts: said.parts,
	})
}

// head is the id of the last message of the branch.
func (r *run) head() string {
	if n := len(r.s.Messages); n > 0 {
		return r.s.Messages[n-1].ID
	}
	return ""
}

// limit returns the limit that keeps another turn from starting, or nil.
func (r *run) limit(l *session.Loop) *session.Limit {
	if m := r.Spec.Limits.Turns; m > 0 && l.Turn >= m {
		return r.reached("turns", float64(m), float64(l.Turn))
	}
	return r.spent()
}

// spent returns the limit on what may be used that has been reached, or nil: its
// own, or one of those it works for. It is looked at before a turn and before
// tools.
func (r *run) spent() *session.Limit {
	l := r.s.Loop
	if m := r.Spec.Limits.Duration; m > 0 && l.Active >= m {
		return r.outOfTime()
	}
	for x := r; x != nil; x = x.above {
		m, used := &x.Spec.Limits, &x.s.Loop.Usage
		switch {
		case m.Tokens > 0 && used.Limited() >= m.Tokens:
			return x.reached("tokens", float64(m.Tokens), float64(used.Limited()))
		case m.Cost > 0 && used.Cost >= m.Cost:
			return x.reached("cost", m.Cost, used.Cost)
		}
	}
	return nil
}

func (r *run) outOfTime() *session.Limit {
	m := r.Spec.Limits.Duration
	return r.reached("duration", m.Seconds(), max(r.s.Loop.Active, m).Seconds())
}

func (r *run) reached(name string, bound, used float64) *session.Limit {
	return &session.Limit{Limit: name, Max: bound, Used: used, Set: r.Spec.Limits.Set[name]}
}

func (r *run) endLimit(limit *session.Limit) (bool, error) {
	if r.s.Loop.Limit == nil {
		r.emit(limit)
	}
	if ended, err := r.conclude(limit); ended || err != nil {
		return ended, err
	}
	return r.end(&session.LoopEnd{Reason: session.ReasonLimit, Limit: limit.Limit})
}

// fail ends the loop with an error.
func (r *run) fail(reason session.Reason, e *session.Error) (bool, error) {
	r.emit(e)
	return r.end(&session.LoopEnd{Reason: reason, Error: e})
}

// end ends the loop, whatever was posted meanwhile.
func (r *run) end(e *session.LoopEnd) (bool, error) {
	return r.endIf(e, func() bool { return true })
}

func (r *run) endIf(e *session.LoopEnd, stands func() bool) (bool, error) {
	l := r.s.Loop
	e.Text, e.Usage, e.Denied = l.Text, l.Usage, l.Denied
	done, err := r.lastIf(e, stands)
	if done && err == nil {
		err = r.afterLoop(e)
	}
	return done, err
}

// lastIf writes the last event of this run, if it still stands when it is known
// what was posted meanwhile.
func (r *run) lastIf(b session.Body, stands func() bool) (bool, error) {
	if r.above != nil { // posts are for the root, and what it writes next is committed
		r.emit(b)
		return true, nil
	}
	ev := r.envelope()
	if err := r.log.add(ev, b, nil, nil); err != nil {
		return false, err
	}
	done, err := r.commitIf(stands)
	if err != nil && !done {
		r.log.takeBack() // what comes in before the stream is handed over may speak against it
	}
	if done {
		ev.Type, ev.Body = b.Type(), b
		err = cmp.Or(err, r.st.Apply(&ev))
	}
	return done, err
}

// sleep waits unless the run is given up or cancelled meanwhile.
func (r *run) sleep(d time.Duration) error {
	defer r.tick()
	defer r.apart()()
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-r.work.Done():
		return r.ctx.Err()
	}
}
