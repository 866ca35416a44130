package acp

import (
	"context"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// asker has the client ask its user what a run has to ask a person.
type asker struct {
	c    *connection
	s    *conversation
	key  session.Key
	park func(ask string)
}

// ask asks the first of what the run waits for. What is not plainly allowed is
// refused. A question that takes any text is put into the conversation: the next
// prompt is its answer.
func (a *asker) ask(ctx context.Context) {
	list, err := a.c.opts.Host.Approvals(ctx, a.key)
	if err != nil || len(list) == 0 {
		a.fail(ctx, err)
		return
	}
	q := &list[0]
	if q.Question != "" && len(q.Options) == 0 {
		a.s.show.note(q.Question)
		a.park(q.ID)
		return
	}
	res, err := sdk.SendRequest[sdk.RequestPermissionResponse](a.c.conn, ctx, sdk.ClientMethodSessionRequestPermission, a.request(q))
	if ctx.Err() != nil || a.c.gone() {
		return // taken back, or nobody is there any more: it stays open
	}
	answer, inWords := a.reply(q, &res, err)
	if inWords {
		a.s.show.note(q.Question)
		a.park(q.ID)
		return
	}
	store, done := context.WithTimeout(context.WithoutCancel(ctx), storeTime) // its own event takes the question back
	defer done()
	_, err = a.c.opts.Host.Answer(store, a.key.Tenant, q.ID, answer)
	a.fail(ctx, err)
}

// fail logs why a question cannot be asked or answered. That it was answered by
// somebody else is seen from the events.
func (a *asker) fail(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		a.c.log.Warn("a question to the user of an editor", "session", a.key.Stream, "error", err)
	}
}

// by is an answer of the client's user.
func (c *connection) by(answer session.Answer, text string) view.Answer {
	const maxName = 60
	c.mu.Lock()
	name := c.client
	c.mu.Unlock()
	who := "acp"
	if name != "" {
		who += ":" + cut(render.Visible(name), maxName)
	}
	a := view.Answer{Answer: answer, By: who}
	if answer == session.AnswerText {
		a.Text = text
	} else {
		a.Message = text
	}
	return a
}

// What can be chosen besides the answers themselves.
const (
	choiceNever   = "no-session" // refuse for the rest of the session
	choiceWords   = "words"      // answer a question in the conversation
	choicePrefix  = "option-"    // the n-th option of a question, from 0
	maxOptionName = 200          // bytes
)

// request is the question as the protocol has it.
func (a *asker) request(q *view.Approval) sdk.RequestPermissionRequest {
	var text strings.Builder
	render.Question(&text, render.Style{}, q)
	call := a.s.show.asked(q)
	call.Content = append(call.Content, sdk.ToolContent(sdk.TextBlock(strings.TrimRight(text.String(), "\n"))))
	return sdk.RequestPermissionRequest{SessionId: a.s.id, ToolCall: call, Options: choices(q)}
}

// choices are what may be answered.
func choices(q *view.Approval) []sdk.PermissionOption {
	var all []sdk.PermissionOption
	add := func(kind sdk.PermissionOptionKind, id, name string) {
		all = append(all, sdk.PermissionOption{Kind: kind, OptionId: sdk.PermissionOptionId(id), Name: name})
	}
	if q.Question != "" {
		for i, o := range q.Options {
			add(sdk.PermissionOptionKindAllowOnce, choicePrefix+strconv.Itoa(i), cut(render.Visible(o), maxOptionName))
		}
		add(sdk.PermissionOptionKindAllowOnce, choiceWords, "Answer in words, with the next prompt")
		add(sdk.PermissionOptionKindRejectOnce, string(session.AnswerNo), "No answer")
		return all
	}
	for _, answer := range q.Answers {
		kind := sdk.PermissionOptionKindAllowAlways
		switch answer {
		case session.AnswerOnce:
			kind = sdk.PermissionOptionKindAllowOnce
		case session.AnswerNo:
			kind = sdk.PermissionOptionKindRejectOnce
		}
		add(kind, string(answer), render.Choice(answer))
	}
	if slices.Contains(q.Answers, session.AnswerSession) {
		add(sdk.PermissionOptionKindRejectAlways, choiceNever, "Refuse for this session")
	}
	return all
}

// reply makes an answer of what the client says; inWords says that it comes with the
// next prompt.
func (a *asker) reply(q *view.Approval, res *sdk.RequestPermissionResponse, err error) (answer view.Answer, inWords bool) {
	no := func(why string) (view.Answer, bool) { return a.c.by(session.AnswerNo, why), false }
	switch {
	case err != nil:
		return no("the editor could not ask its user: " + err.Error())
	case res.Outcome.Selected == nil:
		return no("the user closed the question without an answer")
	}
	choice := string(res.Outcome.Selected.OptionId)
	if !slices.ContainsFunc(choices(q), func(o sdk.PermissionOption) bool { return string(o.OptionId) == choice }) {
		return no("the editor gave an answer that was not asked for")
	}
	switch choice {
	case string(session.AnswerNo):
		return no("")
	case choiceNever:
		answer = a.c.by(session.AnswerNo, "")
		answer.ForSession = true
		return answer, false
	case choiceWords:
		return answer, true
	}
	if n, ok := strings.CutPrefix(choice, choicePrefix); ok && q.Question != "" {
		i, _ := strconv.Atoi(n) // one of choices
		return a.c.by(session.AnswerText, q.Options[i]), false
	}
	return a.c.by(session.Answer(choice), ""), false
}

// cut shortens a text to n bytes, and says so.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
