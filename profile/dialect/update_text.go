package dialect

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// block is a map in block style: keys that each start a line, one below the
// other. Lines are those of the whole text, each with its end; from and to are
// indexes into them.
type block struct {
	lines    [][]byte
	entries  []blockEntry
	indent   int
	from, to int
	places   map[string]int // of the entries, once one was looked for
}

type blockEntry struct {
	key     string // native spelling
	written string
	line    int // index
	node    *yaml.Node
	renamed bool // the file writes it under another name
}

// topBlock gives the keys of a frontmatter. It fails if one does not start its
// line, or shares it.
func topBlock(d *document, lines [][]byte) (block, bool) {
	b := block{lines: lines, from: d.front.YAMLLine - 1, to: d.front.BodyLine - 2}
	if d.broken || b.to > len(lines) {
		return b, false
	}
	for _, f := range d.fields {
		if f.at.Column != 1 {
			return b, false
		}
		b.entries = append(b.entries, blockEntry{key: f.key, written: f.written, line: f.at.Line - 1, node: f.node})
	}
	return b, b.ordered()
}

// ordered says whether each entry has lines of its own, in order.
func (b *block) ordered() bool {
	last := b.from - 1
	for _, e := range b.entries {
		if e.line <= last || e.line >= b.to {
			return false
		}
		last = e.line
	}
	return true
}

func (b *block) find(key string) int {
	if b.places == nil {
		b.places = make(map[string]int, len(b.entries))
		for i, e := range slices.Backward(b.entries) {
			b.places[e.key] = i
		}
	}
	if i, ok := b.places[key]; ok {
		return i
	}
	return -1
}

// whole gives the lines from an entry to the next.
func (b *block) whole(i int) (from, to int) {
	if i+1 < len(b.entries) {
		return b.entries[i].line, b.entries[i+1].line
	}
	return b.entries[i].line, b.to
}

// span gives the lines of an entry without the blank lines and comments that
// stand between it and what follows.
func (b *block) span(i int) (from, to int) {
	from, to = b.whole(i)
	for to > from+1 {
		line := bytes.TrimRight(b.lines[to-1], "\r\n \t")
		comment := bytes.TrimLeft(line, " ")
		if len(line) > 0 && (len(comment) == 0 || comment[0] != '#' || len(line)-len(comment) > b.indent) {
			break
		}
		to--
	}
	return from, to
}

// text gives the lines of an entry as they are written.
func (b *block) text(i int) []byte {
	from, to := b.whole(i)
	return bytes.Join(b.lines[from:to], nil)
}

// same says whether a key is written alike in both.
func (b *block) same(key string, other *block) bool {
	i, j := b.find(key), other.find(key)
	if i < 0 || j < 0 {
		return i == j
	}
	return bytes.Equal(b.text(i), other.text(j))
}

// changed ranges over the keys that are written differently in the other block,
// or in one of them only: those of b in their order, then the others.
func (b *block) changed(other *block) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, e := range b.entries {
			if !b.same(e.key, other) && !yield(e.key) {
				return
			}
		}
		for _, e := range other.entries {
			if b.find(e.key) < 0 && !yield(e.key) {
				return
			}
		}
	}
}

// inner gives the map that is an entry's value, if it is in block style.
func (b *block) inner(i int) (block, bool) {
	n := b.entries[i].node
	if n == nil || n.Kind != yaml.MappingNode || n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 || n.Anchor != "" {
		return block{}, false
	}
	from, to := b.span(i)
	in := block{lines: b.lines, from: from + 1, to: to, indent: n.Content[0].Column - 1}
	// Places in a frontmatter count its own lines: those of a node and of its
	// key differ by the same number.
	first := n.Content[0].Line
	for j := 0; j+1 < len(n.Content); j += 2 {
		k := n.Content[j]
		if k.Kind != yaml.ScalarNode || k.Column-1 != in.indent || k.Anchor != "" {
			return block{}, false
		}
		in.entries = append(in.entries, blockEntry{key: kebab(k.Value), written: k.Value, line: k.Line - first, node: n.Content[j+1]})
	}
	start := slices.IndexFunc(b.lines[in.from:in.to], func(line []byte) bool {
		t := bytes.TrimLeft(line, " ")
		return len(bytes.TrimSpace(t)) > 0 && t[0] != '#'
	})
	if start < 0 {
		return block{}, false
	}
	for j := range in.entries {
		in.entries[j].line += in.from + start
	}
	return in, in.indent > b.indent && in.ordered()
}

// textEdit collects changes of a text's lines.
type textEdit struct {
	lines  [][]byte
	eol    string
	coarse bool // a value is replaced as a whole
	edits  []lineEdit
}

// lineEdit puts text in the place of the lines from from to to. indent is that
// of the keys.
type lineEdit struct {
	from, to, indent int
	text             []byte
}

// order puts what is inserted before a line before what changes the line, and
// what belongs to an inner map before what belongs to the one around it.
func (e lineEdit) order(o lineEdit) int {
	return cmp.Or(e.from-o.from, min(1, e.to-e.from)-min(1, o.to-o.from), o.indent-e.indent)
}

// merge notes what must change in the file for what differs between two
// writings of its keys.
func (t *textEdit) merge(file, before, after block) {
	for key := range before.changed(&after) {
		i, o, n := file.find(key), before.find(key), after.find(key)
		switch {
		case i < 0 && n >= 0:
			t.insert(file, after, n)
		case i < 0:
		case n < 0:
			from, to := file.span(i)
			t.edits = append(t.edits, lineEdit{from: from, to: to, indent: file.indent})
		case o >= 0 && t.mergeInner(file, before, after, i, o, n):
		default:
			t.replace(file, after, i, n)
		}
	}
}

