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

// text is a subject as rules are held against it. If it has holes, heads are
// the texts that may stand before the first of them, and tails those after the
// last; whole says that all holes may be empty, and that this leaves full.
type text struct {
	s            string
	ends         ends
	heads, tails []string
	full         string
	whole        bool
}

// textOf reads a text in which a NUL is a hole.
func textOf(s string) text {
	t := text{s: s, ends: endsOf(s)}
	if first := strings.Index(s, hole); first >= 0 {
		t.heads = []string{s[:first]}
		t.tails = []string{s[strings.LastIndex(s, hole)+1:]}
	}
	return t
}

// maxEnds bounds the heads and tails of a text. What comes after is one hole.
const maxEnds = 16

// joined joins words with a blank. A word that is all hole may vanish, and then
// its blank does too.
func joined(words []shell.Word) text {
	var b strings.Builder
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
		t.full, t.whole = t.before(words)
		t.after(words)
	}
	return t
}

// before fills in the heads. If all holes may be empty, it gives what is left.
func (t *text) before(words []shell.Word) (full string, whole bool) {
	var b strings.Builder
	for i, w := range words {
		if vanishes(w) && len(t.heads) < maxEnds {
			t.heads = append(t.heads, b.String()+" ")
			continue
		}
		if i > 0 && !vanishes(w) {
			b.WriteByte(' ')
		}
		for _, p := range w {
			if p.Hole {
				t.heads = append(t.heads, b.String())
				return "", false
			}
			b.WriteString(p.Text)
		}
	}
	return b.String(), true
}

func (t *text) after(words []shell.Word) {
	end := ""
	for i, w := range slices.Backward(words) {
		for _, p := range slices.Backward(w) {
			if !p.Hole {
				end = p.Text + end
				continue
			}
			t.tails = append(t.tails, end)
			if !vanishes(w) || len(t.tails) > maxEnds {
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
