package dialect

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/schema"
)

// quote makes the whole of a value a text, as a person reads it: a "#" belongs
// to it, a backslash is one. Over several lines it is joined with blanks, as
// YAML joins plain text, unless its lines are laid out.
func (r *repairer) quote(v value) {
	if r.ambiguous(v) {
		return
	}
	spot := r.spot(v)
	before := len(r.edits)
	if r.laidOut(v) {
		indent := r.layout(v)
		r.edits = append(r.edits, edit{v.from, v.from, "|-\n" + strings.Repeat(" ", indent)})
		if end := r.rows[v.last-1].to; end > v.to {
			r.edits = append(r.edits, edit{v.to, end, ""})
		}
	} else {
		r.enclose(v.from, v.to)
	}
	r.settle(v, before, spot, "YAML refuses it as it is written")
}

// settle keeps the edits since before if YAML accepts the block now.
func (r *repairer) settle(v value, before, spot int, why string) {
	if !r.accepts(v.chunk) {
		r.edits = r.edits[:before]
		r.refuse(v.chunk, v.key)
		return
	}
	read := []byte(r.reading(v.from, v.to))
	around := len(read) * (spot - v.from) / max(1, v.to-v.from)
	r.report(spot, profile.CodeRepaired, v.key,
		fmt.Sprintf("%s: %s; it was read as the text %s", why, shown(r.lineAt(spot), r.columnOf(spot)), shown(read, around)), r.advice(v))
}

// columnOf gives the bytes before an offset in its line.
func (r *repairer) columnOf(at int) int { return at - (bytes.LastIndexByte(r.text[:at], '\n') + 1) }

// advice says how to write a repaired value, which for a short one is all of it.
func (r *repairer) advice(v value) string {
	const long = 60
	fix := r.edited(v.from, v.to)
	switch {
	case bytes.HasPrefix(fix, []byte("|-")):
		return fmt.Sprintf("write |- after %s: and all of the text below it, indented", v.key)
	case bytes.ContainsAny(fix, "\n") || len(fix) > long:
		return fmt.Sprintf("put the value of %s in %c quotes", v.key, fix[0])
	}
	return fmt.Sprintf("write %s: %s", v.key, fix)
}

// shown quotes a part of a line around an offset.
func shown(line []byte, at int) string {
	if s := excerpt(line, at); strconv.CanBackquote(s) {
		return "`" + s + "`"
	}
	return strconv.Quote(excerpt(line, at))
}

// reading gives the text that a repaired value is.
func (r *repairer) reading(from, to int) string {
	n, err := r.parse(append([]byte("  "), r.edited(from, to)...))
	if err != nil {
		return string(r.text[from:to])
	}
	return n.Value
}

