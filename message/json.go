package message

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendString appends s as a JSON string. Invalid UTF-8 becomes U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // its only error is the invalid UTF-8, which it has replaced
	return dst
}

// AppendParts appends the canonical JSON of parts: an array of objects that
// each have a "type".
func AppendParts(dst []byte, parts []Part) []byte {
	dst = append(dst, '[')
	for i, p := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendPart(dst, p)
	}
	return append(dst, ']')
}

func appendPart(dst []byte, p Part) []byte {
	switch p := p.(type) {
	case Text:
		dst = append(dst, `{"type":"text","text":`...)
		dst = AppendString(dst, p.Text)
		dst = appendField(dst, "phase", p.Phase)
	case Thinking:
		dst = append(dst, `{"type":"thinking","text":`...)
		dst = AppendString(dst, p.Text)
		dst = appendField(dst, "signature", p.Signature)
		dst = appendField(dst, "redacted", p.Redacted)
		dst = appendField(dst, "by", p.By)
	case Image:
		dst = append(dst, `{"type":"image","media_type":`...)
		dst = AppendString(dst, p.MediaType)
		if len(p.Data) > 0 {
			dst = append(dst, `,"data":"`...)
			dst = base64.StdEncoding.AppendEncode(dst, p.Data)
			dst = append(dst, '"')
		}
		dst = appendField(dst, "blob", p.Blob)
	case ToolCall:
		dst = append(dst, `{"type":"tool_call","call":`...)
		dst = AppendString(dst, p.ID)
		dst = append(dst, `,"name":`...)
		dst = AppendString(dst, p.Name)
		dst = AppendInput(append(dst, ','), p.Input, p.Invalid)
	case ToolResult:
		dst = append(dst, `{"type":"tool_result","call":`...)
		dst = AppendString(dst, p.Call)
		dst = append(dst, `,"name":`...)
		dst = AppendString(dst, p.Name)
		dst = append(dst, `,"parts":`...)
		dst = AppendParts(dst, p.Parts)
		if p.Error {
			dst = append(dst, `,"error":true`...)
		}
		dst = appendField(dst, "artifact", p.Artifact)
	}
	return append(dst, '}')
}

// AppendInput appends the member "input" with the JSON value of a call, or
// "invalid_input" with its text when it is not valid JSON.
func AppendInput(dst, input []byte, invalid bool) []byte {
	if invalid {
		dst = append(dst, `"invalid_input":`...)
		return AppendString(dst, string(input))
	}
	dst = append(dst, `"input":`...)
	if len(input) == 0 {
		return append(dst, "{}"...)
	}
	return append(dst, input...)
}

func appendField(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, `,"`...)
	dst = append(dst, name...)
	dst = append(dst, `":`...)
	return AppendString(dst, value)
}

// partJSON is the union of all parts' members.
type partJSON struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	Phase        string          `json:"phase"`
	Signature    string          `json:"signature"`
	Redacted     string          `json:"redacted"`
	By           string          `json:"by"`
	MediaType    string          `json:"media_type"`
	Data         []byte          `json:"data"`
	Blob         string          `json:"blob"`
	Call         string          `json:"call"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	InvalidInput *string         `json:"invalid_input"`
	Parts        Parts           `json:"parts"`
	Error        bool            `json:"error"`
	Artifact     string          `json:"artifact"`
}

// Parts is a list of parts that encodes to and decodes from its canonical JSON.
type Parts []Part

func (ps Parts) MarshalJSON() ([]byte, error) { return AppendParts(nil, ps), nil }

func (ps *Parts) UnmarshalJSON(data []byte) error {
	var list []partJSON
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*ps = nil
	for _, j := range list {
		p, err := j.decode()
		if err != nil {
			return err
		}
		*ps = append(*ps, p)
	}
	return nil
}

func (j *partJSON) decode() (Part, error) {
	switch j.Type {
	case "text":
		return Text{j.Text, j.Phase}, nil
	case "thinking":
		return Thinking{j.Text, j.Signature, j.Redacted, j.By}, nil
	case "image":
		return Image{j.MediaType, j.Data, j.Blob}, nil
	case "tool_call":
		if j.InvalidInput != nil {
			return ToolCall{j.Call, j.Name, []byte(*j.InvalidInput), true}, nil
		}
		return ToolCall{j.Call, j.Name, j.Input, false}, nil
	case "tool_result":
		return ToolResult{j.Call, j.Name, j.Parts, j.Error, j.Artifact}, nil
	}
	return nil, fmt.Errorf("message: unknown type of part %q", j.Type)
}
