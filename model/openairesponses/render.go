package openairesponses

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"

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
	b.Add([]byte(`,"input":[`))
	var tail []byte
	if r.Tail != "" {
		tail = appendText(nil, message.User, message.Text{Text: r.Tail})
	}
	if err := b.AddMessages(false, r.Messages, m.Wire, tail); err != nil {
		return nil, m.endpoint.Refuse(err)
	}
	b.Add(bodyEnd)
	return b, nil
}

// head is the body up to the prefix.
func (m *Model) head(r *model.Request) ([]byte, error) {
	b := make([]byte, 0, 256)
	b = wire.AppendString(append(b, `{"model":`...), m.id)
	b = append(b, `,"stream":true,"store":false`...)
	b, err := wire.AppendSampling(b, r.Params)
	if err != nil {
		return nil, err
	}
	if r.Params.MaxTokens > 0 {
		b = strconv.AppendInt(append(b, `,"max_output_tokens":`...), int64(r.Params.MaxTokens), 10)
	}
	b = appendReasoning(b, r.Params.Thinking)
	if s := r.Params.Schema; s != nil {
		if b, err = appendFormat(b, s); err != nil {
			return nil, err
		}
	}
	if r.Params.ToolChoice == "none" && r.Prefix != nil && len(r.Prefix.Tools) > 0 {
		b = append(b, `,"tool_choice":"none"`...)
	}
	return b, nil
}

// appendReasoning asks for reasoning, and for its encrypted form, which a model
// that does not reason refuses to give.
func appendReasoning(b []byte, t model.Thinking) []byte {
	switch t {
	case model.ThinkingDefault:
		return b
	case model.ThinkingOff:
		return append(b, `,"reasoning":{"effort":"none"}`...)
	}
	b = wire.AppendString(append(b, `,"reasoning":{"effort":`...), t)
	return append(b, `,"summary":"auto"},"include":["reasoning.encrypted_content"]`...)
}

func appendFormat(b []byte, s *model.Schema) ([]byte, error) {
	if !wire.IsObject(s.JSON) {
		return nil, fmt.Errorf("the schema %s of the answer is no JSON object", s.Name)
	}
	b = wire.AppendString(append(b, `,"text":{"format":{"type":"json_schema","name":`...), s.Name)
	b = append(append(b, `,"schema":`...), s.JSON...)
	b = strconv.AppendBool(append(b, `,"strict":`...), s.Strict)
	return append(b, "}}"...), nil
}

// encodePrefix gives the instructions and the tools.
func encodePrefix(p *model.Prefix) ([]byte, error) {
	var b []byte
	if len(p.System) > 0 {
		b = wire.AppendString(append(b, `,"instructions":`...), strings.Join(p.System, "\n\n"))
	}
	for i, t := range p.Tools {
		if i == 0 {
			b = append(b, `,"tools":[`...)
		} else {
			b = append(b, ',')
		}
		var err error
		if b, err = appendTool(b, t); err != nil {
			return nil, err
		}
	}
	if len(p.Tools) > 0 {
		b = append(b, ']')
	}
	return b, nil
}

// appendTool appends a tool. It is not strict, which would ask for schemas of a
// narrower kind.
func appendTool(b []byte, t *model.ToolDef) ([]byte, error) {
	if !wire.IsObject(t.Schema) {
		return nil, fmt.Errorf("tool %s: its schema is no JSON object", t.Name)
	}
	b = wire.AppendString(append(b, `{"type":"function","name":`...), t.Name)
	if t.Description != "" {
		b = wire.AppendString(append(b, `,"description":`...), t.Description)
	}
	b = append(append(b, `,"parameters":`...), t.Schema...)
	return append(b, `,"strict":false}`...), nil
}

// encodeMessage gives the input items of one message.
func encodeMessage(m *message.Message) (b []byte, err error) {
	switch m.Role {
	case message.User:
		if len(m.Parts) > 0 {
			b, err = appendUser(nil, m.Parts)
		}
	case message.Assistant:
		b, err = encodeAssistant(m.Parts)
	case message.Tool:
		b, err = encodeResults(m.Parts)
	case message.Extension:
	default:
		err = fmt.Errorf("%q is no role of a conversation", m.Role)
	}
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", m.ID, err)
	}
	return b, nil
}

