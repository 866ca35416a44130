package render

import (
	"fmt"
	"io"

	"github.com/rosterrun/roster/internal/view"
)

// Servers writes MCP servers as a table.
func Servers(w io.Writer, list []view.Server) {
	wide := 0
	for _, s := range list {
		wide = max(wide, len(s.Name))
	}
	for _, s := range list {
		tools := "never reached"
		if s.Tools != nil {
			tools = fmt.Sprintf("%d tools", *s.Tools)
		}
		fmt.Fprintf(w, "%-*s  %-6s  %-13s  %s  %s\n", wide, Safe(s.Name), s.State, tools, Safe(s.At.String()), line(s.Text, lastRunes))
		if s.Why != "" {
			fmt.Fprintf(w, "%-*s  %s\n", wide, "", line(s.Why, noteRunes))
		}
	}
}

// ServerTools writes tools of MCP servers as a table.
func ServerTools(w io.Writer, list []view.ServerTool) {
	wide := 0
	for _, t := range list {
		wide = max(wide, len(t.Name))
	}
	for _, t := range list {
		fmt.Fprintf(w, "%-*s  %s\n", wide, Safe(t.Name), line(t.Description, lastRunes))
	}
}
