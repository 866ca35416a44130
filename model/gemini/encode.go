package gemini

import (
	"encoding/base64"
	"fmt"

	"github.com/rosterrun/roster/internal/wire"
	"github.com/rosterrun/roster/message"
)

// encodeMessage gives the content of one message, or nothing if it is empty.
// The first call of a message that has no signature gets the one given.
func encodeMessage(m *message.Message, signature string) ([]byte, error) {
	e := encoder{first: signature}
	open := openUser
	switch m.Role {
	case message.User, message.Tool:
	case message.Assistant:
		open = openModel
	case message.Extension:
		return nil, nil
	default:
		return nil, fmt.Errorf("message %s: %q is no role of a conversation", m.ID, m.Role)
	}
	e.b = []byte(open)
	for _, p := range m.Parts {
		if err := e.part(m.Role, p); err != nil {
			return nil, fmt.Errorf("message %s: %w", m.ID, err)
		}
	}
	e.end()
	if e.parts == 0 {
		return nil, nil
	}
	return append(e.b, bodyEnd...), nil
}

// encoder writes the parts of one message.
type encoder struct {
	b         []byte
	parts     int
	signature string // of the part to come
	first     string // of the first call of a message that has none
	images    []image
}

// image is an image of a result, which stands behind all results.
type image struct {
	of message.ToolResult
	message.Image
}

func (e *encoder) next() {
	if e.parts++; e.parts > 1 {
		e.b = append(e.b, ',')
	}
}

// signed gives the signature of the part that begins.
func (e *encoder) signed() string {
	s := e.signature
	e.signature = ""
	return s
}

func (e *encoder) part(role message.Role, p message.Part) error {
	switch p := p.(type) {
	case message.Text:
		if role != message.Tool {
			if p.Text != "" {
				e.next()
				e.b = appendText(e.b, p.Text, e.signed())
			}
			return nil
		}
	case message.Image:
		if role == message.User {
			return e.image(p)
		}
	case message.Thinking:
		if role == message.Assistant {
			if p.By == signer && p.Signature != "" {
				e.signature, e.first = p.Signature, ""
			}
			return nil
		}
	case message.ToolCall:
		if role == message.Assistant {
			e.call(p)
			return nil
		}
	case message.ToolResult:
		if role == message.Tool {
			return e.result(p)
		}
	}
	return fmt.Errorf("a %T cannot stand in a message of the role %s", p, role)
}

// end writes what has to stand last: images of results, and a signature that
// no part followed.
func (e *encoder) end() {
	if e.signature != "" {
		e.next()
		e.b = appendText(e.b, "", e.signed())
	}
	for i, img := range e.images {
		if i == 0 || e.images[i-1].of.Call != img.of.Call {
			e.next()
			e.b = appendText(e.b, "Images in the result of "+img.of.Name+" ("+img.of.Call+"):", "")
		}
		e.next()
		e.b = appendImage(e.b, img.Image)
	}
}

func (e *encoder) image(p message.Image) error {
	if len(p.Data) == 0 {
		return fmt.Errorf("the image %s was not loaded", p.Blob)
	}
	e.next()
	e.b = appendImage(e.b, p)
	return nil
}

func (e *encoder) call(p message.ToolCall) {
	signature := e.signed()
	if signature == "" {
		signature = e.first
	}
	e.first = ""
	e.next()
	e.b = wire.AppendString(append(e.b, `{"functionCall":{"id":`...), p.ID)
	e.b = wire.AppendString(append(e.b, `,"name":`...), p.Name)
	if args := wire.AppendInput(nil, p.Input); string(args) != "{}" {
		e.b = append(append(e.b, `,"args":`...), args...)
	}
	e.b = appendSignature(append(e.b, '}'), signature)
}

func (e *encoder) result(r message.ToolResult) error {
	for _, p := range r.Parts {
		img, ok := p.(message.Image)
		if !ok {
			continue
		}
		if len(img.Data) == 0 {
			return fmt.Errorf("the image %s was not loaded", img.Blob)
		}
		e.images = append(e.images, image{r, img})
	}
	e.next()
	e.b = wire.AppendString(append(e.b, `{"functionResponse":{"id":`...), r.Call)
	e.b = wire.AppendString(append(e.b, `,"name":`...), r.Name)
	key := "output"
	if r.Error {
		key = "error"
	}
	e.b = append(wire.AppendString(append(e.b, `,"response":{`...), key), ':')
	e.b = append(wire.AppendString(e.b, message.PartsText(r.Parts)), "}}}"...)
	return nil
}

func appendText(b []byte, text, signature string) []byte {
	return appendSignature(wire.AppendString(append(b, `{"text":`...), text), signature)
}

// appendSignature ends a part.
func appendSignature(b []byte, signature string) []byte {
	if signature != "" {
		b = wire.AppendString(append(b, `,"thoughtSignature":`...), signature)
	}
	return append(b, '}')
}

func appendImage(b []byte, p message.Image) []byte {
	b = wire.AppendString(append(b, `{"inlineData":{"mimeType":`...), p.MediaType)
	b = append(b, `,"data":"`...)
	return append(base64.StdEncoding.AppendEncode(b, p.Data), `"}}`...)
}
