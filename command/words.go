package command

import (
	"strings"
	"unicode"
)

// wordsOf splits arguments at white space. Quotes keep a word together and are taken
// away, in Claude's commands as in a shell: with a backslash before a character that
// means something. An open quote is a plain character there, as in it's.
func wordsOf(kind Kind, arguments string) []string {
	if kind == OpenCode {
		return pieces(arguments)
	}
	words, closed := shellWords(arguments)
	if !closed {
		return strings.Fields(arguments)
	}
	return words
}

func shellWords(s string) (words []string, closed bool) {
	var word strings.Builder
	in, quote := false, rune(0)
	rest := []rune(s)
	for i := 0; i < len(rest); i++ {
		switch r := rest[i]; {
		case r == '\\' && quote != '\'' && i+1 < len(rest) && (quote == 0 || strings.ContainsRune("\"\\$`", rest[i+1])):
			i++
			in = true
			word.WriteRune(rest[i])
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, in = r, true
		case quote == 0 && unicode.IsSpace(r):
			if in {
				words = append(words, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if in {
		words = append(words, word.String())
	}
	return words, quote == 0
}

// pieces splits as OpenCode does: at white space and at quotes, so that a"b c" is two.
func pieces(s string) (words []string) {
	for s = trimLeft(s); s != ""; s = trimLeft(s) {
		if q := s[0]; q == '"' || q == '\'' {
			if end := strings.IndexByte(s[1:], q); end >= 0 {
				words = append(words, s[1:1+end])
				s = s[end+2:]
				continue
			}
			s = s[1:]
			continue
		}
		end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '"' || r == '\'' })
		if end < 0 {
			end = len(s)
		}
		words = append(words, s[:end])
		s = s[end:]
	}
	return words
}

func trimLeft(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }

// Join makes the arguments of a command of words that a shell has split already.
func Join(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || strings.ContainsFunc(w, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'\\", r) }) {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(w) + `"`
		}
	}
	return strings.Join(quoted, " ")
}
