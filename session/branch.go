package session

import (
	"slices"

	"github.com/rosterrun/roster/message"
)

// Branch takes messages of another session over. It is inbound, and the first
// event of a session that branches off another one: its conversation begins with
// a copy. In a session that exists it goes on with what another one has said.
type Branch struct {
	From    string `json:"from"`          // the session that they are from; empty: there are none, the session is to be gone on with
	Seq     int64  `json:"seq,omitempty"` // its newest event then
	Why     string `json:"why"`           // see the constants
	Profile string `json:"profile"`       // that the session goes on as
	Title   string `json:"title,omitempty"`
	Shared  bool   `json:"shared,omitempty"` // as in Prompt; of a new session
	// Messages keep their ids. No call in them is without its result.
	Messages []BranchMessage `json:"messages,omitempty"`
	// Cut has the conversation of the session go on from the message At, or with
	// an empty At from its beginning: what comes after it stays in the log, and
	// is sent no more. Where At is not on the branch any more, nothing happens.
	Cut bool   `json:"cut,omitempty"`
	At  string `json:"at,omitempty"`
	// Settings are those of the session there.
	Settings Settings `json:"settings,omitzero"`
	// Denials are what was refused there for the session.
	Denials []Grant `json:"denials,omitempty"`
	// Pick says by what From was picked among the sessions Among.
	Pick  string   `json:"pick,omitempty"`
	Among []string `json:"among,omitempty"`
}

// Why a session takes messages over.
const (
	BranchFork    = "fork"    // somebody goes on from there in another way
	BranchCompare = "compare" // it answers the same prompt as others
	BranchJudge   = "judge"   // it picks one of them
	BranchPicked  = "picked"  // it was the one of them that the session goes on with
	BranchRotate  = "rotate"  // nobody has said anything there for long, and it begins anew
	BranchBack    = "branch"  // the session itself goes on from an earlier message, or from one of another branch
	BranchRerun   = "rerun"   // so that a prompt is answered anew
	BranchClient  = "client"  // whoever asks has said it elsewhere, and brings it along
)

// BranchMessage is a message that was taken over.
type BranchMessage struct {
	ID      string        `json:"id"`
	Parent  string        `json:"parent,omitempty"`
	Role    message.Role  `json:"role"`
	Parts   message.Parts `json:"parts"`
	Partial bool          `json:"partial,omitempty"`
	Stands  int           `json:"stands,omitempty"` // message.Message.Stands
}

// BranchMessages are messages as another session takes them over, without what
// stands at the end and has calls whose results are not there yet.
func BranchMessages(list []*message.Message) []BranchMessage {
	for len(list) > 0 && list[len(list)-1].Role == message.Assistant && len(list[len(list)-1].Calls()) > 0 {
		list = list[:len(list)-1]
	}
	out := make([]BranchMessage, len(list))
	for i, m := range list {
		out[i] = BranchMessage{m.ID, m.Parent, m.Role, m.Parts, m.Partial, m.Stands}
	}
	return out
}

// branch takes messages over.
func (s *Session) branch(b *Branch) {
	s.Started = true
	if b.Profile != "" {
		s.Profile = b.Profile
	}
	if b.Settings != (Settings{}) {
		s.Settings = b.Settings
	}
	if s.Title == "" {
		s.Title = b.Title
	}
	if b.Cut {
		if !s.cut(b.At) {
			return
		}
		s.Took = b.Why
	}
	for _, m := range b.Messages {
		copied := &message.Message{ID: m.ID, Parent: m.Parent, Role: m.Role, Parts: m.Parts, Partial: m.Partial, Stands: m.Stands}
		s.Messages = append(s.Messages, copied)
		s.Load.add(copied)
	}
}

// cut leaves out what comes after a message; empty: everything. False: the
// message is not there.
func (s *Session) cut(at string) bool {
	n := 0
	if at != "" {
		if n = 1 + slices.IndexFunc(s.Messages, func(m *message.Message) bool { return m.ID == at }); n == 0 {
			return false
		}
	}
	s.Messages = slices.Clip(s.Messages[:n]) // what was sent before keeps its own
	if n < s.Signed.Messages {
		s.Signed = Signed{}
	}
	s.Uncompacted = 0
	s.Load.recount(s.Messages, 0)
	return true
}

// keep adds a grant. The list is sorted.
func (s *State) keep(g Grant) {
	if i, found := slices.BinarySearchFunc(s.Grants, g, Grant.compare); !found {
		s.Grants = slices.Insert(s.Grants, i, g)
	}
}

// Denials are what was refused for the session.
func (s *State) Denials() []Grant {
	var list []Grant
	for _, g := range s.Grants {
		if g.Effect == "deny" {
			list = append(list, g)
		}
	}
	return list
}
