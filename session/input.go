package session

import "time"

// InputAsked asks a person what only a person can say. The call that asks has not
// started: it runs when the answer is there.
type InputAsked struct {
	Ask      string    `json:"ask"` // see AskID
	Call     string    `json:"call"`
	Question string    `json:"question"`
	Options  []string  `json:"options,omitempty"` // that the person may choose from, or say something else
	Expires  time.Time `json:"expires,omitzero"`  // when nobody is waited for any more; zero: never
}

// InputAnswered answers an InputAsked: with AnswerText, or AnswerNo where the
// person does not want to say it. It is inbound; the first one counts.
type InputAnswered struct {
	Ask    string `json:"ask"`
	Answer Answer `json:"answer"`
	Text   string `json:"text,omitempty"` // for the model
	By     string `json:"by,omitempty"`   // the user who answered
}

// reply takes the first answer to a question that is no permission.
func (s *State) reply(e *Event, b *InputAnswered) {
	a := s.askings[b.Ask]
	if a == nil || a.input == nil || a.reply != nil {
		return
	}
	if a.reply = b; expired(a.input.Expires, e.Time) {
		a.reply = &InputAnswered{Ask: b.Ask, Answer: AnswerTimeout}
	}
	if c := s.caller(a); c != nil && c.Inquiry == a.input {
		c.Reply = a.reply
	}
}
