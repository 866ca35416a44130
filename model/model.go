// Package model is the seam between the engine and whatever answers it: a
// provider's wire protocol, a script, a recording, a stand-in.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rosterrun/roster/message"
)

// Model answers requests. It is safe for concurrent use. A fallback chain, a
// recorder and a script are Models too.
type Model interface {
	// Name is provider/model-id, as people write it.
	Name() string
	// Stream sends the request and yields what comes back as it comes. The
	// last chunk carries Done, and Usage when the provider gave it. An error
	// ends the sequence; it is an *Error, or the context's. Leaving the range
	// aborts the call.
	Stream(ctx context.Context, r *Request) iter.Seq2[Chunk, error]
}

// Renderer gives the exact bytes that Stream sends. Every Model that sends
// bytes is a Renderer; `sessions request` and the log's digest rest on it.
type Renderer interface {
	// Renderer names the form and its version, such as "anthropic/1".
	Renderer() string
	// Render returns the whole body.
	Render(*Request) ([]byte, error)
	// Wire returns one message as it stands in the body, without cache
	// breakpoints. It is cached on the message and must not be changed.
	Wire(*message.Message) ([]byte, error)
}

// Request is one model call. It is not changed after it was given to Stream.
type Request struct {
	Prefix   *Prefix
	Params   Params
	Messages []*message.Message
	Tail     string // this turn's reminder, after the last cache breakpoint; one user message, not part of the conversation
	For      string // what it is for, if it is no turn of the conversation; not sent
}

// Prefix is the stable head of a request: one per loop, so that prompt caches
// keep working. It is immutable.
type Prefix struct {
	System []string // blocks in order, the most stable first
	Tools  []*ToolDef

	wire atomic.Pointer[prefixForm]
}

// Params are the sampling parameters. A nil pointer or a zero leaves the
// provider's default.
type Params struct {
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Cache       Cache    `json:"cache,omitempty"`
	ToolChoice  string   `json:"tool_choice,omitempty"` // "" (the model's choice) or "none"
	Thinking    Thinking `json:"thinking,omitempty"`
	Schema      *Schema  `json:"schema,omitempty"` // what the answer has to be; nil: text
}

// Thinking says how much a model reasons before it answers. A provider takes the
// nearest of the levels that it has.
type Thinking string

// The levels of thinking, from the provider's own choice to the most.
const (
	ThinkingDefault Thinking = ""
	ThinkingOff     Thinking = "off"
	ThinkingMinimal Thinking = "minimal"
	ThinkingLow     Thinking = "low"
	ThinkingMedium  Thinking = "medium"
	ThinkingHigh    Thinking = "high"
)

// Schema says what JSON an answer is made of.
type Schema struct {
	Name   string          `json:"name"` // letters, digits, _ and -, at most 64
	JSON   json.RawMessage `json:"json"` // a JSON Schema object
	Strict bool            `json:"strict,omitempty"`
}

// Cache says after what of a request a provider is to keep what stands before:
// CacheAuto, CacheOff, or some of the three places, with commas between.
type Cache string

const (
	CacheAuto     Cache = ""         // all three
	CacheOff      Cache = "off"      // none
	CacheSystem   Cache = "system"   // the system prompt
	CacheTools    Cache = "tools"    // the last tool
	CacheMessages Cache = "messages" // the last message but one
)

// Marks says whether there is a breakpoint at one of the three places.
func (c Cache) Marks(place Cache) bool {
	return c == CacheAuto || slices.Contains(strings.Split(string(c), ","), string(place))
}

// ToolDef describes a tool to a model. It is built once per process and is
// immutable. Schema is a JSON Schema object.
type ToolDef struct {
	Name        string
	Description string
	Schema      []byte
}

// Chunk is one piece of an answer: some text, some thinking, a piece of a tool
// call's arguments, or the end. Done is the whole message, with all parts but
// without ID and Parent, which the engine gives.
type Chunk struct {
	Text, Thinking             string
	CallID, CallName, CallArgs string
	Done                       *message.Message
	Usage                      *message.Usage // without Cost, which the engine adds from the model's prices
	Stop                       string         // with Done: "stop", "tools", "length" or "refusal"
}
