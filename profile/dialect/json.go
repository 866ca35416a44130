package dialect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// jsonReader makes nodes with their places of JSON text. The YAML parser is no
// help: it refuses the surrogate pairs that JSON writers make of emoji.
type jsonReader struct {
	data []byte
	dec  *json.Decoder

	at     int // where line and column are counted to
	line   int
	column int // in characters, from 1
}

// parseJSON gives the value of a JSON file, or what keeps it from being read.
func parseJSON(file string, data []byte) (*yaml.Node, *profile.Diagnostic) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if bad := firstInvalid(data); bad >= 0 {
		d := profile.Diagnose(profile.CodeNotUTF8, source.Origin{File: file, Line: 1 + bytes.Count(data[:bad], []byte("\n")), Column: 1},
			"", fmt.Sprintf("the file is not UTF-8 at byte %d", bad), "save it as UTF-8")
		return nil, &d
	}
	r := &jsonReader{data: data, dec: json.NewDecoder(bytes.NewReader(data)), line: 1, column: 1}
	r.dec.UseNumber()
	n, err := r.value(0)
	if err == nil {
		if rest := bytes.TrimLeft(data[r.dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
			r.advance(len(data) - len(rest))
			err = errors.New("text follows the end of the JSON value")
		}
	}
	if err == nil {
		return n, nil
	}
	d := r.diagnose(file, err)
	return nil, &d
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

var errDepth = errors.New("too deep")

func (r *jsonReader) diagnose(file string, err error) profile.Diagnostic {
	var se *json.SyntaxError
	if errors.As(err, &se) && int(se.Offset)-1 >= r.at {
		r.advance(int(se.Offset) - 1)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.advance(len(bytes.TrimRight(r.data, " \t\r\n")))
		err = errors.New("the JSON value is not complete")
	}
	at := source.Origin{File: file, Line: r.line, Column: r.column}
	if errors.Is(err, errDepth) {
		return profile.Diagnose(profile.CodeTooDeep, at, "", fmt.Sprintf("the file nests deeper than %d levels", maxDepth), "")
	}
	return profile.Diagnose(profile.CodeInvalidYAML, at, "", "the file is not valid JSON: "+err.Error(), "")
}

// advance counts lines and columns up to an offset.
func (r *jsonReader) advance(to int) {
	to = min(to, len(r.data))
	if to <= r.at {
		return
	}
	text := r.data[r.at:to]
	if n := bytes.Count(text, []byte("\n")); n > 0 {
		r.line += n
		r.column = 1
		text = text[bytes.LastIndexByte(text, '\n')+1:]
	}
	r.column += utf8.RuneCount(text)
	r.at = to
}

// place moves to the next token.
func (r *jsonReader) place() (line, column int) {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && strings.IndexByte(" \t\r\n,:", r.data[at]) >= 0 {
		at++
	}
	if at < len(r.data) {
		r.advance(at)
	}
	return r.line, r.column
}

func (r *jsonReader) value(depth int) (*yaml.Node, error) {
	line, column := r.place()
	if depth > maxDepth {
		return nil, errDepth
	}
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: line, Column: column}
	switch v := tok.(type) {
	case string:
		n.Tag, n.Value, n.Style = "!!str", v, yaml.DoubleQuotedStyle
	case json.Number:
		n.Tag, n.Value = "!!float", v.String()
		if _, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
			n.Tag = "!!int"
		}
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(v)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case json.Delim:
		return n, r.compound(n, v, depth)
	}
	return n, nil
}

// compound reads the items of a list, or the keys and values of a map, and the
// bracket that ends them.
func (r *jsonReader) compound(n *yaml.Node, open json.Delim, depth int) error {
	n.Kind, n.Tag, n.Style = yaml.SequenceNode, "!!seq", yaml.FlowStyle
	if open == '{' {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	for r.dec.More() {
		item, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, item)
	}
	_, err := r.dec.Token()
	return err
}

// toJSON writes a node as JSON. It fails for what JSON cannot hold: a tag of
// one's own, an infinite number, an alias that was not written out.
func toJSON(n *yaml.Node) (json.RawMessage, error) {
	switch n.Kind {
	case yaml.ScalarNode:
		return scalarJSON(n)
	case yaml.SequenceNode:
		items := []json.RawMessage{}
		for _, c := range n.Content {
			item, err := toJSON(c)
			if err != nil {
				return nil, err
			}
			items = append(items, item)
		}
		return marshal(items)
	case yaml.MappingNode:
		var o object
		for i := 0; i+1 < len(n.Content); i += 2 {
			value, err := toJSON(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			o.raw(n.Content[i].Value, value)
		}
		return o.bytes(), nil
	}
	return nil, errors.New("not a value of JSON")
}

func scalarJSON(n *yaml.Node) (json.RawMessage, error) {
	switch n.ShortTag() {
	case "!!str", "!!timestamp":
		return marshal(n.Value)
	case "!!null":
		return json.RawMessage("null"), nil
	case "!!bool":
		if b, ok := parseBool(n); ok {
			return marshal(b)
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.RawMessage(n.Value), nil
		}
		if v, err := strconv.ParseInt(n.Value, 0, 64); err == nil {
			return marshal(v)
		}
		if v, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return marshal(v)
		}
	}
	return nil, fmt.Errorf("%s is not a value of JSON", shorten(n.Value))
}

// marshal keeps <, > and & as they are.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// object is a JSON object whose keys keep the order in which they were added.
type object struct{ b bytes.Buffer }

func (o *object) raw(key string, value json.RawMessage) {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	k, err := marshal(key)
	if err != nil {
		panic(fmt.Sprintf("a text is no JSON: %v", err))
	}
	o.b.Write(k)
	o.b.WriteByte(':')
	o.b.Write(value)
}

// add writes a value that JSON can hold.
func (o *object) add(key string, v any) {
	value, err := marshal(v)
	if err != nil {
		panic(fmt.Sprintf("%s is no JSON: %v", key, err))
	}
	o.raw(key, value)
}

func (o *object) bytes() json.RawMessage {
	return json.RawMessage("{" + o.b.String() + "}")
}
