package render

import (
	"fmt"
	"io"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/source"
)

// Permit writes a decision on a call: the effect first, then what decided it
// and, where the call is made of several, each part.
func Permit(w io.Writer, s Style, tool, subject string, p view.Permit) {
	fmt.Fprintf(w, "%s  %s %s\n", s.paint(effectColor(p.Effect), p.Effect.String()), Safe(tool), line(subject, lastRunes))
	fmt.Fprintf(w, "  %s: %s", p.Step, p.Reason)
	if p.Rule != nil {
		fmt.Fprintf(w, ": %s", permitRule(p.Rule))
	}
	fmt.Fprintln(w)
	for _, part := range p.Parts {
		by := "no rule matches"
		if part.Rule != nil {
			by = permitRule(part.Rule)
		}
		fmt.Fprintf(w, "  %-5s  %s %s  (%s)\n", part.Effect, Safe(part.Tool), line(part.Subject, lastRunes), by)
	}
}

func effectColor(e permission.Effect) string {
	switch e {
	case permission.Allow:
		return green
	case permission.Ask:
		return yellow
	}
	return red
}

func permitRule(r *view.PermitRule) string {
	at := r.Layer
	if r.File != "" {
		at = source.Origin{File: r.File, Line: r.Line}.String()
	}
	return Safe(fmt.Sprintf("%s %q %s at %s", r.Tool, r.Subject, r.Effect, at))
}
