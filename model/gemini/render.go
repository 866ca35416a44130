package gemini

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

var bodyEnd = []byte("]}")

// body puts a request together: what belongs to the call, the prefix and the
// messages in their kept forms, and the tail.
func (m *Model) body(r *model.Request) (*wire.Body, error) {
	head, err := m.head(r)
	if err != nil {
		return nil, m.endpoint.Refuse(err)
	}
	b := wire.NewBody(2*len(r.Messages) + 4)
	b.Add(head)
	if r.Prefix != nil {
		prefix, err := r.Prefix.Wire(renderer, encodePrefix)
		if err != nil {
			return nil, m.endpoint.Refuse(err)
		}
		b.Add(prefix)
	}
	b.Add([]byte(`"contents":[`))
	var tail []byte
	text := r.Tail
	if s := r.Params.Schema; s != nil && m.untold(r) {
		text = wire.WithSchema(text, s)
	}
	if text != "" {
		tail = append(appendText([]byte(openUser), text, ""), bodyEnd...)
	}
	if err := b.AddMessages(false, r.Messages, m.Wire, tail); err != nil {
		return nil, m.endpoint.Refuse(err)
	}
	b.Add(bodyEnd)
	return b, nil
}

// head is the body up to the prefix: how to generate, and whether tools may be
// called.
func (m *Model) head(r *model.Request) ([]byte, error) {
	params := r.Params
	if m.untold(r) {
		params.Schema = nil
	}
	config, err := m.generation(params)
	if err != nil {
		return nil, err
	}
	b := append(make([]byte, 0, 256), '{')
	if len(config) > 0 {
		config[0] = '{' // in place of the comma
		b = append(append(append(b, `"generationConfig":`...), config...), `},`...)
	}
	if r.Params.ToolChoice == "none" && r.Prefix != nil && len(r.Prefix.Tools) > 0 {
		b = append(b, `"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},`...)
	}
	return b, nil
}

// untold says that the model cannot be told of a schema but in words: those of
// the series 2 refuse it together with tools.
func (m *Model) untold(r *model.Request) bool {
	return m.two && r.Prefix != nil && len(r.Prefix.Tools) > 0
}

// generation gives the members of generationConfig, each after a comma.
func (m *Model) generation(p model.Params) ([]byte, error) {
	b, err := wire.AppendSampling(nil, p)
	if err != nil {
		return nil, err
	}
	b = bytes.Replace(b, []byte(`"top_p"`), []byte(`"topP"`), 1)
	if p.MaxTokens > 0 {
		b = strconv.AppendInt(append(b, `,"maxOutputTokens":`...), int64(p.MaxTokens), 10)
	}
	b = m.appendThinking(b, p.Thinking)
	if s := p.Schema; s != nil {
		if !wire.IsObject(s.JSON) {
			return nil, fmt.Errorf("the schema %s of the answer is no JSON object", s.Name)
		}
		b = append(append(b, `,"responseMimeType":"application/json","responseJsonSchema":`...), s.JSON...)
	}
	return b, nil
}

func (m *Model) appendThinking(b []byte, t model.Thinking) []byte {
	if t == model.ThinkingDefault {
		return b
	}
	b = strconv.AppendBool(append(b, `,"thinkingConfig":{"includeThoughts":`...), t != model.ThinkingOff)
	if m.two {
		b = strconv.AppendInt(append(b, `,"thinkingBudget":`...), budget(t), 10)
	} else {
		b = wire.AppendString(append(b, `,"thinkingLevel":`...), level(t))
	}
	return append(b, '}')
}

// budget is a level in tokens, within what every model of the series 2 that
// thinks takes.
func budget(t model.Thinking) int64 {
	switch t {
	case model.ThinkingMinimal:
		return 512
	case model.ThinkingLow:
		return 2048
	case model.ThinkingMedium:
		return 8192
	case model.ThinkingHigh:
		return 24576
	}
	return 0
}

// level is the API's word; no model with levels can be kept from thinking.
func level(t model.Thinking) model.Thinking {
	if t == model.ThinkingOff {
		return model.ThinkingMinimal
	}
	return t
}

// encodePrefix gives the system blocks and the tools, each with a comma behind.
func encodePrefix(p *model.Prefix) ([]byte, error) {
	var b []byte
	blocks := 0
	for _, text := range p.System {
		if text == "" {
			continue
		}
		b = appendText(append(b, separator(blocks, `"systemInstruction":{"role":"user","parts":[`)...), text, "")
		blocks++
	}
	if blocks > 0 {
		b = append(b, `]},`...)
	}
	for i, t := range p.Tools {
		var err error
		if b, err = appendTool(append(b, separator(i, `"tools":[{"functionDeclarations":[`)...), t); err != nil {
			return nil, err
		}
	}
	if len(p.Tools) > 0 {
		b = append(b, `]}],`...)
	}
	return b, nil
}

// separator is what stands before the i-th element of a list.
func separator(i int, open string) string {
	if i == 0 {
		return open
	}
	return ","
}

func appendTool(b []byte, t *model.ToolDef) ([]byte, error) {
	if !wire.IsObject(t.Schema) {
		return nil, fmt.Errorf("tool %s: its schema is no JSON object", t.Name)
	}
	b = wire.AppendString(append(b, `{"name":`...), t.Name)
	if t.Description != "" {
		b = wire.AppendString(append(b, `,"description":`...), t.Description)
	}
	b = append(append(b, `,"parametersJsonSchema":`...), t.Schema...)
	return append(b, '}'), nil
}

const (
	openUser  = `{"role":"user","parts":[`
	openModel = `{"role":"model","parts":[`
)

// encodeSigned encodes for models that refuse a call without a signature.
func encodeSigned(m *message.Message) ([]byte, error) { return encodeMessage(m, unsigned) }

// encodeUnsigned encodes for models that take calls without one.
func encodeUnsigned(m *message.Message) ([]byte, error) { return encodeMessage(m, "") }

// unsigned is the signature that Google gives for calls of other models.
const unsigned = "skip_thought_signature_validator"
