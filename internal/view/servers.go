package view

import (
	"time"

	"github.com/rosterrun/roster/source"
)

// Server is an MCP server, and what is known of it.
type Server struct {
	Name  string        `json:"name"`
	Text  string        `json:"text"` // its definition, without what may be a secret
	At    source.Origin `json:"at"`
	State string        `json:"state"` // up, down, unused, or inert: it has no effect
	// Why says why it is down or inert.
	Why string `json:"why,omitempty"`
	// Tools are as many as it had at Seen; nil: it was never reached.
	Tools *int       `json:"tools"`
	Seen  *time.Time `json:"seen,omitempty"`
}

// ServerTool is a tool of an MCP server.
type ServerTool struct {
	Server      string `json:"server"`
	Name        string `json:"name"` // by which it is offered
	Description string `json:"description"`
}
