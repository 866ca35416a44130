package engine

import (
	"errors"
	"fmt"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/tool"
)

// reverts gives the test of a call that would give up the last answers.
func (r *run) reverts() func(tool.Back) error {
	return func(b tool.Back) error {
		if len(r.s.Loop.Calls) > 1 {
			return errors.New("what was tried can only be given up by a call that is alone in its answer: the others would be lost")
		}
		_, err := r.backTo(b)
		return err
	}
}

// backTo finds the message that the branch goes on from: before so many answers,
// but not before the user's last message.
func (r *run) backTo(b tool.Back) (string, error) {
	list := r.s.Messages[:max(0, len(r.s.Messages)-1)] // without the answer that asks for it
	answers := 0
	for i := len(list) - 1; i >= 0 && (b.Answers == 0 || answers < b.Answers); i-- {
		if list[i].Role == message.User {
			break
		}
		if list[i].Role == message.Assistant {
			answers, list = answers+1, list[:i]
		}
	}
	switch {
	case answers == 0 || len(list) == 0:
		return "", errors.New("there is no answer to give up since the user's last message")
	case answers < b.Answers:
		return "", fmt.Errorf("you have given %d answers since the user's last message, and cannot go back past that", answers)
	}
	return list[len(list)-1].ID, nil
}

// revert goes back where the call of the batch that has just ended asks for it.
// It is decided by the log alone, so a loop that is taken up before does the same.
func (r *run) revert(l *session.Loop) {
	if len(l.Calls) != 1 || l.Reverted == l.Calls[0].ID {
		return
	}
	c := &l.Calls[0]
	t, ok := r.tools[c.Name].Tool.(tool.Reverting)
	if !ok || c.Before == nil || c.After == nil || c.After.Outcome != session.OK {
		return
	}
	b := t.Back(c.Before.Input)
	to, err := r.backTo(b)
	if err != nil {
		return // it was asked for, and tested, at this very place
	}
	r.emit(&session.Reverted{Call: c.ID, To: to, Category: b.Category, Text: r.clean(b.Text)})
}
