package dialect

import (
	"bytes"
	"unicode/utf8"
)

// row is one line of a frontmatter that YAML refused.
type row struct {
	from, to int // without the line break
	indent   int // columns of white space that lead it; a tab counts as tabWidth
	blank    bool
	comment  bool
}

// tabWidth is how many spaces a leading tab is read as.
const tabWidth = 2

func rowsOf(text []byte) []row {
	var rows []row
	at := 0
	for line := range bytes.Lines(text) {
		r := row{from: at, to: at + len(bytes.TrimSuffix(line, []byte("\n")))}
		at += len(line)
		rest := bytes.TrimLeft(text[r.from:r.to], " \t")
		lead := text[r.from : r.to-len(rest)]
		r.indent = len(lead) + (tabWidth-1)*bytes.Count(lead, []byte("\t"))
		r.blank = len(bytes.TrimSpace(rest)) == 0
		r.comment = len(rest) > 0 && rest[0] == '#'
		rows = append(rows, r)
	}
	return rows
}

// block is the part of the text that may be one key or one item of a list with
// what stands below it: its rows are first up to and without last.
type chunk struct {
	first, last int
	at          int // where it starts in its first row, behind any indentation
	indent      int // the column of at
	level       int // 0 for a key at the left edge
}

// head is what starts a block.
type head struct {
	item  bool   // a dash
	key   string // as written, without quotes
	from  int    // the key's first byte
	colon int    // behind the key, the offset of its colon
	value int    // the first byte of the value in the same line, or the end of the line
}

// headOf reads the key or the dash that starts a block. In the top level a key
// is one word; below that it may hold spaces.
func headOf(text []byte, at, end, level int) (head, bool) {
	h := head{from: at}
	line := text[at:end]
	skip := func(i int) int { return at + i + len(line[i:]) - len(bytes.TrimLeft(line[i:], " \t")) }
	switch {
	case len(line) == 0:
		return h, false
	case line[0] == '-' && (len(line) == 1 || line[1] == ' ' || line[1] == '\t'):
		h.item, h.value = true, skip(1)
		return h, true
	case line[0] == '"' || line[0] == '\'':
		n := quotedEnd(line, 0)
		if n < 0 {
			return h, false
		}
		c := skip(n+1) - at
		if c >= len(line) || line[c] != ':' || c+1 < len(line) && line[c+1] != ' ' && line[c+1] != '\t' {
			return h, false
		}
		h.key, h.colon, h.value = string(line[1:n]), at+c, skip(c+1)
		return h, true
	}
	c := colonAt(line, 0)
	if c <= 0 || !keyLike(line[:c], level) {
		return h, false
	}
	h.key, h.colon, h.value = string(bytes.TrimRight(line[:c], " \t")), at+c, skip(c+1)
	return h, true
}

// colonAt gives the first colon from an offset that ends a key: a blank or the
// end of the line follows it. -1: none.
func colonAt(line []byte, from int) int {
	for i := from; i < len(line); i++ {
		if line[i] == ':' && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t') {
			return i
		}
	}
	return -1
}

func keyLike(b []byte, level int) bool {
	b = bytes.TrimRight(b, " \t")
	for i, c := range b {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c >= utf8.RuneSelf:
		case bytes.IndexByte([]byte("-_.+/$"), c) >= 0:
		case level > 0 && (bytes.IndexByte([]byte("*@:%~^?!()|&;=<>\\"), c) >= 0 || c == ' ' && i > 0):
		default:
			return false
		}
	}
	return len(b) > 0
}

// quotedEnd gives the offset of the quote that closes the one at an offset, as
// YAML reads it; -1: none.
func quotedEnd(b []byte, at int) int {
	q := b[at]
	for i := at + 1; i < len(b); i++ {
		switch {
		case q == '"' && b[i] == '\\':
			i++
		case b[i] == q && q == '\'' && i+1 < len(b) && b[i+1] == q:
			i++
		case b[i] == q:
			return i
		}
	}
	return -1
}
