package session

// Seen is the state of a file that a session has read or written: what it must
// still be when the session writes over it.
type Seen struct {
	Path  string `json:"path"`  // as rules see it
	State string `json:"state"` // in the words of the tool; another one is another content
}

// maxSeen bounds the files that a session remembers. With one more it begins anew.
const maxSeen = 4096

// saw takes in what a call has seen.
func (s *Session) saw(f *Seen) {
	if f == nil {
		return
	}
	if s.seen == nil || len(s.seen) >= maxSeen {
		s.seen = map[string]string{}
	}
	s.seen[f.Path] = f.State
}

// Seen gives the state in which the session has last seen a file; false: it has
// not, or does not remember.
func (s *Session) Seen(path string) (state string, ok bool) {
	state, ok = s.seen[path]
	return state, ok
}
