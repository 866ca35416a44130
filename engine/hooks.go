package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// What stands in the place of what a hook has denied.
const (
	textWithheldMessage = "[This message was withheld %s]"
	textWithheldResult  = "The call has run, and its result is withheld %s."
	textDeniedAnswer    = "Not run: a hook denied the answer that asks for it."
)

// moment is what hooks are told of where the loop is.
func (r *run) moment(on hook.Event) hook.Moment {
	m := hook.Moment{
		Event: on, Session: r.id, Loop: r.loop, Turn: r.turn, Depth: r.depth, Chain: r.chain,
		Profile: r.Spec.Name, Model: r.Model.Name(), Workspace: r.Spec.Workspace,
	}
	if r.s != nil && r.s.Loop != nil {
		m.Model = cmp.Or(r.s.Loop.Model, m.Model)
		m.Tokens, m.Cost = r.s.Loop.Usage.Limited(), r.s.Loop.Usage.Cost
	}
	return m
}

// consult asks the hooks of an event, while others may go on.
func (r *run) consult(ctx context.Context, m hook.Moment) *session.Hooked {
	back := r.apart()
	a := r.Hooks.Ask(ctx, m)
	back()
	r.tick()
	h := &session.Hooked{
		On: string(m.Event), Decision: a.Decision.String(), By: a.By, Reason: r.clean(a.Reason), Failed: a.Failed, Call: m.Call,
	}
	if a.Decision != hook.Rewrite {
		return h
	}
	if len(a.Input) > 0 {
		h.Input, _ = tidyInput([]byte(r.clean(string(a.Input))))
	}
	if a.Text != "" {
		h.Parts = message.Parts{message.Text{Text: r.clean(a.Text)}}
	}
	return h
}

func (r *run) note(list ...*session.Hooked) {
	for _, h := range list {
		r.emit(h)
	}
}

func denies(h *session.Hooked) bool { return h.Decision == hook.Deny.String() }

// by says which hook, and why.
func by(h *session.Hooked) string {
	if h.Reason == "" {
		return "by the hook at " + h.By
	}
	return fmt.Sprintf("by the hook at %s: %s", h.By, h.Reason)
}

// hooked says whether hooks have said something of a call, which is in the log
// before the call runs.
func (r *run) hooked(call string) bool {
	if r.Hooks == nil {
		return false
	}
	for i := range r.s.Loop.Calls {
		if c := &r.s.Loop.Calls[i]; c.ID == call {
			return len(c.Hooked) > 0
		}
	}
	return false
}

// beforeTool has the hooks look at a call that has not begun. It may go on with
// another input, or gets its end. What they have said once stands in the log,
// and is not asked for again.
func (r *run) beforeTool(c *session.CallState, t offered) (goesOn bool) {
	h := c.Hook(string(hook.BeforeTool))
	if h == nil && c.Before == nil && r.Hooks.Has(hook.BeforeTool, c.Name) {
		m := r.moment(hook.BeforeTool)
		m.Call, m.Tool, m.Input = c.ID, c.Name, c.Input
		h = r.consult(r.work, m)
		if r.work.Err() != nil {
			r.refuse(*c, "")
			return false
		}
		if len(h.Input) > 0 {
			if err := t.input.Validate(h.Input); err != nil {
				h.Decision, h.Failed, h.Input = hook.Deny.String(), true, nil
				h.Reason = "the input that it gives does not fit the tool: " + r.clean(err.Error())
			}
		}
		r.note(h)
	}
	if h == nil {
		return true
	}
	if len(h.Input) > 0 {
		c.Input = h.Input
	}
	if denies(h) {
		d := permission.Decision{Reason: "denied " + by(h)}
		r.before(*c, d)
		r.after(*c, session.Denied, denial(d))
	}
	return !denies(h)
}

