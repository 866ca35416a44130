package habit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// From so many times in a row on, the same call with the same result counts as
// standing still.
const sameCall = 3

// still is for how many turns before the present one nothing has moved: no step
// of the todo list, or where nothing is open there, nothing done or said that had
// not been before.
func still(s State) (turns int, todo bool) {
	p := &s.Loop.Progress
	moved := max(p.Moved, p.New)
	if todo = len(s.Work.OpenSteps()) > 0; todo {
		moved = p.Moved
	}
	return s.turn() - 1 - moved, todo
}

// nudged is the turn in which the model was told that it stands still, if nothing
// has moved since; else 0.
func nudged(s State) int {
	turns, _ := still(s)
	if n := s.Loop.Progress.Nudged; n > 0 && turns >= s.turn()-n {
		return n
	}
	return 0
}

// stall reminds a model that stands still of what it has tried.
func stall(s State) (text string, anchor bool) {
	most := s.Spec.Habits.AntiStall
	if most <= 0 {
		return "", false
	}
	since, same := nudged(s), s.Loop.Same.Times
	turns, todo := still(s)
	if since == 0 && turns < most && same < sameCall {
		return "", false
	}
	var b strings.Builder
	switch {
	case turns < 1:
		fmt.Fprintf(&b, "You have made the same call %d times in a row, with the same result.", same)
	case todo:
		fmt.Fprintf(&b, "No step of the todo list has moved for %d turns.", turns)
	default:
		fmt.Fprintf(&b, "Nothing new has come of the last %d turns.", turns)
	}
	if tried := tried(s.Messages, max(turns, 1)); tried != "" {
		b.WriteString(" You have tried:\n" + tried)
	}
	left := most
	if since > 0 {
		left = max(since+most-s.turn(), 1)
	}
	b.WriteString("\nDo something else, or answer with what you have.")
	if todo {
		b.WriteString(" Mark what is done or cannot be done in the todo list.")
	}
	fmt.Fprintf(&b, " If nothing moves, the run ends in %d turns.", left)
	return b.String(), since == 0
}

// Stalled says why the loop is to end before another turn; "": it is not.
func Stalled(s State) string {
	most := s.Spec.Habits.AntiStall
	p := &s.Loop.Progress
	if most <= 0 || p.Nudged == 0 {
		return ""
	}
	next := s
	l := *s.Loop
	l.Turn++
	next.Session = &session.Session{Messages: s.Messages, Work: s.Work, Loop: &l}
	since := nudged(next)
	if since == 0 || next.turn()-since < most {
		return ""
	}
	turns, todo := still(next)
	what := "nothing new came of them"
	if todo {
		what = "no step of the todo list moved"
	}
	return fmt.Sprintf("for %d turns %s, though the model was told so in turn %d", turns, what, since)
}

// What is said of calls that were tried, at most.
const (
	triedCalls  = 6
	triedLength = 120
)

// tried lists the calls of the last turns, each once, the newest first.
func tried(messages []*message.Message, turns int) string {
	var calls []string
	times := map[string]int{}
	for _, m := range slices.Backward(messages) {
		if m.Role != message.Assistant {
			continue
		}
		if turns--; turns < 0 {
			break
		}
		for _, c := range m.Calls() {
			text := c.Name + " " + quote(string(c.Input), triedLength)
			if times[text]++; times[text] == 1 {
				calls = append(calls, text)
			}
		}
	}
	more := len(calls) - triedCalls
	var b strings.Builder
	for _, c := range calls[:min(len(calls), triedCalls)] {
		fmt.Fprintf(&b, "- %s", c)
		if n := times[c]; n > 1 {
			fmt.Fprintf(&b, " (%d times)", n)
		}
		b.WriteByte('\n')
	}
	if more > 0 {
		fmt.Fprintf(&b, "- and %d others\n", more)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
