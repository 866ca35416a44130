package dialect

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// fast reads the YAML that people write in a frontmatter: block maps and lists
// with scalars, flow collections and quoted texts that end in their own line,
// and literal and folded texts. Nearly every real file holds nothing else, and
// the whole of YAML costs ten times as much.
//
// It is safe because it never decides a doubt: whatever is not plainly one of
// these (a tag, an anchor, a text that goes on in the next line, a tab, an
// indentation that fits nothing, and every error) is not its own, and the YAML
// library reads all of the input instead. What fast does give is the tree that
// the library gives, apart from comments, which nobody reads.
//
// A nil node means "not mine" throughout.
type fast struct {
	src  string // ends with a line feed
	pos  int
	line int // of pos, from 1
	bol  int // where that line starts

	// indent is that of the next key or item, which pos is at; -1 at the end.
	// For a map that starts behind the dash of an item it is where it would be
	// in a line of its own.
	indent int

	ascii            bool
	counted, columns int // where column counted to, and how far that is
	depth            int
	nodes            []yaml.Node  // allocated in slabs
	stack            []*yaml.Node // children of the collections that are not complete
}

const (
	fastDepth = 32 // well below maxDepth, which is the library's to judge
	fastSlab  = 24 // nodes that are allocated at once, at most
)

// parseFast gives the root map of a frontmatter that fast can read.
func parseFast(b []byte) (*yaml.Node, bool) {
	if len(b) == 0 || b[len(b)-1] != '\n' {
		return nil, false
	}
	ascii, ok := usual(b)
	if !ok {
		return nil, false
	}
	var stack [2 * fastSlab]*yaml.Node
	first := min(2*bytes.Count(b, []byte("\n"))+1, fastSlab) // a line has a key and a value
	f := fast{src: string(b), line: 1, ascii: ascii, nodes: make([]yaml.Node, 0, first), stack: stack[:0]}
	f.next()
	if f.indent != 0 {
		return nil, false
	}
	root := f.mapping(0, nil)
	return root, root != nil && f.indent < 0
}

// usual says whether a text has no characters but those that are content for
// YAML wherever they stand: no control character, tab, byte order mark or odd
// line break.
func usual(b []byte) (ascii, ok bool) {
	ascii = true
	for i := 0; i < len(b); {
		c := b[i]
		if c < utf8.RuneSelf {
			if c < ' ' && c != '\n' || c == 0x7f {
				return false, false
			}
			i++
			continue
		}
		ascii = false
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r < 0xa0, r == utf8.RuneError, r == '\u2028', r == '\u2029', r == '\ufeff', r == '\ufffe', r == '\uffff':
			return false, false
		}
		i += n
	}
	return ascii, true
}

// next goes to the next line that has content, from anywhere in a line whose
// rest has none.
func (f *fast) next() {
	for f.pos < len(f.src) {
		p := f.pos
		for f.src[p] == ' ' {
			p++
		}
		if c := f.src[p]; c != '\n' && (c != '#' || p > f.bol && f.src[p-1] != ' ') {
			f.indent, f.pos = p-f.bol, p
			return
		}
		f.startLine(p + strings.IndexByte(f.src[p:], '\n') + 1)
	}
	f.indent = -1
}

// endLine goes on to the next line if nothing but a comment is left in this one.
func (f *fast) endLine() bool {
	line := f.line
	f.next()
	return f.line > line || f.indent < 0
}

// startLine goes to where the next line starts.
func (f *fast) startLine(at int) {
	f.pos, f.bol = at, at
	f.line++
}

// node makes a node that starts at a place in the line.
func (f *fast) node(kind yaml.Kind, style yaml.Style, tag, value string, at int) *yaml.Node {
	if len(f.nodes) == cap(f.nodes) {
		f.nodes = make([]yaml.Node, 0, fastSlab)
	}
	f.nodes = append(f.nodes, yaml.Node{Kind: kind, Style: style, Tag: tag, Value: value, Line: f.line, Column: f.column(at)})
	return &f.nodes[len(f.nodes)-1]
}

