package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The bounds of what the braces of one word expand to: words, and bytes that
// are put together on the way.
const (
	maxBraces     = 256
	maxBraceBytes = 1 << 18
)

// hasBrace says whether braces may be expanded in the word.
func hasBrace(w *syntax.Word) bool {
	for _, part := range w.Parts {
		if lit, ok := part.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
			return true
		}
	}
	return false
}

// token is a mark of a brace expansion, or text.
type token struct {
	mark   byte // one of {,} or 0
	text   string
	quoted bool
}

// braces expands the braces of a word without expansions, globs and tildes.
// It knows lists and sequences that are well formed; for others ok is false,
// and what bash makes of them is not known.
func braces(w *syntax.Word) (list []word, ok bool) {
	tokens, ok := tokenize(w)
	if !ok {
		return nil, false
	}
	p := braceParser{tokens: tokens}
	texts, ok := p.concat(false)
	if !ok || p.at != len(tokens) {
		return nil, false
	}
	for _, t := range texts {
		if t.text != "" || t.quoted {
			list = append(list, text(t.text))
		}
	}
	return list, true
}

func tokenize(w *syntax.Word) (tokens []token, ok bool) {
	for _, part := range w.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			if tokens, ok = bareTokens(tokens, p.Value); !ok {
				return nil, false
			}
		case *syntax.SglQuoted:
			if p.Dollar {
				return nil, false
			}
			tokens = append(tokens, token{text: p.Value, quoted: true})
		case *syntax.DblQuoted:
			if !written(p.Parts) || p.Dollar {
				return nil, false
			}
			b := builder{}
			for _, inner := range p.Parts {
				lit, ok := inner.(*syntax.Lit)
				if !ok {
					return nil, false
				}
				b.double(lit.Value)
			}
			s, _ := b.done().Literal()
			tokens = append(tokens, token{text: s, quoted: true})
		default:
			return nil, false
		}
	}
	return tokens, true
}

func bareTokens(tokens []token, s string) ([]token, bool) {
	if strings.ContainsAny(s, "*?[~$`") {
		return nil, false
	}
	for s != "" {
		switch i := strings.IndexAny(s, `{,}\`); {
		case i < 0:
			return append(tokens, token{text: s}), true
		case i > 0:
			tokens = append(tokens, token{text: s[:i]})
			s = s[i:]
		case strings.HasPrefix(s, "{}"): // bash leaves it
			tokens = append(tokens, token{text: "{}"})
			s = s[2:]
		case s[0] == '\\':
			if len(s) == 1 || s[1] >= 0x80 {
				return nil, false
			}
			if s[1] != '\n' {
				tokens = append(tokens, token{text: s[1:2], quoted: true})
			}
			s = s[2:]
		default:
			tokens = append(tokens, token{mark: s[0]})
			s = s[1:]
		}
	}
	return tokens, true
}

type braceParser struct {
	tokens []token
	at     int
	bytes  int
}

// concat reads up to the comma or brace that ends it, when inside of braces,
// or to the end.
func (p *braceParser) concat(inside bool) (list []token, ok bool) {
	list = []token{{}}
	for ; p.at < len(p.tokens); p.at++ {
		next := []token{p.tokens[p.at]}
		switch p.tokens[p.at].mark {
		case ',':
			if inside {
				return list, true
			}
			next[0] = token{text: ","}
		case '}':
			return list, inside
		case '{':
			if next, ok = p.braces(); !ok {
				return nil, false
			}
		}
		if len(list)*len(next) > maxBraces {
			return nil, false
		}
		joined := make([]token, 0, len(list)*len(next))
		for _, a := range list {
			for _, b := range next {
				joined = append(joined, token{text: a.text + b.text, quoted: a.quoted || b.quoted})
				if p.bytes += len(a.text) + len(b.text) + 1; p.bytes > maxBraceBytes {
					return nil, false
				}
			}
		}
		list = joined
	}
	return list, !inside
}

// braces reads from an opening brace to its closing one.
func (p *braceParser) braces() (list []token, ok bool) {
	if p.at+2 < len(p.tokens) && p.tokens[p.at+1].mark == 0 && p.tokens[p.at+2].mark == '}' {
		p.at += 2
		return sequence(p.tokens[p.at-1])
	}
	commas := 0
	for {
		p.at++
		item, ok := p.concat(true)
		if !ok {
			return nil, false
		}
		list = append(list, item...)
		if len(list) > maxBraces {
			return nil, false
		}
		if p.tokens[p.at].mark == '}' {
			return list, commas > 0
		}
		commas++
	}
}

// sequence expands 1..3 and a..c.
func sequence(t token) (list []token, ok bool) {
	from, to, ok := strings.Cut(t.text, "..")
	if !ok || t.quoted {
		return nil, false
	}
	first, last := 0, 0
	letters := len(from) == 1 && len(to) == 1 && isLower(from[0]) && isLower(to[0])
	if letters {
		first, last = int(from[0]), int(to[0])
	} else if first, ok = plainInt(from); !ok {
		return nil, false
	} else if last, ok = plainInt(to); !ok {
		return nil, false
	}
	step := 1
	if last < first {
		step = -1
	}
	if (last-first)*step >= maxBraces {
		return nil, false
	}
	for n := first; ; n += step {
		s := strconv.Itoa(n)
		if letters {
			s = string(rune(n))
		}
		if list = append(list, token{text: s}); n == last {
			return list, true
		}
	}
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }

func plainInt(s string) (int, bool) {
	n, err := strconv.Atoi(s)
	return n, err == nil && strconv.Itoa(n) == s && len(s) < 8
}
