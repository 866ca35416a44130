package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/engine/habit"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// What the model is told of a call that did not end by itself.
const (
	textUnknown   = "The outcome of this call is not known: the process that ran it stopped in the middle. It may or may not have taken effect. Look at the present state before you do it again."
	textCancelled = "Cancelled by the user."
	textEnded     = "Ended before it was done."
	textSpent     = "Skipped: a limit of the run has been reached."
	textTimeout   = "Stopped: the time limit of the run was reached."
	textSkipped   = "Skipped due to queued user message."
	textAgain     = "Not run: you have made this very call %d times in a row, with the same result each time. Do something else, or answer with what you have."
	textStopped   = "Not started: the process that was to run it was shut down. Call it again if it is still needed."
)

// toolTimeout ends a call whose tool has no shorter limit of its own, where the
// profile does not say.
const toolTimeout = 15 * time.Minute

// The log's words for a call that may be run again after a crash, and for one
// that only waits for something that is in the log.
const (
	repeat = "repeat"
	resume = "resume"
)

// job is one call that is about to run.
type job struct {
	call session.CallState
	plan tool.Plan
	keys []string // it must not run beside another call with one of these
	// approved: a person has said yes to just this, which a message that waits
	// does not take back.
	approved bool
	work     *delegation // that it gives to a child; nil: none
}

// runCalls brings the batch of the last answer to its end: every call gets its
// tool.after, then all results become one message. Where only a person can tell
// how it goes on, the run is over and the loop waits.
func (r *run) runCalls(l *session.Loop) (ended bool, err error) {
	r.permit, r.next = r.answers(), nil
	var jobs []job
	defer func() {
		for _, j := range jobs {
			j.plan.Close()
		}
	}()
	durable := true // no awaited commit is needed before the batch runs
	for _, c := range l.Calls {
		if c.After != nil {
			continue
		}
		j, ok := r.prepare(c)
		if !ok {
			continue
		}
		jobs = append(jobs, j)
		rec := r.recovery(c)
		durable = durable && (rec == tool.Resume || rec == tool.Repeat && c.Before == nil) && !r.hooked(c.ID)
	}
	if !durable {
		if err := r.commit(); err != nil {
			return false, err
		}
	}
	if err := r.runJobs(jobs); err != nil {
		return false, err
	}
	if r.waits(l) {
		return r.park(l)
	}
	ids := make([]string, len(l.Calls))
	for i, c := range l.Calls {
		if c.After == nil {
			return false, nil // somebody has answered meanwhile
		}
		ids[i] = c.ID
	}
	if err := r.afterTools(l); err != nil {
		return false, err
	}
	if err := r.results(l, ids); err != nil {
		if gone := (*unswitched)(nil); errors.As(err, &gone) {
			r.closeCalls(l, textCancelled)
			return r.fail(session.ReasonError, r.describe(gone))
		}
		return false, err
	}
	if err := r.commit(); err != nil {
		return false, err
	}
	return r.afterCalls()
}

// afterCalls ends the loop where the batch says so.
func (r *run) afterCalls() (ended bool, err error) {
	root := r.s
	if late := r.late(); late != nil {
		return r.endLimit(late.outOfTime())
	}
	if s := &root.Loop.Same; s.Stuck {
		return r.fail(session.ReasonDegenerate, &session.Error{
			Code:  "Degenerate",
			Error: fmt.Sprintf("the model asks for the same call of %s again and again, with the same result each time", s.Last.Name),
		})
	}
	if root.Loop.Start.OnDeny == "stop" && root.Loop.Denied > 0 {
		return r.end(&session.LoopEnd{Reason: session.ReasonDenied})
	}
	return false, nil
}

