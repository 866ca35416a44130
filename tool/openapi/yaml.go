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

// yaml takes a text in YAML and makes JSON of it, with the places.
func (f *file) yaml(data []byte, maxText int) error {
	var doc yaml.Node
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))
	if err := yaml.Load(data, &doc, limits); err != nil {
		return f.notYAML(err)
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		doc = *doc.Content[0]
	}
	// A text without aliases grows by quotes and escapes only.
	w := yamlWriter{f: f, most: min(maxText, 8*len(data)+4096)}
	if err := w.value(&doc, 0); err != nil {
		return err
	}
	f.text, f.marks = w.out, w.marks
	return nil
}

func (f *file) notYAML(err error) error {
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
}

func (w *yamlWriter) fail(n *yaml.Node, format string, args ...any) error {
	return &Problem{At: source.Origin{File: w.f.name, Line: n.Line, Column: n.Column}, Text: fmt.Sprintf(format, args...)}
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
	w.marks = append(w.marks, mark{int32(len(w.out)), int32(n.Line), int32(n.Column)})
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
		if line, twice := own[k.Value]; twice {
			return w.fail(n.Content[i], "the key %q stands twice, first in line %d", k.Value, line)
		}
		own[k.Value] = n.Content[i].Line
		if _, have := seen[k.Value]; have && merged {
			continue
		}
		if err := w.member(n.Content[i], k.Value, n.Content[i+1], depth, len(seen) > 0); err != nil {
			return err
		}
		seen[k.Value] = n.Content[i].Line
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
	if more {
		w.out = append(w.out, ',')
	}
	w.marks = append(w.marks, mark{int32(len(w.out)), int32(at.Line), int32(at.Column)})
	w.quoted(key)
	w.out = append(w.out, ':')
	return w.value(value, depth+1)
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
