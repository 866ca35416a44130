package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/session"
)

// maxRetryAfter bounds how long a provider may make a run wait.
const maxRetryAfter = time.Minute

// ask calls the model, again if need be, and puts its answer into the log.
func (r *run) ask(l *session.Loop) (ended bool, err error) {
	if l.Answered || l.Turn == 0 {
		r.turn = l.Turn + 1
		r.emit(&session.TurnStart{})
	}
	id := r.clock.ID()
	if l.Attempt > 0 { // taken up in the middle of an answer, of which a part may have been shown
		id = l.Answer
		r.live(&session.Reset{Message: id, Attempt: l.Attempt + 1})
	}
	r.remind()
	c, failed, ended, err := r.answer(l, id, nil)
	switch {
	case ended || err != nil:
		return ended, err
	case failed != nil:
		if done, ended, err := r.fitLess(c.err); done || ended || err != nil {
			return ended, err
		}
		return r.fail(session.ReasonError, failed)
	}
	r.settle(c)
	return false, nil
}

// answer calls a model until it answers: for the next turn, or for an aside. It
// gives what the last call failed with, or ends the loop if it is not to go on.
func (r *run) answer(l *session.Loop, id string, a *aside) (c call, failure *session.Error, ended bool, err error) {
	if a != nil && a.link != nil {
		r.link = a.link
	} else {
		r.choose(l)
	}
	delays, renewed := r.retryDelays(), false
	for failed := 1; ; failed++ {
		settle, limit := r.reserve()
		if limit != nil {
			ended, err = r.endLimit(limit)
			return c, nil, ended, err
		}
		c = r.call(l, id, a)
		settle()
		if c.over {
			ended, err = r.overspent(c)
			return c, nil, ended, err
		}
		if r.ctx.Err() != nil || c.err == nil {
			return c, nil, false, r.ctx.Err()
		}
		if r.work.Err() != nil {
			ended, err = r.interrupted(c)
			return c, nil, ended, err
		}
		if c.out > 0 || c.usage != nil {
			r.spend(c)
		}
		d := r.describe(c.err)
		delay, again := delays(failed, c.err)
		switch {
		case again:
			r.emit(&session.Retry{Attempt: c.attempt, Delay: delay, Code: d.Code, Error: d.Error})
		case !renewed && r.renew(&c):
			renewed = true
			r.emit(&session.Retry{Attempt: c.attempt, Code: d.Code, Error: d.Error})
		case (a == nil || a.link == nil) && r.fallBack(c.err, d):
			delays, failed, renewed = r.retryDelays(), 0, false
		default:
			r.takeBack(c)
			return c, d, false, nil
		}
		if err := r.commit(); err != nil {
			return c, nil, false, err
		}
		r.takeBack(c)
		if err := r.sleep(delay); err != nil {
			return c, nil, false, err
		}
		if r.work.Err() != nil {
			ended, err = r.interrupted(call{id: id, request: c.request})
			return c, nil, ended, err
		}
	}
}

// renew has the key read anew that a call was refused for.
func (r *run) renew(c *call) bool {
	e := model.AsError(c.err)
	return e != nil && e.Refused() && r.deps.Refresh != nil && r.deps.Refresh(r.link.Name(), c.began)
}

// takeBack tells readers that what was shown of a broken answer does not count.
func (r *run) takeBack(c call) {
	if len(c.text)+c.thought > 0 {
		r.live(&session.Reset{Message: c.id, Attempt: r.s.Loop.Attempt + 1})
	}
}

// call is one model call and what came of it.
type call struct {
	id      string
	attempt int
	request *model.Request
	text    []byte // shown so far
	thought int    // bytes of thinking that were shown
	out     int    // bytes of text, thinking and arguments that came
	done    *message.Message
	stop    string
	usage   *message.Usage
	err     error
	over    bool      // it was broken off, at a limit
	began   time.Time // by this machine's own clock, which no event has
}

// call asks once. The request is logged before it is sent.
func (r *run) call(l *session.Loop, id string, a *aside) (c call) {
	var req *session.TurnRequest
	if a != nil {
		c, req = r.composeAside(l, id, a)
	} else {
		c, req = r.compose(l, id)
	}
	var refs []string
	if a == nil {
		refs = r.extend(&c, req)
	}
	if c.err != nil {
		return c
	}
	r.emitRefs(req, refs...)
	r.log.flushSoon()
	if r.above == nil {
		defer r.log.waited()
	}
	h := hearing{run: r, call: c, left: r.outputLeft(), aside: a != nil && !a.beyond}
	if a != nil && a.beyond {
		h.left = finalTokens
	}
	defer r.tick()
	defer r.apart()()
	h.began = time.Now()
	h.listen(r.link.Stream(r.work, c.request))
	return h.call
}

// compose makes the request of the next turn, and what the log says of it.
func (r *run) compose(l *session.Loop, id string) (call, *session.TurnRequest) {
	n := len(r.s.Messages)
	c := call{
		id: id, attempt: l.Attempt + 1,
		request: &model.Request{Prefix: r.Prefix, Params: r.params(), Messages: r.s.Messages[:n:n], Tail: r.reminder.Text},
	}
	req := &session.TurnRequest{
		Message: id, Attempt: c.attempt, Messages: n, Head: r.head(), Params: r.link.paramsJSON, Tail: r.reminder.Text,
	}
	if r.reminder.Last {
		if req.Params, c.err = r.withoutTools(c.request); c.err != nil {
			return c, req
		}
	}
	c.err = r.sign(req, c.request.Messages)
	return c, req
}

