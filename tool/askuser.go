package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/session"
)

// AskUser is the name of the tool that asks a person something. The subject of
// its rules is the question.
const AskUser = "ask_user"

// askUserTool asks the person for whom the agent works.
type askUserTool struct{ defined }

// Recovery implements Recoverer: the answer is in the log.
func (askUserTool) Recovery(Call) Recovery { return Resume }

// Asks implements Asking.
func (askUserTool) Asks(input []byte) (q Question) {
	var in struct {
		Question string
		Options  []string
	}
	if json.Unmarshal(input, &in) == nil {
		q.Text, q.Options = in.Question, in.Options
	}
	return q
}

func (t askUserTool) Prepare(_ context.Context, c Call) (Plan, error) {
	return &askUserPlan{t.Asks(c.Input).Text, c.Reply}, nil
}

type askUserPlan struct {
	question string
	reply    *session.InputAnswered
}

func (p *askUserPlan) Needs() []permission.Query {
	return []permission.Query{{Tool: AskUser, Subject: p.question}}
}

func (p *askUserPlan) Run(context.Context, func(string)) (Result, error) {
	r := p.reply
	switch {
	case r == nil:
		return failed("Nobody is there to answer. Decide it yourself as well as you can, and say in your answer what you have assumed."), nil
	case r.Answer == session.AnswerTimeout:
		return failed("The user was asked and did not answer in time."), nil
	case r.Answer == session.AnswerText:
		return Text(r.Text), nil
	case r.Text != "":
		return failed(fmt.Sprintf("The user does not want to answer. They say: %s", r.Text)), nil
	}
	return failed("The user does not want to answer."), nil
}

func failed(text string) Result {
	r := Text(text)
	r.Error = true
	return r
}

func (p *askUserPlan) Close() error { return nil }