// prepare finds, validates, binds and judges a call, and logs its tool.before.
// A call that will not run gets its tool.after at once.
func (r *run) prepare(c session.CallState) (job, bool) {
	if habit.LastTurn(r.habits()) {
		r.before(c, permission.Decision{Step: permission.StepNone, Reason: permission.ReasonUnusable})
		r.after(c, session.Skipped, textLastTurn)
		return job{}, false
	}
	if c.Before != nil && r.recovery(c) == tool.Unknown {
		r.after(c, session.NotKnown, textUnknown)
		return job{}, false
	}
	if c.Before == nil && r.s.Loop.Same.TooOften(&c) {
		r.before(c, permission.Decision{Step: permission.StepNone, Reason: permission.ReasonUnusable})
		r.after(c, session.Skipped, fmt.Sprintf(textAgain, session.Circles))
		return job{}, false
	}
	t, ok := r.tools[c.Name]
	if text := r.withheld[c.Name]; !ok && text != "" {
		return r.refuse(c, text)
	}
	if !ok {
		return r.refuse(c, fmt.Sprintf("There is no tool %q. The tools are: %s.", c.Name, strings.Join(r.ToolNames(), ", ")))
	}
	if c.Invalid {
		return r.refuse(c, "The input is not valid JSON. Call the tool again with a JSON object.")
	}
	if err := t.input.Validate(c.Input); err != nil {
		return r.refuse(c, err.Error())
	}
	if !r.beforeTool(&c, t) {
		return job{}, false
	}
	tc := r.toolCall(c)
	work := r.delegates(t.Tool, c)
	if work != nil {
		tc.Delegator = work
	}
	if _, ok := t.Tool.(tool.Switching); ok {
		tc.Switch = r.switches(c)
	}
	if _, ok := t.Tool.(tool.Reverting); ok {
		tc.Revert = r.reverts()
	}
	if _, ok := t.Tool.(tool.Noting); ok {
		tc.Work = r.noted
	}
	tc.Seen, tc.Opened = r.sawFile, r.opener(t)
	plan, err := r.bind(t, tc)
	if state := (*tool.StateDirError)(nil); errors.As(err, &state) {
		d := permission.Decision{Step: permission.StepState, Reason: permission.ReasonState}
		r.before(c, d)
		r.after(c, session.Denied, denial(d))
		return job{}, false
	} else if err != nil {
		return r.refuse(c, err.Error())
	}
	verdict := r.permit.Decide(plan.Needs()...)
	if _, ok := plan.(tool.Continuing); ok && verdict.Effect == permission.Ask {
		verdict.Effect = permission.Allow // as what it goes on with was
	}
	d, stands := r.onPermission(c, verdict)
	if !stands {
		plan.Close()
		return r.refuse(c, "")
	}
	if c.Before != nil && d.Effect == permission.Ask {
		d.Effect = permission.Allow // it was permitted when it began; only a denial takes that back
	}
	if d = r.judge(&c, plan, d); d.Effect != permission.Allow {
		plan.Close()
		return job{}, false
	}
	if asks, ok := t.Tool.(tool.Asking); ok && r.inquire(&c, asks, d) {
		plan.Close()
		return job{}, false
	}
	r.beforeChild(c, d, work.name())
	j := job{call: c, plan: plan, approved: c.Answer != nil || c.Reply != nil, work: work}
	if work != nil && c.Before != nil {
		j.approved = true // its child is at work
	}
	if k, ok := t.Tool.(tool.Conflicter); ok {
		j.keys = k.Conflicts(tc)
	}
	return j, true
}

// bind prepares a call, while others may go on.
func (r *run) bind(t offered, c tool.Call) (tool.Plan, error) {
	defer r.apart()()
	return safely(func() (tool.Plan, error) { return t.Prepare(r.work, c) })
}

func (r *run) toolCall(c session.CallState) tool.Call {
	return tool.Call{ID: c.ID, Key: r.st.Key, Session: r.id, Input: c.Input, Permit: r.permit, Reply: c.Reply,
		Blobs: r.deps.Blobs, MaxText: r.maxResult()}
}

func (r *run) recovery(c session.CallState) tool.Recovery {
	if c.Before != nil {
		switch c.Before.Recovery {
		case repeat:
			return tool.Repeat
		case resume:
			return tool.Resume
		}
		return tool.Unknown
	}
	if t, ok := r.tools[c.Name].Tool.(tool.Recoverer); ok {
		return t.Recovery(r.toolCall(c))
	}
	return tool.Unknown
}

func (r *run) refuse(c session.CallState, text string) (job, bool) {
	outcome := session.ToolError
	if r.work.Err() != nil { // whatever is said against the call, it would not start
		outcome, text = r.halt()
	}
	r.before(c, permission.Decision{Step: permission.StepNone, Reason: permission.ReasonUnusable})
	r.after(c, outcome, text)
	return job{}, false
}

// before logs the start of a call, once: a call that is repeated after a crash
// has it already.
func (r *run) before(c session.CallState, d permission.Decision) { r.beforeChild(c, d, "") }

