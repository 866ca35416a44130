package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/tool"
)

// KeyOfCall is the member of _meta that has the id of a call. It is the same when a
// call is made again, so that a server can tell.
const KeyOfCall = "io.github.rosterrun/idempotency-key"

// Tool is a tool of a server.
type Tool struct {
	Definition
	client *Client
	def    *model.ToolDef
}

func (c *Client) tool(d Definition) *Tool {
	text := d.Description
	if text == "" {
		text = d.Title
	}
	return &Tool{d, c, &model.ToolDef{Name: d.Name, Description: text, Schema: d.Schema}}
}

// Def implements tool.Tool.
func (t *Tool) Def() *model.ToolDef { return t.def }

// Server is the name of the server that the tool is of.
func (t *Tool) Server() string { return t.client.server.Name }

// ReadsOnly says that the tool changes nothing: the server says so, and is believed.
func (t *Tool) ReadsOnly() bool { return t.client.server.TrustAnnotations && t.ReadOnly }

// Recovery implements tool.Recoverer.
func (t *Tool) Recovery(tool.Call) tool.Recovery {
	if t.client.server.TrustAnnotations && (t.ReadOnly || t.Idempotent) {
		return tool.Repeat
	}
	return tool.Unknown
}

// Prepare implements tool.Tool.
func (t *Tool) Prepare(_ context.Context, c tool.Call) (tool.Plan, error) {
	if !json.Valid(c.Input) || len(c.Input) == 0 || len(c.Input) > maxMessage {
		return nil, fmt.Errorf("the input is no JSON object of at most %d bytes", maxMessage)
	}
	return &plan{t, c.ID, c.Input}, nil
}

type plan struct {
	*Tool
	id    string
	input []byte
}

func (p *plan) Needs() []permission.Query {
	return []permission.Query{{Tool: p.Name, Subject: p.Name}}
}

func (p *plan) Close() error { return nil }

func (p *plan) Run(ctx context.Context, progress func(string)) (tool.Result, error) {
	c := p.client
	defer c.hold()()
	limited, cancel := context.WithTimeout(ctx, c.server.timeout())
	defer cancel()
	res, err := c.call(limited, p, progress)
	switch {
	case err == nil:
		return result(res), nil
	case ctx.Err() != nil:
		return tool.Result{}, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%s did not answer within %v, and was told to stop; whether the call had an effect is not known", p.Name, c.server.timeout())
	}
	return tool.Result{}, err
}

// call makes a call. One that the server has refused because it does not know the
// session any more is made again in a new one.
func (c *Client) call(ctx context.Context, p *plan, progress func(string)) (*sdk.CallToolResult, error) {
	for attempt := 0; ; attempt++ {
		s, err := c.connected(ctx)
		if err != nil {
			return nil, fmt.Errorf("%w; nothing was done", err)
		}
		sent := &sending{}
		res, err := s.call(sent.in(ctx), p, progress)
		if err == nil {
			return res, nil
		}
		if ctx.Err() != nil {
			s.doubt()
			return nil, ctx.Err()
		}
		if s.forgotten(err, sent) && attempt == 0 {
			if err := c.renew(ctx, s, errForgotten); err != nil {
				return nil, err
			}
			continue
		}
		return nil, s.failed(err)
	}
}

func (s *session) call(ctx context.Context, p *plan, progress func(string)) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, func() {
		if s.web == nil || s.client.pool.ctx.Err() != nil {
			cancel()
			return
		}
		time.AfterFunc(refusing, cancel)
	})()
	params := &sdk.CallToolParams{Name: p.Tool.Tool, Arguments: json.RawMessage(p.input)}
	if p.id != "" {
		params.Meta = sdk.Meta{KeyOfCall: p.id}
	}
	if progress != nil {
		token, done := s.follow(progress)
		defer done()
		params.SetProgressToken(token)
	}
	return s.sdk.CallTool(ctx, params)
}

// failed says what became of a call that has no result.
func (s *session) failed(err error) error {
	if wrong := (*net.OpError)(nil); errors.As(err, &wrong) && wrong.Op == "dial" {
		return fmt.Errorf("the MCP server %s: %w; nothing was done", s.server.Name, s.plainly(err))
	}
	select {
	case <-s.ctx.Done():
	case <-s.ended:
	case <-time.After(lingering):
		return fmt.Errorf("the MCP server %s: %w", s.server.Name, s.plainly(err))
	}
	why := errClosed
	if s.client.pool.ctx.Err() == nil {
		if why = context.Cause(s.ctx); why == nil {
			why = s.why()
		}
	}
	return fmt.Errorf("the MCP server %s went away during the call: %w; whether the call had an effect is not known", s.server.Name, why)
}

// lingering is how long the end of a connection may come after the error that it
// makes.
const lingering = 20 * time.Millisecond

// refusing is how long a server that is spoken to by HTTP has for refusing the calls
// that are under way when the connection ends, as it does not know the session any
// more: of those that it has refused it is known that nothing was done.
const refusing = 2 * time.Second

// progressEvery is how often progress is shown.
const progressEvery = 250 * time.Millisecond

// follower gets the progress of one call.
type follower struct {
	mu   sync.Mutex
	show func(string) // nil: the call has returned
	last time.Time
}

func (f *follower) told(p *sdk.ProgressNotificationParams) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := time.Now(); f.show != nil && now.Sub(f.last) >= progressEvery {
		f.last = now
		f.show(progressText(p))
	}
}

// follow gives a token by which the server says how far it is.
func (s *session) follow(show func(string)) (token int64, done func()) {
	f := &follower{show: show}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens++
	token = s.tokens
	s.progress[token] = f
	return token, func() {
		s.mu.Lock()
		delete(s.progress, token)
		s.mu.Unlock()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.show = nil
	}
}

// progressed passes on how far a call is.
func (s *session) progressed(p *sdk.ProgressNotificationParams) {
	token, ok := p.ProgressToken.(float64)
	if !ok {
		return
	}
	s.mu.Lock()
	f := s.progress[int64(token)]
	s.mu.Unlock()
	if f != nil {
		f.told(p)
	}
}

// progressBytes is how much is shown of what a server says of its progress.
const progressBytes = 200

func progressText(p *sdk.ProgressNotificationParams) string {
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	text := number(p.Progress)
	if p.Total > 0 {
		text += "/" + number(p.Total)
	}
	if p.Message != "" {
		text = line(p.Message, progressBytes) + " (" + text + ")"
	}
	return text
}

// notified deals with what a program tells without being asked.
func (s *session) notified(method string, params json.RawMessage) {
	switch method {
	case "notifications/tools/list_changed":
		signal(s.stale)
	case "notifications/progress":
		var p sdk.ProgressNotificationParams
		if json.Unmarshal(params, &p) == nil {
			s.progressed(&p)
		}
	case "notifications/message":
		var m logMessage
		if json.Unmarshal(params, &m) == nil {
			s.logged(m)
		}
	}
}

// logged keeps what a server says for its log.
func (s *session) logged(m logMessage) {
	text, ok := m.Data.(string)
	if !ok {
		data, _ := json.Marshal(m.Data)
		text = string(data)
	}
	text, _ = cut(text, maxLine)
	_, _ = fmt.Fprintf(s.log, "%s: %s\n", line(m.Level, maxTitle), line(text, maxLine))
}

// logMessage is what a server says for its log.
type logMessage struct {
	Level string `json:"level"`
	Data  any    `json:"data"`
}
