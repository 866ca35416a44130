package openapi

import (
	"bytes"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v4"
)

// yamlPiece is how much YAML is read at once where it can be taken apart.
const yamlPiece = 128 << 10

// errPiece says that a piece cannot be read by itself. It may be that the text is no
// YAML, or that the piece is none without the others.
var errPiece = errors.New("the YAML cannot be read in pieces")

type pieceError struct{ *Problem }

func (pieceError) Is(target error) bool { return target == errPiece }

func (e pieceError) Unwrap() error { return e.Problem }

// block is a part of a text of whole lines, after so many lines.
type block struct {
	text []byte
	line int
}

// pieces writes a long text. It is cut only before lines that begin with a key at the
// same indent as those before and after: within a block of text, lines are deeper;
// within quotes or brackets the piece does not end, which is an error, and then the
// text is read at once.
func (w *yamlWriter) pieces(data []byte) error {
	b := block{data, 0}
	if oddBreaks(data) {
		return w.refused(b, "lines end in other ways than with a line feed")
	}
	for {
		line, rest, _ := bytes.Cut(b.text, []byte("\n"))
		if t := bytes.TrimSpace(line); len(t) > 0 && t[0] != '#' && string(t) != "---" || len(rest) == 0 {
			break
		}
		b = block{rest, b.line + 1}
	}
	line, indent := b.start()
	w.marks = append(w.marks, mark{0, int32(line + 1), int32(indent + 1)})
	w.out = append(w.out, '{')
	if err := w.block(b, 0, map[string]int{}); err != nil {
		return err
	}
	w.out = append(w.out, '}')
	return nil
}

// oddBreaks says whether lines end with what ends lines in YAML and not elsewhere.
func oddBreaks(data []byte) bool {
	for _, mark := range []string{"\u0085", "\u2028", "\u2029"} {
		if bytes.Contains(data, []byte(mark)) {
			return true
		}
	}
	return bytes.Count(data, []byte("\r")) != bytes.Count(data, []byte("\r\n"))
}

// block writes the members of a map.
func (w *yamlWriter) block(b block, depth int, seen map[string]int) error {
	if depth > maxDepth {
		return w.refused(b, fmt.Sprintf("values nest deeper than %d levels", maxDepth))
	}
	parts := b.split()
	if len(parts) == 0 {
		return w.refused(b, "this is not a map with a key in each line")
	}
	for len(parts) > 0 {
		if head, rest, ok := parts[0].open(); ok && len(parts[0].text) > w.piece && len(rest.split()) > 0 {
			if err := w.deeper(head, rest, depth, seen); err != nil {
				return err
			}
			parts = parts[1:]
			continue
		}
		n, size := 1, len(parts[0].text)
		for n < len(parts) && size+len(parts[n].text) <= w.piece {
			size += len(parts[n].text)
			n++
		}
		if err := w.group(block{parts[0].text[:size:size], parts[0].line}, depth, seen); err != nil {
			return err
		}
		parts = parts[n:]
	}
	return nil
}

// group writes the members of a map of which all are read at once.
func (w *yamlWriter) group(b block, depth int, seen map[string]int) error {
	if len(b.text) > w.maxPiece {
		return w.refused(b, fmt.Sprintf("YAML of %d bytes that cannot be taken apart is not read, only up to %d: convert the document to JSON", len(b.text), w.maxPiece))
	}
	n, err := w.parse(b.text, b.line)
	if p := (*Problem)(nil); errors.As(err, &p) {
		return pieceError{p}
	}
	if n.Kind != yaml.MappingNode {
		return w.refused(b, "this is not a map")
	}
	return w.members(n, depth, seen, false)
}

