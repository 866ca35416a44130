package engine

import (
	"encoding/json"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// noTools keeps a model from calling the tools that stand in its request.
const noTools = "none"

// aside is something that a model is asked which is no turn of the conversation:
// a plan, a summary. What it answers is no message, and it calls no tools. The
// definitions of the tools are sent all the same: providers ask for them where
// messages have calls, and what stands before the messages stays in their cache.
type aside struct {
	about  string   // what it is for, such as planning.analysis; stands in the log
	system []string // in the place of the loop's; nil: the loop's
	// from and to say which messages of the branch are sent; no to: to its end.
	from, to int
	say      string // to the model, after those messages; not part of the conversation
	link     *link  // the model to ask, which has no fallback; nil: the loop's
	beyond   bool   // the limits; what it answers is shown as it comes
}

// aside asks a model aside. The request is logged as a turn.request that says
// what it is for. It is retried as a turn is, and what it takes counts for the
// limits of the loop.
//
// failed says why there is no answer; the loop goes on. Where it is not to go
// on, at a limit or because it was cancelled, it has ended when aside returns.
// An answer may be empty.
//
// The answer is not in the log: the caller emits an event that holds it before it
// does anything else, and before it asks looks whether the fold has such an
// event. So an answer that the log has is not asked for again.
func (r *run) aside(a aside) (answer string, failed *session.Error, ended bool, err error) {
	if limit := r.spent(); limit != nil {
		ended, err = r.endLimit(limit)
		return "", nil, ended, err
	}
	c, failed, ended, err := r.answer(r.s.Loop, "", &a)
	if failed != nil || ended || err != nil {
		return "", failed, ended, err
	}
	r.spend(c)
	return c.done.Text(), nil, false, nil
}

// composeAside makes the request of an aside, and what the log says of it.
func (r *run) composeAside(l *session.Loop, id string, a *aside) (c call, req *session.TurnRequest) {
	to := a.to
	if to == 0 {
		to = len(r.s.Messages)
	}
	c.id, c.attempt = id, 1
	if last := l.Aside; last != nil && last.For == a.about {
		c.attempt = last.Attempt + 1
	}
	c.request = &model.Request{
		Prefix: r.Prefix, Params: r.link.params, Messages: r.s.Messages[a.from:to:to], Tail: a.say, For: a.about,
	}
	if a.system != nil {
		c.request.Prefix = &model.Prefix{System: a.system, Tools: r.Prefix.Tools}
	}
	req = &session.TurnRequest{
		Message: id, Attempt: c.attempt, Messages: to - a.from, Tail: a.say, For: a.about, System: a.system, From: a.from,
	}
	if to > a.from {
		req.Head = r.s.Messages[to-1].ID
	}
	if name := r.link.Name(); name != l.Model {
		req.Model = name
	}
	if req.Params, c.err = r.withoutTools(c.request); c.err != nil {
		return c, req
	}
	if a.from == 0 {
		c.err = r.sign(req, c.request.Messages)
	} else if rend, ok := r.link.Model.(model.Renderer); ok {
		req.Renderer = rend.Renderer()
		req.Digest, c.err = DigestOf(rend, c.request.Messages)
	}
	return c, req
}

// withoutTools has a model call none of the tools of a request, and returns the
// parameters for the log.
func (r *run) withoutTools(q *model.Request) ([]byte, error) {
	if len(q.Prefix.Tools) > 0 {
		q.Params.ToolChoice = noTools
	}
	p := q.Params
	if p.Schema = nil; p == (model.Params{}) { // the loop's start has it
		return nil, nil
	}
	return json.Marshal(p)
}
