package openapi

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"

	"github.com/rosterrun/roster/source"
)

// file is a text as valid JSON, and where its places are in what it was read from.
type file struct {
	name string // as it is named to people
	path string // in the document's folder; empty: the document itself
	text []byte
	// marks are the places of a text that was YAML, by their offsets in the JSON; nil:
	// the text is as it was read, and lines has the offsets at which its lines begin.
	marks []mark
	lines []int
	// index has the members of the objects that references lead through.
	index      map[int]map[string]node
	begin, end int // of the whole
}

type mark struct{ off, line, column int32 }

// node is a value in a file. The zero node is no value.
type node struct {
	f        *file
	from, to int
}

// node is the whole.
func (f *file) node() node {
	if f.end == 0 {
		f.begin = space(f.text, 0)
		f.end = skip(f.text, f.begin)
	}
	return node{f, f.begin, f.end}
}

func (n node) is(other node) bool { return n.f == other.f && n.from == other.from }
func (n node) there() bool        { return n.f != nil }
func (n node) raw() []byte        { return n.f.text[n.from:n.to] }

// kind is the first byte of the value: '{', '[', '"', 't', 'f', 'n', a digit or '-';
// 0 for no value.
func (n node) kind() byte {
	if n.f == nil {
		return 0
	}
	return n.f.text[n.from]
}

func (n node) isNull() bool { return n.kind() == 'n' }
func (n node) isTrue() bool { return n.kind() == 't' }

// str is the text of a string, or "".
func (n node) str() string {
	if n.kind() != '"' {
		return ""
	}
	return unquote(n.raw())
}

// scalar is a string, or how another value that is neither list nor object is written.
func (n node) scalar() string {
	switch n.kind() {
	case 0, '{', '[', 'n':
		return ""
	case '"':
		return n.str()
	}
	return string(n.raw())
}

func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // the text is valid
	return s
}

// each calls do for the members of an object, in order, until it returns false. at
// is the key.
func (n node) each(do func(key string, at, value node) bool) {
	if n.kind() != '{' {
		return
	}
	text := n.f.text
	for i := space(text, n.from+1); text[i] != '}'; {
		end := skip(text, i)
		at := node{n.f, i, end}
		i = space(text, space(text, end)+1) // over the colon
		value := node{n.f, i, skip(text, i)}
		if !do(unquote(at.raw()), at, value) {
			return
		}
		if i = space(text, value.to); text[i] == ',' {
			i = space(text, i+1)
		}
	}
}

// items calls do for the items of a list, in order, until it returns false.
func (n node) items(do func(node) bool) {
	if n.kind() != '[' {
		return
	}
	text := n.f.text
	for i := space(text, n.from+1); text[i] != ']'; {
		value := node{n.f, i, skip(text, i)}
		if !do(value) {
			return
		}
		if i = space(text, value.to); text[i] == ',' {
			i = space(text, i+1)
		}
	}
}

// get is the member of an object, or no value.
func (n node) get(key string) node {
	var found node
	n.each(func(k string, _, v node) bool {
		if k == key {
			found = v
		}
		return k != key
	})
	return found
}

// strings are those of a list.
func (n node) strings() []string {
	var all []string
	n.items(func(v node) bool {
		if s := v.scalar(); s != "" {
			all = append(all, s)
		}
		return true
	})
	return all
}

// member is get for objects through which many references lead.
func (n node) member(key string) node {
	if n.kind() != '{' {
		return node{}
	}
	known := n.f.index[n.from]
	if known == nil {
		known = map[string]node{}
		n.each(func(k string, _, v node) bool { known[k] = v; return true })
		if n.f.index == nil {
			n.f.index = map[int]map[string]node{}
		}
		n.f.index[n.from] = known
	}
	return known[key]
}

// at is the place of a value.
func (n node) at() source.Origin {
	if n.f == nil {
		return source.Origin{}
	}
	o := source.Origin{File: n.f.name}
	if n.f.marks != nil {
		i := sort.Search(len(n.f.marks), func(i int) bool { return int(n.f.marks[i].off) > n.from })
		if i > 0 {
			m := n.f.marks[i-1]
			o.Line, o.Column = int(m.line), int(m.column)
		}
		return o
	}
	o.Line, o.Column = n.f.place(n.from)
	return o
}

// place is the line and the column, in bytes, of an offset in a text that is as it
// was read.
func (f *file) place(off int) (line, column int) {
	if f.lines == nil {
		f.lines = lineStarts(f.text)
	}
	i := sort.SearchInts(f.lines, off+1)
	return i, off - f.lines[i-1] + 1
}

func lineStarts(text []byte) []int {
	starts := []int{0}
	for i := 0; ; {
		n := bytes.IndexByte(text[i:], '\n')
		if n < 0 {
			return starts
		}
		i += n + 1
		starts = append(starts, i)
	}
}

// space is the offset of the next byte that is not white.
func space(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skip is the offset after the value that begins at i. The text is valid.
func skip(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = closing(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\n', '\t', '\r':
			i++
			continue
		default:
			for i < len(text) && !strings.ContainsRune(",:]} \n\t\r", rune(text[i])) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return i
}

// closing is the offset after the string that begins at i.
func closing(text []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(text[i:], '"')
		if n < 0 {
			return len(text)
		}
		i += n
		slashes := 0
		for text[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
}
