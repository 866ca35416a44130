package session

import (
	"encoding/json"
	"time"

	"github.com/rosterrun/roster/message"
)

// Inbound events: posted by any process.

// Prompt asks for an answer. Later prompts of a session may name another model
// or other settings for their own loop only.
type Prompt struct {
	Parts   []message.Part `json:"-"`
	Profile string         `json:"profile,omitempty"`
	Overrides
	// Shared lets any worker of the workspace run the stream; without it, only
	// the one who asked.
	Shared bool `json:"shared,omitempty"`
	// User is whose prompt it is; empty: the one user of this machine.
	User string `json:"user,omitempty"`
	// KeyID names the key by which the user has shown who he is; empty: none.
	KeyID string `json:"key,omitempty"`
	// Request is the id of the request that brought it, which is that of its span;
	// empty: none.
	Request string `json:"request,omitempty"`
	// Agent is the agent_id of the instance that is asked; empty: a new one.
	Agent string `json:"agent,omitempty"`
	// Headless says that nobody is there to answer questions.
	Headless bool `json:"headless,omitempty"`
	// OnDeny is "stop" to end the run at the first denied call.
	OnDeny string `json:"on_deny,omitempty"`
	// Lent are rules that the loop of this prompt begins with (see Lent).
	Lent []Lent `json:"lent,omitempty"`
	// Command is what the user has called, where Parts are what it came to; nil: he
	// has written Parts.
	Command *Command `json:"command,omitempty"`
}

// Overrides are profile keys and their values as text, over those of the
// profile: what a request sets, and over that what its user says by flags. A
// loop that a steering or follow-up message begins has those of the session's
// last prompt.
type Overrides struct {
	Set   map[string]string `json:"set,omitempty"`
	Flags map[string]string `json:"flags,omitempty"`
	// AllowAll lets the permission mode bypass have its effect.
	AllowAll bool `json:"allow_all,omitempty"`
	// Schema is the JSON Schema that answers have to fit; none: they are text.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Client is what the program that asks brings along; nil: nothing.
	Client *Client `json:"client,omitempty"`
	// Session are the settings of the session, below Set; they stand in the log as
	// events of their own.
	Session Settings `json:"-"`
}

// Steer is a message for the loop that runs: delivered after the tool calls
// that have started.
type Steer struct{ Parts []message.Part }

// Followup is a message for the end of the loop that runs.
type Followup struct{ Parts []message.Part }

// Cancel ends the loop that runs.
type Cancel struct {
	Reason string `json:"reason,omitempty"`
}

// The owner's events.

// Start is the first event after the prompt of a new session, and the first of
// a child: Parent is the session that delegates, and Call the call of its that
// the child works for, whose tool.before names the child.
type Start struct {
	Profile string `json:"profile"`
	Title   string `json:"title"`
	Parent  string `json:"parent,omitempty"`
	Call    string `json:"call,omitempty"`
}

// LoopStart begins the work on one prompt. Spec and Prefix are the digests of
// the blobs that hold the whole resolved profile and the stable head of its
// requests; a resumed loop uses those.
type LoopStart struct {
	Number   int    `json:"number"` // of the session's loops by Config, from 1
	Config   string `json:"config_id,omitempty"`
	Parent   string `json:"parent_loop,omitempty"`
	Why      string `json:"why"` // prompt, followup, rerun, branch, resume or compaction
	Profile  string `json:"profile"`
	Revision string `json:"revision"`
	Model    string `json:"model"`
	Spec     string `json:"spec"`
	Prefix   string `json:"prefix"`
	// User, KeyID and Request are those of the prompt; a loop of a child has those of
	// the one that it works for.
	User    string `json:"user,omitempty"`
	KeyID   string `json:"key,omitempty"`
	Request string `json:"request,omitempty"`
	// Headless and OnDeny are those of the prompt.
	Headless bool   `json:"headless,omitempty"`
	OnDeny   string `json:"on_deny,omitempty"`
	// Schema is what the loop's answers have to fit, as the prompt says.
	Schema json.RawMessage `json:"schema,omitempty"`
	// ClientCalls has the loop end with the calls that the model asks for: the
	// client makes them (Client.Calls).
	ClientCalls bool `json:"client_calls,omitempty"`
}

