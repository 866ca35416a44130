package client

import (
	"context"
	"net/http"

	"github.com/rosterrun/roster/internal/view"
)

// Comparison is one prompt for several candidates at once.
type Comparison struct {
	Message     string       `json:"message,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
	// Session is the session that goes on with the answer that is picked; empty: a new
	// one.
	Session    string      `json:"sessionId,omitempty"`
	Candidates []Candidate `json:"candidates"` // 2 to 8
	// Pick is how to pick: first, fewest or most (by tokens) or judge; empty: judge with
	// a Judge, else first.
	Pick  string `json:"pick,omitempty"`
	Judge string `json:"judge,omitempty"` // the profile that picks
	Mode  string `json:"mode,omitempty"`  // the permission mode of all candidates
}

// Candidate is who is asked. Model and Overrides win over what the profile says.
type Candidate struct {
	Profile   string         `json:"agentId,omitempty"` // empty: that of the session
	Model     string         `json:"model,omitempty"`
	Overrides map[string]any `json:"overrides,omitempty"`
}

// Compared is what came of a comparison: what each candidate has answered, and which
// answer was picked.
type Compared = view.Compared

// Compare asks several candidates, waits until one was picked, and is not repeated:
// when no answer comes, the sessions tell what became of it. With no answer of any
// candidate it is an *Error with the code NoAnswer. The end of ctx ends the wait, not
// the comparison.
func (c *Client) Compare(ctx context.Context, comparison Comparison) (*Compared, error) {
	body := struct {
		Comparison
		UserID string `json:"userId,omitempty"`
	}{comparison, c.opts.User}
	out := new(Compared)
	_, err := c.call(ctx, request{method: http.MethodPost, path: "/compare", body: body, long: true}, out)
	return out, err
}