// onPermission has the hooks look at the verdict on a call that has not begun.
// They may make it stricter, or answer what a person could. It does not stand if
// the run has ended meanwhile.
func (r *run) onPermission(c session.CallState, d permission.Decision) (_ permission.Decision, stands bool) {
	h := c.Hook(string(hook.OnPermission))
	switch {
	case c.Before != nil, h == nil && !r.Hooks.Has(hook.OnPermission, c.Name):
		return d, true
	case h == nil:
		m := r.moment(hook.OnPermission)
		m.Call, m.Tool, m.Input = c.ID, c.Name, c.Input
		m.Permission = &hook.Permission{Effect: d.Effect.String(), Reason: d.Reason, Answerable: d.Effect == permission.Ask && d.Grantable}
		if d.Rule != nil {
			m.Permission.Rule = &hook.Rule{Tool: d.Rule.Tool, Subject: d.Rule.Subject, Effect: d.Rule.Effect.String(), At: d.Rule.At}
		}
		h = r.consult(r.work, m)
		if r.work.Err() != nil {
			return d, false
		}
		r.note(h)
	}
	return r.stricter(d, h), true
}

// stricter brings a verdict together with what hooks say of it.
func (r *run) stricter(d permission.Decision, h *session.Hooked) permission.Decision {
	switch said := h.Decision; {
	case d.Effect == permission.Deny:
	case said == hook.Deny.String():
		d.Effect, d.Rule, d.Reason = permission.Deny, nil, "denied "+by(h)
	case said == hook.Ask.String() && d.Effect == permission.Allow:
		d.Effect, d.Rule, d.Reason = permission.Ask, nil, "asked for "+by(h)
		if !r.Permit.Attended() {
			d.Effect, d.Reason = permission.Deny, d.Reason+"; nobody is there to answer"
		}
	case said == hook.Approve.String() && d.Effect == permission.Ask && d.Grantable:
		d.Effect, d.Reason = permission.Allow, "approved "+by(h)
	}
	return d
}

// afterTools has the hooks look at the results of a batch before they are a
// message. Their tool.after is in the log then.
func (r *run) afterTools(l *session.Loop) error {
	if r.Hooks == nil {
		return nil
	}
	for i := range l.Calls {
		c := l.Calls[i]
		if ran := c.Before != nil && c.Before.Effect == permission.Allow.String() &&
			(c.After.Outcome == session.OK || c.After.Outcome == session.ToolError); !ran ||
			c.Hook(string(hook.AfterTool)) != nil || !r.Hooks.Has(hook.AfterTool, c.Name) {
			continue
		}
		if err := r.commit(); err != nil {
			return err
		}
		m := r.moment(hook.AfterTool)
		m.Call, m.Tool, m.Input = c.ID, c.Name, c.Before.Input
		m.Outcome, m.Text = string(c.After.Outcome), message.PartsText(c.After.Parts)
		h := r.consult(r.work, m)
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if denies(h) {
			h.Parts = message.Parts{message.Text{Text: fmt.Sprintf(textWithheldResult, by(h))}}
		}
		r.note(h)
	}
	return nil
}

// screened is what hooks have made of a message before it is delivered.
type screened struct {
	parts   message.Parts // nil: as it came
	notes   []*session.Hooked
	refused *session.Hooked // that keeps a loop from being run for it
}

func (s *screened) or(parts []message.Part) []message.Part {
	if s.parts != nil {
		return s.parts
	}
	return parts
}

// screen has the hooks look at a user's message. first says that a loop begins
// with it. A message that is denied is not sent: what says so stands in its
// place.
func (r *run) screen(parts []message.Part, first bool) (s screened, err error) {
	if r.Hooks == nil {
		return s, nil
	}
	for _, on := range []hook.Event{hook.BeforeLoop, hook.OnMessage} {
		if on == hook.BeforeLoop && !first || !r.Hooks.Has(on, "") || s.refused != nil {
			continue
		}
		m := r.moment(on)
		m.Role, m.Text = string(session.RoleOf(parts)), message.PartsText(s.or(parts))
		h := r.consult(r.work, m)
		switch {
		case r.ctx.Err() != nil:
			return s, r.ctx.Err()
		case denies(h):
			s.parts = message.Parts{message.Text{Text: fmt.Sprintf(textWithheldMessage, by(h))}}
			if first {
				s.refused = h
			}
		case len(h.Parts) > 0 && m.Role == string(message.User):
			s.parts, h.Parts = withText(s.or(parts), h.Parts[0]), nil // they stand in the message
		default:
			continue
		}
		s.notes = append(s.notes, h)
	}
	return s, nil
}

