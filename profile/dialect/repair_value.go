package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// value is what stands behind one key or dash.
type value struct {
	chunk
	key      string // the key, or the one above the list
	from, to int    // its first byte, and the end of its last line
	last     int    // its rows end before this one; comments and blank lines below it are none of it
}

func (v value) rows() int { return v.last - v.first }

// entry repairs a block that YAML refuses, or reports why it cannot be.
func (r *repairer) entry(b chunk) {
	h, ok := headOf(r.text, b.at, r.rows[b.first].to, b.level)
	if !ok {
		r.refuse(b, "")
		return
	}
	v := r.valueOf(b, h, h.key)
	if !r.tabs(v) || r.accepts(b) {
		return
	}
	if !h.item && r.quoteKey(h) && r.accepts(b) {
		return
	}
	r.value(v)
}

func (r *repairer) valueOf(b chunk, h head, key string) value {
	v := value{chunk: b, key: key, from: h.value, last: b.last}
	for v.last > b.first+1 && (r.rows[v.last-1].blank || r.rows[v.last-1].comment) {
		v.last--
	}
	end := r.rows[v.last-1]
	v.to = end.from + len(bytes.TrimRight(r.text[end.from:end.to], " \t"))
	v.to = max(v.to, v.from)
	return v
}

// value repairs what stands behind a key or dash.
func (r *repairer) value(v value) {
	line := bytes.TrimRight(r.text[v.from:r.rows[v.first].to], " \t\r")
	if len(line) == 0 || line[0] == '#' {
		r.below(v)
		return
	}
	switch c := line[0]; {
	case c == '"' || c == '\'':
		r.quoted(v)
	case c == '[' || c == '{':
		r.flow(v)
	case (c == '|' || c == '>') && isBlockHeader(line):
		r.literal(v)
	case (c == '|' || c == '>') && (v.rows() > 1 || len(line) > 1 && line[1] == ' '):
		r.report(v.from, profile.CodeAmbiguous, v.key, fmt.Sprintf("text follows %q in its line", c), fmt.Sprintf("start the text in the line below, or quote all of it if %q belongs to it", c))
	case c == '-' && (len(line) == 1 || line[1] == ' '):
		r.report(v.from, profile.CodeAmbiguous, v.key, "a list cannot start in the line of its key", "put each item on a line of its own, or quote the value if it is text")
	case c == '*' && r.anchors:
		r.report(v.from, profile.CodeAmbiguous, v.key, fmt.Sprintf("%s refers to no anchor", shown(line, 0)), "name an anchor of this file, or quote the value")
	default:
		r.quote(v)
	}
}

func isBlockHeader(line []byte) bool {
	rest := bytes.TrimLeft(line[1:], "-+0123456789")
	rest = bytes.TrimLeft(rest, " \t")
	return len(rest) == 0 || rest[0] == '#'
}

// literal reports what is wrong with a text below | or >. Most texts are
// indented by two spaces.
func (r *repairer) literal(v value) {
	const less, more = "the line is indented less than the text above it", "the line is indented more than the text below it"
	var text []row
	for _, w := range r.rows[v.first+1 : v.chunk.last] {
		if !w.blank {
			text = append(text, w)
		}
	}
	if bytes.ContainsAny(r.text[v.from:r.rows[v.first].to], "0123456789") {
		r.report(v.from, profile.CodeInvalidYAML, v.key, "the text below is not indented as far as this number says", "remove the number")
		return
	}
	for i, w := range text {
		if w.indent == 0 || w.indent >= text[0].indent {
			continue
		}
		odd, why := w, less
		if i == 1 && text[0].indent != v.indent+2 && !slices.ContainsFunc(text[i:], func(o row) bool { return o.indent != w.indent }) {
			odd, why = text[0], more
		}
		r.report(r.start(odd), profile.CodeInvalidYAML, v.key, why, "indent all of the text alike")
		return
	}
	r.refuse(v.chunk, v.key)
}

// refuse reports a block with YAML's own words.
func (r *repairer) refuse(b chunk, key string) {
	_, err := r.node(b)
	msg, at := "this cannot be read as YAML", b.at
	if odd := bytes.IndexAny(r.text[b.at:r.rows[b.last-1].to], oddBreaks); odd >= 0 {
		r.oddBreak(b.at+odd, key)
		return
	}
	var le *yaml.LoadError
	if errors.As(err, &le) {
		msg = le.Message
		if le.ContextMsg != "" {
			msg += " " + le.ContextMsg
		}
		if m := markOf(le); m.Line > 0 {
			at = r.offset(b, m.Line, m.Column)
		}
	}
	r.report(at, profile.CodeInvalidYAML, key, msg, hintFor(r.lineAt(at), msg))
}

