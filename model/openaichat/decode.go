package openaichat

import (
	"crypto/rand"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// completion is one event of a stream, or the whole answer without one.
type completion struct {
	Choices []choice       `json:"choices"`
	Usage   *usage         `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

type choice struct {
	Index   int    `json:"index"`
	Delta   delta  `json:"delta"`
	Message delta  `json:"message"` // in place of Delta, without a stream
	Finish  string `json:"finish_reason"`
}

// delta holds reasoning under two names: DeepSeek's and vLLM's, then
// OpenRouter's and Ollama's.
type delta struct {
	Content   string     `json:"content"`
	Refusal   string     `json:"refusal"`
	Reasoning string     `json:"reasoning_content"`
	Thought   string     `json:"reasoning"`
	Calls     []callPart `json:"tool_calls"`
}

type callPart struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached  int64 `json:"cached_tokens"`
		Written int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

type call struct {
	index    int
	id, name string
	args     []byte
}

// decoder puts the message together from its pieces.
type decoder struct {
	answer   *wire.Answer
	yield    wire.Yield
	in       completion // reused for each event
	repeat   wire.Repeat
	text     wire.Text
	thinking wire.Text
	calls    []call
	usage    *message.Usage
	finish   string
	refused  bool
}

// events reads an event stream up to its end. After the finish reason only the
// usage is still to come, so that what breaks then breaks nothing.
func (d *decoder) events() error {
	for {
		ev, err := d.answer.Next()
		if err != nil {
			return d.ended(err)
		}
		if string(ev.Data) == "[DONE]" {
			return d.ended(io.EOF)
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
	if t := d.repeat.Text(raw); t != nil {
		return d.say(d.text.AddBytes(t))
	}
	in := &d.in
	clear(in.Choices[:cap(in.Choices)]) // a value left from the event before would be taken for a new one
	*in = completion{Choices: in.Choices[:0]}
	err := json.Unmarshal(raw, in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return d.answer.Garbled(raw, err)
	}
	if len(in.Error) > 0 && in.Error.Kind() != jsontext.KindNull {
		return d.answer.Fault(in.Error)
	}
	if u := in.Usage; u != nil {
		cached := min(u.Details.Cached, u.Prompt)
		written := min(u.Details.Written, u.Prompt-cached)
		d.usage = &message.Usage{Input: u.Prompt - cached - written, CacheRead: cached, CacheWrite: written, Output: u.Completion}
	}
	for i := range in.Choices {
		c := &in.Choices[i]
		if c.Index != 0 {
			continue
		}
		if err := d.delta(&c.Delta); err != nil {
			return err
		}
		if err := d.delta(&c.Message); err != nil {
			return err
		}
		if c.Finish != "" {
			d.finish = c.Finish
		}
	}
	if t := in.onlyText(); t != "" {
		d.repeat.Learn(raw, "content", t)
	}
	return nil
}

// onlyText returns the text of an event that says nothing else.
func (in *completion) onlyText() string {
	if len(in.Choices) != 1 || in.Usage != nil {
		return ""
	}
	c := in.Choices[0]
	if c.Index != 0 || c.Finish != "" || len(c.Delta.Calls) > 0 || c.Delta.Refusal+c.Delta.Reasoning+c.Delta.Thought != "" ||
		len(c.Message.Calls) > 0 || c.Message.Refusal+c.Message.Reasoning+c.Message.Thought+c.Message.Content != "" {
		return ""
	}
	return c.Delta.Content
}

func (d *decoder) say(text string) error {
	if !d.yield(model.Chunk{Text: text}) {
		return wire.ErrLeft
	}
	return nil
}

func (d *decoder) delta(in *delta) error {
	if t := in.Reasoning + in.Thought; t != "" {
		if !d.yield(model.Chunk{Thinking: d.thinking.Add(t)}) {
			return wire.ErrLeft
		}
	}
	if in.Refusal != "" {
		d.refused = true
	}
	if t := in.Content + in.Refusal; t != "" {
		if err := d.say(d.text.Add(t)); err != nil {
			return err
		}
	}
	for i := range in.Calls {
		p := &in.Calls[i]
		c := d.callOf(p)
		if c.name == "" {
			c.name = p.Function.Name
		}
		c.args = append(c.args, p.Function.Arguments...)
		if !d.yield(model.Chunk{CallID: c.id, CallName: c.name, CallArgs: p.Function.Arguments}) {
			return wire.ErrLeft
		}
	}
	return nil
}

// callOf returns the call that a piece belongs to. A new id together with a
// name begins a call even at an index in use, or without an index: servers are
// careless with these. A call without an id gets one.
func (d *decoder) callOf(p *callPart) *call {
	begins := p.Function.Name != "" && p.ID != ""
	for i := len(d.calls) - 1; i >= 0; i-- {
		c := &d.calls[i]
		same := p.Index != nil && c.index == *p.Index
		if p.Index == nil {
			same = p.Function.Name == "" || p.ID != ""
		}
		if same && !(begins && p.ID != c.id) {
			return c
		}
	}
	c := call{index: len(d.calls), id: p.ID}
	if p.Index != nil {
		c.index = *p.Index
	}
	if c.id == "" {
		c.id = "call_" + rand.Text()
	}
	d.calls = append(d.calls, c)
	return &d.calls[len(d.calls)-1]
}

// last is the chunk with the whole message.
func (d *decoder) last() model.Chunk {
	m := &message.Message{Role: message.Assistant}
	if t := d.thinking.String(); t != "" {
		m.Parts = append(m.Parts, message.Thinking{Text: t})
	}
	if t := d.text.String(); t != "" {
		m.Parts = append(m.Parts, message.Text{Text: t})
	}
	for _, c := range d.calls {
		input, invalid := wire.CallInput(c.args)
		m.Parts = append(m.Parts, message.ToolCall{ID: c.id, Name: c.name, Input: input, Invalid: invalid})
	}
	return model.Chunk{Done: m, Usage: d.usage, Stop: d.stop()}
}

func (d *decoder) stop() string {
	switch {
	case d.finish == "length" || d.finish == "model_length":
		return "length"
	case d.refused || d.finish == "content_filter":
		return "refusal"
	case len(d.calls) > 0:
		return "tools"
	}
	return "stop"
}
