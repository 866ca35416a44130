package openairesponses

import (
	"cmp"
	"crypto/rand"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// event is one event of a stream, whatever its type.
type event struct {
	Type     string         `json:"type"`
	Index    int            `json:"output_index"`
	Delta    string         `json:"delta"`
	Item     item           `json:"item"`
	Response response       `json:"response"`
	Error    jsontext.Value `json:"error"`
}

// response is a whole answer.
type response struct {
	Status     string         `json:"status"`
	Output     []item         `json:"output"`
	Usage      *usage         `json:"usage"`
	Error      jsontext.Value `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// item is one of the things that an answer consists of.
type item struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	CallID    string    `json:"call_id"`
	Name      string    `json:"name"`
	Phase     string    `json:"phase"`
	Arguments string    `json:"arguments"`
	Content   []content `json:"content"`
	Summary   []content `json:"summary"`
	Encrypted string    `json:"encrypted_content"`
}

type content struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

type usage struct {
	Input   int64 `json:"input_tokens"`
	Output  int64 `json:"output_tokens"`
	Details struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

// block is one item on its way.
type block struct {
	index        int
	kind         string // of the item
	callID, name string
	text         wire.Text // or reasoning, or a call's arguments
	proof        string    // of reasoning
	phase        string    // of a message
}

// decoder puts the message together from its pieces.
type decoder struct {
	answer     *wire.Answer
	yield      wire.Yield
	in         event // reused for each event
	blocks     []*block
	usage      *message.Usage
	status     string
	incomplete string
	refused    bool
}

// events reads an event stream up to the event that ends the answer.
func (d *decoder) events() error {
	for d.status == "" {
		ev, err := d.answer.Next()
		switch {
		case err == nil && string(ev.Data) == "[DONE]", err == io.EOF: // some servers say it
			err = d.answer.Cut()
		case err == nil:
			err = d.event(ev.Data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) event(raw []byte) error {
	in := &d.in
	*in = event{}
	if err := d.decode(raw, in); err != nil {
		return err
	}
	switch in.Type {
	case "response.output_item.added":
		return d.begin(in.Index, &in.Item)
	case "response.output_text.delta", "response.function_call_arguments.delta", "response.reasoning_summary_text.delta",
		"response.reasoning_text.delta":
		return d.piece(in.Index, in.Delta)
	case "response.refusal.delta":
		d.refused = true
		return d.piece(in.Index, in.Delta)
	case "response.reasoning_summary_part.added":
		return d.paragraph(in.Index)
	case "response.output_item.done":
		return d.finish(in.Index, &in.Item)
	case "response.completed", "response.incomplete":
		return d.end(&in.Response)
	case "response.failed":
		return d.answer.Fault(in.Response.Error)
	case "error":
		if len(in.Error) > 0 {
			return d.answer.Fault(in.Error)
		}
		return d.answer.Fault(raw)
	}
	return nil // what repeats the pieces as a whole, and what the API may add
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
	var in response
	if err := d.decode(raw, &in); err != nil {
		return err
	}
	if said := in.Error; len(said) > 0 && said.Kind() != jsontext.KindNull {
		return d.answer.Fault(said)
	}
	if in.Status != "completed" && in.Status != "incomplete" {
		return d.answer.Cut()
	}
	return d.end(&in)
}

// begin opens the block of an item.
func (d *decoder) begin(index int, in *item) error {
	b := &block{index: index, kind: in.Type, callID: in.CallID, name: in.Name, phase: in.Phase}
	d.blocks = append(d.blocks, b)
	if in.Type != "function_call" {
		return nil
	}
	if b.callID == "" {
		b.callID = "call_" + rand.Text()
	}
	return d.send(b, "")
}

func (d *decoder) piece(index int, text string) error {
	b := d.blockAt(index)
	if b == nil {
		return d.answer.Fail(model.Protocol, "a piece came for an item that had not begun", nil)
	}
	if text == "" {
		return nil
	}
	return d.send(b, b.text.Add(text))
}

// paragraph separates the parts of a summary.
func (d *decoder) paragraph(index int) error {
	if b := d.blockAt(index); b != nil && b.text.String() != "" {
		return d.send(b, b.text.Add("\n\n"))
	}
	return nil
}

// finish takes from a whole item what did not come in pieces.
func (d *decoder) finish(index int, in *item) error {
	b := d.blockAt(index)
	if b == nil {
		if err := d.begin(index, in); err != nil {
			return err
		}
		b = d.blocks[len(d.blocks)-1]
	}
	b.phase = cmp.Or(in.Phase, b.phase)
	if in.Encrypted != "" {
		b.proof = proof(in.ID, in.Encrypted)
	}
	if b.text.String() != "" {
		return nil
	}
	return d.piece(index, d.textOf(in))
}

// textOf is the text of an item that came as a whole.
func (d *decoder) textOf(in *item) string {
	text := in.Arguments
	for _, c := range in.Content {
		if len(in.Summary) > 0 {
			break
		}
		text += c.Text + c.Refusal
		d.refused = d.refused || c.Refusal != ""
	}
	for i, c := range in.Summary {
		if i > 0 {
			text += "\n\n"
		}
		text += c.Text
	}
	return text
}

// end takes up the whole answer: what it used, why it ended, and its items if
// none of them came before.
func (d *decoder) end(in *response) error {
	if len(d.blocks) == 0 {
		for i := range in.Output {
			if err := d.finish(i, &in.Output[i]); err != nil {
				return err
			}
		}
	}
	if u := in.Usage; u != nil {
		cached := min(u.Details.Cached, u.Input)
		written := min(u.Details.Written, u.Input-cached)
		d.usage = &message.Usage{Input: u.Input - cached - written, CacheRead: cached, CacheWrite: written, Output: u.Output}
	}
	d.status, d.incomplete = in.Status, in.Incomplete.Reason
	if d.status == "" {
		d.status = "completed"
	}
	return nil
}

// send yields a piece of a block.
func (d *decoder) send(b *block, piece string) error {
	var c model.Chunk
	switch b.kind {
	case "message":
		c.Text = piece
	case "reasoning":
		c.Thinking = piece
	case "function_call":
		c.CallID, c.CallName, c.CallArgs = b.callID, b.name, piece
	default: // of the provider's own tools
		return nil
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

// last is the chunk with the whole message.
func (d *decoder) last() model.Chunk {
	m := &message.Message{Role: message.Assistant}
	for _, b := range d.blocks {
		text := b.text.String()
		switch b.kind {
		case "message":
			if text != "" {
				m.Parts = append(m.Parts, message.Text{Text: text, Phase: b.phase})
			}
		case "reasoning":
			if text != "" || b.proof != "" {
				m.Parts = append(m.Parts, message.Thinking{Text: text, Signature: b.proof, By: signer})
			}
		case "function_call":
			input, invalid := wire.CallInput([]byte(text))
			m.Parts = append(m.Parts, message.ToolCall{ID: b.callID, Name: b.name, Input: input, Invalid: invalid})
		}
	}
	return model.Chunk{Done: m, Usage: d.usage, Stop: d.stop(m)}
}

func (d *decoder) stop(m *message.Message) string {
	switch {
	case d.incomplete == "content_filter", d.refused:
		return "refusal"
	case d.status == "incomplete":
		return "length"
	case len(m.Calls()) > 0:
		return "tools"
	}
	return "stop"
}
