package dialect

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rosterrun/roster/profile"
)

// quoted repairs a value that starts with a quote.
func (r *repairer) quoted(v value) {
	text := r.text[v.from:v.to]
	end := quotedEnd(text, 0)
	if end < 0 {
		r.report(v.from, profile.CodeNotClosed, v.key, fmt.Sprintf("the quote %c is not closed", text[0]), "close it at the end of the value")
		return
	}
	rest := bytes.TrimSpace(text[end+1:])
	if len(rest) > 0 && (rest[0] != '#' || end+1 < len(text) && text[end+1] == '#') {
		if line, _, _ := bytes.Cut(text[end+1:], []byte("\n")); len(bytes.TrimSpace(line)) == 0 {
			r.afterQuotes(v, v.from+end)
			return
		}
		if !encloses(text) {
			r.quote(v)
			return
		}
		before := len(r.edits)
		if r.fixInside(v, len(text)-1) {
			r.settle(v, before, v.from+end, "a quote inside of the quotes ends the text")
		}
		return
	}
	before := len(r.edits)
	if text[0] == '"' && r.fixInside(v, end) && len(r.edits) > before {
		r.settle(v, before, r.edits[before].from, "YAML does not know this escape")
		return
	}
	if len(r.edits) == before && !r.refusedAt(v) {
		r.refuse(v.chunk, v.key)
	}
}

// afterQuotes reports lines below a text that has ended.
func (r *repairer) afterQuotes(v value, end int) {
	rows := slices.DeleteFunc(slices.Clone(r.rows[v.first+1:v.last]), func(w row) bool { return w.blank || w.to <= end })
	r.report(r.misplaced(v, rows), profile.CodeAmbiguous, v.key, "the quotes are closed, and lines that belong to nothing stand below",
		"put the quote behind all of the text, or start the keys at the left edge")
}

func (r *repairer) refusedAt(v value) bool {
	for _, f := range r.found {
		if !isRepair(f.code) && v.from <= f.at && f.at <= v.to {
			return true
		}
	}
	return false
}

// encloses says whether the first and the last quote of a text belong together,
// and those between them to what they enclose: "He said "yes" to me". It is
// false for "a" and "b".
func encloses(text []byte) bool {
	q, last := text[0], len(text)-1
	if last < 1 || text[last] != q || q == '"' && escaped(text, last) {
		return false
	}
	depth, n := 1, 0
	for i := 1; i < last; i++ {
		if text[i] != q || escaped(text, i) {
			continue
		}
		prev, _ := utf8.DecodeLastRune(text[:i])
		if i > 2 && text[i-2] == '\\' && q == '"' && (prev == 'n' || prev == 't') {
			prev = ' '
		}
		next, _ := utf8.DecodeRune(text[i+1:])
		switch {
		case q == '\'' && next == '\'' && i+1 < last:
			i++
		case q == '\'' && unicode.IsLetter(prev) && unicode.IsLetter(next): // it's
		case (unicode.IsSpace(prev) || strings.ContainsRune("([{<:=,-/", prev)) && !unicode.IsSpace(next):
			depth++
			n++
		default:
			depth--
			n++
		}
		if depth == 0 {
			return false
		}
	}
	return depth == 1 || n%2 == 1
}

// escaped says whether a backslash stands before an offset that is not itself
// escaped.
func escaped(text []byte, at int) bool {
	n := 0
	for at-n > 0 && text[at-n-1] == '\\' {
		n++
	}
	return n%2 == 1
}

// fixInside makes what stands between a quote at the start of a value and one at
// an offset of it what YAML takes for the text. It reports what is not clear.
func (r *repairer) fixInside(v value, end int) bool {
	text := r.text[v.from:v.to]
	if text[0] == '\'' {
		r.fixSingle(v.from, text, end)
		return true
	}
	known, unknown := -1, -1
	for i := 1; i < end; i++ {
		switch {
		case text[i] == '"':
			r.edits = append(r.edits, edit{v.from + i, v.from + i, `\`})
		case text[i] != '\\':
		case text[i+1] == '\'': // what other languages write for an apostrophe
			r.edits = append(r.edits, edit{v.from + i, v.from + i + 1, ""})
			i++
		case text[i+1] == '"' && i+1 < end, text[i+1] == '\n', text[i+1] == ' ', text[i+1] == '/':
			i++
		case strings.IndexByte("\\0abtnvfreN_LPxuU\t", text[i+1]) >= 0:
			known = i
			i++
		default:
			unknown = i
			r.edits = append(r.edits, edit{v.from + i, v.from + i, `\`})
			i++
		}
	}
	if known >= 0 && unknown >= 0 {
		r.report(v.from+unknown, profile.CodeAmbiguous, v.key,
			fmt.Sprintf("YAML knows no escape %s, and there are others in the same text", shown(text[unknown:unknown+2], 0)), `write \\ for each backslash that is one`)
		return false
	}
	return true
}

func (r *repairer) fixSingle(from int, text []byte, end int) {
	for i := 1; i < end; i++ {
		switch {
		case text[i] == '\\' && text[i+1] == '\'' && i+1 < end:
			r.edits = append(r.edits, edit{from + i, from + i + 1, "'"})
			i++
		case text[i] == '\'' && text[i+1] == '\'' && i+1 < end:
			i++
		case text[i] == '\'':
			r.edits = append(r.edits, edit{from + i, from + i, "'"})
		}
	}
}
