package session

import (
	"slices"
	"strings"
	"unicode"

	"github.com/rosterrun/roster/message"
)

// Search is what sessions are looked for by: phrases, each of which stands in one
// and the same text. Case does not matter.
type Search [][]string

// ParseSearch reads words and "phrases in quotes". Everything that is no letter
// and no digit stands between words. Where there is no word it finds nothing.
func ParseSearch(text string) Search {
	s := Search{}
	for i, piece := range strings.Split(text, `"`) {
		words := Words(piece)
		if i%2 == 1 {
			if len(words) > 0 {
				s = append(s, words)
			}
			continue
		}
		for _, w := range words {
			s = append(s, []string{w})
		}
	}
	return s
}

// In says whether a text has all that is looked for.
func (s Search) In(text string) bool {
	words := Words(text)
	for _, phrase := range s {
		if indexPhrase(words, phrase) < 0 {
			return false
		}
	}
	return len(s) > 0
}

func indexPhrase(words, phrase []string) int {
	for i := 0; i+len(phrase) <= len(words); i++ {
		if slices.Equal(words[i:i+len(phrase)], phrase) {
			return i
		}
	}
	return -1
}

// Excerpt is the line of a text in which the first of what is looked for stands,
// from shortly before it on.
func (s Search) Excerpt(text string) string {
	if len(s) == 0 {
		return ""
	}
	for line := range strings.Lines(text) {
		if words := Words(line); indexPhrase(words, s[0][:1]) >= 0 {
			return around(strings.TrimSpace(line), s[0][0])
		}
	}
	return ""
}

// aroundRunes is how much is shown before a word, and maxExcerpt how much in all.
const (
	aroundRunes = 40
	maxExcerpt  = 160
)

func around(line, word string) string {
	runes := []rune(line)
	at := 0
	for i := range runes {
		if strings.HasPrefix(lower(string(runes[i:min(len(runes), i+maxWord)])), word) {
			at = i
			break
		}
	}
	cut := ""
	if at > aroundRunes {
		runes, cut = runes[at-aroundRunes:], "…"
	}
	if len(runes) > maxExcerpt {
		return cut + string(runes[:maxExcerpt]) + "…"
	}
	return cut + string(runes)
}

// maxWord bounds a word, in characters: what follows is cut off.
const maxWord = 64

// Words are the words of a text, in lower case.
func Words(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		if r := []rune(lower(w)); len(r) > maxWord {
			words[i] = string(r[:maxWord])
		} else {
			words[i] = string(r)
		}
	}
	return words
}

// lower makes letters equal that differ in case only, one by one, so that no word
// becomes two.
func lower(s string) string { return strings.Map(unicode.ToLower, s) }

// Searchable is the text of an event by which its session is found: what users
// and models say. Most events have none.
func Searchable(e *Event) string {
	switch e.Type {
	case "prompt", "steer", "followup", "message", "branch", "revert":
	default:
		return ""
	}
	body, err := e.Decode()
	if err != nil {
		return ""
	}
	switch b := body.(type) {
	case *Prompt:
		return message.PartsText(b.Parts)
	case *Steer:
		return message.PartsText(b.Parts)
	case *Followup:
		return message.PartsText(b.Parts)
	case *Message:
		return message.PartsText(b.Parts)
	case *Reverted:
		return b.Text
	case *Branch:
		var all []string
		for _, m := range b.Messages {
			all = append(all, message.PartsText(m.Parts))
		}
		return strings.Join(all, "\n")
	}
	return ""
}