// sign notes the form in which messages of the branch are sent, from its first
// one on, and a digest chained over them: it goes on from the request before, so
// that only new messages count.
func (r *run) sign(req *session.TurnRequest, messages []*message.Message) error {
	rend, ok := r.link.Model.(model.Renderer)
	if !ok {
		return nil
	}
	req.Renderer = rend.Renderer()
	var sum [sha256.Size]byte
	from := 0
	if last := r.s.Signed; last.Renderer == req.Renderer && last.Messages <= len(messages) {
		if n, err := hex.Decode(sum[:], []byte(last.Digest[:min(len(last.Digest), 2*len(sum))])); err == nil && n == len(sum) {
			from = last.Messages
		} else {
			clear(sum[:])
		}
	}
	if err := chain(&sum, rend, messages[from:]); err != nil {
		return err
	}
	req.Digest = hexDigest(sum)
	return nil
}

// chain takes the forms of messages into a digest.
func chain(sum *[sha256.Size]byte, rend model.Renderer, messages []*message.Message) error {
	h := sha256.New()
	for _, m := range messages {
		wire, err := rend.Wire(m)
		if err != nil {
			return err
		}
		h.Reset()
		h.Write(sum[:])
		h.Write(wire)
		h.Sum(sum[:0])
	}
	return nil
}

// DigestOf is the digest that a request with these messages has in the log.
func DigestOf(rend model.Renderer, messages []*message.Message) (string, error) {
	var sum [sha256.Size]byte
	err := chain(&sum, rend, messages)
	return hexDigest(sum), err
}

// settle puts a finished answer into the log.
func (r *run) settle(c call) {
	parts := tidyCalls(c.done.Parts, r.clock.ID)
	r.emit(&session.Message{ID: c.id, Parent: r.head(), Role: message.Assistant, Parts: parts, Stop: c.stop})
	r.spend(c)
}

// overspent ends the loop in the middle of an answer that has used up what may be
// used. What was said so far is kept, and counted by estimate.
func (r *run) overspent(c call) (ended bool, err error) {
	r.keep(c)
	limit := r.spent()
	if limit == nil { // by less than an estimate can tell
		limit = r.reached("tokens", float64(r.Spec.Limits.Tokens), float64(r.s.Loop.Usage.Limited()))
	}
	return r.endLimit(limit)
}

// keep puts what was said of a broken answer into the log, and counts the call.
func (r *run) keep(c call) {
	if len(c.text) > 0 {
		r.emit(&session.Message{
			ID: c.id, Parent: r.head(), Role: message.Assistant, Partial: true,
			Parts: []message.Part{message.Text{Text: string(c.text)}},
		})
	}
	r.spend(c)
}

// interrupted ends the loop in the middle of an answer: what was said so far is
// kept.
func (r *run) interrupted(c call) (ended bool, err error) {
	if c.out > 0 {
		r.keep(c)
	}
	if limit := r.s.Loop.Limit; limit != nil {
		return r.endLimit(limit)
	}
	if late := r.late(); late != nil {
		return r.endLimit(late.outOfTime())
	}
	return r.end(&session.LoopEnd{Reason: session.ReasonCancelled})
}

// spend counts what a call took; if the provider did not say, by estimate.
func (r *run) spend(c call) {
	u := c.usage
	if u == nil {
		u = estimate(c)
	}
	total := *u
	total.Cost = r.link.cost(&total)
	r.emit(&session.Usage{Usage: total, Model: r.link.Name()})
}

func estimate(c call) *message.Usage {
	n := 0
	for _, s := range c.request.Prefix.System {
		n += len(s)
	}
	for _, m := range c.request.Messages {
		n += len(m.Text())
	}
	return &message.Usage{
		Input: message.Tokens(n), Output: message.Tokens(c.out), Estimated: true,
	}
}

// tidyCalls gives each call an id that is unique in its message, and its input
// a form without line breaks, before anything is logged or sent.
func tidyCalls(parts []message.Part, newID func() string) []message.Part {
	var seen map[string]bool
	for i, p := range parts {
		c, ok := p.(message.ToolCall)
		if !ok {
			continue
		}
		if seen == nil {
			seen, parts = map[string]bool{}, slices.Clone(parts)
		}
		if c.ID == "" || seen[c.ID] {
			c.ID = "call_" + newID()
		}
		seen[c.ID] = true
		c.Input, c.Invalid = tidyInput(c.Input)
		parts[i] = c
	}
	return parts
}

func tidyInput(input []byte) (tidy []byte, invalid bool) {
	if len(bytes.TrimSpace(input)) == 0 {
		return []byte("{}"), false
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, input); err != nil {
		return input, true
	}
	return compact.Bytes(), false
}

// retryDelays says after which failures to try again, and when.
func (r *run) retryDelays() func(failed int, err error) (time.Duration, bool) {
	p := r.Spec.Retry
	var b *backoff.ExponentialBackOff
	return func(failed int, err error) (time.Duration, bool) {
		e := model.AsError(err)
		if e == nil || !e.Retryable() || failed > p.Max || e.RetryAfter > maxRetryAfter {
			return 0, false
		}
		if b == nil {
			b = backoff.NewExponentialBackOff()
			b.InitialInterval, b.Multiplier, b.MaxInterval = p.Base, p.Factor, p.Cap
		}
		return max(min(b.NextBackOff(), p.Cap), e.RetryAfter), true // the jitter goes past the cap
	}
}

// describe names an error for the log: model errors by their kind.
func (r *run) describe(err error) *session.Error {
	if e := model.AsError(err); e != nil {
		return &session.Error{Code: "model." + string(e.Kind), Error: r.clean(e.Error())}
	}
	return &session.Error{Code: "AgentExecutionFailed", Error: r.clean(fmt.Sprint(err))}
}
