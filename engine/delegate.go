package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// Child says who is to do a task, and for whom.
type Child struct {
	Key      session.Key
	Session  string     // its id
	Above    *Blueprint // of the session that gives the work
	Profile  string
	User     string // whose prompt all of it works for
	Chain    string // the request that it is done for
	Depth    int    // of the session, from 1
	Headless bool   // nobody can answer a question
	// Overrides are those of the prompt that all of it works for.
	Overrides session.Overrides
	// Open began the child's loop, which is taken up again; nil: it is to begin.
	Open *session.LoopStart
}

// delegation is a call that gives work to a child. It is the call's Delegator.
type delegation struct {
	*run
	call  string
	child string
	open  bool // the child's loop was left open
}

// delegates makes the delegation of a call, if the tool is for that. The child
// is the next one in number, or the one that the call has had before.
func (r *run) delegates(t tool.Tool, c session.CallState) *delegation {
	if _, ok := t.(tool.Delegating); !ok {
		return nil
	}
	d := &delegation{run: r, call: c.ID, child: session.ChildID(r.id, r.s.Named+1)}
	if c.Before != nil {
		d.child = c.Before.Child
	}
	return d
}

func (d *delegation) name() string {
	if d == nil {
		return ""
	}
	return d.child
}

// Delegate implements tool.Delegator: it runs the child's loop in the call's
// goroutine. The limits, the cancel and the worker's end of the session that
// gives the work are the child's too.
func (d *delegation) Delegate(_ context.Context, t tool.Task) (tool.Result, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.turn()
	defer d.leave()
	s := d.st.Session(d.child)
	if why, text := d.halt(); s == nil && why != "" {
		d.open = d.ctx.Err() != nil // the next owner begins it
		return tool.Result{}, cmp.Or(d.ctx.Err(), errors.New(text))
	}
	if s == nil || s.Loop != nil {
		if d.deps.Child == nil {
			return tool.Result{}, errors.New("no agent can be given work here")
		}
		b, err := d.blueprint(t, s)
		switch {
		case d.ctx.Err() != nil:
			d.open = true
			return tool.Result{}, d.ctx.Err()
		case err != nil:
			d.abandon(s)
			return tool.Result{}, err
		}
		if err := d.runChild(b, t, s); err != nil {
			return tool.Result{}, err
		}
	}
	s = d.st.Session(d.child)
	if d.open = s.Loop != nil; d.open {
		return tool.Result{}, nil
	}
	return d.told(outcome(s.End)), nil
}

// turn waits until the session may have another child at work.
func (d *delegation) turn() {
	defer d.wakeAtEnd()()
	most := d.Spec.Subagents.MaxParallel
	for most > 0 && d.working >= most && d.work.Err() == nil {
		d.settled.Wait()
	}
	d.working++
}

func (d *delegation) leave() {
	d.working--
	d.settled.Broadcast()
}

func (d *delegation) blueprint(t tool.Task, s *session.Session) (*Blueprint, error) {
	c := Child{Key: d.st.Key, Session: d.child, Above: d.Blueprint, Profile: t.Profile, User: d.st.Root.User, Chain: d.chain, Depth: d.depth + 1, Headless: d.s.Loop.Start.Headless, Overrides: d.st.Root.Asked}
	if s != nil {
		c.Open = s.Loop.Start
	}
	d.mu.Unlock()
	defer d.mu.Lock()
	return d.deps.Child(d.work, c)
}

// runChild begins the child's loop, or takes it up, and runs it to its end or to
// where it waits for a person. Its error is why nothing more can be written.
func (d *delegation) runChild(b *Blueprint, t tool.Task, s *session.Session) (err error) {
	work, stop := context.WithCancelCause(d.work)
	defer stop(nil)
	d.observers.add(d.child, b)
	r := &run{
		Blueprint: b, tree: d.tree, above: d.run, s: s, id: d.child, depth: d.depth + 1, work: work, stop: stop,
		chain: d.chain,
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("engine: session %s: %v", d.child, p)
		}
		if err != nil {
			d.open = true
			if d.broken == nil {
				d.broken = err
			}
		}
		if err != nil || r.s.Loop == nil {
			r.endJobs()
		}
		r.closeOpened()
	}()
	r.tick()
	ended := false
	if s != nil {
		r.continues(s.Loop)
		err = r.resume(s.Loop)
	} else {
		ended, err = r.beginTask(d.call, t)
	}
	if err != nil || ended {
		return err
	}
	return r.steps()
}

