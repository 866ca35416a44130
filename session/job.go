package session

import "slices"

// Job is what became of commands that calls leave at work. They have numbers,
// from 1, that no other of the session gets.
type Job struct {
	Call    string `json:"call"`
	Started int    `json:"started,omitempty"` // the command of the call; 0: none
	Ended   []int  `json:"ended,omitempty"`   // as the call was told
}

func (*Job) Type() string                   { return "job" }
func (b *Job) AppendJSON(dst []byte) []byte { return appendAny(dst, b) }

// job notes which commands the model knows to be at work.
func (s *Session) job(b *Job) {
	w := s.work()
	w.Jobs = slices.DeleteFunc(slices.Clone(w.Jobs), func(n int) bool { return n == b.Started || slices.Contains(b.Ended, n) })
	if b.Started > 0 {
		w.LastJob = max(w.LastJob, b.Started)
		w.Jobs = append(w.Jobs, b.Started)
	}
	s.Work = &w
}
