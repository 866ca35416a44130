package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/rosterrun/roster/internal/view"
)

// Command writes what a command is, and its text.
func Command(w io.Writer, s Style, v *view.Command) {
	fmt.Fprintf(w, "%s\n", s.paint(bold, strings.TrimSpace("/"+Safe(v.Name)+" "+oneLine(v.Hint))))
	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(w, "%-12s %s\n", name, oneLine(text))
		}
	}
	row("description", v.Description)
	row("file", fmt.Sprintf("%s:%d (%s)", v.File, v.Line, v.Kind))
	row("agent", v.Agent)
	row("model", v.Model)
	for _, r := range v.Allows {
		row("allows", r.Tool+" "+r.Subject)
	}
	for _, l := range v.Lines {
		text := fmt.Sprintf("%s (line %d)", l.Text, l.Line)
		if l.Inert {
			text += ", once it is trusted: see roster trust"
		}
		row("runs", text)
	}
	for _, f := range v.Files {
		row("reads", f)
	}
	for _, l := range v.Lacks {
		row("lacks", l)
	}
	fmt.Fprintln(w)
	for line := range strings.Lines(v.Text) {
		fmt.Fprintln(w, Safe(strings.TrimRight(line, "\n")))
	}
}
