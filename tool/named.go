package tool

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// named writes a path as one line that is nothing but this path: a name may hold
// line breaks and bytes that are no text, and may look like a note of ours.
func named(subject string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) }
	if !utf8.ValidString(subject) || strings.ContainsFunc(subject, odd) || strings.HasPrefix(subject, `"`) ||
		strings.HasPrefix(subject, "[") && strings.HasSuffix(subject, "]") {
		return strconv.Quote(subject)
	}
	return subject
}
