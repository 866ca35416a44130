package session

import (
	"slices"

	"github.com/rosterrun/roster/message"
)

// Reverted says that a model has given up its last answers: the conversation goes
// on from the message To, followed by the answer that asked for it, which stands
// at the end of the branch.
type Reverted struct {
	Call     string `json:"call"`
	To       string `json:"to"`
	Category string `json:"category"` // lesson, finding, outcome or checkpoint
	Text     string `json:"text"`     // what is kept
}

func (*Reverted) Type() string { return "revert" }

// AppendJSON implements Body.
func (b *Reverted) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// revert leaves out what stands between To and the last message.
func (s *Session) revert(b *Reverted) {
	n := len(s.Messages)
	i := slices.IndexFunc(s.Messages, func(m *message.Message) bool { return m.ID == b.To })
	if s.Loop != nil {
		s.Loop.Reverted = b.Call
	}
	if i < 0 || i > n-2 {
		return
	}
	ask := s.Messages[n-1]
	moved := &message.Message{ID: ask.ID, Parent: b.To, Role: ask.Role, Parts: ask.Parts, Partial: ask.Partial}
	moved.Stands = ask.Stands + answers(s.Messages[i+1:n-1])
	s.cut(b.To)
	s.Messages = append(s.Messages, moved)
	s.Load.add(moved)
}
