package wire

import (
	"bytes"
	"unicode/utf8"
)

// Repeat recognises an event that differs from an earlier one in the text of
// one string only, as nearly all of a stream do: it need not be decoded, which
// would take more than half of our time on a stream.
type Repeat struct{ before, after []byte }

// Learn takes raw as the pattern. It was decoded, and all it said was text, in
// the member of that name. An event where this place is not certain is no
// pattern.
func (r *Repeat) Learn(raw []byte, member, text string) {
	r.before, r.after = r.before[:0], r.after[:0]
	name := append(append([]byte{'"'}, member...), '"')
	at := bytes.Index(raw, name)
	if at < 0 || bytes.LastIndex(raw, name) != at {
		return
	}
	start := at + len(name) + len(`:"`)
	end := start + len(text)
	if end >= len(raw) || string(raw[start-2:start]) != `:"` || string(raw[start:end]) != text || raw[end] != '"' {
		return
	}
	r.before = append(r.before, raw[:start]...)
	r.after = append(r.after, raw[end:]...)
}

// Text returns the text of raw if it has the learned pattern, else nil.
func (r *Repeat) Text(raw []byte) []byte {
	if len(r.before) == 0 || len(raw) <= len(r.before)+len(r.after) ||
		!bytes.HasPrefix(raw, r.before) || !bytes.HasSuffix(raw, r.after) {
		return nil
	}
	text := raw[len(r.before) : len(raw)-len(r.after)]
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return nil
		}
	}
	if !utf8.Valid(text) {
		return nil
	}
	return text
}
