package wire

import "strings"

// Text gathers a text from its pieces. Each piece that it returns is a part of
// the whole, so that a stream costs no allocation for each of them.
type Text struct{ b strings.Builder }

// firstText is room for a short answer, in bytes.
const firstText = 512

// Add appends a piece and returns it.
func (t *Text) Add(piece string) string {
	n := t.room(len(piece))
	t.b.WriteString(piece)
	return t.b.String()[n:]
}

// AddBytes appends a piece and returns it.
func (t *Text) AddBytes(piece []byte) string {
	n := t.room(len(piece))
	t.b.Write(piece)
	return t.b.String()[n:]
}

// room returns where the next piece begins.
func (t *Text) room(size int) int {
	if t.b.Len() == 0 {
		t.b.Grow(max(firstText, size))
	}
	return t.b.Len()
}

// String returns the whole.
func (t *Text) String() string { return t.b.String() }
