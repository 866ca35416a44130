// Package render shows what roster knows to people: runs as they happen, lists,
// diagnostics with the line they are about. It writes plain text, with colours
// only where its caller says that a terminal wants them.
package render

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Style says what a stream takes. The zero Style is plain text.
type Style struct {
	Color bool
}

// The escape sequences (SGR) that are used.
const (
	dim    = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s Style) paint(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Dim, Strong, Code and Bad mark text as less or more than the rest, as code, and as
// what went wrong.
func (s Style) Dim(text string) string    { return s.paint(dim, text) }
func (s Style) Strong(text string) string { return s.paint(bold, text) }
func (s Style) Code(text string) string   { return s.paint(cyan, text) }
func (s Style) Bad(text string) string    { return s.paint(red, text) }

// Safe makes text fit to be shown on a terminal: control characters other than
// newline and tab, and those that turn the direction of text, are shown escaped,
// so that what a model or a file says cannot drive the terminal or hide in it.
func Safe(text string) string {
	if strings.IndexFunc(text, unsafeRune) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !unsafeRune(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Visible makes one line of text in which nothing is hidden: everything that is
// not plainly seen is shown escaped, such as line breaks, characters without
// width, and blanks other than the space. It is for what people are to allow.
func Visible(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != blankBraille:
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

const blankBraille = '\u2800' // a symbol that looks like a space

func unsafeRune(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// line makes text one line of at most n runes.
func line(text string, n int) string {
	text = Safe(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// took gives a duration as people say it.
func took(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// count writes a number with thousands set apart.
func count(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
