package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/rosterrun/roster/profile"
)

// maxInstructions bounds what is taken of one file of project instructions, in
// bytes.
const maxInstructions = 32 << 10

// The codes of diagnostics about prompts. They are stable.
const (
	CodeCut      = "T101"
	CodeLeftOut  = "T102"
	CodeUnsetVar = "T103"
)

// Codes lists every code in order.
func Codes() []profile.Code {
	return []profile.Code{
		{Code: CodeCut, Severity: profile.SeverityNote, Meaning: "A file of project instructions is longer than 32 KiB; the prompt has its beginning."},
		{Code: CodeLeftOut, Severity: profile.SeverityWarning, Meaning: "A file of project instructions cannot be read and is left out of the prompt."},
		{Code: CodeUnsetVar, Severity: profile.SeverityWarning, Meaning: "A prompt names a variable of `vars` that nobody sets; its text stays as it is."},
	}
}

// InstructionFiles are read from the workspace's root, in this order.
func InstructionFiles() []string { return []string{"AGENTS.md", "CLAUDE.md"} }

// Surroundings is what the environment layer is made of. It names neither
// model, session nor clock.
type Surroundings struct {
	// Root is the workspace; its project instructions are read.
	Root *os.Root
	// Workspace is the directory that tools work in.
	Workspace string
	// Platform is the operating system and architecture, such as linux/amd64.
	Platform string
	// Branch is that of the git worktree that the agent works in; empty: it works
	// in the workspace itself. Missing says what of the workspace is not in it.
	Branch  string
	Missing []string
}

// Compose writes the environment layer, and says which files went into it. A
// file that is too long is cut, one that cannot be read is left out; both are
// diagnostics.
func (s Surroundings) Compose() (text string, files []string, ds []profile.Diagnostic) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Environment\n\nWorkspace: %s\nPlatform: %s", s.Workspace, s.Platform)
	if s.Branch != "" {
		fmt.Fprintf(&b, "\n\nThe workspace is a git worktree of your own, on the branch %s. What you change stays in it until a person merges it. You need not commit: that is done for you. Do not switch branches.", s.Branch)
	}
	for _, text := range s.Missing {
		fmt.Fprintf(&b, "\nNote: %s.", text)
	}
	seen := map[string]bool{}
	for _, name := range InstructionFiles() {
		body, d := s.instructions(name)
		if d != nil {
			ds = append(ds, *d)
		}
		if body == "" || seen[body] {
			continue
		}
		seen[body] = true
		files = append(files, name)
		fmt.Fprintf(&b, "\n\n# Project instructions (%s)\n\n%s", name, body)
	}
	return b.String(), files, ds
}

func (s Surroundings) instructions(name string) (string, *profile.Diagnostic) {
	data, err := read(s.Root, name, maxInstructions)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	cut := len(data) > maxInstructions
	if cut {
		data = wholeRunes(data[:maxInstructions])
	}
	if err == nil && !utf8.Valid(data) {
		err = errors.New("it is not UTF-8")
	}
	if err != nil {
		return "", &profile.Diagnostic{Severity: profile.SeverityWarning, Code: CodeLeftOut, File: name,
			Message: fmt.Sprintf("%s is left out of the prompt: %v", name, err)}
	}
	body := strings.TrimSpace(string(data))
	if !cut {
		return body, nil
	}
	body += fmt.Sprintf("\n\n[%s is longer than %d bytes; this is its beginning. Read the file for the rest.]", name, maxInstructions)
	return body, &profile.Diagnostic{Severity: profile.SeverityNote, Code: CodeCut, File: name,
		Message: fmt.Sprintf("%s is longer than %d bytes; the prompt has its beginning", name, maxInstructions)}
}

// wholeRunes takes off a character that was cut in the middle.
func wholeRunes(b []byte) []byte {
	for i := 1; i <= min(len(b), utf8.UTFMax); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
