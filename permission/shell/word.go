package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is a Word and what matters of how it was written.
type word struct {
	Word
	split  bool // a hole outside quotes: it may be no word, or several
	digits bool // every hole is a number
}

func text(s string) word { return word{Word: Word{{Text: s}}} }
func hole(s string) word { return word{Word: Word{{Text: s, Hole: true}}, split: true} }

// number says whether the word's value is surely a number, or empty.
func (w word) number() bool {
	for i, p := range w.Word {
		if p.Hole && !w.digits || !p.Hole && strings.Trim(strings.TrimPrefix(p.Text, "-"), "0123456789") != "" || i > 0 {
			return false
		}
	}
	return true
}

// opens says whether the word's beginning is known only at run time, so that
// it may be an option.
func (w word) opens() bool { return len(w.Word) > 0 && w.Word[0].Hole && !w.digits }

// builder puts a word together. Adjoining texts become one piece.
type builder struct {
	pieces Word
	open   []byte // the text of the piece that is built
	split  bool
	holes  int
	digits int
	rest   bool // all that follows belongs to one hole: a[…
}

func (b *builder) text(s string) { b.open = append(b.open, s...) }

// hole adds a hole; quoted, it stands for one word.
func (b *builder) hole(s string, quoted bool) {
	b.holes++
	b.split = b.split || !quoted
	if b.rest {
		b.text(s)
		return
	}
	b.close()
	b.pieces = append(b.pieces, Piece{Text: s, Hole: true})
}

// number adds a hole that is a number.
func (b *builder) number(s string) {
	b.digits++
	b.hole(s, true)
}

// glob makes a hole of all that follows.
func (b *builder) glob() {
	if !b.rest {
		b.close()
		b.holes++
		b.rest, b.split = true, true
	}
}

func (b *builder) word(w word) {
	for _, p := range w.Word {
		if p.Hole {
			b.hole(p.Text, !w.split)
		} else {
			b.text(p.Text)
		}
	}
}

func (b *builder) close() {
	if len(b.open) > 0 {
		b.pieces = append(b.pieces, Piece{Text: string(b.open), Hole: b.rest})
		b.open = b.open[:0]
	}
}

func (b *builder) done() word {
	b.close()
	return word{Word: b.pieces, split: b.split, digits: b.holes == b.digits}
}

// words appends what a word expands to: one word, or with braces several.
func (a *analyzer) words(to []word, w *syntax.Word) []word {
	if !hasBrace(w) || a.lang != syntax.LangBash {
		return append(to, a.expand(w))
	}
	if list, ok := braces(w); ok {
		return append(to, list...)
	}
	// Braces are expanded before all else: they may make $ab of $a{b,c}.
	if slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool {
		lit, ok := p.(*syntax.Lit)
		return ok && strings.Contains(lit.Value, "$")
	}) {
		a.unknown()
	}
	a.discard(w)
	return append(to, hole(a.source(w)))
}

// discard walks a word whose value matters only for whether it is a number.
func (a *analyzer) discard(w *syntax.Word) (number bool) {
	if w == nil {
		return true
	}
	return a.expand(w).number()
}

// plainWord is text for a word of the line; most are, so their pieces share an array.
func (a *analyzer) plainWord(s string) word {
	if len(a.pieces) == cap(a.pieces) {
		a.pieces = make([]Piece, 0, 16)
	}
	n := len(a.pieces)
	a.pieces = append(a.pieces, Piece{Text: s})
	return word{Word: a.pieces[n : n+1 : n+1]}
}

// expand removes the quotes of a word and walks the substitutions in it.
func (a *analyzer) expand(w *syntax.Word) word {
	if len(w.Parts) == 1 {
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && plain(lit.Value) {
			return a.plainWord(lit.Value)
		}
	}
	b := builder{}
	for i, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.literal(lit.Value, i == 0, i == len(w.Parts)-1)
			continue
		}
		a.part(&b, part, false)
	}
	return b.done()
}

// part adds a part of a word that is not bare text.
func (a *analyzer) part(b *builder, part syntax.WordPart, quoted bool) {
	switch p := part.(type) {
	case *syntax.SglQuoted:
		s, ok := p.Value, true
		if p.Dollar {
			s, ok = decodeEscapes(p.Value)
		}
		if ok {
			b.text(s)
		} else {
			b.hole(a.source(p), true)
		}
	case *syntax.DblQuoted:
		if p.Dollar { // a translation, which is then expanded
			a.unknown()
		}
		a.quotedParts(b, p.Parts)
	case *syntax.ParamExp:
		a.param(b, p, quoted)
	case *syntax.CmdSubst:
		a.substitution(p, quoted)
		b.hole(a.source(p), quoted)
	case *syntax.ArithmExp:
		if p.Bracket || strings.ContainsAny(a.source(p), "'\"\\`") {
			a.unknown()
		}
		a.arith(p.X)
		b.number(a.source(p))
	case *syntax.ProcSubst:
		a.subshell(func() { a.stmts(p.Stmts) })
		b.hole(a.source(p), true)
	default:
		a.fail("an extended glob")
	}
}

