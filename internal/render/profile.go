package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/rosterrun/roster/internal/view"
)

// Profile writes what a profile's file says.
func Profile(w io.Writer, s Style, p view.Profile) {
	row := func(key, text string) {
		if text != "" {
			fmt.Fprintf(w, "%s  %s\n", s.paint(bold, fmt.Sprintf("%-12s", key)), Safe(text))
		}
	}
	row("name", p.Name)
	row("title", p.Title)
	row("description", p.Description)
	row("file", fmt.Sprintf("%s (%s)", p.Source.File, p.Dialect))
	row("revision", p.Revision)
	row("mode", p.Mode)
	row("provider", p.Provider)
	row("model", p.Model)
	if p.Temperature != nil {
		row("temperature", fmt.Sprint(*p.Temperature))
	}
	row("tools", toolList(p.Tools))
	for _, r := range p.Permission {
		row("permission", fmt.Sprintf("%s %s %s", r.Effect, r.Tool, r.Subject))
	}
	for _, h := range p.Hooks {
		row("hooks", strings.Join(strings.Fields(fmt.Sprintf("%s %s %s%s (%s:%d)", h.On, h.Match, h.Command, h.URL, h.File, h.Line)), " "))
	}
	for _, key := range []string{"turns", "tokens", "duration", "cost"} {
		if v, ok := p.Limits[key]; ok {
			row("limits", fmt.Sprintf("%s %v", key, v))
		}
	}
	if text := strings.TrimSpace(p.SystemPrompt); text != "" {
		fmt.Fprintf(w, "\n%s\n", Safe(text))
	}
}

func toolList(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
