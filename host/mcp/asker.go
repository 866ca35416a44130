package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// asker has the client ask its user what a run has to ask a person. Somebody
// else may answer meanwhile, on another way: then the client's question is taken
// back.
type asker struct {
	server *Server
	client *sdk.ServerSession
	key    session.Key
	able   bool // the client can ask

	leave context.CancelFunc // takes back the question that is asked now
	asked sync.WaitGroup
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

// see looks at the next event of the run.
func (a *asker) see(ctx context.Context, e *session.Event) {
	switch {
	case !a.able:
	case e.Type == "loop.waiting" && e.Depth == 0:
		a.dismiss()
		ask, leave := context.WithCancel(ctx)
		a.leave = leave
		a.asked.Go(func() { a.ask(ask) })
	case e.Type == "permission.resolved" || e.Type == "input.answered":
		a.dismiss()
		a.server.resume(ctx, a.key)
	case (e.Type == "loop.resumed" || e.Type == "loop.end") && e.Depth == 0:
		a.dismiss()
	}
}

// dismiss takes the question back, if there is one.
func (a *asker) dismiss() {
	if a.leave != nil {
		a.leave()
		a.leave = nil
	}
	a.asked.Wait()
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

// words say what an answer means.
var words = []struct {
	answer session.Answer
	text   string
}{
	{session.AnswerOnce, "Allow this once"},
	{session.AnswerSession, "Allow for this session"},
	{session.AnswerAlways, "Allow always in this workspace"},
	{session.AnswerNo, "Refuse"},
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
		for _, w := range words {
			if slices.Contains(q.Answers, w.answer) {
				p.OneOf = append(p.OneOf, map[string]string{"const": string(w.answer), "title": w.text})
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
