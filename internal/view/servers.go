package view

import (
	"time"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
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
	// Written is what roster.yaml says, for who changes it: the body of PUT. Absent: it is
	// written elsewhere, holds a secret, or says what PUT does not take.
	Written *WrittenServer `json:"written,omitempty"`
}

// WrittenServer is an entry of roster.yaml as it is, with its variables.
type WrittenServer struct {
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Timeout string            `json:"timeout,omitempty"`
}

// NewWritten is the view of a server, of which text is what may be shown; nil: PUT would
// lose some of it.
func NewWritten(s *profile.Server, text string) *WrittenServer {
	if trust.Masked(text) || s.Tools != nil || len(s.Without)+len(s.Resources) > 0 || s.Roots || s.TrustAnnotations {
		return nil
	}
	w := &WrittenServer{Command: s.Command, Args: s.Args, Env: mapOf(s.Env), Dir: s.Dir, URL: s.URL, Headers: mapOf(s.Headers)}
	if s.Timeout > 0 {
		w.Timeout = s.Timeout.String()
	}
	return w
}

func mapOf(pairs []profile.Pair) map[string]string {
	out := map[string]string{}
	for _, p := range pairs {
		out[p.Name] = p.Value
	}
	return out
}

// ServerTool is a tool of an MCP server.
type ServerTool struct {
	Server      string `json:"server"`
	Name        string `json:"name"` // by which it is offered
	Description string `json:"description"`
}

// Finding is what was found about a part of what a run would need.
type Finding struct {
	Area   string `json:"area"` // workspace, profiles, models, store, web, services, servers or commands
	Name   string `json:"name"`
	Status string `json:"status"` // ok, note, warning or error
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}
