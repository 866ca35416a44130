package render

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
)

// Conversation writes a session's head and its messages.
func Conversation(w io.Writer, s Style, c view.Conversation) {
	fmt.Fprintf(w, "%s\n%s · %s · %s · turns %d · %s\n", s.paint(bold, line(c.Title, noteRunes)),
		c.ID, c.Profile, c.Status, c.Turns, Usage(c.Usage))
	fmt.Fprintf(w, "created %s, updated %s\n", c.Created.Local().Format(time.DateTime), c.Updated.Local().Format(time.DateTime))
	if c.Origin != "" {
		fmt.Fprintf(w, "branches off %s (%s)\n", line(c.Origin, noteRunes), line(c.Why, noteRunes))
	}
	for _, m := range c.Messages {
		said := false
		for _, p := range m.Parts {
			said = part(w, s, m, p, said)
		}
	}
	if len(c.Sessions) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", s.paint(cyan, "delegated:"))
	for _, child := range c.Sessions {
		fmt.Fprintf(w, "%s%s · %s · %s · turns %d · %s · %s\n", strings.Repeat("  ", child.Depth-c.Depth),
			child.ID, child.Profile, child.Status, child.Turns, Usage(child.Usage), line(child.Title, noteRunes))
	}
}

// resultRunes bounds what is shown of a tool's result.
const resultRunes = 200

// part writes one, and before the first of a message who said it.
func part(w io.Writer, s Style, m view.Message, p message.Part, said bool) bool {
	head := func() {
		cut := ""
		if m.Partial {
			cut = " (cut off)"
		}
		if !said {
			fmt.Fprintf(w, "\n%s\n", s.paint(cyan, string(m.Role)+cut+":"))
		}
		said = true
	}
	switch p := p.(type) {
	case message.Text:
		head()
		fmt.Fprintf(w, "%s\n", Safe(strings.Trim(p.Text, "\n")))
	case message.Image:
		head()
		fmt.Fprintf(w, "[image %s]\n", Safe(p.MediaType))
	case message.ToolCall:
		fmt.Fprintln(w, s.paint(dim, "· "+Call(p.Name, p.Input)))
	case message.ToolResult:
		fmt.Fprintln(w, s.paint(dim, "  → "+line(message.PartsText(p.Parts), resultRunes)))
	}
	return said
}
