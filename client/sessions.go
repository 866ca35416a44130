package client

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/session"
)

// What the server says of sessions.
type (
	// Message is a message of a conversation.
	Message = view.Message
	// TreeMessage is a message on whichever branch of a session.
	TreeMessage = view.TreeMessage
	// SentRequest is what a model was sent for a turn.
	SentRequest = view.Request
	// Settings are what a session sets over its profile.
	Settings = view.Settings
	// Undone is what an undo of files has done, or would do.
	Undone = view.Undo
	// SessionInfo is a session without its messages.
	SessionInfo = view.Session
)

// Session is a session in a list.
type Session struct {
	SessionInfo
	Last    int64 `json:"last"`    // the number of its newest event
	Waiting int   `json:"waiting"` // prompts and messages that no loop has taken

	Seq   int64  `json:"seq,omitempty"`   // of a search, the first event that has what was looked for
	Match string `json:"match,omitempty"` // and the line in which it stands
}

// SessionQuery chooses sessions. The zero value chooses all.
type SessionQuery struct {
	Status  session.Status
	Profile string // the name of the profile that a session has
	Search  string // words that a session has, all of them
	// Limit is how many are yielded at most; 0: all.
	Limit int
}

const (
	pageSize   = 200 // sessions that one request asks for
	searchSize = 20
)

// Sessions yields the sessions, the newest first, and asks for them page by page. An
// error ends it.
func (c *Client) Sessions(ctx context.Context, q SessionQuery) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		left, size := q.Limit, pageSize
		v := url.Values{}
		if q.Status != "" {
			v.Set("status", string(q.Status))
		}
		if q.Profile != "" {
			v.Set("profile", q.Profile)
		}
		if q.Search != "" {
			v.Set("q", q.Search)
			size = searchSize
		}
		for {
			if q.Limit > 0 {
				size = min(size, left)
			}
			v.Set("limit", strconv.Itoa(size))
			var page []Session
			head, err := c.call(ctx, request{method: http.MethodGet, path: "/sessions", query: v}, &page)
			if err != nil {
				yield(Session{}, err)
				return
			}
			for _, s := range page {
				if !yield(s, nil) {
					return
				}
			}
			left -= len(page)
			if len(page) == 0 || q.Limit > 0 && left <= 0 || !strings.Contains(head.Get("Link"), `rel="next"`) {
				return
			}
			v.Set("before", page[len(page)-1].ID)
		}
	}
}

// Session returns one session, or a child session (ID_1); session.ErrNoStream: there
// is none.
func (c *Client) Session(ctx context.Context, id string) (Session, error) {
	return get[Session](ctx, c, escaped("/sessions/%s", id), nil)
}

// Messages lists the messages that the next request of a session sends; with full, as
// they were before any were summed up, cut or left out to save room.
func (c *Client) Messages(ctx context.Context, id string, full bool) ([]Message, error) {
	var q url.Values
	if full {
		q = url.Values{"full": {"true"}}
	}
	return get[[]Message](ctx, c, escaped("/sessions/%s/messages", id), q)
}

// Tree lists the messages of all branches of a session.
func (c *Client) Tree(ctx context.Context, id string) ([]TreeMessage, error) {
	return get[[]TreeMessage](ctx, c, escaped("/sessions/%s/tree", id), nil)
}

// Request rebuilds what a model was sent for a turn of a session, counted from 1;
// about names what was asked aside, empty: the turn's own request.
func (c *Client) Request(ctx context.Context, id string, turn int, about string) (*SentRequest, error) {
	var q url.Values
	if about != "" {
		q = url.Values{"for": {about}}
	}
	return get[*SentRequest](ctx, c, escaped("/sessions/%s/requests/%s", id, strconv.Itoa(turn)), q)
}

// post sends a change of a session that is not repeated by itself.
func post[T any](ctx context.Context, c *Client, path string, body map[string]any) (T, error) {
	var out T
	if c.opts.User != "" {
		body["userId"] = c.opts.User
	}
	_, err := c.call(ctx, request{method: http.MethodPost, path: path, body: body}, &out)
	return out, err
}

// Steer tells a running session something at once: after the tool calls that have
// started.
func (c *Client) Steer(ctx context.Context, id, text string) error {
	_, err := post[Accepted](ctx, c, escaped("/sessions/%s/steer", id), map[string]any{"message": text})
	return err
}

// Followup tells a running session something for when it has answered.
func (c *Client) Followup(ctx context.Context, id, text string) error {
	_, err := post[Accepted](ctx, c, escaped("/sessions/%s/followup", id), map[string]any{"message": text})
	return err
}

// Cancel ends the running loop of a session. For one that is idle it changes nothing.
func (c *Client) Cancel(ctx context.Context, id, reason string) error {
	r := request{method: http.MethodPost, path: escaped("/sessions/%s/cancel", id), body: map[string]string{"reason": reason}, idem: true}
	_, err := c.call(ctx, r, nil)
	return err
}

// Fork begins a session with a copy of what another one has said, up to the message
// at or, where that is empty, to its end. It returns the new session's id.
func (c *Client) Fork(ctx context.Context, id, at string) (string, error) {
	out, err := post[struct {
		SessionID string `json:"sessionId"`
	}](ctx, c, escaped("/sessions/%s/fork", id), map[string]any{"message": at})
	return out.SessionID, err
}

