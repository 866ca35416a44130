package gemini

import (
	"crypto/rand"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// response is one event of a stream, or the whole answer without one.
type response struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *usage         `json:"usageMetadata"`
	Error jsontext.Value `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	Finish  string `json:"finishReason"`
	Message string `json:"finishMessage"`
}

type part struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *struct {
		ID   string         `json:"id"`
		Name string         `json:"name"`
		Args jsontext.Value `json:"args"`
	} `json:"functionCall"`
}

type usage struct {
	Prompt   int64 `json:"promptTokenCount"`
	Cached   int64 `json:"cachedContentTokenCount"`
	Answer   int64 `json:"candidatesTokenCount"`
	Thoughts int64 `json:"thoughtsTokenCount"`
	Tools    int64 `json:"toolUsePromptTokenCount"`
}

// block is one part of the message on its way.
type block struct {
	thought   bool
	text      *wire.Text // nil: a call
	signature string
	call      message.ToolCall
}

// decoder puts the message together from its pieces.
type decoder struct {
	answer *wire.Answer
	yield  wire.Yield
	in     response // reused for each event
	blocks []block
	usage  *message.Usage
	finish string
}

// events reads an event stream up to its end. After the finish reason only the
// usage is still to come, so that what breaks then breaks nothing.
func (d *decoder) events() error {
	for {
		ev, err := d.answer.Next()
		if err != nil {
			return d.ended(err)
		}
		if err := d.event(ev.Data); err != nil {
			return err
		}
	}
}

func (d *decoder) ended(err error) error {
	switch {
	case d.finish != "" && (err == io.EOF || model.AsError(err) != nil):
		return nil
	case err == io.EOF:
		return d.answer.Cut()
	}
	return err
}

// document reads an answer that came as one JSON document.
func (d *decoder) document() error {
	raw, err := d.answer.JSON()
	if err != nil {
		return err
	}
	if err := d.event(raw); err != nil {
		return err
	}
	return d.ended(io.EOF)
}

// event takes one event up and yields what is new in it.
func (d *decoder) event(raw []byte) error {
	d.in = response{}
	in := &d.in
	err := json.Unmarshal(raw, in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return d.answer.Garbled(raw, err)
	}
	if len(in.Error) > 0 && in.Error.Kind() != jsontext.KindNull {
		return d.answer.Fault(in.Error)
	}
	if u := in.Usage; u != nil {
		cached := min(u.Cached, u.Prompt)
		d.usage = &message.Usage{Input: u.Prompt - cached + u.Tools, CacheRead: cached, Output: u.Answer + u.Thoughts}
	}
	if in.Feedback.Block != "" {
		d.finish = in.Feedback.Block
	}
	for i := range in.Candidates {
		c := &in.Candidates[i]
		if c.Index != 0 {
			continue
		}
		for j := range c.Content.Parts {
			if err := d.part(&c.Content.Parts[j]); err != nil {
				return err
			}
		}
		if c.Finish != "" {
			d.finish = c.Finish
		}
		switch c.Finish {
		case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
			return d.answer.Fail(model.Protocol, "the model made a call that cannot be read ("+c.Finish+"): "+c.Message, nil)
		}
	}
	return nil
}

// part takes up one piece. Pieces of text belong together unless one of them
// is signed.
func (d *decoder) part(p *part) error {
	if p.Call != nil {
		input, invalid := wire.CallInput(p.Call.Args)
		c := message.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Input: input, Invalid: invalid}
		if c.ID == "" {
			c.ID = "call_" + rand.Text()
		}
		d.blocks = append(d.blocks, block{call: c, signature: p.Signature})
		return d.send(model.Chunk{CallID: c.ID, CallName: c.Name, CallArgs: string(input)})
	}
	if p.Text == "" && p.Signature == "" {
		return nil
	}
	if n := len(d.blocks); n == 0 || p.Signature != "" || !d.blocks[n-1].takes(p) {
		d.blocks = append(d.blocks, block{thought: p.Thought, text: &wire.Text{}, signature: p.Signature})
	}
	if p.Text == "" {
		return nil
	}
	piece := d.blocks[len(d.blocks)-1].text.Add(p.Text)
	if p.Thought {
		return d.send(model.Chunk{Thinking: piece})
	}
	return d.send(model.Chunk{Text: piece})
}

// takes says whether a piece without a signature goes on with the block.
func (b *block) takes(p *part) bool {
	return b.text != nil && b.signature == "" && b.thought == p.Thought
}

func (d *decoder) send(c model.Chunk) error {
	if !d.yield(c) {
		return wire.ErrLeft
	}
	return nil
}

// last is the chunk with the whole message. A signature stands as thinking
// without text before the part that it signs.
func (d *decoder) last() model.Chunk {
	m := &message.Message{Role: message.Assistant}
	for _, b := range d.blocks {
		switch {
		case b.thought:
			m.Parts = append(m.Parts, message.Thinking{Text: b.text.String(), Signature: b.signature, By: signer})
			continue
		case b.signature != "":
			m.Parts = append(m.Parts, message.Thinking{Signature: b.signature, By: signer})
		}
		if b.text == nil {
			m.Parts = append(m.Parts, b.call)
		} else if t := b.text.String(); t != "" {
			m.Parts = append(m.Parts, message.Text{Text: t})
		}
	}
	return model.Chunk{Done: m, Usage: d.usage, Stop: d.stop(m)}
}

func (d *decoder) stop(m *message.Message) string {
	switch d.finish {
	case "MAX_TOKENS":
		return "length"
	case "STOP", "FINISH_REASON_UNSPECIFIED", "OTHER":
		if len(m.Calls()) > 0 {
			return "tools"
		}
		return "stop"
	}
	return "refusal" // SAFETY, RECITATION, PROHIBITED_CONTENT and their like
}
