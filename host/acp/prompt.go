package acp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// turn is a prompt that is being answered.
type turn struct {
	submitted bool
	cancelled bool // before it was submitted
}

// errAsked ends the wait for a run that asks what only the next prompt can say.
var errAsked = errors.New("the user is asked")

func (c *call) prompt(p *sdk.PromptRequest) (sdk.PromptResponse, error) {
	var none sdk.PromptResponse
	s, err := c.session(p.SessionId)
	if err != nil {
		return none, err
	}
	parts, err := partsOf(p.Prompt)
	if err != nil {
		return none, err
	}
	t, err := s.begin()
	if err != nil {
		return none, err
	}
	defer s.end()
	c.release()
	// The client may cancel the request as well as the session.
	defer context.AfterFunc(c.ctx, func() {
		if !c.gone() { // that ends no run
			_ = c.stop(s)
		}
	})()
	s.unwatch()
	sub, waits, err := c.submit(s, parts)
	if err != nil {
		return none, err
	}
	s.mu.Lock()
	t.submitted = true
	cancelled := t.cancelled
	s.mu.Unlock()
	if cancelled {
		if err := c.post(s); err != nil {
			return none, err
		}
	}
	end, err := c.follow(s, sub, waits)
	switch {
	case errors.Is(err, errAsked):
		return sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn}, nil
	case err != nil:
		return none, err
	}
	return s.response(end)
}

// begin takes the session for a prompt; only one is answered at a time.
func (s *conversation) begin() (*turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn != nil {
		return nil, invalidRequest("the session is answering a prompt: wait for its end, or cancel it (session/cancel)")
	}
	s.turn = &turn{}
	return s.turn, nil
}

func (s *conversation) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = nil
}

// unwatch ends the watch of a run that no prompt waits for, and waits for that.
func (s *conversation) unwatch() {
	s.mu.Lock()
	end := s.watched
	s.watched = nil
	s.mu.Unlock()
	if end != nil {
		end()
	}
}

// submit stores a prompt, or answers with it what the session asks. waits says that
// the session waits for a person already.
func (c *call) submit(s *conversation, parts []message.Part) (sub host.Submitted, waits bool, err error) {
	s.mu.Lock()
	key, fresh, asks := s.key, s.fresh, s.asks
	s.asks = ""
	s.mu.Unlock()
	ctx := context.WithoutCancel(c.ctx) // what is cancelled is the run
	var before session.Summary
	if !fresh {
		store, err := c.opts.Host.Backend(ctx)
		if err == nil {
			before, err = store.Summary(ctx, key)
		}
		if err != nil {
			return sub, false, err
		}
	}
	if asks != "" {
		answer := session.AnswerText
		text := message.PartsText(parts)
		if strings.TrimSpace(text) == "" {
			s.ask(asks)
			return sub, false, invalidParams("the agent has asked a question: answer it in words")
		}
		_, err := c.opts.Host.Answer(ctx, tenant, asks, c.by(answer, text))
		if err == nil {
			c.goOn(ctx, key)
			return host.Submitted{Key: key, Asked: key, Post: before.Last + 1}, false, nil
		}
		if c.opts.Host.Code(err) != "AlreadyAnswered" && c.opts.Host.Code(err) != "ApprovalNotFound" {
			s.ask(asks)
			return sub, false, err
		} // another has answered: it is a prompt
	}
	ask, err := c.ask(ctx, s, parts)
	if err != nil {
		return sub, false, err
	}
	if sub, err = c.opts.Host.Submit(ctx, ask); err != nil {
		return sub, false, err
	}
	s.mu.Lock()
	s.key, s.fresh = sub.Key, false
	s.mu.Unlock()
	if !before.AtRest() { // somebody else has prompted it, or has left it
		c.goOn(ctx, sub.Key)
	}
	return sub, before.Suspended && sub.Key == key, nil
}

// ask notes a question that the next prompt answers.
func (s *conversation) ask(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = id
}

// ask makes the prompt, of a command where one is called.
func (c *call) ask(ctx context.Context, s *conversation, parts []message.Part) (host.Ask, error) {
	flags := maps.Clone(c.opts.Flags)
	s.mu.Lock()
	ask := host.Ask{
		Key: s.key, Profile: s.profile, Parts: parts, Flags: flags,
		AllowAll: c.opts.AllowAll, OnDeny: c.opts.OnDeny, OnBusy: "steer", Shared: true,
	}
	mode := s.mode
	s.mu.Unlock()
	if delete(flags, permissionMode); mode != "" {
		if flags == nil {
			flags = map[string]string{}
		}
		flags[permissionMode] = mode
		ask.Flags = flags
	}
	name, arguments, err := c.called(ctx, parts)
	if err != nil || name == "" {
		return ask, err
	}
	ask.Parts = parts[1:]
	return c.opts.Host.Call(ctx, ask, name, arguments)
}

// called says which command a prompt calls, and with what; none: it is a text.
func (c *call) called(ctx context.Context, parts []message.Part) (name, arguments string, err error) {
	first, ok := parts[0].(message.Text)
	if !ok || !strings.HasPrefix(first.Text, "/") {
		return "", "", nil
	}
	word := strings.Fields(first.Text)[0]
	all, err := c.opts.Host.Commands(ctx)
	if err != nil {
		return "", "", err
	}
	for _, v := range all.Commands {
		if "/"+v.Name == word {
			return v.Name, strings.TrimSpace(first.Text[len(word):]), nil
		}
	}
	return "", "", nil
}

