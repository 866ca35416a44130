package openaichat

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model/quirk"
)

// form is how a server wants what is kept from call to call.
type form struct {
	name      string // of the renderer
	system    string // role
	reasoning string // the member that takes it back; "": it is not taken back
	nine      bool   // ids of calls are nine letters and digits
}

func formOf(q quirk.Set) form {
	f := form{name: strings.TrimSpace(renderer + " " + q.Text()), system: q.Get(quirk.SystemRole), nine: q.Get(quirk.CallIDs) == quirk.Nine}
	if r := q.Get(quirk.Reasoning); r != quirk.None {
		f.reasoning = r
	}
	return f
}

// id is a call's id as the server takes it.
func (f form) id(id string) string {
	if !f.nine || isNine(id) {
		return id
	}
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	sum := sha256.Sum256([]byte(id))
	n := binary.BigEndian.Uint64(sum[:])
	var short [9]byte
	for i := range short {
		short[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
	return string(short[:])
}

func isNine(id string) bool {
	for i := range len(id) {
		c := id[i]
		if !('0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z') {
			return false
		}
	}
	return len(id) == 9
}

// appendReasoning gives the server back what it thought. Before calls it misses
// the member also where it did not think, or another model did.
func (f form) appendReasoning(b []byte, m *message.Message) []byte {
	if f.reasoning == "" {
		return b
	}
	text := ""
	for _, p := range m.Parts {
		if t, ok := p.(message.Thinking); ok && t.By == "" {
			text += t.Text
		}
	}
	if text == "" && len(m.Calls()) == 0 {
		return b
	}
	b = append(wire.AppendString(append(b, ','), f.reasoning), ':')
	return wire.AppendString(b, text)
}

// message gives the wire form of one message.
func (f form) message(m *message.Message) ([]byte, error) {
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
		return f.assistant(m)
	case message.Tool:
		return f.results(m)
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

func (f form) assistant(m *message.Message) ([]byte, error) {
	b := []byte(`{"role":"assistant"`)
	text := m.Text()
	if text != "" {
		b = wire.AppendString(append(b, `,"content":`...), text)
	}
	b = f.appendReasoning(b, m)
	calls := 0
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.ToolCall:
			if calls++; calls == 1 {
				b = append(b, `,"tool_calls":[`...)
			} else {
				b = append(b, ',')
			}
			b = wire.AppendString(append(b, `{"id":`...), f.id(p.ID))
			b = wire.AppendString(append(b, `,"type":"function","function":{"name":`...), p.Name)
			b = wire.AppendString(append(b, `,"arguments":`...), wire.AppendInput(nil, p.Input))
			b = append(b, "}}"...)
		case message.Text, message.Thinking:
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

// results gives one message for each result, and after them a user's
// message with their images, which a tool message cannot hold.
func (f form) results(m *message.Message) ([]byte, error) {
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
		b = wire.AppendString(append(b, `{"role":"tool","tool_call_id":`...), f.id(r.Call))
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
