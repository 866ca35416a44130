package session

// Lent says that a loop has further rules from now on, until it ends or the
// session goes on as another profile: what a skill or a command that is in use says
// that it does. They are allow rules and count only for what would have to be asked
// for otherwise (permission.Lent). Sessions below do not have them.
type Lent struct {
	Source string `json:"source"`         // "skill NAME" or "command NAME"
	Call   string `json:"call,omitempty"` // that has brought it about
	Rules  []Rule `json:"rules,omitempty"`
}

func (*Lent) Type() string { return "lent" }

// AppendJSON implements Body.
func (b *Lent) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// lend takes in rules; those of a source that is named again replace what it had.
func (l *Loop) lend(list ...Lent) {
	for i := range list {
		b := &list[i]
		kept := make([]*Lent, 0, len(l.Lent)+1)
		for _, old := range l.Lent {
			if old.Source != b.Source {
				kept = append(kept, old)
			}
		}
		l.Lent = append(kept, b)
	}
}
