package engine

import (
	"cmp"
	"context"
	"iter"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Refuse ends what waits in st with an error, for a prompt whose profile does
// not resolve or whose model cannot be reached, and for an open loop that
// cannot be taken up. It yields as Run does.
func Refuse(ctx context.Context, d Deps, profile string, st *session.State, l session.Lease, cause *session.Error) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		r := newRun(ctx, d, &Blueprint{}, st, l, yield)
		defer r.stop(nil)
		defer d.Jobs.End(st.Key, "")
		if err := r.refuseAll(profile, cause); err != nil && !r.left.Load() {
			yield(session.Event{}, err)
		}
	}
}

func (r *run) refuseAll(profile string, cause *session.Error) error {
	r.tick()
	root := r.s
	if l := root.Loop; l != nil {
		r.continues(l)
		r.closeCalls(l, textCancelled)
	} else {
		post := NextPost(root)
		if post == nil {
			return ErrIdle
		}
		r.loop, r.agent, r.chain = r.clock.ID(), cmp.Or(NextAgent(root), clock.AgentID()), post.Chain
		if !root.Started {
			r.emit(&session.Start{Profile: profile, Title: session.Title(post.Parts)})
		}
		start := &session.LoopStart{Number: root.NextNumber(""), Parent: root.LastLoop, Why: "prompt", Profile: profile, User: root.User, KeyID: root.KeyID}
		if p := post.Prompt; p != nil {
			start.User, start.KeyID, start.Request = p.User, p.KeyID, p.Request
		}
		r.emit(start)
		if err := r.deliver(post); err != nil {
			return err
		}
	}
	_, err := r.fail(session.ReasonError, cause)
	return err
}

// closeCalls gives every open call its end. why is said of those that have not
// begun.
func (r *run) closeCalls(l *session.Loop, why string) {
	if len(l.Calls) == 0 {
		return
	}
	ids := make([]string, len(l.Calls))
	for i, c := range l.Calls {
		ids[i] = c.ID
		switch {
		case c.After != nil:
		case c.Before != nil && c.Before.Recovery == resume:
			r.after(c, session.ToolError, textEnded)
		case c.Before != nil:
			r.after(c, session.NotKnown, textUnknown)
		default:
			r.emit(&session.ToolBefore{Call: c.ID, Tool: c.Name, Input: c.Input})
			r.after(c, session.Skipped, why)
		}
	}
	r.emit(&session.Message{ID: r.clock.ID(), Parent: r.head(), Role: message.Tool, Calls: ids})
}
