package engine

import (
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/spec"
)

// take delivers what waits of one type for the turn to come: the oldest message,
// or all. What has been delivered for that turn counts, so that a run that is taken
// up in between goes the same way.
func (r *run) take(typ string) (found bool, err error) {
	l := r.s.Loop
	mode, taken := r.Spec.Steering, l.Steered
	if typ == "followup" {
		mode, taken = r.Spec.FollowUp, l.Followed
	}
	list := r.s.Letters(typ)
	if mode != spec.QueueAll {
		list = list[:min(len(list), max(0, 1-taken))]
	}
	for i := range list {
		if err := r.deliver(&list[i]); err != nil {
			return false, err
		}
	}
	return len(list) > 0, nil
}

// takeRest delivers what else the turn takes that is about to begin: steering
// messages, and of follow-ups the rest where it is for one.
func (r *run) takeRest(l *session.Loop) error {
	if _, err := r.take("steer"); err != nil || l.Followed == 0 {
		return err
	}
	_, err := r.take("followup")
	return err
}
