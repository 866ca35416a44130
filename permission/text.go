package permission

import (
	"slices"
	"strings"

	"github.com/rosterrun/roster/permission/shell"
)

// hole stands in a text for what is not known. No name, path or command can
// hold it.
const hole = "\x00"

func holed(s string) bool { return strings.Contains(s, hole) }

// text is a subject as rules are held against it.
type text struct {
	s     string
	ends  ends
	holes *holes // nil: it has none
}

// holes are what is known of a text with holes: heads are the texts that may
// stand before the first of them, and tails those after the last; whole says
// that all of them may be empty, and that this leaves full.
type holes struct {
	heads, tails []string
	full         string
	whole        bool
}

// textOf reads a text in which a NUL is a hole.
func textOf(s string) text {
	t := text{s: s, ends: endsOf(s)}
	if first := strings.IndexByte(s, 0); first >= 0 {
		t.holes = &holes{heads: []string{s[:first]}, tails: []string{s[strings.LastIndex(s, hole)+1:]}}
	}
	return t
}

// maxEnds bounds the heads and tails of a text. What comes after is one hole.
const maxEnds = 16

// joined joins words with a blank. A word that is all hole may vanish, and then
// its blank does too.
func joined(words []shell.Word) text {
	var b strings.Builder
	size := 0
	for _, w := range words {
		size++
		for _, p := range w {
			size += len(p.Text)
		}
	}
	b.Grow(size)
	for i, w := range words {
		if i > 0 && !vanishes(w) {
			b.WriteByte(' ')
		}
		for _, p := range w {
			if p.Hole {
				b.WriteString(hole)
			} else {
				b.WriteString(p.Text)
			}
		}
	}
	t := text{s: b.String()}
	t.ends = endsOf(t.s)
	if holed(t.s) {
		t.holes = &holes{}
		t.holes.full, t.holes.whole = t.holes.before(words)
		t.holes.after(words)
	}
	return t
}

// before fills in the heads. If all holes may be empty, it gives what is left.
func (h *holes) before(words []shell.Word) (full string, whole bool) {
	var b strings.Builder
	for i, w := range words {
		if vanishes(w) && len(h.heads) < maxEnds {
			h.heads = append(h.heads, b.String()+" ")
			continue
		}
		if i > 0 && !vanishes(w) {
			b.WriteByte(' ')
		}
		for _, p := range w {
			if p.Hole {
				h.heads = append(h.heads, b.String())
				return "", false
			}
			b.WriteString(p.Text)
		}
	}
	return b.String(), true
}

func (h *holes) after(words []shell.Word) {
	end := ""
	for i, w := range slices.Backward(words) {
		for _, p := range slices.Backward(w) {
			if !p.Hole {
				end = p.Text + end
				continue
			}
			h.tails = append(h.tails, end)
			if !vanishes(w) || len(h.tails) > maxEnds {
				return
			}
			break
		}
		if i > 0 && !vanishes(w) {
			end = " " + end
		}
	}
}

// vanishes says of a word that it may be no word at all.
func vanishes(w shell.Word) bool {
	some := false
	for _, p := range w {
		if !p.Hole && p.Text != "" {
			return false
		}
		some = some || p.Hole
	}
	return some
}
