package view

import (
	"context"
	"errors"
	"strconv"
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
	// Parent, Call and Depth are those of a session that another delegated to.
	Parent string `json:"parent,omitempty"`
	Call   string `json:"call,omitempty"`
	Depth  int    `json:"depth,omitempty"`
	// Origin is the session that it branches off, and Why: fork, compare or judge.
	Origin string `json:"origin,omitempty"`
	Why    string `json:"why,omitempty"`
	// Children counts the sessions that it and its children delegated to.
	Children int `json:"children,omitempty"`
	// Settings are what the session sets over its profile; nil: nothing.
	Settings *Settings `json:"settings,omitempty"`
}

// Settings are what a session sets over its profile.
type Settings struct {
	Model       string   `json:"model,omitempty"`
	Thinking    string   `json:"thinking,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

// NewSettings shows settings; nil if there are none.
func NewSettings(s session.Settings) *Settings {
	if s == (session.Settings{}) {
		return nil
	}
	v := &Settings{Model: s.Model, Thinking: s.Thinking}
	if t, err := strconv.ParseFloat(s.Temperature, 64); err == nil {
		v.Temperature = &t
	}
	return v
}

// Conversation is a session with the messages that its next request sends, and
// the sessions that it and its children delegated to.
type Conversation struct {
	Session
	Messages []Message `json:"messages"`
	Sessions []Session `json:"sessions,omitempty"`
}

// Message is one message of a conversation.
type Message struct {
	ID      string        `json:"id"`
	Parent  string        `json:"parent,omitempty"`
	Role    message.Role  `json:"role"`
	Parts   message.Parts `json:"parts"`
	Partial bool          `json:"partial,omitempty"`
}

// NewMessage shows a message.
func NewMessage(m *message.Message) Message {
	return Message{m.ID, m.Parent, m.Role, m.Parts, m.Partial}
}

// TreeMessage is a message of a session, on whichever of its branches.
type TreeMessage struct {
	Message
	Profile string `json:"profile"` // that the session had then
	Sent    bool   `json:"sent"`    // the next request sends it
}

// NewSession describes a session for a list.
func NewSession(s *session.Summary) Session {
	return Session{
		ID: s.Key.Stream, Profile: s.Profile, Status: s.Status(),
		Created: s.Created, Updated: s.Updated, LastActive: s.LastActive,
		Turns: s.Turns, Usage: s.Usage, Title: s.Title, Children: s.Children, Settings: NewSettings(s.Settings), Origin: s.Origin, Why: s.Why,
	}
}

// newChild describes a child session for a list.
func newChild(c *session.Child) Session {
	return Session{
		ID: c.ID, Profile: c.Profile, Status: c.Status(),
		Created: c.Created, Updated: c.Updated, LastActive: c.Created,
		Turns: c.Turns, Usage: c.Usage, Title: c.Title, Parent: c.Parent, Call: c.Call, Depth: c.Depth,
	}
}

// ReadConversation reads a session of a stream: its root, or a child. One that
// is not there is session.ErrNoStream. full asks for the messages as they were
// before any were summed up, cut or left out to save room.
func ReadConversation(ctx context.Context, store session.Reader, k session.Key, id string, full bool) (Conversation, error) {
	sum, err := store.Summary(ctx, k)
	if err != nil {
		return Conversation{}, err
	}
	st, children := session.NewState(k), session.Children{}
	st.KeepChildren = true
	var history session.History
	for e, err := range store.Read(ctx, k, 0) {
		if err == nil && full {
			err = history.Note(st, &e)
		}
		if err == nil {
			err = errors.Join(st.Apply(&e), children.Apply(&e))
		}
		if err != nil {
			return Conversation{}, err
		}
	}
	c := Conversation{Session: NewSession(&sum)}
	if id != k.Stream {
		child := children.Get(id)
		if child == nil {
			return Conversation{}, session.ErrNoStream
		}
		c.Session = newChild(child)
	}
	for _, child := range children.List() {
		if child.ID != id && session.Within(child.ID, id) {
			c.Sessions = append(c.Sessions, newChild(child))
		}
	}
	if id != k.Stream {
		c.Session.Children = len(c.Sessions)
	}
	list := history.Whole(st.Session(id).Messages)
	c.Messages = make([]Message, len(list))
	for i, m := range list {
		c.Messages[i] = NewMessage(m)
	}
	return c, nil
}
