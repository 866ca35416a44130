package engine

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// What the model is told of a call that a person refused.
const (
	textRefused  = "Not permitted: the user said no."
	textTimedOut = "Not permitted: the user was asked and did not answer in time."
)

// Why a call is asked for again.
const (
	againState = "what it would change is not as it was when this was asked"
	againRules = "other rules decide than when this was asked"
)

// answers is the permission engine with what people have answered so far. What
// has been revoked since the last batch does not count any more.
func (r *run) answers() *permission.Engine {
	g := permission.Grants{Binding: r.above != nil}
	for _, s := range r.st.Grants {
		effect := permission.Deny
		if s.Effect == "allow" {
			effect = permission.Allow
		} else if s.Profile != r.Spec.Name {
			g.Binding = true // no profile does what was refused to another
		}
		g.Session = append(g.Session, permission.Grant{Profile: s.Profile, Query: query(s.Subject), Effect: effect})
	}
	if r.deps.Grants != nil {
		g.Workspace = r.deps.Grants(r.Spec.Name)
	}
	if g.Lent = r.lent(); g.Session == nil && g.Workspace == nil && g.Lent == nil {
		return r.Permit
	}
	return r.Permit.With(g)
}

func query(s session.Subject) permission.Query {
	return permission.Query{Tool: s.Tool, Subject: s.Subject, Dir: s.Dir}
}

func subject(q permission.Query) session.Subject {
	return session.Subject{Tool: q.Tool, Subject: q.Subject, Dir: q.Dir}
}

// judge brings a verdict together with what a person has said to the call, and
// does what follows if it is not to run now: ends it, or asks.
func (r *run) judge(c *session.CallState, plan tool.Plan, d permission.Decision) permission.Decision {
	if d.Effect == permission.Allow && c.Asked == nil {
		return d
	}
	var q *session.PermissionAsked
	if d.Effect == permission.Ask {
		q = r.question(c, plan, d)
	}
	text := denial(d)
	// A no for the session denies this call too, and is no earlier one to it.
	if c.Answer != nil && !c.Answer.Answer.Allows() && (d.Effect != permission.Deny || d.Step == permission.StepDenial) {
		text = refusal(c.Answer)
	}
	d, again := r.weigh(c, d, q)
	switch d.Effect {
	case permission.Deny:
		r.before(*c, d)
		r.after(*c, session.Denied, text)
	case permission.Ask:
		r.approve(c, d, q, again)
	}
	return d
}

// weigh takes what a person has said to a call into its verdict: a yes turns
// ask into allow, and never a deny. again says why a yes that was given does
// not count any more.
func (r *run) weigh(c *session.CallState, d permission.Decision, now *session.PermissionAsked) (_ permission.Decision, again string) {
	if c.Answer != nil && !c.Answer.Answer.Allows() {
		d.Effect, d.Reason = permission.Deny, "a person was asked: "+string(c.Answer.Answer)
		return d, ""
	}
	if d.Effect != permission.Ask || c.Asked == nil {
		return d, ""
	}
	if again = changed(c.Asked, now); again == "" && c.Answer != nil {
		d.Effect, d.Reason = permission.Allow, "a person was asked: "+string(c.Answer.Answer)
	}
	return d, again
}

// changed says what is not as it was when a call was asked for.
func changed(then, now *session.PermissionAsked) string {
	same := func(a, b session.AskedPart) bool {
		return a.Subject == b.Subject && a.Effect == b.Effect && (a.Rule == b.Rule || a.Rule != nil && b.Rule != nil && *a.Rule == *b.Rule)
	}
	switch {
	case then.State != now.State:
		return againState
	case then.Digest != now.Digest || !slices.EqualFunc(then.Parts, now.Parts, same):
		return againRules
	}
	return ""
}

// question is what a person would be asked about a call.
func (r *run) question(c *session.CallState, plan tool.Plan, d permission.Decision) *session.PermissionAsked {
	q := &session.PermissionAsked{
		Call: c.ID, Tool: c.Name, Input: c.Input, Digest: hexDigest(sha256.Sum256([]byte(c.Name + "\n" + string(c.Input)))),
		Grantable: d.Grantable, Rule: ruleOf(d.Rule), Reason: d.Reason,
	}
	needs := plan.Needs()
	for _, n := range r.permit.Asks(needs...) {
		q.Needs = append(q.Needs, subject(n))
	}
	if q.Needs == nil { // only a hook asks
		for _, n := range needs {
			q.Needs = append(q.Needs, subject(n))
		}
	}
	for _, p := range d.Parts {
		q.Parts = append(q.Parts, session.AskedPart{Subject: subject(p.Query), Effect: p.Effect.String(), Rule: ruleOf(p.Rule)})
	}
	if q.Parts == nil {
		q.Parts = []session.AskedPart{{Subject: subject(needs[0]), Effect: d.Effect.String(), Rule: q.Rule}}
	}
	if s, ok := plan.(tool.Stater); ok {
		q.State = s.State()
	}
	return q
}