// appendText appends a message of text. The phase of an answer goes back with it:
// models that give one do worse without.
func appendText(b []byte, role message.Role, text message.Text) []byte {
	b = wire.AppendString(append(b, `{"role":`...), role)
	b = wire.AppendString(append(b, `,"content":`...), text.Text)
	if text.Phase != "" {
		b = wire.AppendString(append(b, `,"phase":`...), text.Phase)
	}
	return append(b, '}')
}

func appendUser(b []byte, parts []message.Part) ([]byte, error) {
	if t, ok := parts[0].(message.Text); ok && len(parts) == 1 {
		return appendText(b, message.User, message.Text{Text: t.Text}), nil
	}
	b, err := appendContent(append(b, `{"role":"user","content":`...), parts)
	if err != nil {
		return nil, err
	}
	return append(b, '}'), nil
}

// appendContent appends texts and images as a list.
func appendContent(b []byte, parts []message.Part) ([]byte, error) {
	b = append(b, '[')
	for i, p := range parts {
		if i > 0 {
			b = append(b, ',')
		}
		switch p := p.(type) {
		case message.Text:
			b = append(wire.AppendString(append(b, `{"type":"input_text","text":`...), p.Text), '}')
		case message.Image:
			if len(p.Data) == 0 {
				return nil, fmt.Errorf("the image %s was not loaded", p.Blob)
			}
			url := "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
			b = append(wire.AppendString(append(b, `{"type":"input_image","detail":"auto","image_url":`...), url), '}')
		default:
			return nil, fmt.Errorf("a %T cannot stand here", p)
		}
	}
	return append(b, ']'), nil
}

func encodeAssistant(parts []message.Part) ([]byte, error) {
	var b []byte
	for _, p := range withoutLastThoughts(parts) {
		if !sendable(p) {
			continue
		}
		if len(b) > 0 {
			b = append(b, ',')
		}
		switch p := p.(type) {
		case message.Text:
			b = appendText(b, message.Assistant, p)
		case message.Thinking:
			b = appendThinking(b, p)
		case message.ToolCall:
			b = wire.AppendString(append(b, `{"type":"function_call","call_id":`...), p.ID)
			b = wire.AppendString(append(b, `,"name":`...), p.Name)
			b = wire.AppendString(append(b, `,"arguments":`...), wire.AppendInput(nil, p.Input))
			b = append(b, '}')
		default:
			return nil, fmt.Errorf("a %T cannot stand in an assistant's message", p)
		}
	}
	return b, nil
}

// withoutLastThoughts drops reasoning that nothing follows, which an answer that
// was cut leaves behind and the API refuses.
func withoutLastThoughts(parts []message.Part) []message.Part {
	for len(parts) > 0 {
		last := parts[len(parts)-1]
		if _, thinks := last.(message.Thinking); sendable(last) && !thinks {
			break
		}
		parts = parts[:len(parts)-1]
	}
	return parts
}

// sendable says whether a part goes to the API: empty text does not, nor
// reasoning that it did not encrypt.
func sendable(p message.Part) bool {
	switch p := p.(type) {
	case message.Text:
		return p.Text != ""
	case message.Thinking:
		return p.Signature != "" && p.By == signer
	}
	return true
}

// proof is what stands as the signature of reasoning: its item's id, and its
// encrypted form.
func proof(id, encrypted string) string { return id + ":" + encrypted }

func appendThinking(b []byte, p message.Thinking) []byte {
	id, encrypted, _ := strings.Cut(p.Signature, ":")
	b = wire.AppendString(append(b, `{"type":"reasoning","id":`...), id)
	b = append(b, `,"summary":[`...)
	if p.Text != "" {
		b = append(wire.AppendString(append(b, `{"type":"summary_text","text":`...), p.Text), '}')
	}
	b = wire.AppendString(append(b, `],"encrypted_content":`...), encrypted)
	return append(b, '}')
}

func encodeResults(parts []message.Part) ([]byte, error) {
	var b []byte
	for i, p := range parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			return nil, fmt.Errorf("a %T cannot stand in a tool message", p)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(append(b, `{"type":"function_call_output","call_id":`...), r.Call)
		b = append(b, `,"output":`...)
		if hasImage(r.Parts) {
			var err error
			if b, err = appendContent(b, r.Parts); err != nil {
				return nil, err
			}
		} else {
			b = wire.AppendString(b, message.PartsText(r.Parts))
		}
		b = append(b, '}')
	}
	return b, nil
}

func hasImage(parts []message.Part) bool {
	for _, p := range parts {
		if _, ok := p.(message.Image); ok {
			return true
		}
	}
	return false
}
