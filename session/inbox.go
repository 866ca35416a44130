package session

import "github.com/rosterrun/roster/message"

// Letter is an inbound message that waits to be delivered.
type Letter struct {
	Seq    int64
	Type   string // prompt, steer or followup
	Chain  string
	Parts  []message.Part
	Prompt *Prompt // of a prompt
}

func (s *Session) receive(e *Event, body Body) {
	s.LastUsed = e.Time
	if s.Loop != nil && wakes(e.Type) {
		s.Loop.Waiting = false
	}
	switch b := body.(type) {
	case *Prompt:
		s.Inbox = append(s.Inbox, Letter{e.Seq, e.Type, e.Chain, b.Parts, b})
	case *Steer:
		s.Inbox = append(s.Inbox, Letter{e.Seq, e.Type, e.Chain, b.Parts, nil})
	case *Followup:
		s.Inbox = append(s.Inbox, Letter{e.Seq, e.Type, e.Chain, b.Parts, nil})
	case *Set:
		s.Settings = s.Settings.With(b.Keys)
	case *Branch:
		s.branch(b)
	case *Cancel:
		s.Cancel = s.Runnable() // a message that is held waits for the next prompt, which is not meant
	}
}

// notes counts the waiting posts that are not prompts.
func (s *Session) notes() int {
	n := 0
	for i := range s.Inbox {
		if s.Inbox[i].Type != "prompt" {
			n++
		}
	}
	return n
}

// Runnable says whether an owner has something to do, as Summary does.
func (s *Session) Runnable() bool {
	if s.Loop != nil {
		return !s.Loop.Waiting
	}
	n := s.notes()
	return len(s.Inbox) > n || n > s.Held
}

// Letters returns the waiting posts of one type.
func (s *Session) Letters(typ string) []Letter {
	var list []Letter
	for _, l := range s.Inbox {
		if l.Type == typ {
			list = append(list, l)
		}
	}
	return list
}
