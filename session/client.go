package session

import (
	"encoding/json"

	"github.com/rosterrun/roster/message"
)

// Client is what a program brings along that talks to a profile as to a model.
type Client struct {
	// System is said to the model behind the prompt of the profile.
	System string `json:"system,omitempty"`
	// Calls says that the program makes the calls itself: the model is told of
	// Tools in the place of the profile's, and a loop ends where it asks for some.
	Calls bool         `json:"calls,omitempty"`
	Tools []ClientTool `json:"tools,omitempty"`
	// Events are those that the model may fire with the tool emit. The program reads
	// from the log which it has fired.
	Events []ClientEvent `json:"events,omitempty"`
}

// ClientEvent is an event that such a program passes on.
type ClientEvent struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // when it is to be fired
}

// ClientTool is a tool of such a program. Schema is a JSON Schema object.
type ClientTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"schema"`
}

// MakesCalls says whether the program makes the calls itself.
func (c *Client) MakesCalls() bool { return c != nil && c.Calls }

// RoleOf is who says the parts of a post: a user, or tools whose results a program
// gives.
func RoleOf(parts []message.Part) message.Role {
	if len(parts) == 0 {
		return message.User
	}
	for _, p := range parts {
		if _, ok := p.(message.ToolResult); !ok {
			return message.User
		}
	}
	return message.Tool
}
