package session

import (
	"bytes"
	"slices"

	"github.com/rosterrun/roster/message"
)

// Circles is how often in a row a call may be made that has the same result each
// time.
const Circles = 5

// Same tells whether a loop goes round in circles: one call after the other that
// is the same, with the same result.
type Same struct {
	Last   CallState
	Times  int  // that Last was made in a row
	Warned int  // the turn in which the model was told that it is not made again; 0: it was not
	Stuck  bool // it has asked for it in a later turn too
}

// TooOften says whether a call would be the last one once more, too often.
func (s *Same) TooOften(c *CallState) bool { return s.Times >= Circles && s.again(c) }

// again says whether a call is the last one that was made.
func (s *Same) again(c *CallState) bool {
	return s.Times > 0 && s.Last.Name == c.Name && bytes.Equal(s.Last.ran(), c.ran())
}

// ran is the input that a call ran with.
func (c *CallState) ran() []byte {
	if c.Before != nil {
		return c.Before.Input
	}
	return c.Input
}

// count takes in the end of a call. One that was skipped was not made.
func (s *Same) count(c *CallState, turn int) {
	switch {
	case c.After.Outcome == Skipped:
		if s.TooOften(c) {
			s.Stuck = s.Warned > 0 && s.Warned < turn
			if s.Warned == 0 {
				s.Warned = turn
			}
		}
		return
	case s.again(c) && sameEnd(s.Last.After, c.After):
		s.Times++
	default:
		*s = Same{Times: 1}
	}
	// What else is known of it may come before its end in the log, and after it in the
	// run, as a late answer of a person.
	s.Last = CallState{ToolCall: c.ToolCall, Before: c.Before, After: c.After}
}

func sameEnd(a, b *ToolAfter) bool {
	return a.Outcome == b.Outcome && slices.EqualFunc(a.Parts, b.Parts, samePart)
}

func samePart(a, b message.Part) bool {
	switch a := a.(type) {
	case message.Text:
		return a == b
	case message.Image:
		b, ok := b.(message.Image)
		return ok && a.Blob == b.Blob && a.MediaType == b.MediaType && bytes.Equal(a.Data, b.Data)
	}
	return false
}