// mergeInner does the same inside a value, if it is such a map everywhere. A new
// key comes last there; where the order has a meaning, that shows when the text
// is read again.
func (t *textEdit) mergeInner(file, before, after block, i, o, n int) bool {
	f, ok1 := file.inner(i)
	b, ok2 := before.inner(o)
	a, ok3 := after.inner(n)
	if !ok1 || !ok2 || !ok3 || file.entries[i].renamed || t.coarse {
		return false
	}
	t.merge(f, b, a)
	return true
}

func (t *textEdit) insert(file, after block, n int) {
	at := file.to
	if file.indent > 0 {
		_, at = file.span(len(file.entries) - 1)
	}
	t.edits = append(t.edits, lineEdit{from: at, to: at, indent: file.indent, text: t.entry(file.indent, after, n, nil)})
}

func (t *textEdit) replace(file, after block, i, n int) {
	from, to := file.span(i)
	var key []byte
	if !file.entries[i].renamed {
		key = keyPrefix(file.lines[from], file.entries[i].written)
	}
	text := t.entry(file.indent, after, n, key)
	if to == from+1 && bytes.Count(text, []byte("\n")) == 1 {
		if c := lineComment(file.lines[from], file.entries[i].node); c != "" {
			text = append(bytes.TrimRight(text, "\r\n"), c+t.eol...)
		}
	}
	t.edits = append(t.edits, lineEdit{from: from, to: to, indent: file.indent, text: text})
}

// entry gives the lines of an entry at another indent, and led by the key as it
// is given, if it is.
func (t *textEdit) entry(indent int, b block, i int, key []byte) []byte {
	var out bytes.Buffer
	from, to := b.whole(i)
	for n, line := range b.lines[from:to] {
		line = bytes.TrimRight(line, "\n")
		if len(line) >= b.indent {
			line = line[b.indent:]
		}
		if n == 0 && key != nil {
			line = append(slices.Clip(key), line[len(keyPrefix(line, b.entries[i].written)):]...)
		}
		if len(line) > 0 {
			out.WriteString(strings.Repeat(" ", indent))
		}
		out.Write(line)
		out.WriteString(t.eol)
	}
	return out.Bytes()
}

// keyPrefix gives a line up to the colon after its key, without its indent; nil
// if the key is not written plainly.
func keyPrefix(line []byte, key string) []byte {
	line = bytes.TrimLeft(line, " ")
	if !isKey([]byte(key)) || !bytes.HasPrefix(line, []byte(key)) {
		return nil
	}
	rest := line[len(key):]
	trimmed := bytes.TrimLeft(rest, " ")
	if !bytes.HasPrefix(trimmed, []byte(":")) {
		return nil
	}
	return line[:len(key)+len(rest)-len(trimmed)+1]
}

// lineComment gives the comment behind a value that is on one line, with the
// space before it.
func lineComment(line []byte, n *yaml.Node) string {
	text := strings.TrimRight(string(line), "\r\n")
	runes := []rune(text)
	if n == nil || n.Kind == yaml.AliasNode || n.Column < 1 || n.Column > len(runes) {
		return ""
	}
	at := len(string(runes[:n.Column-1]))
	at += valueEnd(text[at:])
	i := strings.Index(text[at:], " #")
	if i < 0 {
		return ""
	}
	return text[len(strings.TrimRight(text[:at+i], " \t")):]
}

// valueEnd gives where a quoted value or one in brackets ends that s starts
// with; 0 for another.
func valueEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '"', '\'':
			if i == 0 || strings.IndexByte(" [{,:", s[i-1]) >= 0 {
				i += len(quotedText(s[i:])) - 1
			}
		}
		if depth <= 0 {
			if s[0] != '[' && s[0] != '{' && s[0] != '"' && s[0] != '\'' {
				return 0
			}
			return i + 1
		}
	}
	return len(s)
}

// quotedText gives the quoted text that s starts with.
func quotedText(s string) string {
	q := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case q == '"' && s[i] == '\\':
			i++
		case q == '\'' && s[i] == q && i+1 < len(s) && s[i+1] == q:
			i++
		case s[i] == q:
			return s[:i+1]
		}
	}
	return s
}

// apply gives the changed text.
func (t *textEdit) apply() []byte {
	slices.SortStableFunc(t.edits, lineEdit.order)
	var out bytes.Buffer
	at := 0
	for _, e := range t.edits {
		out.Write(bytes.Join(t.lines[at:max(at, e.from)], nil))
		out.Write(e.text)
		at = max(at, e.to)
	}
	out.Write(bytes.Join(t.lines[at:], nil))
	return out.Bytes()
}

// withBody puts another body in the place of the last lines of a text.
func (t *textEdit) withBody(data []byte, last int, body []byte) []byte {
	lines := splitLines(data)
	head := bytes.Join(lines[:len(lines)-max(0, last)], nil)
	if !bytes.HasSuffix(head, []byte("\n")) && len(body) > 0 {
		head = append(head, t.eol...)
	}
	if t.eol != "\n" {
		body = bytes.ReplaceAll(body, []byte("\n"), []byte(t.eol))
	}
	return slices.Concat(head, body)
}

// splitLines gives the lines of a text, each with its end.
func splitLines(b []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(b, []byte("\n"))+1)
	for line := range bytes.Lines(b) {
		lines = append(lines, line)
	}
	return lines
}
