package roster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/internal/grants"
	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// Approval is a tool call that waits for an answer, and Answer that answer.
// Grant is one that holds for the workspace.
type (
	Approval = view.Approval
	Answer   = view.Answer
	Grant    = grants.Grant
)

// Bounds of answers: of a message, in bytes, and of how many sessions are looked
// at for what they ask.
const (
	maxMessage   = 16 << 10
	maxApprovals = 1000
)

// Approvals lists what waits for an answer: of one session (which may be a
// child's root), or with an empty k.Stream of all.
func (a *App) Approvals(ctx context.Context, k session.Key) ([]Approval, error) {
	b, err := a.Backend(ctx)
	if err != nil {
		return nil, err
	}
	k = a.withTenant(k)
	if k.Stream != "" {
		if _, err := b.Summary(ctx, k); err != nil {
			return nil, err
		}
		st, err := session.ReadState(ctx, a.backend, k)
		if err != nil {
			return nil, err
		}
		return approvals(st), nil
	}
	list := []Approval{}
	for sum, err := range b.List(ctx, k.Tenant, session.Query{Asking: true, Limit: maxApprovals}) {
		if err != nil {
			return nil, err
		}
		st, err := session.ReadState(ctx, b, sum.Key)
		if err != nil {
			return nil, err
		}
		list = append(list, approvals(st)...)
	}
	slices.SortStableFunc(list, func(a, b Approval) int { return a.Asked.Compare(b.Asked) })
	return list, nil
}

func approvals(st *session.State) []Approval {
	list := []Approval{}
	for q := range st.Questions() {
		list = append(list, approval(st, q))
	}
	return list
}

func approval(st *session.State, q session.Question) Approval {
	v := Approval{
		ID: q.Ask, SessionID: st.Key.Stream, AgentID: q.Profile, Depth: q.Depth, Call: q.Call.ID, Tool: q.Call.Name,
		Arguments: q.Call.ToolCall.Input, Answers: answersTo(&q), Asked: q.At, Expires: q.Expires,
		Needs: []session.Subject{}, Parts: []session.AskedPart{},
	}
	if q.Depth > 0 {
		v.Child = q.Session
	}
	if in := q.Input; in != nil {
		v.Question, v.Options = in.Question, in.Options
		v.Shown = append(v.Shown, render.Visible(v.Tool+" "+in.Question))
		for _, o := range in.Options {
			v.Shown = append(v.Shown, render.Visible(o))
		}
		return v
	}
	p := q.Permission
	v.Needs, v.Parts, v.Rule, v.Reason, v.Again = p.Needs, p.Parts, p.Rule, p.Reason, p.Again
	for _, n := range p.Needs {
		line := n.Tool + " " + n.Subject
		if n.Dir != "" {
			line += " (in " + n.Dir + ")"
		}
		v.Shown = append(v.Shown, render.Visible(line))
	}
	return v
}

// answersTo lists the answers that may be given.
func answersTo(q *session.Question) []session.Answer {
	switch {
	case q.Input != nil:
		return []session.Answer{session.AnswerText, session.AnswerNo}
	case q.Permission.Grantable:
		return []session.Answer{session.AnswerOnce, session.AnswerSession, session.AnswerAlways, session.AnswerNo}
	}
	return []session.Answer{session.AnswerOnce, session.AnswerNo}
}

// The errors of Answer.
type (
	// NoApprovalError: nothing was ever asked under that id.
	NoApprovalError struct{ ID string }
	// AnsweredError: somebody was first, or nobody waits for an answer any
	// more. Answer is what counts, if anything was answered.
	AnsweredError struct {
		ID     string
		Answer session.Answer
		By     string
	}
	// AnswerError: this answer cannot be given.
	AnswerError struct{ ID, Reason string }
)

func (e *NoApprovalError) Error() string {
	return fmt.Sprintf("approval not found: %s: see roster approvals list", e.ID)
}

