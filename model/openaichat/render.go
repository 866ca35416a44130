package openaichat

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
	begun := false
	if r.Prefix != nil {
		prefix, err := r.Prefix.Wire(renderer, encodePrefix)
		if err != nil {
			return nil, m.endpoint.Refuse(err)
		}
		b.Add(prefix)
		begun = len(r.Prefix.System) > 0
	} else {
		b.Add([]byte(messagesKey))
	}
	var tail []byte
	if r.Tail != "" {
		tail = append(wire.AppendString([]byte(`{"role":"user","content":`), r.Tail), '}')
	}
	if err := b.AddMessages(begun, r.Messages, m.Wire, tail); err != nil {
		return nil, m.endpoint.Refuse(err)
	}
	b.Add(bodyEnd)
	return b, nil
}

// head is the body up to the prefix.
func (m *Model) head(r *model.Request) ([]byte, error) {
	b := make([]byte, 0, 256)
	b = wire.AppendString(append(b, `{"model":`...), m.id)
	b = append(b, `,"stream":true,"stream_options":{"include_usage":true}`...)
	b, err := wire.AppendSampling(b, r.Params)
	if err != nil {
		return nil, err
	}
	if r.Params.MaxTokens > 0 {
		b = append(wire.AppendString(append(b, ','), m.maxTokensKey), ':')
		b = strconv.AppendInt(b, int64(r.Params.MaxTokens), 10)
	}
	switch r.Params.Thinking {
	case model.ThinkingDefault:
	case model.ThinkingOff:
		b = append(b, `,"reasoning_effort":"none"`...)
	default:
		b = wire.AppendString(append(b, `,"reasoning_effort":`...), r.Params.Thinking)
	}
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

func appendFormat(b []byte, s *model.Schema) ([]byte, error) {
	if !wire.IsObject(s.JSON) {
		return nil, fmt.Errorf("the schema %s of the answer is no JSON object", s.Name)
	}
	b = wire.AppendString(append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":`...), s.Name)
	b = append(append(b, `,"schema":`...), s.JSON...)
	b = strconv.AppendBool(append(b, `,"strict":`...), s.Strict)
	return append(b, "}}"...), nil
}

const messagesKey = `,"messages":[`

// encodePrefix gives the tools and the beginning of the list of messages. The
// system blocks are one message, for many servers' templates take only one.
func encodePrefix(p *model.Prefix) ([]byte, error) {
	var b []byte
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
	b = append(b, messagesKey...)
	if len(p.System) > 0 {
		b = append(b, `{"role":"system","content":`...)
		b = wire.AppendString(b, strings.Join(p.System, "\n\n"))
		b = append(b, '}')
	}
	return b, nil
}

func appendTool(b []byte, t *model.ToolDef) ([]byte, error) {
	if !wire.IsObject(t.Schema) {
		return nil, fmt.Errorf("tool %s: its schema is no JSON object", t.Name)
	}
	b = wire.AppendString(append(b, `{"type":"function","function":{"name":`...), t.Name)
	if t.Description != "" {
		b = wire.AppendString(append(b, `,"description":`...), t.Description)
	}
	b = append(append(b, `,"parameters":`...), t.Schema...)
	return append(b, "}}"...), nil
}

// encodeMessage gives the wire form of one message.
func encodeMessage(m *message.Message) ([]byte, error) {
	switch m.Role {
	case message.User:
		if len(m.Parts) == 0 {
			return nil, nil
		}
		b, err := appendUser(nil, m.Parts)
		if err != nil {
			return nil, fmt.Errorf("message %s: %w", m.ID, err)
		}
		return b, nil
	case message.Assistant:
		return encodeAssistant(m)
	case message.Tool:
		return encodeResults(m)
	case message.Extension:
		return nil, nil
	}
	return nil, fmt.Errorf("message %s: %q is no role of a conversation", m.ID, m.Role)
}

// appendUser appends a user's message; its content is plain text if that is
// all there is, for not every server takes a list.
func appendUser(b []byte, parts []message.Part) ([]byte, error) {
	b = append(b, `{"role":"user","content":`...)
	if t, ok := parts[0].(message.Text); ok && len(parts) == 1 {
		return append(wire.AppendString(b, t.Text), '}'), nil
	}
	sep := byte('[')
	for _, p := range parts {
		b, sep = append(b, sep), ','
		switch p := p.(type) {
		case message.Text:
			b = append(wire.AppendString(append(b, `{"type":"text","text":`...), p.Text), '}')
		case message.Image:
			if len(p.Data) == 0 {
				return nil, fmt.Errorf("the image %s was not loaded", p.Blob)
			}
			url := "data:" + p.MediaType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
			b = append(wire.AppendString(append(b, `{"type":"image_url","image_url":{"url":`...), url), "}}"...)
		default:
			return nil, fmt.Errorf("a %T cannot stand in a user's message", p)
		}
	}
	return append(b, "]}"...), nil
}

func encodeAssistant(m *message.Message) ([]byte, error) {
	b := []byte(`{"role":"assistant"`)
	text := m.Text()
	if text != "" {
		b = wire.AppendString(append(b, `,"content":`...), text)
	}
	calls := 0
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.ToolCall:
			if calls++; calls == 1 {
				b = append(b, `,"tool_calls":[`...)
			} else {
				b = append(b, ',')
			}
			b = wire.AppendString(append(b, `{"id":`...), p.ID)
			b = wire.AppendString(append(b, `,"type":"function","function":{"name":`...), p.Name)
			b = wire.AppendString(append(b, `,"arguments":`...), wire.AppendInput(nil, p.Input))
			b = append(b, "}}"...)
		case message.Text, message.Thinking: // reasoning is not taken back by this protocol
		default:
			return nil, fmt.Errorf("message %s: a %T cannot stand in an assistant's message", m.ID, p)
		}
	}
	if calls > 0 {
		b = append(b, ']')
	} else if text == "" {
		return nil, nil
	}
	return append(b, '}'), nil
}

// encodeResults gives one message for each result, and after them a user's
// message with their images, which a tool message cannot hold.
func encodeResults(m *message.Message) ([]byte, error) {
	var b []byte
	var images []message.Part
	for i, p := range m.Parts {
		r, ok := p.(message.ToolResult)
		if !ok {
			return nil, fmt.Errorf("message %s: a %T cannot stand in a tool message", m.ID, p)
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(append(b, `{"role":"tool","tool_call_id":`...), r.Call)
		b = append(wire.AppendString(append(b, `,"content":`...), message.PartsText(r.Parts)), '}')
		images = append(images, imagesOf(r)...)
	}
	if len(images) == 0 {
		return b, nil
	}
	b, err := appendUser(append(b, ','), images)
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", m.ID, err)
	}
	return b, nil
}

func imagesOf(r message.ToolResult) []message.Part {
	var parts []message.Part
	for _, p := range r.Parts {
		if img, ok := p.(message.Image); ok {
			if parts == nil {
				parts = append(parts, message.Text{Text: "Images in the result of " + r.Name + " (" + r.Call + "):"})
			}
			parts = append(parts, img)
		}
	}
	return parts
}
