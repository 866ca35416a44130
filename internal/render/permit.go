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

// Capabilities writes which tools there are, by what they come with.
func Capabilities(w io.Writer, s Style, all []view.Capability) {
	wide, name := 0, 0
	for _, c := range all {
		wide = max(wide, len(c.Name))
		for _, t := range c.Tools {
			name = max(name, len(t.Name))
		}
	}
	for _, c := range all {
		group := c.Name
		for _, t := range c.Tools {
			note := ""
			if t.Named {
				note = " (where a profile lists it)"
			}
			fmt.Fprintf(w, "%-*s  %-*s  %s  %s%s\n", wide, Safe(group), name, Safe(t.Name),
				s.paint(effectColor(t.Effect), fmt.Sprintf("%-5s", t.Effect)), line(t.Summary, lastRunes), note)
			group = ""
		}
	}
}

// Tools writes which tools and profiles a profile is told of, and why.
func Tools(w io.Writer, s Style, t view.Tools) {
	width := len("withheld")
	for _, o := range t.Tools {
		width = max(width, len(o.Name))
	}
	for _, o := range t.Tools {
		word := "withheld"
		if o.Offered {
			word = "offered"
		}
		fmt.Fprintf(w, "%s  %-*s  %s\n", s.paint(effectColor(o.Effect), fmt.Sprintf("%-8s", word)), width, Safe(o.Name), decided(o.Verdict))
	}
	for _, group := range []struct {
		tool string
		list []view.Target
	}{{"task", t.Targets}, {"switch_profile", t.Switches}} {
		for _, o := range group.list {
			fmt.Fprintf(w, "%s  %s %s  %s\n", s.paint(effectColor(o.Effect), fmt.Sprintf("%-8s", o.Effect)), group.tool, Safe(o.Name), line(o.Summary, lastRunes))
		}
	}
}

// decided says what decided.
func decided(v view.Verdict) string {
	text := fmt.Sprintf("%s: %s", v.Step, line(v.Reason, lastReason))
	if v.Rule != nil {
		text += ": " + permitRule(v.Rule)
	}
	return text
}

// lastReason bounds a reason; those of the engine are shorter.
const lastReason = 200

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
