package view

import (
	"encoding/json"
	"time"

	"github.com/rosterrun/roster/session"
)

// Approval is a tool call that waits until somebody allows or refuses it, or
// answers the question that it asks.
type Approval struct {
	ID        string          `json:"id"`
	SessionID string          `json:"sessionId"` // the session that waits; a child's asks stand with its root
	AgentID   string          `json:"agentId"`   // the profile that asks
	Child     string          `json:"child,omitempty"`
	Depth     int             `json:"depth"`
	Call      string          `json:"call"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	// Shown is what has to be allowed, for people: one line for each, with
	// everything that cannot be seen escaped.
	Shown  []string            `json:"shown"`
	Needs  []session.Subject   `json:"needs"`
	Parts  []session.AskedPart `json:"parts"`
	Rule   *session.Rule       `json:"rule,omitempty"`
	Reason string              `json:"reason"`
	Again  string              `json:"again,omitempty"`
	// Question is what a call of ask_user asks, and Options what may be chosen
	// from; any other text is an answer too.
	Question string           `json:"question,omitempty"`
	Options  []string         `json:"options,omitempty"`
	Answers  []session.Answer `json:"answers"` // that may be given
	Asked    time.Time        `json:"asked"`
	Expires  time.Time        `json:"expires,omitzero"`
}

// Answer is what somebody says to an Approval.
type Answer struct {
	Answer session.Answer
	// ForSession refuses the same for the rest of the session, with "no".
	ForSession bool
	Message    string // for the model, with "no"
	Text       string // the answer to a question, with "text"
	By         string // the user who answers
}
