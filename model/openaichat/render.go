package openaichat

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/quirk"
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
		prefix, err := r.Prefix.Wire(m.form.name, m.form.prefix)
		if err != nil {
			return nil, m.endpoint.Refuse(err)
		}
		b.Add(prefix)
		begun = len(r.Prefix.System) > 0
	} else {
		b.Add([]byte(messagesKey))
	}
	var tail []byte
	if text := m.tail(r); text != "" {
		tail = append(wire.AppendString([]byte(`{"role":"user","content":`), text), '}')
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
	b = append(b, `,"stream":true`...)
	if m.quirks.Get(quirk.StreamUsage) == quirk.Yes {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	b, err := wire.AppendSampling(b, r.Params)
	if err != nil {
		return nil, err
	}
	if r.Params.MaxTokens > 0 {
		b = append(wire.AppendString(append(b, ','), m.quirks.Get(quirk.MaxTokens)), ':')
		b = strconv.AppendInt(b, int64(r.Params.MaxTokens), 10)
	}
	b = m.appendThinking(b, r.Params.Thinking)
	if s := r.Params.Schema; s != nil {
		if b, err = m.appendFormat(b, s); err != nil {
			return nil, err
		}
	}
	if r.Params.ToolChoice == "none" && r.Prefix != nil && len(r.Prefix.Tools) > 0 {
		b = append(b, `,"tool_choice":"none"`...)
	}
	return b, nil
}

func (m *Model) appendThinking(b []byte, t model.Thinking) []byte {
	if t == model.ThinkingDefault {
		return b
	}
	switch m.quirks.Get(quirk.Thinking) {
	case quirk.Effort:
		if t == model.ThinkingOff {
			t = "none"
		}
		return wire.AppendString(append(b, `,"reasoning_effort":`...), t)
	case quirk.Switch:
		state := "enabled"
		if t == model.ThinkingOff {
			state = "disabled"
		}
		return append(wire.AppendString(append(b, `,"thinking":{"type":`...), state), '}')
	}
	return b
}

func (m *Model) appendFormat(b []byte, s *model.Schema) ([]byte, error) {
	if !wire.IsObject(s.JSON) {
		return nil, fmt.Errorf("the schema %s of the answer is no JSON object", s.Name)
	}
	switch m.quirks.Get(quirk.Schema) {
	case quirk.JSONObject:
		return append(b, `,"response_format":{"type":"json_object"}`...), nil
	case quirk.Words:
		return b, nil
	}
	b = wire.AppendString(append(b, `,"response_format":{"type":"json_schema","json_schema":{"name":`...), s.Name)
	b = append(append(b, `,"schema":`...), s.JSON...)
	b = strconv.AppendBool(append(b, `,"strict":`...), s.Strict)
	return append(b, "}}"...), nil
}

// tail is the last message of the user: the reminder, and the schema of the answer
// where the server has to be told of it in words.
func (m *Model) tail(r *model.Request) string {
	if r.Params.Schema == nil || m.quirks.Get(quirk.Schema) == quirk.JSONSchema {
		return r.Tail
	}
	return wire.WithSchema(r.Tail, r.Params.Schema)
}

const messagesKey = `,"messages":[`

// prefix gives the tools and the beginning of the list of messages. The
// system blocks are one message, for many servers' templates take only one.
func (f form) prefix(p *model.Prefix) ([]byte, error) {
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
		b = wire.AppendString(append(b, `{"role":`...), f.system)
		b = wire.AppendString(append(b, `,"content":`...), strings.Join(p.System, "\n\n"))
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