// Revert has a session go on from a message or, where to is empty, from before its
// last prompt. It returns the message that is the last one now; empty: none.
func (c *Client) Revert(ctx context.Context, id, to string) (string, error) {
	out, err := post[struct {
		Message string `json:"message"`
	}](ctx, c, escaped("/sessions/%s/revert", id), map[string]any{"message": to})
	return out.Message, err
}

// Undo says what of a session's changes of files is taken back.
type Undo struct {
	DryRun bool `json:"dryRun"` // only say what it would do
	Redo   bool `json:"redo"`   // the last undo, in the place of what the session has changed
	Last   bool `json:"last"`   // only what the session's last loop has changed
	Shared bool `json:"shared"` // also what others may have changed, who ran commands at the same time
	// Plan is that of a dry run: if something else would be done now, nothing is.
	Plan string `json:"plan"`
}

// Undo takes back what a session has changed of files.
func (c *Client) Undo(ctx context.Context, id string, u Undo) (Undone, error) {
	return post[Undone](ctx, c, escaped("/sessions/%s/undo", id), map[string]any{
		"dryRun": u.DryRun, "redo": u.Redo, "last": u.Last, "shared": u.Shared, "plan": u.Plan,
	})
}

// Configure sets what a session has over its profile from its next loop on: model and
// thinking as texts, temperature as a number; null takes one back.
func (c *Client) Configure(ctx context.Context, id string, set map[string]any) (*Settings, error) {
	var out struct {
		Settings *Settings `json:"settings"`
	}
	_, err := c.call(ctx, request{method: http.MethodPatch, path: escaped("/sessions/%s", id), body: set, idem: true}, &out)
	return out.Settings, err
}

// DeleteSession removes a session with its events, for good.
func (c *Client) DeleteSession(ctx context.Context, id string) error {
	_, err := c.call(ctx, request{method: http.MethodDelete, path: escaped("/sessions/%s", id)}, nil)
	return err
}

// Approvals lists what waits for an answer: of a session and those below it, or with
// an empty id of all that the caller may see.
func (c *Client) Approvals(ctx context.Context, id string) ([]Approval, error) {
	if id == "" {
		return get[[]Approval](ctx, c, "/approvals", nil)
	}
	return get[[]Approval](ctx, c, escaped("/sessions/%s/approvals", id), nil)
}

// Decision is the answer to an Approval that asks to allow something.
type Decision struct {
	Answer session.Answer `json:"answer"` // once, session, always or no
	// ForSession refuses the same for the rest of the session, with no; Message is
	// then told to the model.
	ForSession bool   `json:"forSession"`
	Message    string `json:"message"`
}

// Answered says what was answered.
type Answered struct {
	ID        string         `json:"id"`
	SessionID string         `json:"sessionId"`
	Answer    session.Answer `json:"answer"`
}

// Decide answers an Approval; the run goes on by itself. Of several answers the first
// one counts: the others are an *Error with the code AlreadyAnswered.
func (c *Client) Decide(ctx context.Context, id string, d Decision) (Answered, error) {
	return post[Answered](ctx, c, escaped("/approvals/%s", id), map[string]any{"answer": d.Answer, "forSession": d.ForSession, "message": d.Message})
}

// Reply answers a question of ask_user with a text. approval is the id of the
// question; empty: the only one that the session asks.
func (c *Client) Reply(ctx context.Context, sessionID, approval, text string) (Answered, error) {
	return post[Answered](ctx, c, escaped("/sessions/%s/answers", sessionID), map[string]any{"id": approval, "text": text})
}

// Decline says that a question of ask_user gets no answer; why is told to the model.
func (c *Client) Decline(ctx context.Context, sessionID, approval, why string) (Answered, error) {
	return post[Answered](ctx, c, escaped("/sessions/%s/answers", sessionID), map[string]any{"id": approval, "answer": "no", "message": why})
}

// Export writes a session with its children and all that they need to w, as Import and
// roster sessions import take it. A session that is not at rest is an *Error with the
// code Busy. After an error w has had a part of it, which Import refuses.
func (c *Client) Export(ctx context.Context, id string, w io.Writer) error {
	r := request{method: http.MethodGet, path: escaped("/sessions/%s/export", id)}
	res, err := c.send(ctx, r, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(w, res.Body); err != nil {
		return c.unanswered(ctx, r, err)
	}
	return nil
}

// Import adds a session that Export has written, under its own id, which it returns.
// It reads all of it first, at most 64 MiB.
func (c *Client) Import(ctx context.Context, in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxAnswer+1))
	if err != nil {
		return "", err
	}
	if len(data) > maxAnswer {
		return "", fmt.Errorf("the session is larger than %d MiB: import it where the server is, with roster sessions import", maxAnswer>>20)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.opts.Timeout, errSlow(c.opts.Timeout))
	defer cancel()
	r := request{method: http.MethodPost, path: "/sessions/-/import", head: map[string]string{"Content-Type": "application/x-ndjson"}}
	res, err := c.send(ctx, r, data)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	var out Accepted
	err = json.NewDecoder(io.LimitReader(res.Body, maxRefusal)).Decode(&out)
	return out.SessionID, err
}
