package profile

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/rosterrun/roster/source"
)

// maxShown is how many characters of a source line are shown.
const maxShown = 100

// Render writes diagnostics for people: place, severity, code and message, the
// line of the file with a caret below the place, and the hint. read gives the
// file that a diagnostic names; when it fails, or is nil, the line is left out.
// Control characters are shown escaped.
func Render(w io.Writer, ds []Diagnostic, read func(file string) ([]byte, error)) error {
	var file string
	var data []byte
	for i := range ds {
		d := &ds[i]
		if d.File != file && read != nil {
			file, data = d.File, nil
			if b, err := read(d.File); err == nil {
				data = b
			}
		}
		if _, err := io.WriteString(w, d.text(data)); err != nil {
			return err
		}
	}
	return nil
}

func (d *Diagnostic) text(data []byte) string {
	var b strings.Builder
	at := source.Origin{File: d.File, Line: d.Line, Column: d.Column}
	fmt.Fprintf(&b, "%s: %s %s: %s\n", escape(at.String()), d.Severity, d.Code, escape(d.Message))
	if line, caret, ok := excerpt(data, d.Line, d.Column); ok {
		number := fmt.Sprintf("%4d", d.Line)
		fmt.Fprintf(&b, "%s | %s\n%s | %s^\n", number, line, strings.Repeat(" ", len(number)), strings.Repeat(" ", caret))
	}
	if d.Hint != "" {
		fmt.Fprintf(&b, "     = %s\n", escape(d.Hint))
	}
	return b.String()
}

// excerpt gives a line, cut to maxShown characters around a column, and how far
// from its start the column stands.
func excerpt(data []byte, line, column int) (text string, caret int, ok bool) {
	if line < 1 || column < 1 {
		return "", 0, false
	}
	for range line - 1 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return "", 0, false
		}
		data = data[i+1:]
	}
	head, _, _ := bytes.Cut(data, []byte("\n"))
	runes := []rune(strings.TrimRight(string(head), "\r"))
	if len(runes) == 0 {
		return "", 0, false
	}
	at := min(column-1, len(runes))
	from := max(0, min(at-maxShown/2, len(runes)-maxShown))
	to := min(len(runes), from+maxShown)
	before := escape(string(runes[from:at]))
	text = before + escape(string(runes[at:max(at, to)]))
	if from > 0 {
		text, before = "…"+text, "…"+before
	}
	if to < len(runes) {
		text += "…"
	}
	return text, len([]rune(before)), true
}

// escape shows what a terminal would act on or hide: control, bidirectional and
// zero-width characters. A tab becomes a space.
func escape(s string) string {
	if strings.IndexFunc(s, invisible) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case invisible(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}
