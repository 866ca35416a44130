package host

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rosterrun/roster/host/openai"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Headers of POST /v1/chat/completions: who makes the tool calls (inside, the
// default, or pass: the client those of its own tools), and which members of the
// request have no effect.
const (
	HeaderTools   = "X-Roster-Tools"
	HeaderIgnored = "X-Roster-Ignored"
)

// models lists the profiles as the models of the OpenAI protocol.
func (h *Host) models(w *response, r *http.Request) error {
	list, _, err := h.deps.Profiles(r.Context())
	if err != nil {
		return err
	}
	all := make([]openai.Model, len(list))
	for i, p := range list {
		all[i] = openai.NewModel(p.Name, p.Changed)
	}
	return writeBytes(w, http.StatusOK, openai.Models(all))
}

func (h *Host) model(w *response, r *http.Request) error {
	name, err := pathText(r, "model")
	if err != nil {
		return err
	}
	p, err := h.modelNamed(r.Context(), name)
	if err != nil {
		return err
	}
	return writeBytes(w, http.StatusOK, openai.NewModel(p.Name, p.Changed).JSON())
}

// modelNamed is the profile that a client calls a model.
func (h *Host) modelNamed(ctx context.Context, name string) (*profile.Profile, error) {
	if profile.CheckName(name) != nil {
		return nil, profileNotFound(name)
	}
	return h.profile(ctx, name)
}

// completions runs a profile for a client that takes it for a model.
func (h *Host) completions(w *response, r *http.Request) error {
	pass, err := passes(r)
	if err != nil {
		return err
	}
	data, err := h.readBody(w, r)
	if err != nil {
		return err
	}
	req, err := openai.Decode(data, pass)
	if err != nil {
		return err
	}
	if profile.CheckName(req.Model) != nil {
		return profileNotFound(req.Model)
	}
	ask, err := h.askOf(w, r, req, pass)
	if err != nil {
		return err
	}
	sub, err := h.submit(w, r, ask)
	if err != nil {
		return err
	}
	head := w.Header()
	head.Set("X-Session-Id", sub.Key.Stream)
	if len(req.Ignored) > 0 {
		head.Set(HeaderIgnored, ignoredText(req.Ignored))
	}
	c := &completion{host: h, w: w, sub: sub, req: req, pass: pass, head: openai.Head{
		ID: completionID(sub), Model: req.Model, Created: time.Now().Unix(),
	}}
	if req.Stream {
		return c.stream(r)
	}
	return c.whole(r)
}

func passes(r *http.Request) (bool, error) {
	how := r.Header.Get(HeaderTools)
	return how == "pass", oneOf(HeaderTools, how, "inside", "pass")
}

// askOf makes a prompt of a request. In a session that there is, only what was said
// since its last answer is new.
func (h *Host) askOf(w *response, r *http.Request, req *openai.Request, pass bool) (Ask, error) {
	c := identity.From(r.Context())
	ask := Ask{
		Key: session.Key{Tenant: c.Tenant, Stream: r.Header.Get("X-Session-Id")}, User: c.User, Profile: req.Model,
		Said: req.Said, Parts: req.Parts, Set: req.Set, Schema: req.Schema, Shared: true, Headless: true,
	}
	if id := ask.Key.Stream; id != "" {
		if !sessionID(id) {
			return Ask{}, invalid("X-Session-Id", badSession)
		}
		answered := len(req.Said)
		for answered > 0 && req.Said[answered-1].Role != message.Assistant {
			answered--
		}
		ask.Said = req.Said[answered:]
	}
	if pass || req.System != "" {
		ask.Client = &session.Client{System: req.System, Calls: pass, Tools: req.Tools}
	}
	return ask, h.complete(w, r, &askBody{}, &ask)
}

// completionID names an answer by the session and the prompt that it answers.
func completionID(sub Submitted) string {
	return "chatcmpl-" + strings.ReplaceAll(sub.Key.Stream, "-", "") + "-" + strconv.FormatInt(sub.Post, 10)
}

// ignoredText lists members, as a header can have them.
func ignoredText(names []string) string {
	const most = 20
	var plain []string
	for i, n := range names {
		if i == most {
			plain = append(plain, fmt.Sprintf("and %d more", len(names)-most))
			break
		}
		if !printable(n) || len(n) > maxID {
			n = quote(n)
		}
		plain = append(plain, n)
	}
	return strings.Join(plain, ", ")
}

// completion is one answer to a client of the OpenAI protocol.
type completion struct {
	host *Host
	w    *response
	sub  Submitted
	req  *openai.Request
	head openai.Head
	pass bool // the client makes the calls

	last   *session.Message // of the assistant
	out    *chunkWriter     // of a stream; nil: the answer is one object
	buf    []byte
	id     string // of the message that is being sent
	sent   int    // bytes of its text
	said   bool   // some text was sent
	broken bool   // text was sent that does not count any more
}

// whole answers when the run has ended.
func (c *completion) whole(r *http.Request) error {
	ctx, stop := whichever(r.Context(), c.host.chats)
	defer stop()
	end, err := Await(ctx, c.host.deps, c.sub, c.see)
	a, err := c.answer(end, err)
	if err != nil {
		return err
	}
	return writeBytes(c.w, http.StatusOK, a.JSON())
}

