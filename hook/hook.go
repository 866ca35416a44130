// Package hook lets programs have a say in what a loop does: a function of the
// program that embeds Roster, a command or an HTTP address that a file names.
// All of them are a Hook. It is told what is about to happen, or has happened,
// and answers with a Verdict. One that fails, or does not answer in time, denies.
package hook

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rosterrun/roster/source"
)

// Event is a point of a loop at which hooks are asked.
type Event string

const (
	BeforeTool   Event = "before-tool"   // a call has passed its schema, and nothing has judged it yet
	AfterTool    Event = "after-tool"    // a call has ended, and the model has not been told
	BeforeTurn   Event = "before-turn"   // the model is about to be asked
	AfterTurn    Event = "after-turn"    // it has answered, and its calls have ended
	BeforeLoop   Event = "before-loop"   // a prompt is about to begin a loop
	AfterLoop    Event = "after-loop"    // the loop has ended
	OnMessage    Event = "on-message"    // a user's message is about to be delivered, or the model has answered
	OnPermission Event = "on-permission" // the rules have judged a call
)

// Events lists them in the order in which a loop comes to them.
func Events() []Event {
	return []Event{BeforeLoop, OnMessage, BeforeTurn, BeforeTool, OnPermission, AfterTool, AfterTurn, AfterLoop}
}

// OfTool says whether an event is about one tool call.
func (e Event) OfTool() bool { return e == BeforeTool || e == AfterTool || e == OnPermission }

// Decision is what a hook says. The zero Decision denies.
type Decision uint8

const (
	Deny Decision = iota
	// Allow lets it go on as it is. It allows nothing that rules do not.
	Allow
	// Rewrite lets it go on with another input or text.
	Rewrite
	// Ask has a person asked for a call that the rules allow.
	Ask
	// Approve answers, for this once, what a person would be asked for. Where
	// the host's policy asks, or the line has unknown parts, it does not count.
	Approve
)

var decisions = [...]string{"deny", "allow", "rewrite", "ask", "approve"}

// String gives the decision's word.
func (d Decision) String() string {
	if int(d) < len(decisions) {
		return decisions[d]
	}
	return fmt.Sprintf("decision(%d)", uint8(d))
}

// offers says which decisions there are at an event.
func (m *Moment) offers(d Decision) bool {
	switch d {
	case Deny, Allow:
		return true
	case Rewrite:
		return m.Event == BeforeTool || m.Event == AfterTool || m.Event == BeforeLoop || m.Event == OnMessage && m.Role == "user"
	case Ask, Approve:
		return m.Event == OnPermission
	}
	return false
}

// Verdict is a hook's answer. The zero Verdict denies.
type Verdict struct {
	Decision Decision
	// Reason is for people and, of a denial, for the model.
	Reason string
	// Input replaces the input of a call, with Rewrite before-tool.
	Input json.RawMessage
	// Text replaces the text of a message or of a result, with Rewrite.
	Text string
}

// Moment is what a hook is told. It is the JSON that commands and addresses get.
type Moment struct {
	Event   Event  `json:"event"`
	Session string `json:"session"`
	Loop    string `json:"loop"`
	Turn    int    `json:"turn"`
	Depth   int    `json:"depth"` // 0, or how many agents have delegated
	Chain   string `json:"chainId"`
	Profile string `json:"profile"`
	Model   string `json:"model"`
	// Workspace is the directory that tools work in.
	Workspace string `json:"workspace"`

	// Call, Tool and Input are those of a call. Of a call that was rewritten,
	// Input is what it is by now.
	Call  string          `json:"call,omitempty"`
	Tool  string          `json:"tool,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// Permission is what the rules say, on-permission.
	Permission *Permission `json:"permission,omitempty"`
	// Outcome is "ok" or "error", after-tool.
	Outcome string `json:"outcome,omitempty"`
	// Role is that of a message: user or assistant.
	Role string `json:"role,omitempty"`
	// Text is that of a message, of a result, and after-loop the loop's last
	// answer.
	Text string `json:"text,omitempty"`
	// Reason is why the loop ended, after-loop.
	Reason string `json:"reason,omitempty"`
	// Tokens and Cost (US dollars) are what the loop has used so far.
	Tokens int64   `json:"tokens"`
	Cost   float64 `json:"cost"`
}

// Permission is the verdict of the rules on a call.
type Permission struct {
	Effect string `json:"effect"` // allow, ask or deny
	Reason string `json:"reason"`
	// Rule decided; nil: none matched.
	Rule *Rule `json:"rule,omitempty"`
	// Answerable says of an ask that approve would count.
	Answerable bool `json:"answerable,omitempty"`
}

// Rule is a permission rule and where it stands.
type Rule struct {
	Tool    string        `json:"tool"`
	Subject string        `json:"subject"`
	Effect  string        `json:"effect"`
	At      source.Origin `json:"at"`
}

// DefaultTimeout and MaxTimeout bound how long a hook may take.
const (
	DefaultTimeout = 10 * time.Second
	MaxTimeout     = 10 * time.Minute
)

// Hook is asked at one event.
type Hook struct {
	On Event
	// Name is how logs and messages call it: file:line of one in a file.
	Name string
	// Match is a pattern of tool names, as in permission rules; empty: all.
	Match string
	// Timeout is how long Ask may take; 0: DefaultTimeout.
	Timeout time.Duration
	// Ask must return when ctx ends. Its error, and a panic, deny. It must not
	// change the moment, and is called from several goroutines.
	Ask func(ctx context.Context, m *Moment) (Verdict, error)
}
