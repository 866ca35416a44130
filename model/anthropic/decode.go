package anthropic

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// event is one event of a stream, whatever its type.
type event struct {
	Type    string         `json:"type"`
	Index   int            `json:"index"`
	Message *answer        `json:"message"`
	Block   content        `json:"content_block"`
	Delta   delta          `json:"delta"`
	Usage   *usage         `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

// answer is a whole message: without content at the beginning of a stream.
type answer struct {
	Type       string         `json:"type"`
	Content    []content      `json:"content"`
	StopReason string         `json:"stop_reason"`
	Usage      *usage         `json:"usage"`
	Error      jsontext.Value `json:"error"`
}

type content struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	Signature string         `json:"signature"`
	Data      string         `json:"data"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
}

type delta struct {
	Text       string `json:"text"`
	Thinking   string `json:"thinking"`
	Signature  string `json:"signature"`
	Input      string `json:"partial_json"`
	StopReason string `json:"stop_reason"`
}

// usage of the last event that names a count stands; counts are sums.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	Output     *int64 `json:"output_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
}

// block is one content block on its way.
type block struct {
	index     int
	start     content
	text      wire.Text // or thinking, or a call's input
	signature string
}

// decoder puts the message together from its pieces.
type decoder struct {
	answer   *wire.Answer
	yield    wire.Yield
	in       event // reused for each event
	repeat   wire.Repeat
	repeated *block // what repeat's text belongs to
	blocks   []*block
	usage    *message.Usage
	stop     string
	ended    bool
}

// events reads an event stream up to its end. After the reason to stop nothing
// more is to come, so that what breaks then breaks nothing.
func (d *decoder) events() error {
	for !d.ended {
		ev, err := d.answer.Next()
		switch {
		case err == nil:
			err = d.event(ev.Data)
		case d.stop != "" && (err == io.EOF || model.AsError(err) != nil):
			return nil
		case err == io.EOF:
			err = d.answer.Cut()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) event(raw []byte) error {
	if t := d.repeat.Text(raw); t != nil {
		return d.send(d.repeated, d.repeated.text.AddBytes(t))
	}
	in := &d.in
	*in = event{}
	if err := d.decode(raw, in); err != nil {
		return err
	}
	switch in.Type {
	case "message_start":
		if in.Message != nil {
			d.count(in.Message.Usage)
		}
	case "content_block_start":
		return d.begin(in.Index, &in.Block)
	case "content_block_delta":
		return d.piece(raw)
	case "message_delta":
		d.count(in.Usage)
		if in.Delta.StopReason != "" {
			d.stop = in.Delta.StopReason
		}
	case "message_stop":
		if d.stop == "" {
			return d.answer.Cut()
		}
		d.ended = true
	case "error":
		return d.answer.Fault(raw)
	}
	return nil // ping, content_block_stop, and what the API may add
}

// piece takes up the event raw, a delta that has been decoded.
func (d *decoder) piece(raw []byte) error {
	in := &d.in
	b := d.blockAt(in.Index)
	if b == nil {
		return d.answer.Fail(model.Protocol, "a piece came for a block that had not begun", nil)
	}
	if b.start.Type == "text" && in.Delta == (delta{Text: in.Delta.Text}) {
		d.repeated = b
		d.repeat.Learn(raw, "text", in.Delta.Text)
	}
	return d.delta(b, &in.Delta)
}

func (d *decoder) decode(raw []byte, into any) error {
	err := json.Unmarshal(raw, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return d.answer.Garbled(raw, err)
	}
	return nil
}

// document reads an answer that came as one JSON document.
func (d *decoder) document() error {
	raw, err := d.answer.JSON()
	if err != nil {
		return err
	}
	var in answer
	if err := d.decode(raw, &in); err != nil {
		return err
	}
	if in.Type == "error" || len(in.Error) > 0 {
		return d.answer.Fault(raw)
	}
	if in.StopReason == "" {
		return d.answer.Cut()
	}
	for i := range in.Content {
		c := &in.Content[i]
		if err := d.begin(i, c); err != nil {
			return err
		}
		if c.Type != "tool_use" {
			continue
		}
		if err := d.delta(d.blocks[i], &delta{Input: string(c.Input)}); err != nil {
			return err
		}
	}
	d.count(in.Usage)
	d.stop = in.StopReason
	return nil
}

func (d *decoder) count(u *usage) {
	if u == nil {
		return
	}
	if d.usage == nil {
		d.usage = &message.Usage{}
	}
	for _, c := range []struct {
		sum *int64
		is  *int64
	}{
		{&d.usage.Input, u.Input}, {&d.usage.Output, u.Output},
		{&d.usage.CacheRead, u.CacheRead}, {&d.usage.CacheWrite, u.CacheWrite},
	} {
		if c.is != nil {
			*c.sum = *c.is
		}
	}
}

// begin opens a block with what it already holds.
func (d *decoder) begin(index int, c *content) error {
	start := *c
	start.Input = nil // of a stream, where it comes in pieces
	b := &block{index: index, start: start}
	d.blocks = append(d.blocks, b)
	if c.Type == "tool_use" {
		return d.send(b, "")
	}
	return d.delta(b, &delta{Text: c.Text, Thinking: c.Thinking, Signature: c.Signature})
}

// delta adds a piece to its block.
func (d *decoder) delta(b *block, in *delta) error {
	b.signature += in.Signature
	piece := ""
	switch b.start.Type {
	case "text":
		piece = in.Text
	case "thinking":
		piece = in.Thinking
	case "tool_use":
		piece = in.Input
	}
	if piece == "" {
		return nil
	}
	return d.send(b, b.text.Add(piece))
}

// send yields a piece of a block.
func (d *decoder) send(b *block, piece string) error {
	c := model.Chunk{Text: piece}
	switch b.start.Type {
	case "thinking":
		c = model.Chunk{Thinking: piece}
	case "tool_use":
		c = model.Chunk{CallID: b.start.ID, CallName: b.start.Name, CallArgs: piece}
	}
	if !d.yield(c) {
		return wire.ErrLeft
	}
	return nil
}

// blockAt returns the block with that index; it is nearly always the last.
func (d *decoder) blockAt(index int) *block {
	for i := len(d.blocks) - 1; i >= 0; i-- {
		if d.blocks[i].index == index {
			return d.blocks[i]
		}
	}
	return nil
}

// last is the chunk with the whole message. Blocks of kinds that are not asked
// for, such as those of the provider's own tools, are left out.
func (d *decoder) last() model.Chunk {
	m := &message.Message{Role: message.Assistant}
	for _, b := range d.blocks {
		text := b.text.String()
		switch b.start.Type {
		case "text":
			if text != "" {
				m.Parts = append(m.Parts, message.Text{Text: text})
			}
		case "thinking":
			m.Parts = append(m.Parts, message.Thinking{Text: text, Signature: b.signature, By: signer})
		case "redacted_thinking":
			m.Parts = append(m.Parts, message.Thinking{Redacted: b.start.Data, By: signer})
		case "tool_use":
			input, invalid := wire.CallInput([]byte(text))
			m.Parts = append(m.Parts, message.ToolCall{ID: b.start.ID, Name: b.start.Name, Input: input, Invalid: invalid})
		}
	}
	return model.Chunk{Done: m, Usage: d.usage, Stop: stopWord(d.stop)}
}

func stopWord(reason string) string {
	switch reason {
	case "tool_use":
		return "tools"
	case "max_tokens", "model_context_window_exceeded":
		return "length"
	case "refusal":
		return "refusal"
	}
	return "stop" // end_turn, stop_sequence, pause_turn
}