// stream sends the text as it is said. The status is sent with the first of it, so
// that a run which fails before is an error like any other.
func (c *completion) stream(r *http.Request) error {
	ctx, stop := whichever(r.Context(), c.host.streams)
	defer stop()
	c.w.streams = true
	c.out = newChunkWriter(c.host, c.w, openai.NewChunks(c.head, c.req.Usage))
	end, err := Await(ctx, c.host.deps, c.sub, func(batch []session.Event) {
		if c.broken {
			return
		}
		if c.see(batch); c.broken {
			stop() // nobody waits for what the run would say now
		}
	})
	c.out.Close()
	if why := (*Error)(nil); r.Context().Err() != nil && !errors.As(context.Cause(r.Context()), &why) {
		return nil // the client left; the run goes on
	}
	if c.broken {
		err = c.giveUp()
	}
	a, err := c.answer(end, err)
	if err != nil {
		if !c.out.Begun() {
			return err
		}
		c.out.Write(openai.Fail(nil, openaiError(c.host.explain(err))))
		return nil
	}
	if !c.said && a.Text != "" {
		c.buf = c.out.chunks.Text(c.buf, a.Text)
	}
	c.buf = c.out.chunks.Calls(c.buf, a.Calls)
	c.out.Write(c.out.chunks.End(c.buf, a))
	return nil
}

// giveUp ends a run whose model began its answer anew: what was sent of the answer
// before cannot be taken back.
func (c *completion) giveUp() error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	if err := c.host.deps.Cancel(ctx, c.sub.Key, "the client of /v1/chat/completions cannot take back what it was sent of an answer that broke off"); err != nil {
		c.host.deps.Log.Warn("a run that nobody waits for goes on", "session", c.sub.Key.Stream, "error", err)
	}
	return &Error{
		Status: http.StatusBadGateway, Code: "AnswerBrokeOff", SessionID: c.sub.Key.Stream,
		Message: "the model's answer broke off, and what was sent of it cannot be taken back: ask again",
	}
}

// answer is what the run has come to. Its errors are not to be tried again by a
// client's library alone: the run may have changed something.
func (c *completion) answer(end *session.LoopEnd, err error) (*openai.Answer, error) {
	id := c.sub.Key.Stream
	switch {
	case err != nil:
		e := *c.host.explain(err)
		e.SessionID, err = id, &e
	case end.Error != nil || end.Reason == session.ReasonError || end.Reason == session.ReasonPoisoned:
		err = failure(id, end)
	case end.Reason == session.ReasonCancelled:
		err = &Error{Status: http.StatusConflict, Code: "Cancelled", SessionID: id, Message: "the run was cancelled"}
	}
	if err != nil {
		if c.out == nil || !c.out.Begun() {
			c.w.Header().Set("X-Should-Retry", "false")
		}
		return nil, err
	}
	a := &openai.Answer{Head: c.head, Text: end.Text, Usage: end.Usage, Finish: openai.FinishStop, Session: id, Reason: string(end.Reason)}
	stop := ""
	if c.last != nil {
		stop = c.last.Stop
		if c.pass {
			a.Calls = (&message.Message{Parts: c.last.Parts}).Calls()
		}
	}
	switch {
	case len(a.Calls) > 0:
		a.Finish = openai.FinishCalls
	case end.Reason == session.ReasonLimit, stop == "length":
		a.Finish = openai.FinishLength
	case stop == "refusal":
		a.Finish = openai.FinishFilter
	}
	return a, nil
}

// see takes the next events in, and sends the text that is new. An answer that has to
// fit a schema is sent as a whole: one before it may not have fit.
func (c *completion) see(batch []session.Event) {
	for i := range batch {
		e := &batch[i]
		if e.Depth > 0 || c.broken {
			continue
		}
		switch e.Type {
		case "loop.start":
			if b, ok := body[*session.LoopStart](e); ok {
				c.ranAs(b.Revision)
			}
		case "delta":
			if d, ok := body[*session.Delta](e); ok {
				c.text(d)
			}
		case "message.partial":
			if p, ok := body[*session.Partial](e); ok {
				c.text(&p.Delta)
			}
		case "message.reset":
			if b, ok := body[*session.Reset](e); ok && b.Message == c.id {
				c.broken, c.id = c.sent > 0, ""
			}
		case "message":
			if m, ok := body[*session.Message](e); ok && m.Role == message.Assistant {
				c.last = m
				c.text(&session.Delta{Message: m.ID, Text: message.PartsText(m.Parts)})
				c.id = ""
			}
		}
	}
	if len(c.buf) > 0 {
		c.out.Write(c.buf)
		c.buf = c.buf[:0]
	}
}

// ranAs takes up which revision of the profile runs.
func (c *completion) ranAs(revision string) {
	c.head.Revision = revision
	if c.out != nil {
		c.out.SetHead(openai.NewChunks(c.head, c.req.Usage))
	}
}

// text sends what is new of a message's text.
func (c *completion) text(d *session.Delta) {
	if c.out == nil || c.req.Schema != nil {
		return
	}
	if d.Message != c.id {
		c.id, c.sent = d.Message, 0
	}
	if d.Offset > c.sent || d.Offset+len(d.Text) <= c.sent {
		return // a gap, which the stored message fills, or nothing new
	}
	text := d.Text[c.sent-d.Offset:]
	c.sent = d.Offset + len(d.Text)
	if c.said && c.sent == len(text) { // another message
		text = "\n\n" + text
	}
	c.said = true
	c.buf = c.out.chunks.Text(c.buf, text)
}

// openaiError is an error in the form of the OpenAI protocol.
func openaiError(e *Error) *openai.Error {
	return &openai.Error{Status: e.Status, Code: e.Code, Message: e.Message, Param: e.Field, Session: e.SessionID}
}