// follow shows the client what the run does, until it has ended.
func (c *connection) follow(s *conversation, sub host.Submitted, waits bool) (*session.LoopEnd, error) {
	ctx, stop := context.WithCancelCause(c.ctx)
	defer stop(nil)
	return c.watch(ctx, s, sub, waits, func(id string) {
		s.ask(id)
		stop(errAsked)
	})
}

// watch is follow until ctx ends. park is called with a question that the client
// has no way to ask but in the conversation.
func (c *connection) watch(ctx context.Context, s *conversation, sub host.Submitted, waits bool, park func(ask string)) (*session.LoopEnd, error) {
	a := &asker{c: c, s: s, key: sub.Key, park: park}
	person := host.Asker{Ask: a.ask, Resume: func(ctx context.Context) { c.goOn(ctx, sub.Key) }}
	defer person.Dismiss()
	if waits {
		person.Begin(ctx)
	}
	end, err := host.Await(ctx, c.opts.Host, sub, func(batch []session.Event) {
		for i := range batch {
			s.show.see(&batch[i])
			person.See(ctx, &batch[i])
		}
	})
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return end, err
}

func (c *call) cancel(p *sdk.CancelNotification) (any, error) {
	s, err := c.session(p.SessionId)
	if err != nil {
		return nil, err
	}
	return nil, c.stop(s)
}

// stop cancels what a session does.
func (c *connection) stop(s *conversation) error {
	s.mu.Lock()
	t, fresh := s.turn, s.fresh
	if t != nil && !t.submitted {
		t.cancelled = true
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	if fresh {
		return nil
	}
	return c.post(s)
}

// post has the run of a session end. One that has ended already is left as it is:
// the next prompt is not meant.
func (c *connection) post(s *conversation) error {
	ctx, done := context.WithTimeout(context.WithoutCancel(c.ctx), storeTime)
	defer done()
	s.mu.Lock()
	key := s.key
	s.asks = ""
	s.mu.Unlock()
	store, err := c.opts.Host.Backend(ctx)
	if err != nil {
		return err
	}
	sum, err := store.Summary(ctx, key)
	if err != nil || sum.AtRest() {
		return err
	}
	if err := c.opts.Host.Cancel(ctx, key, "cancelled in the editor"); err != nil {
		return err
	}
	c.goOn(ctx, key)
	return nil
}

// response says how a prompt was answered.
func (s *conversation) response(end *session.LoopEnd) (sdk.PromptResponse, error) {
	res := sdk.PromptResponse{StopReason: sdk.StopReasonEndTurn, Usage: usage(end.Usage)}
	switch end.Reason {
	case session.ReasonDone:
		res.StopReason = s.show.stopped()
		return res, nil
	case session.ReasonCancelled:
		res.StopReason = sdk.StopReasonCancelled
		return res, nil
	case session.ReasonError, session.ReasonPoisoned:
		e := &sdk.RequestError{Code: codeInternal, Message: host.WhyEnded(end)}
		if end.Error != nil {
			e.Data = map[string]string{"code": end.Error.Code}
		}
		return res, e
	case session.ReasonLimit:
		res.StopReason = sdk.StopReasonMaxTurnRequests
		if end.Limit == "tokens" {
			res.StopReason = sdk.StopReasonMaxTokens
		}
	}
	s.show.note(host.WhyEnded(end))
	return res, nil
}

func usage(u message.Usage) *sdk.Usage {
	return &sdk.Usage{
		InputTokens: int(u.Input), OutputTokens: int(u.Output),
		CachedReadTokens: sdk.Ptr(int(u.CacheRead)), CachedWriteTokens: sdk.Ptr(int(u.CacheWrite)),
		TotalTokens: int(u.Input + u.Output + u.CacheRead + u.CacheWrite),
	}
}

// partsOf are the contents of a prompt as the parts of a message.
func partsOf(blocks []sdk.ContentBlock) ([]message.Part, error) {
	var parts []message.Part
	for i, b := range blocks {
		p, err := partOf(b)
		if err != nil {
			return nil, invalidParams(fmt.Sprintf("prompt[%d]: %v", i, err))
		}
		parts = append(parts, p)
	}
	for _, p := range parts {
		if t, ok := p.(message.Text); !ok || strings.TrimSpace(t.Text) != "" {
			return parts, nil
		}
	}
	return nil, invalidParams("the prompt is empty: say what the agent is to do")
}

func partOf(b sdk.ContentBlock) (message.Part, error) {
	switch {
	case b.Text != nil:
		return message.Text{Text: b.Text.Text}, nil
	case b.Image != nil:
		return image(b.Image.MimeType, b.Image.Data)
	case b.ResourceLink != nil:
		return message.Text{Text: "\n@" + b.ResourceLink.Uri + "\n"}, nil
	case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
		r := b.Resource.Resource.TextResourceContents
		return message.Text{Text: fmt.Sprintf("\n\n@%s:\n%s\n", r.Uri, r.Text)}, nil
	case b.Resource != nil && b.Resource.Resource.BlobResourceContents != nil:
		r := b.Resource.Resource.BlobResourceContents
		if r.MimeType == nil {
			return nil, fmt.Errorf("%.200q is neither a text nor an image", r.Uri)
		}
		return image(*r.MimeType, r.Blob)
	}
	return nil, errors.New("takes text, images and files, and no sound")
}

func image(mediaType, data string) (message.Part, error) {
	switch mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
	default:
		return nil, fmt.Errorf("takes images as image/png, image/jpeg, image/gif or image/webp, not as %.100q", mediaType)
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil || len(raw) == 0 {
		return nil, errors.New("the data of the image are not base64")
	}
	return message.Image{MediaType: mediaType, Data: raw}, nil
}