// quotedParts adds what stands in double quotes or in a here-document.
func (a *analyzer) quotedParts(b *builder, parts []syntax.WordPart) {
	for _, part := range parts {
		if lit, ok := part.(*syntax.Lit); ok {
			b.double(lit.Value)
		} else {
			a.part(b, part, true)
		}
	}
}

// substitution walks a command substitution. What stands in backquotes is
// taken as bash takes it: up to the next backquote, and parsed anew.
func (a *analyzer) substitution(c *syntax.CmdSubst, quoted bool) {
	switch {
	case c.TempFile || c.ReplyVar:
		a.fail("a substitution in braces")
		return
	case !c.Backquotes:
		a.subshell(func() { a.stmts(c.Stmts) })
		return
	}
	raw := a.source(c)
	if len(raw) < 2 || raw[0] != '`' || raw[len(raw)-1] != '`' {
		a.fail("backquotes in an unusual place")
		return
	}
	raw = raw[1 : len(raw)-1]
	var inner strings.Builder
	for i := 0; i < len(raw); i++ {
		switch {
		case raw[i] == '`', quoted && raw[i] == '"':
			a.fail("quotes that reach over backquotes")
			return
		case raw[i] == '\\' && i+1 < len(raw) && strings.IndexByte("$`\\", raw[i+1]) >= 0:
			i++
		case raw[i] == '\\':
			inner.WriteByte(raw[i])
			if i++; i == len(raw) {
				a.fail("backquotes in an unusual place")
				return
			}
		}
		inner.WriteByte(raw[i])
	}
	a.subshell(func() { a.nested(inner.String(), a.lang) })
}

// plain says whether bare text stands for itself.
func plain(s string) bool { return !strings.ContainsAny(s, "\\*?[~$`{}") }

// literal adds bare text: backslashes go, globs and tildes are holes.
func (b *builder) literal(s string, first, last bool) {
	if first && last && s == "[" {
		b.text(s)
		return
	}
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			b.text(s[start:i])
			if i++; i == len(s) {
				b.hole("\\", true)
				return
			}
			start = i
			if s[i] == '\n' {
				start++
			}
		case '*', '?':
			b.text(s[start:i])
			b.hole(s[i:i+1], false)
			start = i + 1
		case '[':
			b.text(s[start:i])
			start = i
			b.glob()
		case '~':
			if !(first && i == 0) && (i == 0 || s[i-1] != '=' && s[i-1] != ':') {
				continue
			}
			b.text(s[start:i])
			end := i + 1
			for end < len(s) && s[end] != '/' && s[end] != ':' && s[end] != '\\' {
				end++
			}
			b.hole(s[i:end], true)
			start, i = end, end-1
		}
	}
	b.text(s[start:])
}

// double adds text in double quotes: few backslashes go.
func (b *builder) double(s string) {
	start := 0
	for i := 0; i+1 < len(s); i++ {
		if s[i] != '\\' || strings.IndexByte("$`\"\\\n", s[i+1]) < 0 {
			continue
		}
		b.text(s[start:i])
		i++
		start = i
		if s[i] == '\n' {
			start++
		}
	}
	b.text(s[start:])
}

// decodeEscapes returns the text of $'…', if it is plain ASCII.
func decodeEscapes(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		if at := strings.IndexByte(`abefnrtv\'"?E`, s[i]); at >= 0 {
			b.WriteByte("\a\b\x1b\f\n\r\t\v\\'\"?\x1b"[at])
			continue
		}
		n, size := number(s[i:])
		if size == 0 || n == 0 || n > 0x7f {
			return "", false
		}
		b.WriteByte(byte(n))
		i += size - 1
	}
	return b.String(), true
}

// number reads an escape by number: \nnn, \xHH, \uHHHH or \UHHHHHHHH. size is
// 0 if there is none.
func number(s string) (n, size int) {
	base, most, start := 8, 3, 0
	switch s[0] {
	case 'x':
		base, most, start = 16, 2, 1
	case 'u':
		base, most, start = 16, 4, 1
	case 'U':
		base, most, start = 16, 8, 1
	}
	for size = start; size < len(s) && size-start < most; size++ {
		d := strings.IndexByte("0123456789abcdef", s[size]|0x20&(s[size]>>1))
		if d < 0 || d >= base {
			break
		}
		n = n*base + d
	}
	if size == start {
		return 0, 0
	}
	return n, size
}
