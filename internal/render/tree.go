package render

import (
	"fmt"
	"io"

	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
)

// Tree shows the messages of a session, one in a line.
func Tree(w io.Writer, s Style, list []view.TreeMessage) {
	rows := make([][]string, len(list))
	before := ""
	for i := range list {
		m := &list[i]
		sent, after := "", ""
		if m.Sent {
			sent = "*"
		}
		if m.Parent != before {
			if after = m.Parent; after == "" {
				after = "(the beginning)"
			}
		}
		before = m.ID
		rows[i] = []string{sent, m.ID, after, string(m.Role), gist(m.Parts)}
	}
	Table(w, s, []string{"", "MESSAGE", "AFTER", "ROLE", "TEXT"}, rows)
}

// gist is what a message says, in one line.
func gist(parts []message.Part) string {
	if text := line(message.PartsText(parts), lastRunes); text != "" {
		return text
	}
	for _, p := range parts {
		switch p := p.(type) {
		case message.ToolCall:
			return line("· "+Call(p.Name, p.Input), lastRunes)
		case message.ToolResult:
			return line("→ "+message.PartsText(p.Parts), lastRunes)
		case message.Image:
			return fmt.Sprintf("[image %s]", line(p.MediaType, lastRunes))
		}
	}
	return ""
}
