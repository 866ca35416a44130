package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/source"
)

// maxDepth bounds how deep values nest.
const maxDepth = 200

// decode makes a file of a text. An error is a *Problem.
func decode(name string, data []byte, maxYAML, maxText int) (*file, error) {
	f := &file{name: name}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, f.refused(data, invalidAt(data), "this is not UTF-8 text")
	}
	start := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case len(start) == 0:
		return nil, f.refused(data, 0, "the file is empty")
	case start[0] == '{' || start[0] == '[':
		err := f.json(data)
		if err == nil {
			return f, nil
		}
		if !commented(start) {
			return nil, err
		}
	case start[0] == '<':
		return nil, f.refused(data, 0, "this is a page, and not an OpenAPI document in JSON or YAML")
	}
	if err := f.yaml(data, maxText, min(yamlPiece, maxYAML), maxYAML); err != nil {
		return nil, err
	}
	return f, nil
}

// commented says whether a text that begins as JSON is YAML in braces rather: its
// first key has no quotes, or a comment comes first.
func commented(start []byte) bool {
	i := space(start, 1)
	return i < len(start) && start[i] != '"' && start[i] != '}' && start[i] != ']' && start[0] == '{'
}

func (f *file) refused(data []byte, off int, text string) *Problem {
	line, column := (&file{text: data}).place(min(off, len(data)))
	return &Problem{At: source.Origin{File: f.name, Line: line, Column: column}, Text: text}
}

func invalidAt(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// json takes a text that must be JSON. A key that stands twice is an error: which of
// the two counts, others would answer otherwise.
func (f *file) json(data []byte) error {
	if off := tooDeep(data); off >= 0 {
		return f.refused(data, off, fmt.Sprintf("values nest deeper than %d levels", maxDepth))
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data)) // reads in place
	if err := dec.SkipValue(); err != nil {
		return f.notJSON(data, dec, err)
	}
	if end := space(data, int(dec.InputOffset())); end < len(data) {
		return f.refused(data, end, "more follows after the end of the document")
	}
	f.text = data
	return nil
}

func (f *file) notJSON(data []byte, dec *jsontext.Decoder, err error) error {
	off, text := int(dec.InputOffset()), "this is not JSON: "+err.Error()
	var se *jsontext.SyntacticError
	if errors.As(err, &se) {
		off, text = int(se.ByteOffset), "this is not JSON: "+se.Err.Error()
		if errors.Is(se.Err, jsontext.ErrDuplicateName) {
			text = fmt.Sprintf("the key %q stands twice", se.JSONPointer.LastToken())
		}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		off, text = len(data), "the text ends within a value"
	}
	return f.refused(data, off, text)
}

// tooDeep is the offset at which values nest too deep, or -1.
func tooDeep(text []byte) int {
	depth := 0
	for i := 0; i < len(text); {
		switch text[i] {
		case '"':
			i = closing(text, i)
			continue
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
		i++
	}
	return -1
}
