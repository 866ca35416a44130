package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// GitHub writes diagnostics as workflow commands, which GitHub Actions shows at
// the lines of a change.
func GitHub(w io.Writer, ds []profile.Diagnostic) error {
	for i := range ds {
		d := &ds[i]
		level := string(d.Severity)
		if d.Severity == profile.SeverityNote {
			level = "notice"
		}
		place := "file=" + githubProperty(d.File)
		if d.Line > 0 {
			place += fmt.Sprintf(",line=%d,col=%d", d.Line, max(1, d.Column))
		}
		title := d.Code
		if d.Name != "" {
			title += " " + d.Name
		}
		text := d.Message
		if d.Hint != "" {
			text += "\n" + d.Hint
		}
		if _, err := fmt.Fprintf(w, "::%s %s,title=%s::%s\n", level, place, githubProperty(title), githubText(text)); err != nil {
			return err
		}
	}
	return nil
}

// What ends a command or a property is written by its number; a file's name may
// hold anything.
func githubText(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