// Switched says that the session goes on as another profile: from the next model
// call on, with its prompt and tools. Spec and Prefix are as in LoopStart.
type Switched struct {
	Call     string `json:"call"`
	From     string `json:"from"`
	To       string `json:"to"`
	Reason   string `json:"reason,omitempty"`
	Revision string `json:"revision"` // of To
	Model    string `json:"model"`
	Spec     string `json:"spec"`
	Prefix   string `json:"prefix"`
}

// LoopResumed says that a worker took the loop up again after another one had
// stopped. Attempt counts such events since the last progress, from 1.
type LoopResumed struct {
	Attempt int    `json:"attempt"`
	Why     string `json:"why,omitempty"` // what became of the worker before
}

// TurnStart begins one model call and the tool calls it asks for.
type TurnStart struct{}

// TurnRequest holds what is needed, with the messages before it, to rebuild
// the bytes that were sent.
type TurnRequest struct {
	Message  string          `json:"message,omitempty"` // the id that the answer will have
	Attempt  int             `json:"attempt"`           // of this turn, from 1
	Renderer string          `json:"renderer,omitempty"`
	Messages int             `json:"messages"`         // how many of the branch were sent
	Head     string          `json:"head"`             // the last of them
	Params   json.RawMessage `json:"params,omitempty"` // the sampling parameters (model.Params)
	Tail     string          `json:"tail,omitempty"`
	Digest   string          `json:"digest,omitempty"` // chained over the messages' wire forms

	// Body is the digest of the blob that has the request, where it was changed
	// as a whole.
	Body string `json:"body,omitempty"`

	// Of a request that is no turn: what it is for, such as planning.analysis, by
	// what model if not the loop's, with what in the place of the system prompt,
	// and how many messages of the branch were left out before those it sends.
	For    string   `json:"for,omitempty"`
	Model  string   `json:"model,omitempty"`
	System []string `json:"system,omitempty"`
	From   int      `json:"from,omitempty"`
}

// Message puts a message at the end of the branch. A user's message names the
// post whose parts it delivers, and has parts only where a hook changed those; a
// tool message names the calls whose results it holds, so that nothing stands in
// the log twice; an assistant's message has its parts here.
type Message struct {
	ID      string
	Parent  string
	Role    message.Role
	Source  string // the type of the post it delivers
	Post    int64  // its number
	Why     string // of a user's message that no user wrote: what it is for (WhySchema)
	Calls   []string
	Parts   []message.Part
	Partial bool
	Stop    string // why the model stopped
}

// WhySchema says that a message asks again for an answer that does not fit the
// schema.
const WhySchema = "schema"

// ToolBefore stands before a call starts, and before one that will not start.
type ToolBefore struct {
	Call  string
	Tool  string
	Input []byte // JSON
	// Recovery is "repeat", "resume" or "" (unknown): what a later owner does
	// with a call that has no end.
	Recovery string
	Child    string // the session that the call gives work to
	Effect   string // allow, ask or deny
	Rule     *Rule  // that decided; nil if none matched
	Reason   string
}

