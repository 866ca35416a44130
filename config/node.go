package config

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

const maxDepth = 100

// item is one key of a map and its value. Its path is dotted, for messages.
type item struct {
	key  string
	path string
	at   source.Origin // of the key
	node *yaml.Node
}

// section decodes the keys of one file.
type section struct {
	*loader
	origin
}

// decode reads one file.
func (l *loader) decode(data []byte, o origin) {
	s := section{l, o}
	if strings.TrimSpace(string(data)) == "" {
		return
	}
	var doc yaml.Node
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))
	if err := yaml.Load(data, &doc, limits); err != nil {
		if onlyComments(string(data)) {
			return
		}
		at, message := s.yamlError(err)
		s.report(CodeInvalidYAML, at, "", message, "")
		return
	}
	if len(doc.Content) > 0 {
		root := item{at: s.at(doc.Content[0]), node: doc.Content[0]}
		if s.models {
			s.declarations(root)
		} else {
			s.root(root)
		}
	}
}

func onlyComments(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

func (s section) yamlError(err error) (source.Origin, string) {
	at := source.Origin{Layer: s.layer, File: s.file}
	var le *yaml.LoadError
	if !errors.As(err, &le) {
		return at, strings.TrimPrefix(err.Error(), "yaml: ")
	}
	if le.Mark.Line > 0 {
		at.Line, at.Column = le.Mark.Line, max(1, le.Mark.Column)
	}
	message := le.Message
	if le.ContextMsg != "" {
		message += " " + le.ContextMsg
	}
	return at, message
}

func (s section) at(n *yaml.Node) source.Origin {
	return source.Origin{Layer: s.layer, File: s.file, Line: n.Line, Column: n.Column}
}

func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	n = deref(n)
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// each calls do for every key of a map; a key that stands twice is reported.
func (s section) each(it item, do func(item)) {
	n := deref(it.node)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		s.wrongType(it, "a map")
		return
	}
	seen := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := deref(n.Content[i])
		sub := item{key: k.Value, path: join(it.path, k.Value), at: s.at(n.Content[i]), node: n.Content[i+1]}
		if k.Kind != yaml.ScalarNode {
			s.report(CodeWrongType, sub.at, it.path, "a key is plain text", "")
			continue
		}
		if line, twice := seen[k.Value]; twice {
			s.report(CodeDuplicate, sub.at, sub.path, fmt.Sprintf("%s stands twice, first in line %d", sub.path, line), "keep one of the two")
			continue
		}
		seen[k.Value] = k.Line
		do(sub)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func (s section) wrongType(it item, want string) {
	got := "a map"
	switch n := deref(it.node); {
	case n.Kind == yaml.SequenceNode:
		got = "a list"
	case isNull(n):
		got = "nothing"
	case n.Kind == yaml.ScalarNode:
		got = strconv.Quote(n.Value)
	}
	s.report(CodeWrongType, s.valueAt(it), it.path, fmt.Sprintf("%s takes %s, not %s", it.path, want, got), "")
}

// valueAt is the place of the value, or of the key if the value is not from a
// file.
func (s section) valueAt(it item) source.Origin {
	if it.node.Line == 0 {
		return it.at
	}
	return s.at(it.node)
}

func (s section) notAllowed(it item, format string, args ...any) {
	s.report(CodeNotAllowed, s.valueAt(it), it.path, fmt.Sprintf(format, args...), "")
}

func (s section) unknown(it item, known ...string) {
	hint := ""
	if near := profile.Nearest(it.key, known, 1); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	} else if len(known) > 0 && len(known) <= 12 {
		hint = "known are " + strings.Join(known, ", ")
	}
	s.report(CodeUnknownKey, it.at, it.path, fmt.Sprintf("unknown key %q", it.path), hint)
}

func value[T any](v T, it item) profile.Value[T] {
	return profile.Value[T]{V: v, Set: true, At: it.at}
}

// texts yields the items of a list, apart from those that are no text, which are
// errors, as anything but a list is. Null is an empty list.
func (s section) texts(it item, what string) iter.Seq2[item, string] {
	return func(yield func(item, string) bool) {
		n := deref(it.node)
		if isNull(n) {
			return
		}
		if n.Kind != yaml.SequenceNode {
			s.wrongType(it, what)
			return
		}
		for _, c := range n.Content {
			sub := item{key: it.key, path: it.path, at: s.at(c), node: c}
			if v, ok := s.text(sub); ok && !yield(sub, v) {
				return
			}
		}
	}
}

func (s section) text(it item) (string, bool) {
	n := deref(it.node)
	if n.Kind != yaml.ScalarNode || isNull(n) || strings.TrimSpace(n.Value) == "" {
		s.wrongType(it, "text")
		return "", false
	}
	return n.Value, true
}

func (s section) oneOf(it item, words ...string) (string, bool) {
	v, ok := s.text(it)
	if !ok {
		return "", false
	}
	for _, w := range words {
		if v == w {
			return v, true
		}
	}
	hint := ""
	if near := profile.Nearest(v, words, 1); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	s.report(CodeNotAllowed, s.valueAt(it), it.path, fmt.Sprintf("%s takes %s, not %q", it.path, strings.Join(words, ", "), v), hint)
	return "", false
}

func (s section) count(it item) (int, bool) {
	n := deref(it.node)
	v, err := strconv.Atoi(strings.ReplaceAll(n.Value, "_", ""))
	if n.Kind != yaml.ScalarNode || err != nil {
		s.wrongType(it, "a whole number")
		return 0, false
	}
	if v < 0 {
		s.notAllowed(it, "%s is %d; it takes 0 or more", it.path, v)
		return 0, false
	}
	return v, true
}

func (s section) price(it item) (float64, bool) {
	const dearest = 1e6
	n := deref(it.node)
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil {
		s.wrongType(it, "a price in US dollars per million tokens")
		return 0, false
	}
	if !(v >= 0 && v <= dearest) { // NaN too
		s.notAllowed(it, "%s is %s; it takes 0 to %g", it.path, n.Value, dearest)
		return 0, false
	}
	return v, true
}

// dollars is an amount that is not nothing.
func (s section) dollars(it item) (float64, bool) {
	const most = 1e9
	n := deref(it.node)
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil || !(v > 0 && v <= most) { // NaN too
		s.wrongType(it, "an amount in US dollars")
		return 0, false
	}
	return v, true
}

func (s section) duration(it item) (time.Duration, bool) {
	n := deref(it.node)
	v, err := time.ParseDuration(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v <= 0 {
		s.wrongType(it, "a time with its unit, such as 90s")
		return 0, false
	}
	return v, true
}
