package habit

import "fmt"

// From so many turns left on, the present one included, the model is told to come
// to an end, and then to do so at once.
const (
	fewTurns    = 7
	fewestTurns = 3
)

// budget says how many turns are left. On the last one the model answers without
// tools; a loop of one turn has none for that.
func budget(s State) (text string, last bool) {
	most := s.Spec.Limits.Turns
	if !s.Spec.Habits.IterationBudget || most <= 1 {
		return "", false
	}
	left := most - s.turn() + 1
	switch {
	case left <= 1:
		return "This is the last turn, and no tools can be called in it. Give your final answer now: what was done and found, and what is left open.", true
	case left <= fewestTurns:
		return fmt.Sprintf("Only %d turns are left, this one included. Stop looking further. Bring what you are at to an end, and answer.", left), false
	case left <= fewTurns:
		return fmt.Sprintf("%d turns are left, this one included. Begin nothing new; do what matters most for the answer.", left), false
	}
	return fmt.Sprintf("%d turns are left, this one included.", left), false
}

// LastTurn says whether the present turn goes without tools.
func LastTurn(s State) bool {
	_, last := budget(s)
	return last
}
