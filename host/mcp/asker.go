package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// asker has the client ask its user what a run has to ask a person.
type asker struct {
	server *Server
	client *sdk.ServerSession
	key    session.Key
}

// mayAsk says whether a client can show a form to its user.
func mayAsk(c *sdk.ServerSession) bool {
	p := c.InitializeParams()
	if p == nil || p.Capabilities == nil || p.Capabilities.Elicitation == nil {
		return false
	}
	can := p.Capabilities.Elicitation
	return can.Form != nil || can.URL == nil // who names neither can show forms
}

// ask asks the first of what the run waits for. What the client does not answer
// is refused.
func (a *asker) ask(ctx context.Context) {
	list, err := a.server.opts.Host.Approvals(ctx, a.key)
	if err != nil || len(list) == 0 {
		a.fail(ctx, err)
		return
	}
	q := &list[0]
	res, err := a.client.Elicit(ctx, &sdk.ElicitParams{Message: question(q), RequestedSchema: form(q)})
	if ctx.Err() != nil {
		return // taken back, or nobody is there any more: it stays open
	}
	answer := reply(q, res, err)
	answer.By = a.who()
	store, done := context.WithTimeout(context.WithoutCancel(ctx), cancelTime) // its own event takes the question back
	defer done()
	_, err = a.server.opts.Host.Answer(store, a.key.Tenant, q.ID, answer)
	a.fail(ctx, err)
}

// fail logs why a question cannot be asked or answered. That it was answered by
// somebody else is seen from the events.
func (a *asker) fail(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil {
		a.server.opts.Log.Warn("a question to the user of an MCP client", "session", a.key.Stream, "error", err)
	}
}

// who names the client that an answer comes by.
func (a *asker) who() string {
	const maxName = 60
	if p := a.client.InitializeParams(); p != nil && p.ClientInfo != nil && p.ClientInfo.Name != "" {
		return "mcp:" + cut(render.Visible(p.ClientInfo.Name), maxName)
	}
	return "mcp"
}

// question is what the user reads. Nothing of it is hidden.
func question(q *view.Approval) string {
	var b strings.Builder
	render.Question(&b, render.Style{}, q)
	return strings.TrimRight(b.String(), "\n")
}

// form is the schema of what the user fills in.
func form(q *view.Approval) json.RawMessage {
	type property struct {
		Type        string              `json:"type"`
		Title       string              `json:"title"`
		Description string              `json:"description,omitempty"`
		OneOf       []map[string]string `json:"oneOf,omitempty"`
	}
	p := property{Type: "string", Title: "Answer"}
	if q.Question != "" {
		if len(q.Options) > 0 {
			p.Description = "One of the options, or another answer."
		}
	} else {
		for _, a := range []session.Answer{session.AnswerOnce, session.AnswerSession, session.AnswerAlways, session.AnswerNo} {
			if slices.Contains(q.Answers, a) {
				p.OneOf = append(p.OneOf, map[string]string{"const": string(a), "title": render.Choice(a)})
			}
		}
	}
	text, err := json.Marshal(map[string]any{
		"type": "object", "properties": map[string]property{"answer": p}, "required": []string{"answer"},
	})
	if err != nil {
		panic(err) // texts only
	}
	return text
}

// reply makes an answer of what the client says. Only what plainly allows does.
func reply(q *view.Approval, res *sdk.ElicitResult, err error) view.Answer {
	no := func(why string) view.Answer { return view.Answer{Answer: session.AnswerNo, Message: why} }
	switch {
	case err != nil:
		return no("the client could not ask its user: " + err.Error())
	case res.Action == "decline":
		return no("")
	case res.Action != "accept":
		return no("the user closed the question without an answer")
	}
	text, _ := res.Content["answer"].(string)
	switch {
	case strings.TrimSpace(text) == "":
		return no("the user gave no answer")
	case q.Question != "":
		return view.Answer{Answer: session.AnswerText, Text: text}
	case slices.Contains(q.Answers, session.Answer(text)):
		return view.Answer{Answer: session.Answer(text)}
	}
	return no("the client gave an answer that was not asked for")
}
