package dialect

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"
)

// edit puts text in the place of the bytes from, up to and without to.
type edit struct {
	from, to int
	text     string
}

// applyEdits changes a copy of b. The edits get sorted; of two that overlap the
// second is left out, and what it was for is not repaired.
func applyEdits(b []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(x, y edit) int { return cmp.Compare(x.from, y.from) })
	var out bytes.Buffer
	out.Grow(len(b) + 8*len(edits))
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		out.Write(b[at:e.from])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(b[at:])
	return out.Bytes()
}

// places finds the places of a repaired frontmatter in the file as it is.
type places struct {
	written []byte // the frontmatter of the file
	line    int    // its first line
	edits   []edit // sorted
	read    []byte // the repaired frontmatter
	starts  []int  // where its lines start, as YAML counts them
}

// origin takes a place as YAML counts it, from 1.
func (p *places) origin(line, column int) (int, int) {
	from := p.starts[max(1, min(line, len(p.starts)))-1]
	return p.at(p.undo(from + runes(p.read[from:], column-1)))
}

// undo gives the offset in the file's text for one in the repaired text.
func (p *places) undo(at int) int {
	shift := 0 // what is read is so much longer than what is written
	for _, e := range p.edits {
		start := e.from + shift
		if at < start {
			break
		}
		if at < start+len(e.text) {
			return e.from
		}
		shift += len(e.text) - (e.to - e.from)
	}
	return max(0, min(at-shift, len(p.written)))
}

// runes gives the length in bytes of the first n characters of b.
func runes(b []byte, n int) int {
	at := 0
	for ; n > 0 && at < len(b); n-- {
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return at
}

// yamlLines gives where each line starts, as YAML counts lines.
func yamlLines(b []byte) []int {
	starts := []int{0}
	for i, r := range string(b) {
		if r == '\r' && i+1 < len(b) && b[i+1] == '\n' {
			continue // the two are one line break
		}
		switch r {
		case '\n', '\r', '\u0085', '\u2028', '\u2029': // a line feed and oddBreaks
			starts = append(starts, i+utf8.RuneLen(r))
		}
	}
	return starts
}

// at gives the line and the column of an offset of the file's text.
func (p *places) at(offset int) (line, column int) {
	head := p.written[:min(offset, len(p.written))]
	bol := bytes.LastIndexByte(head, '\n') + 1
	return p.line + bytes.Count(head, []byte("\n")), 1 + utf8.RuneCount(head[bol:])
}
