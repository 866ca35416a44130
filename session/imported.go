package session

// Imported says that all events before it were brought from elsewhere. What
// they allow does not count here: grants, and the overrides of the last prompt;
// and worktrees that they tell of are elsewhere.
// It is inbound.
type Imported struct {
	Digest string `json:"digest"` // of the file that they stood in
}

func (*Imported) Type() string { return "session.imported" }

// AppendJSON implements Body.
func (b *Imported) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// imported forgets what was allowed elsewhere.
func (s *State) imported() {
	s.Grants, s.Worktrees = s.Denials(), nil
	s.Root.Asked, s.Root.User, s.Root.KeyID, s.Root.Headless = Overrides{}, "", "", false
	s.Root.unlend()
	for _, child := range s.Children {
		child.unlend()
	}
}

// unlend forgets the rules that a loop has, or is to begin with.
func (s *Session) unlend() {
	if s.Loop != nil {
		s.Loop.Lent = nil
	}
	for i := range s.Inbox {
		if p := s.Inbox[i].Prompt; p != nil && p.Lent != nil {
			bare := *p
			bare.Lent = nil
			s.Inbox[i].Prompt = &bare
		}
	}
}
