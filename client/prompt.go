package client

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Prompt is what an agent is asked.
type Prompt struct {
	// Profile is the profile that answers; it may be empty with a Session, which goes
	// on with its own, or a Command that names one.
	Profile string `json:"agentId,omitempty"`
	// Message is the text; it may be empty with Attachments or a Command.
	Message     string       `json:"message,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Session is the session that the prompt goes on with; empty: a new one.
	Session string `json:"sessionId,omitempty"`
	// Model and Mode, the permission mode, and any other key of Overrides win over
	// what the profile says.
	Model     string         `json:"model,omitempty"`
	Mode      string         `json:"mode,omitempty"`
	Overrides map[string]any `json:"overrides,omitempty"`
	// OnBusy says what becomes of it while the session runs: "reject" (default; an
	// *Error with the code Busy), "steer" or "queue".
	OnBusy string `json:"onBusy,omitempty"`
	// OnDeny is "stop" to end the run at the first denied tool call.
	OnDeny string `json:"onDeny,omitempty"`
	// Approvals is "wait" to have the run wait where somebody must allow a call, or
	// "deny" (default).
	Approvals string `json:"approvals,omitempty"`
	// Schema is the JSON Schema that the answer has to fit; none: it is text.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Command calls a command of the workspace in place of a message.
	Command *Call `json:"command,omitempty"`
	// IdempotencyKey makes the prompt run once, however often it is sent, for 24
	// hours: printable ASCII of at most 255 characters. Empty: one is made for each
	// call, so that what the client repeats by itself runs once.
	IdempotencyKey string `json:"-"`
}

// Attachment is an image that goes with a message.
type Attachment struct {
	MediaType string `json:"mediaType"` // image/png, image/jpeg, image/gif or image/webp
	Data      []byte `json:"data"`
}

// Call names a command and what it is given.
type Call struct {
	Name      string `json:"name"` // with or without the slash
	Arguments string `json:"arguments,omitempty"`
}

// Answer is what came of a prompt. A run that waits for a person has the StopReason
// waiting, and Approvals says for what.
type Answer struct {
	SessionID  string         `json:"sessionId"`
	Text       string         `json:"text"`
	Usage      message.Usage  `json:"usage"`
	StopReason session.Reason `json:"stopReason"`
	Limit      string         `json:"limit,omitempty"`  // that ended the run
	Denied     int            `json:"denied,omitempty"` // tool calls
	Error      *session.Error `json:"error,omitempty"`  // of a run that a hook denied
	Approvals  []Approval     `json:"approvals,omitempty"`
}

// Approval is a tool call that waits until somebody allows it, or a question.
type Approval = view.Approval

// Accepted says that something is stored and will be done.
type Accepted struct {
	SessionID string `json:"sessionId"`
	Seq       int64  `json:"seq,omitempty"` // the number of the prompt's event
}

// promptBody is a prompt with who asks.
type promptBody struct {
	Prompt
	UserID string `json:"userId,omitempty"`
}

func (c *Client) asking(path string, p Prompt) request {
	key := p.IdempotencyKey
	if key == "" {
		key = newKey()
	}
	return request{
		method: http.MethodPost, path: path, body: promptBody{p, c.opts.User},
		head: map[string]string{"Idempotency-Key": key}, idem: true,
	}
}

// Chat runs a prompt and returns the answer when the run has ended, or waits for a
// person. A run that fails is an *Error with its StopReason. The end of ctx ends the
// wait, not the run: Cancel does.
func (c *Client) Chat(ctx context.Context, p Prompt) (*Answer, error) {
	r := c.asking("/chat", p)
	r.long = true
	out := new(Answer)
	_, err := c.call(ctx, r, out)
	if out.StopReason == "" && len(out.Approvals) > 0 {
		out.StopReason = session.ReasonWaiting
	}
	return out, err
}

// NewSession begins a session with its first prompt, and does not wait for the answer:
// Events shows it.
func (c *Client) NewSession(ctx context.Context, p Prompt) (Accepted, error) {
	var out Accepted
	_, err := c.call(ctx, c.asking("/sessions", p), &out)
	return out, err
}

// Prompt stores a prompt for a session, and does not wait for the answer: Events
// shows it.
func (c *Client) Prompt(ctx context.Context, id string, p Prompt) (Accepted, error) {
	var out Accepted
	p.Session = ""
	_, err := c.call(ctx, c.asking(escaped("/sessions/%s/prompt", id), p), &out)
	return out, err
}

// Rerun has a prompt of a session answered anew, and does not wait for the answer. at
// is the id of the prompt's message; empty: the last one. Of p it takes the profile
// and what wins over that.
func (c *Client) Rerun(ctx context.Context, id, at string, p Prompt) (Accepted, error) {
	var out Accepted
	p.Session, p.Message = "", at
	_, err := c.call(ctx, c.asking(escaped("/sessions/%s/rerun", id), p), &out)
	return out, err
}
