package spec

import (
	"strings"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Server is an MCP server that an agent has the tools of.
type Server struct {
	Name string `json:"name"`
	// Profile, Key, At and Digest are the item that has to be trusted (trust.Item).
	Profile string        `json:"profile,omitempty"`
	Key     string        `json:"key"`
	At      source.Origin `json:"at"`
	Digest  string        `json:"digest"`
	Text    string        `json:"text"` // what it is, without secrets

	// Reach is what its file says. It does not stand in a log, for it may hold
	// secrets: who takes a run up again finds the one with that digest, or does
	// without the server.
	Reach *profile.Server `json:"-"`
}

// Prefix is what the names of its tools begin with.
func (s Server) Prefix() string { return ToolName(s.Name) + "_" }

// ToolName makes a name that tools can have: what is no letter, digit, _ or - is _.
func ToolName(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
}
