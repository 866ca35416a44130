package offline

import (
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
)

// imageBytes stands for an image, which providers count by its area.
const imageBytes = 6000

// HeadSize returns the bytes of a request's text without its messages.
func HeadSize(r *model.Request) int {
	n := len(r.Tail)
	if r.Prefix == nil {
		return n
	}
	for _, s := range r.Prefix.System {
		n += len(s)
	}
	for _, t := range r.Prefix.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n
}

// Size returns the bytes of the text in parts.
func Size(parts []message.Part) int {
	n := 0
	for _, p := range parts {
		switch p := p.(type) {
		case message.Text:
			n += len(p.Text)
		case message.Thinking:
			n += len(p.Text)
		case message.Image:
			n += imageBytes
		case message.ToolCall:
			n += len(p.Name) + len(p.Input)
		case message.ToolResult:
			n += Size(p.Parts)
		}
	}
	return n
}

// Pieces cuts text into the pieces in which it is streamed: words with the
// space that follows them.
func Pieces(text string) []string {
	var out []string
	start, space := 0, false
	for i := range len(text) {
		c := text[i]
		isSpace := c == ' ' || c == '\n' || c == '\t' || c == '\r'
		if space && !isSpace {
			out = append(out, text[start:i])
			start = i
		}
		space = isSpace
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}
