package session

// numbers counts the loops of a session by the configuration that they ran with.
type numbers struct {
	config string // of the newest loop
	newest int
	others map[string]int // the newest loops of other configurations; nil: there are none
}

// NextNumber is the number of the next loop that runs with a configuration.
func (s *Session) NextNumber(config string) int {
	if n := &s.numbers; config != n.config {
		return n.others[config] + 1
	}
	return s.numbers.newest + 1
}

// number takes in that a loop has begun.
func (s *Session) number(b *LoopStart) {
	n := &s.numbers
	if b.Config != n.config && n.newest > 0 {
		if n.others == nil {
			n.others = map[string]int{}
		}
		n.others[n.config] = n.newest
	}
	n.config, n.newest = b.Config, b.Number
}