// deeper writes one member whose value is a long map.
func (w *yamlWriter) deeper(head, rest block, depth int, seen map[string]int) error {
	n, err := w.parse(head.text, head.line)
	if p := (*Problem)(nil); errors.As(err, &p) {
		return pieceError{p}
	}
	if n.Kind != yaml.MappingNode || len(n.Content) != 2 || n.Content[0].Kind != yaml.ScalarNode {
		return w.refused(head, "this is not a key")
	}
	at := n.Content[0]
	if line, twice := seen[at.Value]; twice {
		return w.fail(at, "the key %q stands twice, first in line %d", at.Value, line)
	}
	w.key(at, at.Value, len(seen) > 0)
	seen[at.Value] = w.line + at.Line
	lines, indent := rest.start()
	w.marks = append(w.marks, mark{int32(len(w.out)), int32(lines + 1), int32(indent + 1)})
	w.out = append(w.out, '{')
	if err := w.block(rest, depth+1, map[string]int{}); err != nil {
		return err
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *yamlWriter) refused(b block, text string) error {
	p := &Problem{Text: text}
	p.At.File, p.At.Line, p.At.Column = w.f.name, b.line+1, 1
	return pieceError{p}
}

// start is the line of the first key, and its indent.
func (b block) start() (line, indent int) {
	line = b.line
	for text := range bytes.Lines(b.text) {
		if n := indentOf(text); n >= 0 {
			return line, n
		}
		line++
	}
	return b.line, 0
}

// indentOf is how many spaces a line begins with; -1: it is empty or a comment.
func indentOf(line []byte) int {
	rest := bytes.TrimLeft(line, " ")
	if t := bytes.TrimSpace(rest); len(t) == 0 || t[0] == '#' {
		return -1
	}
	return len(line) - len(rest)
}

// split gives the members of a map, each with the lines below it; nil: it is not
// plainly one.
func (b block) split() []block {
	_, indent := b.start()
	var parts []block
	from, at, line, first, begun := 0, 0, b.line, b.line, false
	for text := range bytes.Lines(b.text) {
		n := indentOf(text)
		switch {
		case n == indent && begun && item(text[n:]): // of a list that is no deeper than its key
		case n >= 0 && n < indent, n == indent && !keyed(text[n:]):
			return nil
		case n == indent && begun:
			parts = append(parts, block{b.text[from:at], first})
			from, first = at, line
		}
		begun = begun || n >= 0
		at += len(text)
		line++
	}
	if begun {
		parts = append(parts, block{b.text[from:at], first})
	}
	return parts
}

func item(line []byte) bool {
	return line[0] == '-' && (len(line) == 1 || bytes.IndexByte([]byte(" \r\n"), line[1]) >= 0)
}

// keyed says whether a line begins with a key that is no more than one: neither an
// item, a merge, an anchor nor anything in brackets.
func keyed(line []byte) bool {
	switch line[0] {
	case '"', '\'':
		end := bytes.IndexByte(line[1:], line[0])
		return end > 0 && bytes.HasPrefix(line[end+2:], []byte(":")) && colon(line[end+2:]) && bytes.IndexByte(line[1:end+1], '\\') < 0
	case '-', '?', ':', ',', '[', ']', '{', '}', '&', '*', '!', '|', '>', '%', '@', '`', '<', '\t':
		return false
	}
	i := bytes.IndexByte(line, ':')
	return i > 0 && (colon(line[i:]) || bytes.Contains(line, []byte(": ")) || bytes.HasSuffix(bytes.TrimRight(line, " \r\n"), []byte(":")))
}

// colon says whether a text begins with a colon that ends a key.
func colon(text []byte) bool {
	return len(text) == 1 || text[1] == ' ' || text[1] == '\n' || text[1] == '\r'
}

// open gives the line of a member that holds no more than its key, and the lines
// below it.
func (b block) open() (head, rest block, ok bool) {
	line := b.line
	at := 0
	for text := range bytes.Lines(b.text) {
		at += len(text)
		line++
		if indentOf(text) >= 0 {
			ok = bytes.HasSuffix(bytes.TrimRight(text, " \r\n"), []byte(":"))
			break
		}
	}
	return block{b.text[:at], b.line}, block{b.text[at:], line}, ok
}