func (e *AnsweredError) Error() string {
	switch {
	case e.Answer == session.AnswerTimeout:
		return fmt.Sprintf("approval %s has expired: nobody answered in time, and the call was refused", e.ID)
	case e.Answer == "":
		return fmt.Sprintf("approval %s is not open any more: the call has ended, or is asked for anew", e.ID)
	case e.By != "":
		return fmt.Sprintf("approval %s was answered before: %s, by %s", e.ID, e.Answer, e.By)
	}
	return fmt.Sprintf("approval %s was answered before: %s", e.ID, e.Answer)
}

func (e *AnswerError) Error() string { return fmt.Sprintf("approval %s: %s", e.ID, e.Reason) }

// Answer answers one of Approvals, durably. The first answer counts; for a later
// one it is *AnsweredError. The session goes on at once where a process runs it
// or may take it up (Options.Claim), and else by Resume.
func (a *App) Answer(ctx context.Context, tenant, id string, answer Answer) (Approval, error) {
	d, err := a.dispatcher(ctx)
	if err != nil {
		return Approval{}, err
	}
	stream, n, ok := session.ParseAskID(id)
	if !ok {
		return Approval{}, &NoApprovalError{id}
	}
	k := a.withTenant(session.Key{Tenant: tenant, Stream: stream})
	st, err := session.ReadState(ctx, a.backend, k)
	if err != nil {
		return Approval{}, err
	}
	q, open := question(st, id)
	if !open {
		if n > st.Asks {
			return Approval{}, &NoApprovalError{id}
		}
		return Approval{}, a.answered(ctx, k, id)
	}
	if err := checkAnswer(&q, &answer); err != nil {
		return Approval{}, err
	}
	c := clock.From(ctx)
	e := a.inbound(c, k, q.Chain, a.resolved(&q, &answer))
	if q.Expired(e.Time) {
		if err := d.Expire(ctx, k); err != nil {
			return Approval{}, err
		}
		return Approval{}, &AnsweredError{ID: id, Answer: session.AnswerTimeout}
	}
	post := func() error {
		posted, err := d.Submit(ctx, k, session.Post{Idem: session.AnswerIdem(id), Events: []session.Event{e}})
		if conflict := (*session.Conflict)(nil); errors.As(err, &conflict) || err == nil && posted.Duplicate {
			return a.answered(ctx, k, id)
		}
		return err
	}
	if answer.Answer == session.AnswerAlways {
		err = a.grants.Add(ctx, post, a.granted(st, q, &answer, e.Time)...)
	} else {
		err = post()
	}
	if err != nil {
		return Approval{}, err
	}
	return approval(st, q), nil
}

func question(st *session.State, id string) (session.Question, bool) {
	for q := range st.Questions() {
		if q.Ask == id {
			return q, true
		}
	}
	return session.Question{}, false
}

func checkAnswer(q *session.Question, answer *Answer) error {
	answer.Message = strings.ToValidUTF8(answer.Message, string(utf8.RuneError))
	answer.Text = strings.ToValidUTF8(answer.Text, string(utf8.RuneError))
	no := func(format string, args ...any) error { return &AnswerError{q.Ask, fmt.Sprintf(format, args...)} }
	switch {
	case len(answer.Message) > maxMessage:
		return no("the message has more than %d bytes", maxMessage)
	case len(answer.Text) > maxMessage:
		return no("the text has more than %d bytes", maxMessage)
	case q.Input != nil:
		return checkReply(answer, no)
	case answer.Text != "" || answer.Answer == session.AnswerText:
		return no("it asks for a permission, and a text answers a question only: answer once, session, always or no")
	case !slices.Contains(answersTo(q), answer.Answer):
		why := "the answers are once, session, always and no"
		if answer.Answer == session.AnswerSession || answer.Answer == session.AnswerAlways {
			why = "it can be allowed once only: what it does is not known in full, or the policy of this host wants it asked each time"
		}
		return no("%q cannot be answered: %s", answer.Answer, why)
	case answer.ForSession && answer.Answer != session.AnswerNo:
		return no("only a no can be said for the session beside the answer; to allow it for the session, answer session")
	case answer.ForSession && !q.Permission.Grantable:
		return no("it can be refused once only: what it does is not known in full, or the policy of this host wants it asked each time")
	case answer.Message != "" && answer.Answer != session.AnswerNo:
		return no("a message goes with no; to tell a run something else, steer it")
	}
	return nil
}