// withText gives the parts of a message with another text.
func withText(parts []message.Part, text message.Part) message.Parts {
	out := message.Parts{text}
	for _, p := range parts {
		if _, ok := p.(message.Text); !ok {
			out = append(out, p)
		}
	}
	return out
}

// refused ends the loop if a hook has refused what it is for.
func (r *run) refused(s screened) (ended bool, err error) {
	if s.refused == nil {
		return false, nil
	}
	return r.stopped(s.refused, "the prompt")
}

// stopped ends the loop because a hook denied something.
func (r *run) stopped(h *session.Hooked, what string) (ended bool, err error) {
	if r.work.Err() != nil {
		return r.interrupted(call{})
	}
	return r.fail(session.ReasonDenied, &session.Error{Code: "HookDenied", Error: what + " was denied " + by(h)})
}

// tell asks the hooks of an event about what is in the log. Only a denial is
// given, and noted.
func (r *run) tell(ctx context.Context, m hook.Moment) (h *session.Hooked, err error) {
	if err := r.commit(); err != nil {
		return nil, err
	}
	h = r.consult(ctx, m)
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	if !denies(h) {
		return nil, nil
	}
	if r.work.Err() == nil && m.Event != hook.AfterLoop {
		r.note(h)
	}
	return h, nil
}

// beforeTurn ends the loop if a hook denies the turn.
func (r *run) beforeTurn(l *session.Loop) (ended bool, err error) {
	if !r.Hooks.Has(hook.BeforeTurn, "") {
		return false, nil
	}
	m := r.moment(hook.BeforeTurn)
	m.Turn = l.Turn + 1
	h, err := r.tell(r.work, m)
	if h == nil {
		return false, err
	}
	return r.stopped(h, fmt.Sprintf("turn %d", m.Turn))
}

// hasTurn says whether hooks are to be told of a turn that is over.
func (r *run) hasTurn(l *session.Loop) bool {
	return r.Hooks.Has(hook.AfterTurn, "") && l.Answered && r.seen < l.Turn
}

func (r *run) afterTurn(l *session.Loop) (ended bool, err error) {
	r.seen = l.Turn
	m := r.moment(hook.AfterTurn)
	m.Text = l.Text
	h, err := r.tell(r.work, m)
	if h == nil {
		return false, err
	}
	return r.stopped(h, fmt.Sprintf("what follows turn %d", l.Turn))
}

// hasAnswer says whether hooks are to be told of an answer: before anything that
// it asks for begins.
func (r *run) hasAnswer(l *session.Loop) bool {
	if !r.Hooks.Has(hook.OnMessage, "") || !l.Answered || r.heard >= l.Turn {
		return false
	}
	for i := range l.Calls {
		if c := &l.Calls[i]; c.Before != nil || c.Asked != nil || c.Inquiry != nil || len(c.Hooked) > 0 {
			return false // they were, by a worker before
		}
	}
	return len(l.Calls) > 0 || answered(r.s)
}

func (r *run) onAnswer(l *session.Loop) (ended bool, err error) {
	r.heard = l.Turn
	m := r.moment(hook.OnMessage)
	m.Role, m.Text = string(message.Assistant), l.Text
	h, err := r.tell(r.work, m)
	if h == nil {
		return false, err
	}
	if r.work.Err() == nil {
		r.closeCalls(l, textDeniedAnswer)
		return r.stopped(h, "the model's answer")
	}
	return false, nil // it is cancelled, and its calls do not start
}

// afterLoop tells the hooks of an end. A denial changes nothing any more. The
// stream is given up with the end of the root's loop, so that its denial can
// only be shown.
func (r *run) afterLoop(e *session.LoopEnd) error {
	if !r.Hooks.Has(hook.AfterLoop, "") {
		return nil
	}
	m := r.moment(hook.AfterLoop)
	m.Text, m.Reason, m.Tokens, m.Cost = e.Text, string(e.Reason), e.Usage.Limited(), e.Usage.Cost
	h, err := r.tell(r.ctx, m)
	switch {
	case h == nil:
		return err
	case r.above == nil:
		r.live(h)
	default:
		r.note(h)
	}
	return nil
}
