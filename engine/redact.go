package engine

import (
	"slices"

	"github.com/rosterrun/roster/message"
)

// clean hides secrets in a text that comes in.
func (r *run) clean(text string) string {
	if r.deps.Redact == nil {
		return text
	}
	return r.deps.Redact(text)
}

// cleanParts does the same for what a tool gave, which is not changed.
func (r *run) cleanParts(parts []message.Part) []message.Part {
	if r.deps.Redact == nil {
		return parts
	}
	out := slices.Clone(parts)
	for i, p := range out {
		if t, ok := p.(message.Text); ok {
			t.Text = r.clean(t.Text)
			out[i] = t
		}
	}
	return out
}
