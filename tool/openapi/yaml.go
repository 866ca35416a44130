package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/source"
)

// yaml takes a text in YAML and makes JSON of it, with the places. The library takes
// some eighty bytes for each of the text, so a long one is read in pieces.
func (f *file) yaml(data []byte, maxText, piece, maxPiece int) error {
	// A text without aliases grows by quotes and escapes only.
	w := yamlWriter{f: f, most: min(maxText, 8*len(data)+4096), piece: piece, maxPiece: maxPiece}
	if len(data) > piece {
		err := w.pieces(data)
		if err == nil {
			f.text, f.marks = w.out, w.marks
		}
		if err == nil || !errors.Is(err, errPiece) || len(data) > maxPiece {
			return err
		}
		w.out, w.marks = nil, nil
	}
	doc, err := w.parse(data, 0)
	if err != nil {
		return err
	}
	if err := w.value(doc, 0); err != nil {
		return err
	}
	f.text, f.marks = w.out, w.marks
	return nil
}

// parse gives the tree of a text that begins after so many lines.
func (w *yamlWriter) parse(text []byte, line int) (*yaml.Node, error) {
	var doc yaml.Node
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))
	w.line = line
	if err := yaml.Load(text, &doc, limits); err != nil {
		p := w.f.notYAML(err)
		if p.At.Line > 0 {
			p.At.Line += line
		}
		return nil, p
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		return doc.Content[0], nil
	}
	return &doc, nil
}

func (f *file) notYAML(err error) *Problem {
	p := &Problem{At: source.Origin{File: f.name}, Text: "this is not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
	var le *yaml.LoadError
	if errors.As(err, &le) {
		p.Text = "this is not YAML: " + le.Message
		if le.ContextMsg != "" {
			p.Text += " " + le.ContextMsg
		}
		if le.Mark.Line > 0 {
			p.At.Line, p.At.Column = le.Mark.Line, max(1, le.Mark.Column)
		}
	}
	return p
}

// yamlWriter writes a tree of YAML as JSON.
type yamlWriter struct {
	f     *file
	out   []byte
	marks []mark
	most  int

	piece, maxPiece int
	line            int // the lines before the text that the tree is of
}

func (w *yamlWriter) fail(n *yaml.Node, format string, args ...any) error {
	return &Problem{At: source.Origin{File: w.f.name, Line: w.line + n.Line, Column: n.Column}, Text: fmt.Sprintf(format, args...)}
}

func (w *yamlWriter) value(n *yaml.Node, depth int) error {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
		depth++ // an alias of what holds it ends here
	}
	if depth > maxDepth {
		return w.fail(n, "values nest deeper than %d levels", maxDepth)
	}
	if len(w.out) > w.most {
		return w.fail(n, "with its aliases the document is more than %d bytes", w.most)
	}
	w.marks = append(w.marks, mark{int32(len(w.out)), int32(w.line + n.Line), int32(n.Column)})
	switch n.Kind {
	case yaml.MappingNode:
		w.out = append(w.out, '{')
		if err := w.members(n, depth, map[string]int{}, false); err != nil {
			return err
		}
		w.out = append(w.out, '}')
		return nil
	case yaml.SequenceNode:
		w.out = append(w.out, '[')
		for i, c := range n.Content {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if err := w.value(c, depth+1); err != nil {
				return err
			}
		}
		w.out = append(w.out, ']')
		return nil
	case yaml.ScalarNode:
		return w.scalar(n)
	}
	w.out = append(w.out, "null"...)
	return nil
}

// members writes those of a map, and then those that are merged into it and that it
// does not have itself.
func (w *yamlWriter) members(n *yaml.Node, depth int, seen map[string]int, merged bool) error {
	if depth > maxDepth {
		return w.fail(n, "values nest deeper than %d levels", maxDepth)
	}
	own := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind == yaml.AliasNode && k.Alias != nil {
			k = k.Alias
		}
		if k.ShortTag() == "!!merge" {
			continue
		}
		if k.Kind != yaml.ScalarNode {
			return w.fail(n.Content[i], "a key is plain text")
		}
		first, have := seen[k.Value]
		if merged {
			first, have = own[k.Value], own[k.Value] > 0
		}
		if have {
			return w.fail(n.Content[i], "the key %q stands twice, first in line %d", k.Value, first)
		}
		own[k.Value] = w.line + n.Content[i].Line
		if seen[k.Value] > 0 {
			continue
		}
		if err := w.member(n.Content[i], k.Value, n.Content[i+1], depth, len(seen) > 0); err != nil {
			return err
		}
		seen[k.Value] = w.line + n.Content[i].Line
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].ShortTag() == "!!merge" {
			if err := w.merge(n.Content[i+1], depth+1, seen); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *yamlWriter) member(at *yaml.Node, key string, value *yaml.Node, depth int, more bool) error {
	w.key(at, key, more)
	return w.value(value, depth+1)
}

// key writes that of a member; more: others stand before it.
func (w *yamlWriter) key(at *yaml.Node, key string, more bool) {
	if more {
		w.out = append(w.out, ',')
	}
	w.marks = append(w.marks, mark{int32(len(w.out)), int32(w.line + at.Line), int32(at.Column)})
	w.quoted(key)
	w.out = append(w.out, ':')
}

func (w *yamlWriter) merge(n *yaml.Node, depth int, seen map[string]int) error {
	for n.Kind == yaml.AliasNode && n.Alias != nil {
		n = n.Alias
		depth++
	}
	if depth > maxDepth {
		return w.fail(n, "values nest deeper than %d levels", maxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		return w.members(n, depth, seen, true)
	case yaml.SequenceNode:
		for _, c := range n.Content {
			if err := w.merge(c, depth+1, seen); err != nil {
				return err
			}
		}
		return nil
	}
	return w.fail(n, "only maps can be merged into a map")
}

func (w *yamlWriter) quoted(s string) {
	quoted, _ := json.Marshal(s) // a string always can
	w.out = append(w.out, quoted...)
}

// scalar writes a value in JSON's words where it has them, and else its text, as of
// dates.
func (w *yamlWriter) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		w.out = append(w.out, "null"...)
		return nil
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil {
			w.out = strconv.AppendBool(w.out, b)
			return nil
		}
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) { // a number as JSON writes it
			w.out = append(w.out, n.Value...)
			return nil
		}
		var v any
		if n.Decode(&v) == nil {
			if text, err := json.Marshal(v); err == nil { // not an infinity
				w.out = append(w.out, text...)
				return nil
			}
		}
	}
	w.quoted(n.Value)
	return nil
}