// beforeChild is before for a call that gives work to the child of that name.
func (r *run) beforeChild(c session.CallState, d permission.Decision, child string) {
	if c.Before != nil {
		return
	}
	b := &session.ToolBefore{
		Call: c.ID, Tool: c.Name, Input: c.Input, Effect: d.Effect.String(), Rule: ruleOf(d.Rule), Reason: d.Reason,
		Child: child,
	}
	switch r.recovery(c) {
	case tool.Repeat:
		b.Recovery = repeat
	case tool.Resume:
		b.Recovery = resume
	}
	r.emit(b)
}

func ruleOf(r *permission.Rule) *session.Rule {
	if r == nil {
		return nil
	}
	return &session.Rule{
		Tool: r.Tool, Subject: r.Subject, Effect: r.Effect.String(),
		Layer: string(r.At.Layer), File: r.At.File, Line: r.At.Line,
	}
}

// after ends a call that does not run, or not on.
func (r *run) after(c session.CallState, o session.Outcome, text string) {
	if c.Before != nil && c.Before.Child != "" {
		r.abandon(r.st.Session(c.Before.Child))
	}
	if c.Before != nil && c.Before.Recovery == "" {
		r.noteLeft(c.ID)
	}
	r.emit(&session.ToolAfter{Call: c.ID, Tool: c.Name, Outcome: o, Parts: []message.Part{message.Text{Text: r.clean(text)}}})
}

// denial is what the model is told.
func denial(d permission.Decision) string {
	if d.Rule == nil {
		return fmt.Sprintf("Not permitted: %s.", d.Reason)
	}
	return fmt.Sprintf("Not permitted: %s (rule %s %q at %s).", d.Reason, d.Rule.Tool, d.Rule.Subject, d.Rule.At)
}

// runJobs runs the jobs in groups. Between groups it looks whether somebody
// wants something else.
func (r *run) runJobs(jobs []job) error {
	for group := range r.groups(jobs) {
		if r.broken != nil {
			return r.broken
		}
		if group = r.starting(group); len(group) > 0 {
			r.runGroup(group)
		}
	}
	return cmp.Or(r.broken, r.ctx.Err())
}

// starting leaves out the jobs that are not to start, and ends their calls.
func (r *run) starting(group []job) []job {
	stop, why := r.halt()
	skip, text := r.steered()
	var left []job
	for _, j := range group {
		switch {
		case stop != "":
			r.after(j.call, stop, why)
		case skip != "" && !j.approved:
			r.after(j.call, skip, text)
		default:
			left = append(left, j)
		}
	}
	return left
}

// halt says why no call is to start any more.
func (r *run) halt() (session.Outcome, string) {
	switch {
	case r.ctx.Err() != nil:
		return session.Skipped, textStopped
	case r.late() != nil:
		return session.Skipped, textTimeout
	case r.work.Err() != nil || r.st.Root.Cancel:
		return session.Skipped, textCancelled
	case r.spent() != nil:
		return session.Skipped, textSpent
	}
	return "", ""
}

// steered says that a message has come which calls that have not started make
// room for.
func (r *run) steered() (session.Outcome, string) {
	if r.above != nil {
		return "", "" // it is not meant; the root takes it up when its calls have ended
	}
	if r.deps.Steered != nil && r.deps.Steered() > r.st.Last || len(r.st.Root.Letters("steer")) > 0 {
		return session.Skipped, textSkipped
	}
	return "", ""
}

// groups splits jobs into groups that run at the same time.
func (r *run) groups(jobs []job) func(func([]job) bool) {
	size := len(jobs)
	switch r.Spec.ToolExecution.Strategy {
	case "sequential":
		size = 1
	case "batched":
		size = max(1, r.Spec.ToolExecution.Size)
	}
	return func(yield func([]job) bool) {
		for len(jobs) > 0 {
			n := 1
			for n < min(size, len(jobs)) && !conflict(jobs[:n], jobs[n]) {
				n++
			}
			if !yield(jobs[:n]) {
				return
			}
			jobs = jobs[n:]
		}
	}
}

func conflict(group []job, j job) bool {
	return slices.ContainsFunc(group, func(o job) bool {
		return slices.ContainsFunc(o.keys, func(k string) bool { return slices.Contains(j.keys, k) })
	})
}
