// Package message holds what a user, a model and tools say to each other:
// messages, their parts and the usage they cost. It is a leaf: it knows no
// provider, no store and no file.
package message

import "sync/atomic"

// Role says who speaks.
type Role string

// The roles. Extension messages stand in the log and the UI and are never sent
// to a model.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
	Extension Role = "extension"
)

// Message is one entry of a conversation. It is immutable once it is part of
// one; only the cached wire form changes, atomically, so a Message may be
// shared between goroutines.
type Message struct {
	ID      string
	Parent  string // the message before it in the tree; empty at the root
	Role    Role
	Parts   []Part
	Partial bool // cut off by a cancel, a limit or a broken stream
	// Stands is how many answers of the model were taken out of the conversation
	// for this message: those that it sums up, or that it gave up. No provider is
	// told.
	Stands int

	wire atomic.Pointer[wireForm]
}

type wireForm struct {
	renderer string
	bytes    []byte
}

// Wire returns the message in a provider's form. The form is encoded once for
// each renderer in a row and kept, so that a turn encodes only what is new.
// The result must not be changed.
func (m *Message) Wire(renderer string, encode func(*Message) ([]byte, error)) ([]byte, error) {
	if w := m.wire.Load(); w != nil && w.renderer == renderer {
		return w.bytes, nil
	}
	b, err := encode(m)
	if err != nil {
		return nil, err
	}
	m.wire.Store(&wireForm{renderer, b})
	return b, nil
}

// Answers is how many answers of the model a message is, or stands for.
func (m *Message) Answers() int {
	if m.Role == Assistant {
		return m.Stands + 1
	}
	return m.Stands
}

// Text joins the text parts.
func (m *Message) Text() string { return PartsText(m.Parts) }

// Answer is what the message says in the end: its text, without what a model
// calls commentary where there is more.
func (m *Message) Answer() string {
	var final []Part
	for _, p := range m.Parts {
		if t, ok := p.(Text); ok && t.Phase == FinalAnswer {
			final = append(final, p)
		}
	}
	if final == nil {
		return m.Text()
	}
	return PartsText(final)
}

// Calls returns the tool calls of the message in order.
func (m *Message) Calls() []ToolCall {
	var calls []ToolCall
	for _, p := range m.Parts {
		if c, ok := p.(ToolCall); ok {
			calls = append(calls, c)
		}
	}
	return calls
}

// Part is one of Text, Thinking, Image, ToolCall and ToolResult.
type Part interface{ part() }

// Text is plain text. Phase is what a model says that it is, if it does so:
// Commentary on the way, or the FinalAnswer.
type Text struct{ Text, Phase string }

// The phases of a text.
const (
	Commentary  = "commentary"
	FinalAnswer = "final_answer"
)

// Thinking is a model's reasoning. Signature is the provider's proof, sent
// back unchanged with the conversation; Redacted holds reasoning that only the
// provider can read. By names the protocol whose proof it is: others cannot
// read it and leave the part out. Without text it proves the part after it.
type Thinking struct{ Text, Signature, Redacted, By string }

// Image is an image, inline (Data) or by the digest of a stored blob (Blob).
type Image struct {
	MediaType string
	Data      []byte
	Blob      string
}

// ToolCall asks for a tool. Input is a JSON value; it is what the model sent,
// also when that is not valid JSON, and then Invalid is set.
type ToolCall struct {
	ID, Name string
	Input    []byte
	Invalid  bool
}

// ToolResult answers one call. Parts are Text and Image. Artifact is the digest
// of the stored blob that has all of the text, where the parts do not.
type ToolResult struct {
	Call, Name string
	Parts      []Part
	Error      bool
	Artifact   string
}

func (Text) part()       {}
func (Thinking) part()   {}
func (Image) part()      {}
func (ToolCall) part()   {}
func (ToolResult) part() {}

// PartsText joins the text of parts.
func PartsText(parts []Part) string {
	if len(parts) == 1 {
		if t, ok := parts[0].(Text); ok {
			return t.Text
		}
	}
	var b []byte
	for _, p := range parts {
		if t, ok := p.(Text); ok {
			b = append(b, t.Text...)
		}
	}
	return string(b)
}

// Usage counts tokens, and money in US dollars. Input excludes what was read
// from or written to a prompt cache. Estimated marks a count that the provider
// did not give, for a call that broke.
type Usage struct {
	Input      int64   `json:"input_tokens"`
	Output     int64   `json:"output_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Cost       float64 `json:"cost"`
	Estimated  bool    `json:"estimated,omitempty"`
}

// bytesPerToken is the usual rule of thumb for English text and code.
const bytesPerToken = 4

// ImageTokens is what providers count for a large image.
const ImageTokens = 1600

// partBytes is what a part takes besides its text.
const partBytes = 16

// Tokens estimates the tokens of the message.
func (m *Message) Tokens() int64 {
	bytes, images := sizeOf(m.Parts)
	return Tokens(bytes) + images*ImageTokens
}

func sizeOf(parts []Part) (bytes int, images int64) {
	for _, p := range parts {
		bytes += partBytes
		switch p := p.(type) {
		case Text:
			bytes += len(p.Text)
		case Thinking:
			bytes += len(p.Text) + len(p.Redacted)
		case Image:
			images++
		case ToolCall:
			bytes += len(p.Name) + len(p.Input)
		case ToolResult:
			b, i := sizeOf(p.Parts)
			bytes, images = bytes+b, images+i
		}
	}
	return bytes, images
}

// Tokens estimates the tokens of n bytes of text, rounded up.
func Tokens(n int) int64 { return int64((n + bytesPerToken - 1) / bytesPerToken) }

// Add returns the sum; it is estimated if either is.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input:      u.Input + v.Input,
		Output:     u.Output + v.Output,
		CacheRead:  u.CacheRead + v.CacheRead,
		CacheWrite: u.CacheWrite + v.CacheWrite,
		Cost:       u.Cost + v.Cost,
		Estimated:  u.Estimated || v.Estimated,
	}
}

// Limited counts the tokens that a token limit counts: uncached input, cache
// writes and output.
func (u Usage) Limited() int64 { return u.Input + u.CacheWrite + u.Output }
