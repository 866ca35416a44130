package knowledge

import (
	"errors"
	"strings"
	"unicode"
)

// query is what is searched for.
type query struct {
	terms []term
	not   []string // as FTS5 takes them
}

// term is a word, the beginning of one, or several in a row.
type term struct {
	fts   string
	words []string // in lower case
}

const maxTerms = 32

var errNoTerms = errors.New("the query has no words: give some that the text is likely to have, \"several in a row\" in quotes, begin* for how a word begins, -word for what must not be there")

// parseQuery reads words, "phrases", beginnings* and -exclusions. Whatever else
// stands there only parts words, so that nothing of it is a command to the index.
func parseQuery(text string) (query, error) {
	var q query
	for text = strings.TrimSpace(text); text != "" && len(q.terms)+len(q.not) < maxTerms; text = strings.TrimSpace(text) {
		rest, no := strings.CutPrefix(text, "-")
		var piece string
		quoted := strings.HasPrefix(rest, `"`)
		if quoted {
			piece, text, _ = strings.Cut(rest[1:], `"`)
		} else {
			end := strings.IndexFunc(rest, unicode.IsSpace)
			if end < 0 {
				end = len(rest)
			}
			piece, text = rest[:end], rest[end:]
		}
		words := wordsOf(piece)
		if len(words) == 0 {
			continue
		}
		fts := `"` + strings.Join(words, " ") + `"`
		if !quoted && strings.HasSuffix(piece, "*") {
			fts += "*"
		}
		if no {
			q.not = append(q.not, fts)
		} else {
			q.terms = append(q.terms, term{fts, words})
		}
	}
	if len(q.terms) == 0 {
		return q, errNoTerms
	}
	return q, nil
}

// wordsOf splits a text as the index does.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) && !unicode.Is(unicode.Co, r)
	})
}

// match is the query as FTS5 takes it: with all of the terms, or with any.
func (q query) match(all bool) string {
	by := " OR "
	if all {
		by = " AND "
	}
	list := make([]string, len(q.terms))
	for i, t := range q.terms {
		list[i] = t.fts
	}
	text := "(" + strings.Join(list, by) + ")"
	if len(q.not) > 0 {
		text += " NOT (" + strings.Join(q.not, " OR ") + ")"
	}
	return text
}

// score says how well a line fits: how many of the terms are in it, to a letter or
// about.
func (q query) score(line string) int {
	low := strings.ToLower(line)
	n := 0
	for _, t := range q.terms {
		best := 0
		for _, w := range t.words {
			switch stem := stemOf(w); {
			case strings.Contains(low, w):
				best += 3
			case strings.Contains(low, stem):
				best += 2
			}
		}
		n += best
	}
	return n
}

// stemOf is about how a word begins in all its forms.
func stemOf(word string) string {
	r := []rune(word)
	if len(r) <= 4 {
		return word
	}
	return string(r[:max(4, len(r)-3)])
}
