package session

// ToolsChanged says that a loop has other tools from its next model call on, because
// who they are of has changed them, or come or gone; or only, in Notes, what is to be
// known of those that it has. Prefix is as in LoopStart; empty: as before.
type ToolsChanged struct {
	Added   []string `json:"added,omitempty"`
	Removed []string `json:"removed,omitempty"`
	Changed []string `json:"changed,omitempty"` // their descriptions or inputs
	Notes   []string `json:"notes,omitempty"`
	Prefix  string   `json:"prefix,omitempty"`
}

func (*ToolsChanged) Type() string { return "tools.changed" }

// AppendJSON implements Body.
func (b *ToolsChanged) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// retooled takes in other tools.
func (l *Loop) retooled(b *ToolsChanged) {
	if b.Prefix == "" {
		return
	}
	start := *l.Start
	start.Prefix = b.Prefix
	l.Start = &start
}