// enclose puts quotes around a part of the text, the ones that need no change
// inside if there are such.
func (r *repairer) enclose(from, to int) {
	text := r.text[from:to]
	if strings.ContainsAny(string(text), oddBreaks) {
		r.escape(from, to)
		return
	}
	if !bytes.ContainsAny(text, `"\`) {
		r.edits = append(r.edits, edit{from, from, `"`}, edit{to, to, `"`})
		return
	}
	r.edits = append(r.edits, edit{from, from, "'"})
	for i, c := range text {
		if c == '\'' {
			r.edits = append(r.edits, edit{from + i, from + i, "'"})
		}
	}
	r.edits = append(r.edits, edit{to, to, "'"})
}

// escape puts double quotes around a text with characters that YAML takes for
// line breaks and editors do not, and keeps them.
func (r *repairer) escape(from, to int) {
	escapes := map[rune]string{'\\': `\\`, '"': `\"`, '\r': `\r`, '\u0085': `\N`, '\u2028': `\L`, '\u2029': `\P`}
	r.edits = append(r.edits, edit{from, from, `"`})
	for i, c := range string(r.text[from:to]) {
		if s, ok := escapes[c]; ok {
			r.edits = append(r.edits, edit{from + i, from + i + utf8.RuneLen(c), s})
		}
	}
	r.edits = append(r.edits, edit{to, to, `"`})
}

// spot is what YAML refuses in a value: a colon, a comment inside, or its start.
func (r *repairer) spot(v value) int {
	for _, w := range r.rows[v.first:v.last] {
		from := max(w.from, v.from)
		if c := colonAt(r.text[from:max(from, w.to)], 0); c >= 0 && !strings.ContainsRune("*@`%[{\"'", rune(r.text[v.from])) {
			return from + c
		}
	}
	return v.from
}

// ambiguous reports a text over several lines of which a line may be meant as
// something else: a comment, a key of profiles, a block of keys.
func (r *repairer) ambiguous(v value) bool {
	rows := slices.DeleteFunc(slices.Clone(r.rows[v.first+1:v.last]), func(w row) bool { return w.blank })
	heads := 0
	unclear := -1
	for _, w := range rows {
		h, ok := headOf(r.text, r.start(w), w.to, 0)
		if ok {
			heads++
		}
		if unclear < 0 && (w.comment || ok && !h.item && v.level == 0 && isProfileKey(h.key)) {
			unclear = r.start(w)
		}
	}
	switch {
	case heads > 0 && heads == len(rows) && (!isTextKey(v.key) || unclear >= 0):
		r.report(r.misplaced(v, rows), profile.CodeAmbiguous, v.key,
			fmt.Sprintf("%s is a text, and keys or items stand below it", shown(r.lineAt(v.from)[r.columnOf(v.from):], 0)),
			"write it as a key or an item too, start the keys at the left edge, or quote the whole as one text")
	case unclear >= 0:
		r.report(unclear, profile.CodeAmbiguous, v.key,
			fmt.Sprintf("it is not clear whether %s belongs to the text of %s", shown(r.lineAt(unclear)[r.columnOf(unclear):], 0), v.key),
			"put the text below |- and indent all of it, or start the key at the left edge")
	default:
		return false
	}
	return true
}

// misplaced gives the likelier fault where keys stand below a text: the text,
// or a key of the left edge that was indented by mistake.
func (r *repairer) misplaced(v value, rows []row) int {
	first := r.start(rows[0])
	h, _ := headOf(r.text, first, rows[0].to, 0)
	if v.level == 0 && (len(rows) == 1 || h.value >= rows[0].to && !h.item) {
		return first
	}
	return v.from
}

// isTextKey says whether a key takes text in every dialect.
func isTextKey(key string) bool {
	return slices.Contains([]string{"description", "title", "summary", "argument-hint", "system-prompt", "subagent-prompt", "when-to-use"}, kebab(key))
}

func isProfileKey(key string) bool {
	key = kebab(key)
	return slices.Contains(schema.Names(), key) ||
		slices.Contains([]string{"color", "allowed-tools", "disallowed-tools", "argument-hint", "permissions", "steps", "license", "metadata"}, key)
}

// laidOut says whether a text over several lines has a layout: a blank line, a
// list, or lines that are indented more than others.
func (r *repairer) laidOut(v value) bool {
	rows := r.rows[v.first+1 : v.last]
	if len(rows) == 0 || v.last < v.chunk.last && r.trailing(v) {
		return false
	}
	for _, w := range rows {
		if w.blank {
			continue
		}
		line := bytes.TrimLeft(r.text[w.from:w.to], " \t")
		if bytes.ContainsAny(r.text[w.from:w.to], "\r\u0085\u2028\u2029") || bytes.IndexByte(r.text[w.from:w.to-len(line)], '\t') >= 0 {
			return false
		}
		if w.indent != r.layout(v) || bytes.HasPrefix(line, []byte("- ")) || bytes.HasPrefix(line, []byte("* ")) {
			return true
		}
	}
	return false
}

// trailing says whether an indented comment follows a text: below "|-" it would
// become part of it.
func (r *repairer) trailing(v value) bool {
	for _, w := range r.rows[v.last:v.chunk.last] {
		if w.indent > 0 && !w.blank {
			return true
		}
	}
	return false
}

// layout is the smallest indentation of the lines below the first.
func (r *repairer) layout(v value) int {
	least := -1
	for _, w := range r.rows[v.first+1 : v.last] {
		if !w.blank && (least < 0 || w.indent < least) {
			least = w.indent
		}
	}
	return least
}

// excerpt gives a part of a line around an offset.
func excerpt(line []byte, at int) string {
	const before, most = 30, 80
	runes := []rune(strings.ToValidUTF8(string(line), "\ufffd"))
	i := utf8.RuneCount(line[:min(max(at, 0), len(line))])
	from := max(0, min(i-before, len(runes)-most))
	to := min(len(runes), from+most)
	s := string(runes[from:to])
	if from > 0 {
		s = "…" + s
	}
	if to < len(runes) {
		s += "…"
	}
	return s
}
