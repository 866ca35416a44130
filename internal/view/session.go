package view

import (
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
)

// Session is a session in a list.
type Session struct {
	ID         string         `json:"id"`
	Profile    string         `json:"profile"`
	Status     session.Status `json:"status"`
	Created    time.Time      `json:"created"`
	Updated    time.Time      `json:"updated"`
	LastActive time.Time      `json:"last_active"`
	Turns      int            `json:"turns"`
	Usage      message.Usage  `json:"usage"`
	Title      string         `json:"title"`
}

// Conversation is a session with the messages that its next request sends.
type Conversation struct {
	Session
	Messages []Message `json:"messages"`
}

// Message is one message of a conversation.
type Message struct {
	ID      string        `json:"id"`
	Parent  string        `json:"parent,omitempty"`
	Role    message.Role  `json:"role"`
	Parts   message.Parts `json:"parts"`
	Partial bool          `json:"partial,omitempty"`
}

// NewSession describes a session for a list.
func NewSession(s *session.Summary) Session {
	return Session{
		ID: s.Key.Stream, Profile: s.Profile, Status: s.Status(),
		Created: s.Created, Updated: s.Updated, LastActive: s.LastActive,
		Turns: s.Turns, Usage: s.Usage, Title: s.Title,
	}
}

// NewConversation describes a session with its messages.
func NewConversation(s *session.Summary, messages []*message.Message) Conversation {
	c := Conversation{Session: NewSession(s), Messages: make([]Message, len(messages))}
	for i, m := range messages {
		c.Messages[i] = Message{m.ID, m.Parent, m.Role, m.Parts, m.Partial}
	}
	return c
}
