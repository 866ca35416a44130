// Package record keeps what a model was asked and what it answered in a file,
// and answers from such a file again, so that a run can be repeated without
// the provider.
//
// A recording is a file of JSON lines, one for each call, in the order in
// which the calls ended. A line has only the messages that are new since an
// earlier line, which it names, so the file grows with the conversation and
// not with its square.
package record

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

const (
	version = 1
	maxLine = 64 << 20 // bytes of one call
	maxFile = 1 << 30  // bytes of a recording
)

// call is one line of a recording.
type call struct {
	V     int       `json:"v"`
	N     int       `json:"n"` // number of the line, from 1
	Time  time.Time `json:"time"`
	Model string    `json:"model"`

	// Digest is that of the whole request, Conversation that of its messages
	// alone; both of the text before secrets were redacted.
	Digest       string `json:"digest"`
	Conversation string `json:"conversation"`

	// The request: the first Keep messages of line After, then Messages. The
	// prefix is that of line PrefixOf, if it is not here.
	PrefixOf int               `json:"prefix_of,omitempty"`
	Prefix   json.RawMessage   `json:"prefix,omitempty"`
	Turn     json.RawMessage   `json:"turn"` // params and tail
	After    int               `json:"after,omitempty"`
	Keep     int               `json:"keep,omitempty"`
	Messages []json.RawMessage `json:"messages"`

	// The answer. Chunks are missing where a secret was redacted from them.
	Chunks      []chunk        `json:"chunks,omitempty"`
	Done        *done          `json:"done,omitempty"`
	Usage       *message.Usage `json:"usage,omitempty"`
	Error       *failure       `json:"error,omitempty"`
	Interrupted bool           `json:"interrupted,omitempty"` // the caller left before the end
	Took        int64          `json:"took_us"`               // microseconds
}

// chunk is one piece of an answer; At is microseconds since the call began.
type chunk struct {
	At       int64  `json:"at_us"`
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
	Call     string `json:"call,omitempty"`
	Name     string `json:"name,omitempty"`
	Args     string `json:"args,omitempty"`
}

type done struct {
	Parts   message.Parts `json:"parts"`
	Partial bool          `json:"partial,omitempty"`
	Stop    string        `json:"stop"`
}

type failure struct {
	Kind       model.Kind `json:"kind"`
	Status     int        `json:"status,omitempty"`
	RetryAfter int64      `json:"retry_after_ms,omitempty"`
	Message    string     `json:"message"`
	Remedy     string     `json:"remedy,omitempty"`
}

// answers says whether a replay can be made of the call.
func (c *call) answers() bool { return !c.Interrupted && (c.Done != nil || c.Error != nil) }

func (c *call) add(ch model.Chunk, at time.Duration) {
	if ch.Usage != nil {
		c.Usage = ch.Usage
	}
	if ch.Done != nil {
		c.Done = &done{Parts: validInputs(ch.Done.Parts), Partial: ch.Done.Partial, Stop: ch.Stop}
	}
	k := chunk{at.Microseconds(), ch.Text, ch.Thinking, ch.CallID, ch.CallName, ch.CallArgs}
	if k != (chunk{At: k.At}) {
		c.Chunks = append(c.Chunks, k)
	}
}

// fail records why the call failed. An error that is not the model's own is
// the context's: the caller stopped the call.
func (c *call) fail(err error) {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		c.Interrupted = true
		return
	}
	c.Error = &failure{e.Kind, e.Status, e.RetryAfter.Milliseconds(), e.Message, e.Remedy}
	if e.Message == "" && e.Err != nil {
		c.Error.Message = e.Err.Error()
	}
}

// validInputs marks the calls whose input is not JSON, which could not be
// written otherwise.
func validInputs(parts []message.Part) []message.Part {
	out := make([]message.Part, len(parts))
	for i, p := range parts {
		if c, ok := p.(message.ToolCall); ok && len(c.Input) > 0 && !json.Valid(c.Input) {
			c.Invalid = true
			p = c
		}
		out[i] = p
	}
	return out
}
