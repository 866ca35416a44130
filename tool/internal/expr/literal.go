package expr

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxLiterals = 8 // that are looked for side by side

// literal is a text that is looked for by its rarest byte.
type literal struct {
	text []byte // in lower case if fold
	fold bool   // ASCII letters in either case
	rare int    // where the rarest byte is
}

// common are the bytes of which text and code are full, the most common first.
const common = " etaonirslcdumpfghbyvw_.,()=\"-:;/*01\t"

// rarity is 0 for the most common byte.
func rarity(b byte) int {
	if i := strings.IndexByte(common, lower(b)); i >= 0 {
		return i
	}
	return len(common)
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

func newLiteral(text string, fold bool) literal {
	l := literal{[]byte(text), fold, 0}
	for i := range l.text {
		if rarity(l.text[i]) > rarity(l.text[l.rare]) {
			l.rare = i
		}
	}
	return l
}

// weight says how much a literal tells lines apart.
func (l *literal) weight() int { return 12*len(l.text) + rarity(l.text[l.rare]) }

// required gives literals of which every line that matches has one, and whether
// having it is all that is asked for.
func required(re *syntax.Regexp) (any []literal, exact bool) {
	any = needs(re)
	if worst(any) < 24 { // one common letter
		return nil, false
	}
	if re.Op != syntax.OpLiteral {
		return any, false
	}
	return any, utf8.RuneCount(any[0].text) == len(re.Rune) && !bytes.ContainsAny(any[0].text, "\r\n")
}

// worst is the weight of the literal that tells least.
func worst(any []literal) int {
	least := 0
	for i := range any {
		if w := any[i].weight(); i == 0 || w < least {
			least = w
		}
	}
	return least
}

func needs(re *syntax.Regexp) []literal {
	switch re.Op {
	case syntax.OpLiteral:
		return pieces(re)
	case syntax.OpCharClass:
		return oneOf(re.Rune)
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needs(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []literal
		for _, sub := range re.Sub {
			if n := needs(sub); worst(n)-4*len(n) > worst(best)-4*len(best) {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all []literal
		for _, sub := range re.Sub {
			n := needs(sub)
			if all = append(all, n...); len(n) == 0 || len(all) > maxLiterals {
				return nil
			}
		}
		return all
	}
	return nil
}

// pieces gives the most telling piece of a literal whose bytes are certain: the
// replacement character also stands for bytes that are no text, and some letters
// have other cases beyond ASCII.
func pieces(re *syntax.Regexp) (best []literal) {
	fold := re.Flags&syntax.FoldCase != 0
	var piece []byte
	take := func() {
		if len(piece) > 0 {
			if l := newLiteral(string(piece), fold); len(best) == 0 || l.weight() > best[0].weight() {
				best = []literal{l}
			}
		}
		piece = piece[:0]
	}
	for _, r := range re.Rune {
		switch {
		case r == utf8.RuneError, fold && (r > unicode.MaxASCII || strings.ContainsRune("kKsS", r)):
			take()
		case fold:
			piece = append(piece, lower(byte(r)))
		default:
			piece = utf8.AppendRune(piece, r)
		}
	}
	take()
	return best
}

// oneOf gives the characters of a small class.
func oneOf(ranges []rune) (any []literal) {
	for i := 0; i+1 < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if any = append(any, newLiteral(string(r), false)); len(any) > maxLiterals/2 || r == utf8.RuneError {
				return nil
			}
		}
	}
	return any
}

// cursor is how far the search for one literal has come in a text. The zero
// cursor stands at the beginning.
type cursor struct {
	at    int // the next match; -1: there is none
	known bool
	cases [2]int // where the rarest byte stands next, in either case; -1: nowhere
	ahead bool   // cases are known
}

// find gives the first place of a literal from a position on, or -1. Positions
// only grow.
func (c *cursor) find(l *literal, text []byte, from int) int {
	if c.known && (c.at < 0 || c.at >= from) {
		return c.at
	}
	c.known = true
	if l.fold {
		c.at = c.findFold(l, text, from)
	} else {
		c.at = l.find(text, from)
	}
	return c.at
}

// find looks for the rarest byte, as long as that is rare here.
func (l *literal) find(text []byte, from int) int {
	rare := l.text[l.rare]
	for misses, pos := 0, from; ; misses++ {
		if misses > 8 && misses*64 > pos-from {
			if n := bytes.Index(text[pos:], l.text); n >= 0 {
				return pos + n
			}
			return -1
		}
		if pos+l.rare >= len(text) {
			return -1
		}
		n := bytes.IndexByte(text[pos+l.rare:], rare)
		if n < 0 || pos+n+len(l.text) > len(text) {
			return -1
		}
		pos += n
		if string(text[pos:pos+len(l.text)]) == string(l.text) {
			return pos
		}
		pos++
	}
}

func (c *cursor) findFold(l *literal, text []byte, from int) int {
	rare := l.text[l.rare]
	cases := [2]byte{rare, rare}
	if 'a' <= rare && rare <= 'z' {
		cases[1] -= 'a' - 'A'
	}
	for pos := from + l.rare; ; pos++ {
		next := -1
		for i, b := range cases {
			if !c.ahead || c.cases[i] >= 0 && c.cases[i] < pos {
				c.cases[i] = index(text, b, pos)
			}
			if at := c.cases[i]; at >= 0 && (next < 0 || at < next) {
				next = at
			}
		}
		c.ahead = true
		start := next - l.rare
		if next < 0 || start+len(l.text) > len(text) {
			return -1
		}
		if l.equal(text[start : start+len(l.text)]) {
			return start
		}
		pos = next
	}
}

// index is bytes.IndexByte from a position on.
func index(text []byte, b byte, from int) int {
	if from > len(text) {
		return -1
	}
	n := bytes.IndexByte(text[from:], b)
	if n < 0 {
		return -1
	}
	return from + n
}

func (l *literal) equal(text []byte) bool {
	for i, b := range l.text {
		if lower(text[i]) != b {
			return false
		}
	}
	return true
}
