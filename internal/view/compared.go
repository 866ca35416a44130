package view

import (
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Compared is what came of a prompt that several candidates were asked.
type Compared struct {
	ID     string `json:"id"`     // of the session that goes on with the winner
	Winner int    `json:"winner"` // its place in answers, from 0
	// Pick is how it was picked in the end, and Note why that is not as was asked for.
	Pick string `json:"pick"`
	Note string `json:"note,omitempty"`
	// Judge is the session of the judge, if there was one, and Answers are those of
	// the candidates, in their order.
	Judge   *Branched  `json:"judge,omitempty"`
	Answers []Branched `json:"answers"`
}

// Branched is a session that answered for a comparison.
type Branched struct {
	ID      string         `json:"id"`
	Profile string         `json:"profile"`
	Model   string         `json:"model"`
	Reason  session.Reason `json:"reason,omitempty"` // why its loop has ended
	Text    string         `json:"text"`
	Usage   message.Usage  `json:"usage"`
	Error   string         `json:"error,omitempty"` // why it has no answer
}
