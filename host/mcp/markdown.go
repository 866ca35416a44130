package mcp

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/rosterrun/roster/internal/render"
	"github.com/rosterrun/roster/internal/view"
	"github.com/rosterrun/roster/message"
)

// markdown writes a session for people, in at most n bytes or a little more; what
// is left out is said. Text of others is quoted, so that none of it looks like
// the words around it.
func markdown(c view.Conversation, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s · %s · %s · turns %d · %s\n", oneLine(c.Title), c.ID, c.Profile, c.Status, c.Turns, render.Usage(c.Usage))
	fmt.Fprintf(&b, "created %s, updated %s\n", c.Created.UTC().Format(time.RFC3339), c.Updated.UTC().Format(time.RFC3339))
	for i, m := range c.Messages {
		if b.Len() > n {
			fmt.Fprintf(&b, "\n[%d messages more: read %s%s]\n", len(c.Messages)-i, sessionURI(c.ID), messagesTail)
			return b.String()
		}
		writeMessage(&b, m)
	}
	for i, child := range c.Sessions {
		if i == 0 {
			b.WriteString("\n## delegated\n\n")
		}
		fmt.Fprintf(&b, "- %s%s · %s · turns %d · %s · %s\n", strings.Repeat("  ", child.Depth-c.Depth-1),
			child.Profile, child.Status, child.Turns, oneLine(child.Title), sessionURI(child.ID))
	}
	return b.String()
}

func writeMessage(b *strings.Builder, m view.Message) {
	cut := ""
	if m.Partial {
		cut = " (cut off)"
	}
	fmt.Fprintf(b, "\n## %s%s\n\n", m.Role, cut)
	for _, p := range m.Parts {
		switch p := p.(type) {
		case message.Text:
			quote(b, p.Text)
		case message.Image:
			fmt.Fprintf(b, "[image %s]\n", oneLine(p.MediaType))
		case message.ToolCall:
			fmt.Fprintf(b, "- call: %s\n", render.Call(p.Name, p.Input))
		case message.ToolResult:
			b.WriteString("result:\n")
			quote(b, message.PartsText(p.Parts))
		}
	}
}

func quote(b *strings.Builder, text string) {
	for line := range strings.SplitSeq(strings.Trim(text, "\r\n"), "\n") {
		b.WriteString("> ")
		b.WriteString(render.Safe(strings.TrimSuffix(line, "\r")))
		b.WriteByte('\n')
	}
}

func oneLine(text string) string {
	return render.Safe(strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " "))
}
