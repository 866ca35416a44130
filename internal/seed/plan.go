package seed

import "github.com/rosterrun/roster"

// scene is a kind of session.
type scene struct {
	profile string
	weight  int // how often it is played, beside the others; 0: once
	prompt  func(n int) string
	turns   func(n int) []turn
	// tasks are given to others, who answer to them in one turn.
	tasks func(n int) map[string]string
	// answer is what a person says where one is asked; nil: nothing, it waits.
	answer *roster.Answer
	open   bool // it is left as it waits
	// file is the text of a file that it works on.
	file func(n int) string
	// during happens while the first prompt is answered, and after when it was.
	during, after func(run *run) error
	long          bool
}

// planning is a scene that is to be played as session number n, so many days ago.
type planning struct {
	scene *scene
	n     int
	ago   int
}

// openShare is which part of the sessions waits for a person.
const openShare = 35

// planned says what is played and when: each scene once, then by weight, and last, on the
// last day, those that wait for a person.
func planned(sessions int) (plan []planning) {
	var done, open []*scene
	for _, s := range scenes() {
		if s.open {
			open = append(open, s)
		} else {
			done = append(done, s)
		}
	}
	waiting := max(len(open), sessions/openShare)
	list := append([]*scene{}, done...)
	for len(list)+waiting < sessions {
		for _, s := range done {
			for i := 0; i < s.weight && len(list)+waiting < sessions; i++ {
				list = append(list, s)
			}
		}
	}
	for i, s := range list {
		// the number is prime to the length of a round, so that each day has all kinds
		plan = append(plan, planning{s, i + 1, (i * 5) % days})
	}
	for i := range waiting {
		plan = append(plan, planning{open[i%len(open)], len(list) + i + 1, 0})
	}
	return plan
}
