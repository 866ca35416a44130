package view

import (
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Command is a prompt that is called by its name.
type Command struct {
	Name        string `json:"name"`
	Kind        string `json:"kind"` // whose rules it follows: roster, claude, opencode, gemini, copilot, skill
	File        string `json:"file"`
	Line        int    `json:"line"` // where its text begins
	User        bool   `json:"user"` // it is the user's own, and not the workspace's
	Description string `json:"description"`
	Hint        string `json:"argument_hint"`
	Agent       string `json:"agent"`
	Model       string `json:"model"`
	// Arguments says that the text has a place for arguments; they are put behind one
	// that has none.
	Arguments bool              `json:"arguments"`
	Allows    []permission.Rule `json:"allowed_tools"`
	Lines     []CommandLine     `json:"lines"` // that it runs
	Files     []string          `json:"files"` // that it names
	Lacks     []string          `json:"lacks"`
	Text      string            `json:"text,omitempty"`
}

// CommandLine is a line that a command runs when it is called. Inert says that the
// call would be refused, for nobody has trusted the line.
type CommandLine struct {
	Line  int    `json:"line"`
	Text  string `json:"text"`
	Inert bool   `json:"inert"`
}

// Commands are all that there are, and what is wrong with files of such.
type Commands struct {
	Commands    []Command            `json:"commands"`
	Diagnostics []profile.Diagnostic `json:"diagnostics"`
}

// Expanded is what a command comes to.
type Expanded struct {
	Name      string            `json:"name"`
	Arguments string            `json:"arguments"`
	Profile   string            `json:"profile"`
	Set       map[string]string `json:"set,omitempty"`
	Lent      []session.Lent    `json:"lent,omitempty"`
	Notes     []string          `json:"notes"`
	Parts     message.Parts     `json:"parts"`
}