// Rule is a permission rule as a decision names it.
type Rule struct {
	Tool    string `json:"tool"`
	Subject string `json:"subject"`
	Effect  string `json:"effect"`
	Layer   string `json:"layer,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
}

// ToolUpdate is something to show while a call runs.
type ToolUpdate struct {
	Call string `json:"call"`
	Text string `json:"text"`
}

// ToolAfter ends a call. Every ToolBefore has exactly one.
type ToolAfter struct {
	Call     string
	Tool     string
	Outcome  Outcome
	Parts    []message.Part // what the model is told
	Artifact string         // the digest of the blob that has all of the text, where Parts do not
	Duration time.Duration
	Seen     *Seen // the file that it has read or written; nil: none, or not as a whole
}

// Hooked is what the hooks of an event said: about a call always, elsewhere
// where it changed or refused something.
type Hooked struct {
	On       string `json:"on"`               // the event, such as before-tool
	Decision string `json:"decision"`         // allow, rewrite, ask, approve or deny
	By       string `json:"by,omitempty"`     // the hooks that decided so; empty: all of them
	Reason   string `json:"reason,omitempty"` // theirs
	Failed   bool   `json:"failed,omitempty"` // it is denied because a hook did not answer
	Call     string `json:"call,omitempty"`
	// Input is that of a call from now on, and Parts what the model is told of
	// its result.
	Input json.RawMessage `json:"input,omitempty"`
	Parts message.Parts   `json:"parts,omitempty"`
}

// Outcome says how a call ended.
type Outcome string

const (
	OK        Outcome = "ok"
	ToolError Outcome = "error"
	Denied    Outcome = "denied"
	Skipped   Outcome = "skipped"
	NotKnown  Outcome = "unknown"
)

// Usage is what one model call took. Total is the session's sum with it.
type Usage struct {
	Usage message.Usage `json:"usage"`
	Model string        `json:"model"`
}

// Retry says that a model call failed and will be tried again.
type Retry struct {
	Attempt int           `json:"attempt"` // the one that failed, from 1
	Delay   time.Duration `json:"delay_ns"`
	Code    string        `json:"code"`
	Error   string        `json:"error"`
}

// Fallback says that another model of the chain is asked from now on: the one
// before failed, and rests until a time; or its rest is over, and it is To.
type Fallback struct {
	From  string    `json:"from"`
	To    string    `json:"to"`
	Code  string    `json:"code,omitempty"`
	Error string    `json:"error,omitempty"`
	Until time.Time `json:"until,omitzero"`
}

// Limit says that a limit ends the loop.
type Limit struct {
	Limit string  `json:"limit"` // turns, tokens, duration or cost
	Max   float64 `json:"max"`
	Used  float64 `json:"used"`
	Set   string  `json:"set,omitempty"` // where the limit was set
}

// Error says why the loop fails.
type Error struct {
	Code  string `json:"code"`
	Error string `json:"error"`
}

// LoopEnd ends a loop. Text is the last message of the assistant.
type LoopEnd struct {
	Reason Reason        `json:"reason"`
	Text   string        `json:"text"`
	Usage  message.Usage `json:"usage"` // of this loop
	Limit  string        `json:"limit,omitempty"`
	Denied int           `json:"denied,omitempty"` // tool calls
	Error  *Error        `json:"error,omitempty"`
}

// Reason says why a loop ended.
type Reason string

const (
	ReasonDone       Reason = "done"
	ReasonLimit      Reason = "limit"
	ReasonCancelled  Reason = "cancelled"
	ReasonError      Reason = "error"
	ReasonStalled    Reason = "stalled"
	ReasonDegenerate Reason = "degenerate"
	ReasonPoisoned   Reason = "poisoned"
	ReasonWaiting    Reason = "waiting"
	ReasonDenied     Reason = "denied"
)

// Live events: shown, never stored.

// Delta is a piece of the text of a message that is being written. Offset is
// where it begins, in bytes of the message's text; Attempt grows when the
// message is begun anew.
type Delta struct {
	Message string `json:"message"`
	Attempt int    `json:"attempt"`
	Offset  int    `json:"offset"`
	Text    string `json:"text"`
}

// Partial is all of the text so far, for one who begins to watch in the middle
// of a message.
type Partial struct{ Delta }

// Reset takes back the text of an attempt that failed.
type Reset struct {
	Message string `json:"message"`
	Attempt int    `json:"attempt"` // the one that begins now, if there is another
}