func (r *repairer) oddBreak(at int, key string) {
	c, _ := utf8.DecodeRune(r.text[at:])
	r.report(at, profile.CodeInvalidYAML, key, fmt.Sprintf("the character %U ends the line for YAML, and the rest of it fits nothing", c),
		"remove it, or put the value in double quotes and escape it")
}

// offset finds a place of a block as YAML counts it.
func (r *repairer) offset(b chunk, line, column int) int {
	part := r.text[b.at:r.rows[b.last-1].to]
	if line == 1 && b.level > 0 {
		column -= b.indent
	}
	starts := yamlLines(part)
	from := starts[min(line, len(starts))-1]
	at := b.at + from + runes(part[from:], column-1)
	if line > len(starts) || at >= b.at+len(part) { // at the end: name the last line with text
		at = b.at + len(bytes.TrimRight(part, " \t\r\n"))
	}
	return at
}

func (r *repairer) lineAt(at int) []byte {
	i, _ := slices.BinarySearchFunc(r.rows, at, func(w row, at int) int {
		if w.to < at {
			return -1
		}
		return 1
	})
	i = min(i, len(r.rows)-1)
	return r.text[r.rows[i].from:r.rows[i].to]
}

// start gives where the text of a row starts.
func (r *repairer) start(w row) int {
	return w.to - len(bytes.TrimLeft(r.text[w.from:w.to], " \t"))
}

// tabs reads leading tabs as spaces where that can mean only one thing: none
// of the lines of the block is indented with spaces. It is false for a block
// that was reported.
func (r *repairer) tabs(v value) bool {
	first, mixed := -1, false
	var edits []edit
	for _, w := range r.rows[v.first+1 : v.chunk.last] {
		lead := r.text[w.from:r.start(w)]
		n := bytes.Count(lead, []byte("\t"))
		mixed = mixed || !w.blank && n < len(lead)
		if n == 0 || w.blank {
			continue
		}
		if first < 0 {
			first = w.from
		}
		edits = append(edits, edit{w.from, w.from + len(lead), strings.Repeat(" ", w.indent)})
	}
	if first < 0 || v.level > 0 && len(r.edits) > 0 && r.covered(first) {
		return true
	}
	if mixed {
		if plainStart(r.text, v.from, r.rows[v.first].to) {
			return true // in a text over several lines the white space has no meaning
		}
		r.report(first, profile.CodeInvalidYAML, v.key, "this block is indented with tabs and with spaces", "indent with spaces")
		return false
	}
	r.edits = append(r.edits, edits...)
	r.report(first, profile.CodeTabs, v.key, fmt.Sprintf("tabs indent this block, which YAML refuses; each was read as %d spaces", tabWidth), "indent with spaces")
	return true
}

func (r *repairer) covered(at int) bool {
	return slices.ContainsFunc(r.edits, func(e edit) bool { return e.from <= at && at < e.to })
}

// plainStart says whether a value in the line of its key starts a plain text.
func plainStart(text []byte, from, to int) bool {
	line := bytes.TrimSpace(text[from:to])
	return len(line) > 0 && !strings.ContainsRune(`"'[{|>#&!*`, rune(line[0]))
}

