package anthropic

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
)

// encodeMessage gives the wire form of one message, or nothing where the API
// would refuse what is left of it.
func encodeMessage(m *message.Message) ([]byte, error) {
	parts, b := m.Parts, []byte(openUser)
	switch m.Role {
	case message.User, message.Tool:
	case message.Assistant:
		parts, b = withoutLastThoughts(parts), []byte(openAssistant)
	case message.Extension:
		return nil, nil
	default:
		return nil, fmt.Errorf("message %s: %q is no role of a conversation", m.ID, m.Role)
	}
	blocks := 0
	for _, p := range parts {
		if !sendable(p) {
			continue
		}
		if blocks++; blocks > 1 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendPart(b, m.Role, p); err != nil {
			return nil, fmt.Errorf("message %s: %w", m.ID, err)
		}
	}
	if blocks == 0 {
		return nil, nil
	}
	return append(b, shut...), nil
}

// withoutLastThoughts drops thinking that nothing follows, which an answer that
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

// sendable says whether the API takes a part: it refuses blank text and
// thinking that it did not sign.
func sendable(p message.Part) bool {
	switch p := p.(type) {
	case message.Text:
		return !blank(p.Text)
	case message.Thinking:
		return (p.Signature != "" || p.Redacted != "") && (p.By == signer || p.By == "") // older logs do not name it
	}
	return true
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func appendPart(b []byte, role message.Role, p message.Part) ([]byte, error) {
	switch p := p.(type) {
	case message.Text:
		if role != message.Tool {
			return appendText(b, p.Text), nil
		}
	case message.Image:
		if role == message.User {
			return appendImage(b, p)
		}
	case message.Thinking:
		if role == message.Assistant {
			return appendThinking(b, p), nil
		}
	case message.ToolCall:
		if role == message.Assistant {
			b = appendID(append(b, `{"type":"tool_use","id":`...), p.ID)
			b = appendID(append(b, `,"name":`...), p.Name)
			return append(wire.AppendInput(append(b, `,"input":`...), p.Input), '}'), nil
		}
	case message.ToolResult:
		if role == message.Tool {
			return appendResult(b, p)
		}
	}
	return nil, fmt.Errorf("a %T cannot stand in a message of the role %s", p, role)
}

func appendText(b []byte, text string) []byte {
	return append(wire.AppendString(append(b, `{"type":"text","text":`...), text), '}')
}

func appendImage(b []byte, p message.Image) ([]byte, error) {
	if len(p.Data) == 0 {
		return nil, fmt.Errorf("the image %s was not loaded", p.Blob)
	}
	b = append(b, `{"type":"image","source":{"type":"base64","media_type":`...)
	b = append(wire.AppendString(b, p.MediaType), `,"data":"`...)
	return append(base64.StdEncoding.AppendEncode(b, p.Data), `"}}`...), nil
}

func appendThinking(b []byte, p message.Thinking) []byte {
	if p.Redacted != "" {
		return append(wire.AppendString(append(b, `{"type":"redacted_thinking","data":`...), p.Redacted), '}')
	}
	b = wire.AppendString(append(b, `{"type":"thinking","thinking":`...), p.Text)
	return append(wire.AppendString(append(b, `,"signature":`...), p.Signature), '}')
}

func appendResult(b []byte, r message.ToolResult) ([]byte, error) {
	b = appendID(append(b, `{"type":"tool_result","tool_use_id":`...), r.Call)
	blocks := 0
	for _, p := range r.Parts {
		if !sendable(p) {
			continue
		}
		b = append(b, separator(blocks, `,"content":[`)...)
		blocks++
		switch p := p.(type) {
		case message.Text:
			b = appendText(b, p.Text)
		case message.Image:
			var err error
			if b, err = appendImage(b, p); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("a %T cannot stand in a result", p)
		}
	}
	if blocks == 0 && r.Error { // the API refuses an error without content
		b = appendText(append(b, `,"content":[`...), "error")
		blocks++
	}
	if blocks > 0 {
		b = append(b, ']')
	}
	if r.Error {
		b = append(b, `,"is_error":true`...)
	}
	return append(b, '}'), nil
}

// appendID appends the id or name of a call. The API takes letters, digits, _
// and - in them; other providers, whose calls a conversation may hold, take
// more.
func appendID(b []byte, id string) []byte {
	return wire.AppendString(b, strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, id))
}