// approve asks a person for a call, unless that was done.
func (r *run) approve(c *session.CallState, d permission.Decision, q *session.PermissionAsked, again string) {
	asked := c.Asked != nil && again == ""
	if r.mayAsk(c, d, asked) {
		q.Ask, q.Again, q.Expires = session.AskID(r.st.Key.Stream, r.st.Asks+1), again, r.expiry()
		r.emit(q)
	}
}

// inquire has a call that asks a person something wait for the answer. Where
// nobody is there it does not wait, and runs without one.
func (r *run) inquire(c *session.CallState, t tool.Asking, d permission.Decision) (waits bool) {
	if c.Before != nil || c.Reply != nil || r.s.Loop.Start.Headless {
		return false
	}
	q := t.Asks(c.Input)
	if r.mayAsk(c, d, c.Inquiry != nil) {
		r.emit(&session.InputAsked{
			Ask: session.AskID(r.st.Key.Stream, r.st.Asks+1), Call: c.ID, Question: r.clean(q.Text), Options: q.Options, Expires: r.expiry(),
		})
	}
	return true
}

// mayAsk says that a person is to be asked now. A call that is not to start any
// more ends instead.
func (r *run) mayAsk(c *session.CallState, d permission.Decision, asked bool) bool {
	if r.ctx.Err() != nil {
		return false // the next owner decides about it
	}
	o, text := r.halt()
	if o == "" && !asked {
		o, text = r.steered()
	}
	if o != "" {
		r.before(*c, d)
		r.after(*c, o, text)
	}
	return o == "" && !asked
}

// expiry is until when a question may be answered.
func (r *run) expiry() time.Time {
	if t := r.deps.AnswerTime; t > 0 {
		return r.now.Add(t).Truncate(time.Microsecond)
	}
	return time.Time{}
}

// refusal is what the model is told of a call that a person did not allow.
func refusal(a *session.PermissionResolved) string {
	if a.Answer == session.AnswerTimeout {
		return textTimedOut
	}
	if a.Message != "" {
		return fmt.Sprintf("%s They say: %s", textRefused, a.Message)
	}
	return textRefused
}

// park leaves the loop open until a person has answered. It does not stand if
// that has happened by now.
func (r *run) park(l *session.Loop) (parked bool, err error) {
	if r.work.Err() != nil {
		return false, r.ctx.Err()
	}
	w := &session.LoopWaiting{}
	r.questions(l, w)
	return r.lastIf(w, func() bool { return !r.st.Root.Cancel && r.waits(l) })
}

// questions gathers what a loop and those that work for it wait for.
func (r *run) questions(l *session.Loop, w *session.LoopWaiting) {
	for i := range l.Calls {
		c := &l.Calls[i]
		if ask, t := c.Open(); ask != "" {
			w.Asks = append(w.Asks, ask)
			if w.Until.IsZero() || !t.IsZero() && t.Before(w.Until) {
				w.Until = t
			}
		} else if child := r.parked(c); child != nil {
			r.questions(child, w)
		}
	}
}

// waits says that all that is left of a batch waits for a person.
func (r *run) waits(l *session.Loop) bool {
	left := 0
	for i := range l.Calls {
		c := &l.Calls[i]
		if c.After != nil {
			continue
		}
		ask, _ := c.Open()
		if child := r.parked(c); ask == "" && (child == nil || !r.waits(child)) {
			return false
		}
		left++
	}
	return left > 0
}

// parked is the loop of a call's child, if that is left open until a person has
// answered.
func (r *run) parked(c *session.CallState) *session.Loop {
	if c.Before == nil || c.After != nil || c.Before.Child == "" {
		return nil
	}
	if child := r.st.Session(c.Before.Child); child != nil && child.Loop != nil && child.Loop.Waiting {
		return child.Loop
	}
	return nil
}
