package dialect

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// flow repairs a value that starts with a bracket or a brace.
func (r *repairer) flow(v value) {
	text := r.text[v.from:v.to]
	items, end := flowItems(text)
	if end < 0 && len(items) == 1 {
		r.report(v.from+items[0].from, profile.CodeNotClosed, v.key, fmt.Sprintf("the quote %c is not closed", text[items[0].from]), "close it at the end of the item")
		return
	}
	if end < 0 {
		r.report(v.from, profile.CodeNotClosed, v.key, fmt.Sprintf("%q is not closed", text[:1]), fmt.Sprintf("close it, or quote the value if %q belongs to its text", text[:1]))
		return
	}
	rest := bytes.TrimSpace(text[end+1:])
	if len(rest) > 0 && rest[0] != '#' {
		r.quote(v)
		return
	}
	before := len(r.edits)
	var spots []int
	for _, it := range items {
		if r.flowAccepts(text[it.from:it.to]) {
			continue
		}
		item := text[it.from:it.to]
		if bytes.Count(item, []byte("(")) != bytes.Count(item, []byte(")")) || isQuote(item[0]) || bytes.ContainsAny(item, "\n\"") {
			r.report(v.from+it.from, profile.CodeAmbiguous, v.key, fmt.Sprintf("%s cannot be read as one item", shown(item, 0)), "quote each item")
			r.edits = r.edits[:before]
			return
		}
		spots = append(spots, v.from+it.from)
		r.enclose(v.from+it.from, v.from+it.to)
	}
	if len(spots) == 0 || !r.accepts(v.chunk) {
		r.edits = r.edits[:before]
		r.refuse(v.chunk, v.key)
		return
	}
	for _, at := range spots {
		r.report(at, profile.CodeRepaired, v.key,
			fmt.Sprintf("an item of this list is not YAML: %s; it was read as text", shown(r.lineAt(at), r.columnOf(at))), r.advice(v))
	}
}

// flowAccepts says whether YAML accepts a part of a flow collection.
func (r *repairer) flowAccepts(item []byte) bool {
	if item[0] == '*' && r.anchors && len(item) > 1 {
		return true
	}
	_, err := r.parse(append(append([]byte("["), item...), ']'))
	return err == nil
}

// span is a part of a text, by offsets.
type span struct{ from, to int }

// flowItems gives the plain scalars of a flow collection that starts a text,
// and where it ends; -1: it does not.
func flowItems(text []byte) (items []span, end int) {
	var open []byte
	start := -1
	flush := func(to int) {
		if start < 0 {
			return
		}
		from := start
		start = -1
		item := bytes.TrimRight(text[from:to], " \t\n")
		if open[len(open)-1] == '{' {
			if c := colonAt(item, 0); c >= 0 {
				from += c + 1
				item = item[c+1:]
			}
		}
		trimmed := bytes.TrimLeft(item, " \t\n")
		from += len(item) - len(trimmed)
		if len(trimmed) > 0 && (!isQuote(trimmed[0]) || quotedEnd(trimmed, 0) != len(trimmed)-1) {
			items = append(items, span{from, from + len(trimmed)})
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case isQuote(c) && fresh(text, i):
			n := quotedEnd(text, i)
			if n < 0 || bytes.IndexByte(text[i:n], '\n') >= 0 { // in a text that YAML refuses, it was likely to end before
				return []span{{i, i + 1}}, -1
			}
			if start < 0 {
				start = i
			}
			i = n
		case c == '[' || c == '{':
			start = -1
			if open = append(open, c); len(open) > maxDepth {
				return nil, -1
			}
		case c == ']' || c == '}':
			flush(i)
			if strings.IndexByte("[{", open[len(open)-1]) != strings.IndexByte("]}", c) {
				return nil, -1
			}
			if open = open[:len(open)-1]; len(open) == 0 {
				return items, i
			}
		case c == ',':
			flush(i)
		case start < 0 && c != ' ' && c != '\t' && c != '\n':
			start = i
		}
	}
	return nil, -1
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// fresh says whether a quote opens a text of a flow collection rather than
// standing inside one.
func fresh(text []byte, at int) bool {
	before := bytes.TrimRight(text[:at], " \t\n")
	return len(before) == 0 || strings.IndexByte("[{,:", before[len(before)-1]) >= 0
}