// quoteKey quotes a key that starts with what starts no key in YAML.
func (r *repairer) quoteKey(h head) bool {
	if !strings.ContainsRune("*@`%", rune(r.text[h.from])) || r.anchors && r.text[h.from] == '*' || strings.ContainsAny(h.key, `"\`) {
		return false
	}
	end := h.from + len(h.key)
	r.edits = append(r.edits, edit{h.from, h.from, `"`}, edit{end, end, `"`})
	r.report(h.from, profile.CodeRepaired, h.key, fmt.Sprintf("YAML refuses a key that starts with %q; it was read as the key %q", h.key[:1], h.key), fmt.Sprintf("write %q:", h.key))
	return true
}

// below repairs a list, a map or a text that stands below its key.
func (r *repairer) below(v value) {
	first := v.first + 1
	for first < v.last && (r.rows[first].blank || r.rows[first].comment) {
		first++
	}
	if first >= v.last || v.level >= maxRepairLevel {
		r.refuse(v.chunk, v.key)
		return
	}
	w := r.rows[first]
	r.nested(v, chunk{first: first, last: v.last, at: r.start(w), indent: w.indent, level: v.level + 1})
}

// nested repairs a block of which the first row may start with the dash of the
// list that it is an item of.
func (r *repairer) nested(v value, b chunk) {
	parts, odd := r.divide(b)
	if odd >= 0 {
		w := r.rows[odd]
		r.report(r.start(w), profile.CodeInvalidYAML, v.key, "the line is indented less than the lines above it that it belongs to", "indent it like them")
		return
	}
	switch kind, odd := r.kind(v.key, parts); {
	case odd >= 0:
		r.report(parts[odd].at, profile.CodeAmbiguous, v.key, fmt.Sprintf("%s is neither a key nor an item like the lines beside it", shown(r.lineAt(parts[odd].at)[r.columnOf(parts[odd].at):], 0)),
			"write it like them, indent it below the one that it belongs to, or quote the whole as one text")
	case kind == ofText:
		text := value{chunk: b, key: v.key, from: b.at, last: b.last}
		end := r.rows[b.last-1]
		text.to = end.from + len(bytes.TrimRight(r.text[end.from:end.to], " \t"))
		r.quote(text)
	default:
		for _, p := range parts {
			if !r.accepts(p) && !r.spent() {
				r.part(v, p, kind)
			}
		}
	}
	if !r.refused() && !r.accepts(v.chunk) {
		r.refuse(v.chunk, v.key)
	}
}

// divide splits a block at the rows that start where it starts. odd is a row
// that is indented less; -1: there is none.
func (r *repairer) divide(b chunk) (parts []chunk, odd int) {
	parts = []chunk{{first: b.first, last: b.first + 1, at: b.at, indent: b.indent, level: b.level}}
	top, keyed := headOf(r.text, b.at, r.rows[b.first].to, b.level)
	for i := b.first + 1; i < b.last; i++ {
		w := r.rows[i]
		if !w.blank && !w.comment && w.indent < b.indent {
			return parts, i
		}
		if !w.blank && !w.comment && w.indent == b.indent && !r.belongs(w, keyed && !top.item) {
			parts = append(parts, chunk{first: i, last: i + 1, at: r.start(w), indent: b.indent, level: b.level})
			continue
		}
		parts[len(parts)-1].last = i + 1
	}
	return parts, -1
}

// belongs says whether a row is part of what stands above it though it is not
// indented more: the end of a flow collection, or an item below a key.
func (r *repairer) belongs(w row, inMap bool) bool {
	if len(bytes.Trim(r.text[w.from:w.to], "]}, \t")) == 0 {
		return true
	}
	h, ok := headOf(r.text, r.start(w), w.to, 0)
	return inMap && ok && h.item
}

type blockKind int

const (
	ofText blockKind = iota
	ofItems
	ofKeys
)

// kind says what a block is by how its parts start, and which part does not
// fit; -1: all do.
func (r *repairer) kind(key string, parts []chunk) (kind blockKind, odd int) {
	kinds := make([]blockKind, len(parts))
	count := map[blockKind]int{}
	for i, p := range parts {
		if h, ok := headOf(r.text, p.at, r.rows[p.first].to, p.level); ok {
			kinds[i] = ofKeys
			if h.item {
				kinds[i] = ofItems
			}
		}
		count[kinds[i]]++
	}
	switch {
	case count[ofItems] == len(parts):
		return ofItems, -1
	case count[ofText] == len(parts), isTextKey(key):
		return ofText, -1
	case count[ofItems] > count[ofKeys]:
		kind = ofItems
	default:
		kind = ofKeys
	}
	return kind, slices.IndexFunc(kinds, func(k blockKind) bool { return k != kind })
}

// part repairs one key or one item of a block.
func (r *repairer) part(v value, p chunk, kind blockKind) {
	if kind == ofKeys {
		r.entry(p)
		return
	}
	h, _ := headOf(r.text, p.at, r.rows[p.first].to, p.level)
	item := r.valueOf(p, h, v.key)
	if !r.tabs(item) || r.accepts(p) {
		return
	}
	inner, ok := headOf(r.text, h.value, r.rows[p.first].to, 0)
	if ok && !inner.item && p.level < maxRepairLevel && r.continues(item, p.indent+h.value-p.at) {
		r.nested(item, chunk{first: p.first, last: item.last, at: h.value, indent: p.indent + h.value - p.at, level: p.level + 1})
		return
	}
	r.value(item)
}

// continues says whether further rows of an item start in a column and look
// like keys, so that the item is a map.
func (r *repairer) continues(v value, column int) bool {
	for _, w := range r.rows[v.first+1 : v.last] {
		if w.indent == column && !w.blank && !w.comment {
			h, ok := headOf(r.text, r.start(w), w.to, 0)
			return ok && !h.item
		}
	}
	return false
}
