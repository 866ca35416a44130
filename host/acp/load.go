package acp

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

func (c *call) load(p *sdk.LoadSessionRequest) (sdk.LoadSessionResponse, error) {
	var none sdk.LoadSessionResponse
	s, sum, err := c.again(p.SessionId, p.Cwd, p.AdditionalDirectories)
	if err != nil {
		return none, err
	}
	all, err := c.profiles(c.ctx)
	if err != nil {
		return none, err
	}
	if err := c.replay(s); err != nil {
		return none, err
	}
	if err := c.watchOn(s, &sum); err != nil {
		return none, err
	}
	c.sayCommands(s.id)
	return sdk.LoadSessionResponse{Modes: modes(all, sum.Profile), ConfigOptions: c.options(s.mode), Meta: c.refused(p.McpServers)}, nil
}

// resume is load without what was said.
func (c *call) resume(p *sdk.ResumeSessionRequest) (sdk.ResumeSessionResponse, error) {
	var none sdk.ResumeSessionResponse
	s, sum, err := c.again(p.SessionId, p.Cwd, p.AdditionalDirectories)
	if err != nil {
		return none, err
	}
	all, err := c.profiles(c.ctx)
	if err != nil {
		return none, err
	}
	if err := c.watchOn(s, &sum); err != nil {
		return none, err
	}
	c.sayCommands(s.id)
	return sdk.ResumeSessionResponse{Modes: modes(all, sum.Profile), ConfigOptions: c.options(s.mode), Meta: c.refused(p.McpServers)}, nil
}

// again opens a session that is stored. The client does not have it yet.
func (c *call) again(id sdk.SessionId, cwd string, further []string) (*conversation, session.Summary, error) {
	var none session.Summary
	if err := c.place(cwd, further); err != nil {
		return nil, none, err
	}
	unknown := invalidParams(fmt.Sprintf("session not found: %.100q", string(id)))
	if !isID(string(id)) {
		return nil, none, unknown
	}
	if s, err := c.session(id); err == nil { // the client has lost what it was shown
		s.mu.Lock()
		busy := s.turn != nil
		s.mu.Unlock()
		if busy {
			return nil, none, invalidRequest("the session is answering a prompt: wait for its end, or cancel it (session/cancel)")
		}
		s.unwatch()
	}
	store, err := c.opts.Host.Backend(c.ctx)
	if err != nil {
		return nil, none, err
	}
	key := session.Key{Tenant: tenant, Stream: string(id)}
	sum, err := store.Summary(c.ctx, key)
	if errors.Is(err, session.ErrNoStream) {
		return nil, none, unknown
	}
	if err != nil {
		return nil, none, err
	}
	s := &conversation{id: id, key: key, profile: sum.Profile, mode: c.opts.Flags[permissionMode]}
	s.show = newShower(c.connection, s)
	return s, sum, nil
}

// watchOn opens the session, and shows what goes on in it by itself: a run that was
// left goes on.
func (c *call) watchOn(s *conversation, sum *session.Summary) error {
	if err := c.open(s); err != nil {
		return err
	}
	if sum.AtRest() {
		return nil
	}
	ctx, stop := context.WithCancel(c.connection.ctx)
	ended := make(chan struct{})
	s.mu.Lock()
	s.watched = func() {
		stop()
		<-ended
	}
	s.mu.Unlock()
	sub := host.Submitted{Key: s.key, Asked: s.key, Post: sum.Last + 1}
	waits := sum.Suspended
	done, ok := c.work()
	if !ok {
		stop()
		close(ended)
		return errClosed
	}
	go func() {
		defer done()
		defer close(ended)
		defer stop()
		c.goOn(ctx, s.key)
		end, err := c.watch(ctx, s, sub, waits, func(id string) {
			s.ask(id)
			stop()
		})
		switch {
		case ctx.Err() != nil:
		case err != nil:
			c.log.Error("a session that an editor has open", "session", s.key.Stream, "error", err)
		case end.Reason != session.ReasonDone && end.Reason != session.ReasonCancelled:
			s.show.note(host.WhyEnded(end))
		}
	}()
	return nil
}

// replay tells the client what was said.
func (c *call) replay(s *conversation) error {
	store, err := c.opts.Host.Backend(c.ctx)
	if err != nil {
		return err
	}
	talk, err := view.ReadConversation(c.ctx, store, s.key, s.key.Stream, true)
	if err != nil {
		return err
	}
	first, size := len(talk.Messages), 0
	for first > 0 && size < maxReplay { // the newest of it
		first--
		size += sizeOf(&talk.Messages[first])
	}
	if first > 0 {
		s.show.note(fmt.Sprintf("[%d earlier messages are not shown: roster sessions show %s has them]", first, s.key.Stream))
	}
	for i := range talk.Messages[first:] {
		if c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		s.show.replay(&talk.Messages[first+i])
	}
	return nil
}

func sizeOf(m *view.Message) (n int) {
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Image:
			n += len(p.Data)
		case message.ToolCall:
			n += len(p.Input)
		case message.ToolResult:
			n += len(message.PartsText(p.Parts))
		}
	}
	return n + len(message.PartsText(m.Parts))
}

// replay shows a stored message.
func (w *shower) replay(m *view.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			if m.Role == message.User {
				w.tell(sdk.UpdateUserMessageText(p.Text))
			} else {
				w.tell(sdk.UpdateAgentMessageText(p.Text))
			}
		case message.Thinking:
			if p.Text != "" {
				w.tell(sdk.UpdateAgentThoughtText(p.Text))
			}
		case message.Image:
			if len(p.Data) > 0 {
				w.tell(sdk.UpdateUserMessage(sdk.ImageBlock(base64.StdEncoding.EncodeToString(p.Data), p.MediaType)))
			} else {
				w.tell(sdk.UpdateUserMessageText("[an image]"))
			}
		case message.ToolCall:
			w.start(p.ID, p.Name, p.Input)
		case message.ToolResult:
			outcome := session.OK
			if p.Error {
				outcome = session.ToolError
			}
			w.after(&session.ToolAfter{Call: p.Call, Tool: p.Name, Outcome: outcome, Parts: p.Parts})
		}
	}
}
