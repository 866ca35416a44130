package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Diagnostic writes a diagnostic: its place and message, the line it is about
// with a caret under the column, and the hint. lines are the file's, counted
// from 1; nil if they are not to be had.
func Diagnostic(w io.Writer, s Style, d *profile.Diagnostic, lines []string) {
	if at := (source.Origin{File: d.File, Line: d.Line, Column: d.Column}).String(); at != "" { // else it is of a flag or a request
		fmt.Fprintf(w, "%s: ", s.paint(bold, Visible(at)))
	}
	code := d.Code
	if d.Name != "" {
		code += " " + d.Name
	}
	fmt.Fprintf(w, "%s: %s [%s]\n", s.paint(severityColor(d.Severity), string(d.Severity)), Safe(d.Message), code)
	excerpt(w, s, d, lines)
	if d.Hint != "" {
		fmt.Fprintf(w, "    %s %s\n", s.paint(dim, "help:"), Safe(d.Hint))
	}
}

func severityColor(sev profile.Severity) string {
	switch sev {
	case profile.SeverityError:
		return red
	case profile.SeverityWarning:
		return yellow
	}
	return cyan
}

// excerptRunes bounds the width of a line that is shown.
const excerptRunes = 100

func excerpt(w io.Writer, s Style, d *profile.Diagnostic, lines []string) {
	if d.Line < 1 || d.Line > len(lines) {
		return
	}
	text := profile.MaskSecrets(strings.TrimRight(lines[d.Line-1], "\r\n"))
	runes := []rune(strings.ReplaceAll(text, "\t", " "))
	caret := min(max(d.Column, 1), len(runes)+1) - 1 // columns count runes
	if caret >= excerptRunes {
		from := caret - excerptRunes/2
		runes, caret = append([]rune("…"), runes[from:]...), caret-from+1
	}
	if len(runes) > excerptRunes {
		runes = append(runes[:excerptRunes-1], '…')
	}
	number := fmt.Sprintf("%6d | ", d.Line)
	fmt.Fprintf(w, "%s%s\n", s.paint(dim, number), Safe(string(runes)))
	if d.Column > 0 {
		fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", len(number)+caret), s.paint(severityColor(d.Severity), "^"))
	}
}