// beginTask begins the session of a child, and its one loop, unless a hook
// refuses the task.
func (r *run) beginTask(call string, t tool.Task) (ended bool, err error) {
	if err := r.storeBlobs(); err != nil {
		return false, err
	}
	parts := []message.Part{message.Text{Text: t.Prompt}}
	title := session.Title([]message.Part{message.Text{Text: t.Description}})
	if title == "" {
		title = session.Title(parts)
	}
	r.loop, r.agent = r.clock.ID(), clock.AgentID()
	said, err := r.screen(parts, true)
	if err != nil {
		return false, err
	}
	r.emit(&session.Start{Profile: r.Spec.Name, Title: title, Parent: r.above.id, Call: call})
	r.s = r.st.Session(r.id)
	above := r.above.s.Loop.Start
	r.emitRefs(&session.LoopStart{
		Number: 1, Config: r.Spec.ConfigID, Why: "prompt", Profile: r.Spec.Name, Revision: r.Spec.Revision, Model: r.Model.Name(),
		Spec: r.specDigest, Prefix: r.prefixDigest, User: above.User, KeyID: above.KeyID, Request: above.Request,
		Headless: above.Headless, OnDeny: above.OnDeny,
	}, r.specDigest, r.prefixDigest)
	r.moveIn()
	r.note(said.notes...)
	r.emit(&session.Message{ID: r.clock.ID(), Role: message.User, Parts: said.or(parts)})
	return r.refused(said)
}

// endJobs ends what the calls of the session have left at work, while others may
// go on.
func (r *run) endJobs() {
	r.mu.Unlock()
	defer r.mu.Lock()
	r.deps.Jobs.End(r.st.Key, r.id)
}

// outcome is what the model that gave the work is told.
func outcome(e *session.LoopEnd) tool.Result {
	text := strings.TrimSpace(e.Text)
	if e.Reason == session.ReasonDone {
		if text == "" {
			text = "(The agent ended without an answer.)"
		}
		return tool.Text(text)
	}
	var why string
	switch {
	case e.Error != nil:
		why = fmt.Sprintf("The task failed: %s.", strings.TrimSuffix(e.Error.Error, "."))
	case e.Reason == session.ReasonLimit:
		why = fmt.Sprintf("The task was ended before it was done: the limit of %s was reached.", e.Limit)
	case e.Reason == session.ReasonDenied:
		why = "The task was ended at a tool call that was not permitted."
	default:
		why = fmt.Sprintf("The task was ended before it was done: %s.", e.Reason)
	}
	if text != "" {
		why += " The agent's last words:\n\n" + text
	}
	r := tool.Text(why)
	r.Error = true
	return r
}

// abandon ends the work of a child whose call will not be gone on with, and of
// those below it.
func (r *run) abandon(s *session.Session) {
	if s == nil || s.Loop == nil {
		return
	}
	x := &run{Blueprint: &Blueprint{}, tree: r.tree, above: r, s: s, id: s.ID, depth: s.Depth, now: r.now}
	x.continues(s.Loop)
	x.closeCalls(s.Loop, textCancelled)
	r.deps.Jobs.Cancel(r.st.Key, s.ID)
	l := s.Loop
	x.emit(&session.LoopEnd{Reason: session.ReasonCancelled, Text: l.Text, Usage: l.Usage, Denied: l.Denied})
}

// inherit notes which children the worker before has left at work.
func (r *run) inherit() {
	for id, s := range r.st.Children {
		if s.Loop == nil || s.Loop.Waiting {
			continue
		}
		if r.resuming == nil {
			r.resuming = map[string]bool{}
		}
		r.resuming[id] = true
	}
}

// apart lets others write while this run waits, and returns what ends that.
// While the root waits for a model, there are none.
func (r *run) apart() (back func()) {
	if r.above == nil {
		return func() {}
	}
	r.mu.Unlock()
	return r.mu.Lock
}