// column counts characters, from 1. It goes on from the last place that it
// counted to in a line, for a line may be long and hold many nodes.
func (f *fast) column(at int) int {
	if f.ascii {
		return at - f.bol + 1
	}
	if f.counted < f.bol || f.counted > at {
		f.counted, f.columns = f.bol, 0
	}
	f.columns += utf8.RuneCountInString(f.src[f.counted:at])
	f.counted = at
	return f.columns + 1
}

// fill gives a collection the children that were pushed after mark.
func (f *fast) fill(n *yaml.Node, mark int) *yaml.Node {
	f.depth--
	n.Content = append(n.Content, f.stack[mark:]...)
	f.stack = f.stack[:mark]
	return n
}

// mapping reads a block map whose keys have the indent. Its first key may have
// been read; then pos is at its colon.
func (f *fast) mapping(indent int, key *yaml.Node) *yaml.Node {
	if f.depth++; f.depth > fastDepth {
		return nil
	}
	n := f.node(yaml.MappingNode, 0, "!!map", "", f.pos)
	if key != nil {
		n.Column = key.Column
	}
	mark := len(f.stack)
	for {
		if key == nil {
			key = f.key()
		}
		if key == nil {
			return nil
		}
		f.pos++ // the colon
		f.stack = append(f.stack, key)
		value := f.value(indent, true)
		if value == nil || f.indent > indent {
			return nil
		}
		f.stack = append(f.stack, value)
		if f.indent < indent {
			return f.fill(n, mark)
		}
		key = nil
	}
}

// key reads a key and stops at its colon. At the start of a line "---" and
// "..." mean something else, so that no key of fast starts like them.
func (f *fast) key() *yaml.Node {
	if c := f.src[f.pos]; c == '-' || c == '.' {
		return nil
	}
	key := f.scalar(false)
	if key == nil || !f.atColon() {
		return nil
	}
	return key
}

// atColon says whether pos is at a colon that makes a key of what stands
// before it.
func (f *fast) atColon() bool {
	return f.src[f.pos] == ':' && (f.src[f.pos+1] == ' ' || f.src[f.pos+1] == '\n')
}

// atItem says whether pos is at the dash of an item.
func (f *fast) atItem() bool {
	return f.src[f.pos] == '-' && (f.src[f.pos+1] == ' ' || f.src[f.pos+1] == '\n')
}

// sequence reads a block list whose dashes have the indent.
func (f *fast) sequence(indent int) *yaml.Node {
	if f.depth++; f.depth > fastDepth {
		return nil
	}
	n := f.node(yaml.SequenceNode, 0, "!!seq", "", f.pos)
	mark := len(f.stack)
	for f.indent == indent && f.atItem() {
		f.pos++ // the dash
		item := f.value(indent, false)
		if item == nil || f.indent > indent {
			return nil
		}
		f.stack = append(f.stack, item)
	}
	return f.fill(n, mark)
}

// value reads what stands behind a colon or a dash, in the same line or below
// it, and goes on to the next key or item. The indent is that of the key or the
// dash: what follows and is indented deeper belongs to the value.
func (f *fast) value(indent int, ofKey bool) *yaml.Node {
	after, line, bol := f.pos, f.line, f.bol
	if f.endLine() {
		switch {
		case f.indent > indent && f.atItem():
			return f.sequence(f.indent)
		case f.indent > indent && (f.src[f.pos] == '[' || f.src[f.pos] == '{'):
			return f.flowValue(indent)
		case f.indent > indent:
			return f.mapping(f.indent, nil)
		case ofKey && f.indent == indent && f.atItem():
			return f.sequence(indent)
		}
		null := f.node(yaml.ScalarNode, 0, "!!null", "", f.bol)
		null.Line, null.Column = line, utf8.RuneCountInString(f.src[bol:after])+1
		return null
	}
	switch f.src[f.pos] {
	case '|', '>':
		return f.blockText(indent)
	case '[', '{':
		return f.flowValue(indent)
	}
	n := f.scalar(false)
	if n != nil && !ofKey && f.atColon() {
		return f.mapping(f.indent, n)
	}
	if n == nil || !f.endLine() {
		return nil
	}
	return n
}
