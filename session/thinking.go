package session

// Thinking is a piece of what a model thinks before and between what it says. It
// is live only: all of it stands in the message. Offset is where it begins, in
// bytes of what was thought for the message so far.
type Thinking struct{ Delta }

func (*Thinking) Type() string { return "thinking" }

// piece is what a live event shows of a message that is being written; nil: it
// does not.
func (e *Event) piece() *Delta {
	if e.Seq != 0 {
		return nil
	}
	switch b := e.Body.(type) {
	case *Delta:
		return b
	case *Thinking:
		return &b.Delta
	}
	return nil
}
