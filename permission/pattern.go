package permission

import (
	"errors"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// Pattern is a compiled tool or subject pattern. The zero Pattern matches
// nothing. A match takes time linear in the subject, and no memory. A NUL in
// the subject stands for a hole: text that is not known.
type Pattern struct {
	parts []string // the text around and between the stars
	ends  fixedEnds
}

// ends are up to 16 bytes at the start and 8 at the end of a text: compared with
// those of a subject, they tell most patterns apart from it at once. Packed into
// numbers, the outermost byte comes lowest; where a text is shorter, there is
// NUL, which no pattern contains.
type ends struct{ head, next, tail uint64 }

// fixedEnds are the ends of a pattern, as far as they are fixed.
type fixedEnds struct{ ends, mask ends }

func endsOf(s string) (e ends) {
	n := len(s)
	if n >= 16 {
		e.head, e.next = load(s), load(s[8:])
		e.tail = bits.ReverseBytes64(load(s[n-8:]))
		return e
	}
	for i := range min(8, n) {
		e.head |= uint64(s[i]) << (8 * i)
		e.tail |= uint64(s[n-1-i]) << (8 * i)
	}
	for i := 8; i < n; i++ {
		e.next |= uint64(s[i]) << (8 * (i - 8))
	}
	return e
}

// load packs the first eight bytes.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// between gives the ends of every text that begins and ends with two texts.
func between(head, tail string) fixedEnds {
	e := endsOf(head)
	e.tail = endsOf(tail).tail
	return fixedEnds{e, ends{mask(len(head)), mask(len(head) - 8), mask(len(tail))}}
}

// mask covers the lowest n bytes.
func mask(n int) uint64 {
	return ^uint64(0) >> (64 - 8*max(0, min(8, n)))
}

// fit says whether a text with the ends s may have these.
func (e *fixedEnds) fit(s ends) bool {
	return s.head&e.mask.head == e.ends.head && s.next&e.mask.next == e.ends.next && s.tail&e.mask.tail == e.ends.tail
}

// ParsePattern compiles a pattern: `*` stands for any run of characters, `?`
// for exactly one, everything else for itself. It must be valid UTF-8 without
// NUL.
func ParsePattern(s string) (Pattern, error) {
	if !utf8.ValidString(s) {
		return Pattern{}, errors.New("the pattern is not valid UTF-8")
	}
	if holed(s) {
		return Pattern{}, errors.New("the pattern contains a NUL, which nothing that it could match does")
	}
	parts := strings.Split(s, "*")
	kept := parts[:1]
	for i, p := range parts[1:] {
		if p != "" || i == len(parts)-2 {
			kept = append(kept, p)
		}
	}
	first, _, _ := strings.Cut(kept[0], "?")
	last := kept[len(kept)-1]
	last = last[strings.LastIndexByte(last, '?')+1:]
	return Pattern{kept, between(first, last)}, nil
}

// Any says whether the pattern is `*`, which matches everything.
func (p Pattern) Any() bool { return len(p.parts) == 2 && p.parts[0] == "" && p.parts[1] == "" }

// literal says whether the pattern matches nothing but one text.
func (p Pattern) literal() bool { return len(p.parts) == 1 && !strings.Contains(p.parts[0], "?") }

// Match says whether the pattern stands for the whole of s, whatever may be in
// its holes: only a star takes a hole. A byte of s that is not UTF-8 counts as
// one character.
func (p Pattern) Match(s string) bool {
	if len(p.parts) == 0 {
		return false
	}
	n := prefix(p.parts[0], s)
	if n < 0 {
		return false
	}
	s = s[n:]
	if len(p.parts) == 1 {
		return s == ""
	}
	last := p.parts[len(p.parts)-1]
	for _, part := range p.parts[1 : len(p.parts)-1] {
		_, end := find(part, s)
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return suffix(last, s)
}

// prefix returns the length of the text at the start of s that part stands
// for, or -1.
func prefix(part, s string) int {
	rest := s
	for part != "" {
		lit, after, one := strings.Cut(part, "?")
		if !strings.HasPrefix(rest, lit) {
			return -1
		}
		rest = rest[len(lit):]
		if !one {
			break
		}
		if rest == "" || rest[0] == 0 {
			return -1
		}
		_, n := utf8.DecodeRuneInString(rest)
		rest, part = rest[n:], after
	}
	return len(s) - len(rest)
}

// find returns where the first text begins and ends that part stands for, or
// -1, -1. Taking the first one is enough: a star follows.
func find(part, s string) (start, end int) {
	lit, _, one := strings.Cut(part, "?")
	for {
		i := strings.Index(s[start:], lit)
		if i < 0 {
			return -1, -1
		}
		start += i
		if !one {
			return start, start + len(lit)
		}
		if n := prefix(part, s[start:]); n >= 0 {
			return start, start + n
		}
		if start == len(s) {
			return -1, -1
		}
		_, n := utf8.DecodeRuneInString(s[start:])
		start += n
	}
}

// suffix says whether s ends in a text that part stands for.
func suffix(part, s string) bool {
	start := len(s)
	for range utf8.RuneCountInString(part) {
		if start == 0 {
			return false
		}
		_, n := utf8.DecodeLastRuneInString(s[:start])
		start -= n
	}
	return prefix(part, s[start:]) == len(s)-start
}

// mayMatch says whether the pattern could stand for the whole of a text with
// something in its holes. It is sure when it denies that.
func (p Pattern) mayMatch(t *text) bool {
	switch {
	case t.holes == nil || len(p.parts) == 0:
		return p.Match(t.s)
	case t.holes.whole && p.Match(t.holes.full):
		return true
	}
	first, last := p.parts[0], p.parts[len(p.parts)-1]
	for _, head := range t.holes.heads {
		rest, ok := agree(first, head)
		if len(p.parts) > 1 {
			rest = last // between a star and a hole there is room for anything
		}
		fits := func(tail string) bool {
			return agreeBack(rest, tail) && (len(p.parts) > 1 || runes(head)+runes(tail) <= runes(first))
		}
		if ok && slices.ContainsFunc(t.holes.tails, fits) {
			return true
		}
	}
	return false
}

// runes counts the characters that are whole: a hole may hold the rest of one.
func runes(s string) int {
	n := 0
	for i, r := range s {
		if r != utf8.RuneError || strings.HasPrefix(s[i:], string(utf8.RuneError)) {
			n++
		}
	}
	return n
}

// agree says whether a part and a text begin alike, as far as both go, and
// gives what is left of the part.
func agree(part, text string) (rest string, ok bool) {
	for part != "" && text != "" {
		if part[0] != '?' {
			if part[0] != text[0] {
				return part, false
			}
			part, text = part[1:], text[1:]
			continue
		}
		if !utf8.FullRuneInString(text) { // a hole may hold the rest of it
			return part, true
		}
		_, n := utf8.DecodeRuneInString(text)
		part, text = part[1:], text[n:]
	}
	return part, true
}

// agreeBack says whether a part and a text end alike, as far as both go.
func agreeBack(part, text string) bool {
	for part != "" && text != "" {
		n := 1
		if end := part[len(part)-1]; end == '?' {
			_, n = utf8.DecodeLastRuneInString(text)
		} else if end != text[len(text)-1] {
			return false
		}
		part, text = part[:len(part)-1], text[:len(text)-n]
	}
	return true
}