// checkReply tests what is answered to a question that asks for no permission.
func checkReply(answer *Answer, no func(string, ...any) error) error {
	switch {
	case answer.Answer != session.AnswerText && answer.Answer != session.AnswerNo:
		return no("%q cannot be answered: it asks a question; answer it with a text, or with no", answer.Answer)
	case answer.ForSession:
		return no("a question is answered once")
	case answer.Answer == session.AnswerText && strings.TrimSpace(answer.Text) == "":
		return no("the text is empty; who does not want to answer says no")
	case answer.Answer == session.AnswerNo && answer.Text != "":
		return no("a text is an answer, and no is none: give one of them")
	case answer.Answer == session.AnswerText && answer.Message != "":
		return no("a message goes with no")
	}
	return nil
}

// resolved is the event of an answer.
func (a *App) resolved(q *session.Question, answer *Answer) session.Body {
	if q.Input != nil {
		text := cmp.Or(answer.Text, answer.Message)
		return &session.InputAnswered{Ask: q.Ask, Answer: answer.Answer, Text: a.redact(text), By: answer.By}
	}
	return &session.PermissionResolved{
		Ask: q.Ask, Answer: answer.Answer, ForSession: answer.ForSession, Message: a.redact(answer.Message), By: answer.By,
	}
}

// answered says what became of a question that is not open.
func (a *App) answered(ctx context.Context, k session.Key, id string) error {
	for e, err := range a.backend.Read(ctx, k, 0) {
		if err != nil {
			return err
		}
		if e.Type != "permission.resolved" && e.Type != "input.answered" {
			continue
		}
		body, err := e.Decode()
		if err != nil {
			continue
		}
		switch b := body.(type) {
		case *session.PermissionResolved:
			if b.Ask == id {
				return &AnsweredError{ID: id, Answer: b.Answer, By: b.By}
			}
		case *session.InputAnswered:
			if b.Ask == id {
				return &AnsweredError{ID: id, Answer: b.Answer, By: b.By}
			}
		}
	}
	return &AnsweredError{ID: id}
}

// granted is what an answer grants for good.
func (a *App) granted(st *session.State, q session.Question, answer *Answer, at time.Time) []Grant {
	var list []Grant
	for _, n := range q.Permission.Needs {
		list = append(list, Grant{
			Tenant: st.Key.Tenant, User: userOf(st), Workspace: a.dir, Profile: q.Profile,
			Tool: n.Tool, Subject: n.Subject, Dir: n.Dir, Given: at, By: answer.By, Ask: q.Ask,
		})
	}
	return list
}

func userOf(st *session.State) string {
	if st.Root.User != "" {
		return st.Root.User
	}
	return LocalTenant
}

// grantsOf looks up what holds for the profiles of a session, at each call anew.
// What cannot be read is not granted.
func (a *App) grantsOf(st *session.State) func(profile string) []permission.Grant {
	return func(profile string) []permission.Grant {
		hold, err := a.grants.For(grants.Whose{Tenant: st.Key.Tenant, User: userOf(st), Workspace: a.dir}, profile)
		if err != nil {
			a.opts.Log.Error("what was allowed for good cannot be read, so it is asked for", "error", err)
		}
		return hold
	}
}

// Grants lists what has been allowed for good in the workspace, the oldest
// first.
func (a *App) Grants() ([]Grant, error) { return a.grants.List(a.dir) }

// RevokeGrant takes a grant back, by its id or the beginning of it. A run that
// is going on sees it at its next call.
func (a *App) RevokeGrant(ctx context.Context, id string) (Grant, error) {
	gone, err := a.grants.Revoke(ctx, a.dir, id)
	if err != nil {
		return Grant{}, err
	}
	return gone[0], nil
}
