// Package script is a model whose replies are written down: in a YAML file or
// in Go. It is how a profile, a tool or the engine is tested without a key.
//
// A script keeps no place in the conversation. Which reply comes next follows
// from the request alone: each assistant message in it stands for one reply
// that was given, so a run that another process takes up goes on where its log
// stands. Only errors leave no trace in a conversation; how many of them were
// given is counted in memory, and a new process gives them once more.
package script

import (
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/source"
)

// Script is a list of replies. It must not be changed once Model was called.
type Script struct {
	Name    string // the file, or another name to use in errors; may be empty
	Replies []Reply
	Loop    bool // start over when the replies are used up
}

// Reply is one answer, or one failed call. The next reply is the first unused
// one whose condition holds, in the order of the list; one without a condition
// always holds.
type Reply struct {
	When  When
	Text  string // streamed word by word
	Tools []Call // asked for after the text
	// Error fails the call, after the text if there is one. Errors that stand
	// before an answer are given one for each attempt.
	Error *Failure
	Delay time.Duration // before the first piece, or before the error
	Gap   time.Duration // between two pieces
	Usage *Usage        // nil: estimated from the length of the request and the reply
	At    source.Origin // where it is written; may be zero
}

// When is a condition on what was said since the last answer: the text of the
// user's messages and of the tools' results.
type When struct {
	Contains string // empty always holds
	// For names what is asked aside of the conversation, such as planning.analysis.
	// Nothing but that gets the reply: each time it is asked for, the first one
	// whose condition holds, in which what is asked then counts too.
	For string
}

// Call is a tool call. Input is JSON; empty stands for {}, and what is not
// valid JSON reaches the engine as an invalid call.
type Call struct{ Name, Input string }

// Failure is a failed model call.
type Failure struct {
	Status     int           // HTTP status; the kind follows from it
	Kind       model.Kind    // set this instead for a failure without a status, such as model.Cut
	RetryAfter time.Duration // what the provider asks for
}

// Usage counts tokens as a provider would: what the model has read anew, what it had
// in its cache, and what it has written.
type Usage struct{ Input, CacheRead, Output int64 }

// New returns a script of the replies, for tests in Go.
func New(replies ...Reply) *Script { return &Script{Replies: replies} }

// Model returns the script as a model with the given name (provider/model-id).
// It is also a model.Renderer.
func (s *Script) Model(name string) model.Model { return newScripted(s, name) }

// kindOf sorts an HTTP status as the providers mean it.
func kindOf(status int) model.Kind {
	switch {
	case status == 401 || status == 403:
		return model.Auth
	case status == 404:
		return model.NotFound
	case status == 408:
		return model.Timeout
	case status == 429:
		return model.RateLimit
	case status == 503 || status == 529:
		return model.Overloaded
	case status >= 500:
		return model.Server
	}
	return model.BadRequest
}

// message parts of a reply, shared by all its answers; they are immutable.
func (r *Reply) parts() []message.Part {
	if r.Text == "" {
		return nil
	}
	return []message.Part{message.Text{Text: r.Text}}
}
