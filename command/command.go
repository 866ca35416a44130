// Package command is prompts that people keep in files and call by a name, as in
// /review src/main.go: where they lie, what they say, and what they come to with
// arguments. It reads the formats of several systems, each by that system's own
// documentation. It runs nothing and opens no file that a command names by itself:
// whoever expands a command gives it the Hands for that.
package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Kind is the system whose rules a command follows.
type Kind string

// The kinds. Roster's own are written as Claude's.
const (
	Roster   Kind = "roster"
	Claude   Kind = "claude"
	OpenCode Kind = "opencode"
	Gemini   Kind = "gemini"
	Copilot  Kind = "copilot"
	Skill    Kind = "skill" // which has Fetch
)

// Command is a prompt with a name. It is never changed.
type Command struct {
	Name string // without the slash: review, git:commit, team/review
	Kind Kind
	File string        // as its source names it
	At   source.Origin // where the text begins
	// Text is the prompt with its placeholders, without white space around it.
	Text string
	// User says that the command lies in a folder of the user's own, outside of the
	// workspace.
	User bool

	Description, Hint string
	// Profile is the agent that it is for, and Model the model; empty: any.
	Profile, Model string
	// Allows are what it may do unasked while it runs.
	Allows []permission.Rule
	// Arguments are the names of its positional arguments, if they have any.
	Arguments []string
	// FromZero says that $1 is the second argument, as in skills.
	FromZero bool
	// Base is the folder that relative links start from; empty: the workspace.
	Base string
	// Lacks says, in sentences, what of it has no effect here.
	Lacks []string
	// Fetch gives the prompt of a command that is not a text with placeholders, such
	// as one of a server; nil for all others.
	Fetch func(ctx context.Context, arguments string) ([]message.Part, error)
}

// Lines are the command lines that stand in a command, as they are written, each
// with its place. They run when it is called.
func (c *Command) Lines() (lines []Line) {
	for _, p := range parse(c) {
		if p.is == shellPart {
			lines = append(lines, Line{p.written(), c.place(p.at)})
		}
	}
	return lines
}

// Line is a command line of a command.
type Line struct {
	Text string
	At   source.Origin
}

// place gives the line of an offset in the text. The text of one that is no Markdown
// may be written otherwise than it is read: its places are near.
func (c *Command) place(offset int) source.Origin {
	at := c.At
	if n := strings.Count(c.Text[:offset], "\n"); n > 0 {
		at.Line, at.Column = at.Line+n, 1
	}
	return at
}

// Files are the files that a command names whatever it is called with.
func (c *Command) Files() (paths []string) {
	var text strings.Builder
	for _, p := range parse(c) {
		switch p.is {
		case filePart:
			paths = append(paths, p.text)
		case textPart:
			text.WriteString(p.text)
		default:
			text.WriteString(barrier)
		}
	}
	if find := c.finder(); find != nil {
		for _, m := range find(text.String()) {
			paths = append(paths, m.Shortest())
		}
	}
	return paths
}

// TakesArguments says whether the text has a place for arguments.
func (c *Command) TakesArguments() bool { return c.Fetch != nil || takes(parse(c)) }

// Use is how the command is called.
func (c *Command) Use() string {
	if c.Hint == "" {
		return "/" + c.Name
	}
	return "/" + c.Name + " " + c.Hint
}

// Errors of commands.
var (
	ErrUnknown = errors.New("unknown command")
	// ErrDenied: something that the command would do may not be done. Nothing is sent.
	ErrDenied = errors.New("denied")
)

// NotFoundError says that there is no command of a name.
type NotFoundError struct {
	Name    string
	Nearest []string
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("there is no command /%s", e.Name)
	if len(e.Nearest) > 0 {
		s += "; did you mean /" + strings.Join(e.Nearest, ", /") + "?"
	}
	return s + " (roster commands list names them; to send the text itself, write //" + e.Name + ")"
}

func (e *NotFoundError) Unwrap() error { return ErrUnknown }

// Error says why a command cannot be expanded, and where.
type Error struct {
	Command string
	At      source.Origin
	Message string
	Hint    string
	Err     error // nil: the command or its arguments are wrong
}

func (e *Error) Error() string {
	s := fmt.Sprintf("/%s: %s: %s", e.Command, e.At, e.Message)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// maxName bounds a name, in bytes.
const maxName = 128

// Typed splits what a person has typed into the name of a command and its arguments.
// literal is the text to send where it is none: two slashes stand for one.
func Typed(text string) (name, arguments, literal string, ok bool) {
	rest, slash := strings.CutPrefix(text, "/")
	if !slash {
		return "", "", text, false
	}
	if strings.HasPrefix(rest, "/") {
		return "", "", rest, false
	}
	name, arguments = rest, ""
	if i := strings.IndexAny(rest, " \t\r\n"); i >= 0 {
		name, arguments = rest[:i], strings.TrimSpace(rest[i:])
	}
	if !isName(name) {
		return "", "", text, false
	}
	return name, arguments, text, true
}

// isName says whether a word can be the name of a command.
func isName(s string) bool {
	if s == "" || len(s) > maxName || !alphanumeric(s[0]) {
		return false
	}
	for i := range len(s) {
		if !alphanumeric(s[i]) && !strings.ContainsRune("._-:/", rune(s[i])) {
			return false
		}
	}
	return profile.CheckName(strings.ReplaceAll(s, ":", "/")) == nil
}

// LikePath says whether a name that no command has was rather meant as a path.
func LikePath(name string) bool { return strings.ContainsAny(name, "/.") }

func alphanumeric(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
