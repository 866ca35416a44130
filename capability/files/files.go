// Package files is the capability to work with files, for profiles that are defined in
// code.
package files

import "github.com/rosterrun/roster/engine"

// Sandbox bounds what the tools reach. The zero Sandbox is the whole workspace, to be
// read and, where the rules allow it, written.
type Sandbox struct {
	// Dir is the folder below the workspace that relative paths begin in and the tools
	// are kept to; empty: the workspace. Commands begin there too.
	Dir string
	// ReadOnly leaves out the tools that change files.
	ReadOnly bool
}

// New gives the tools read, glob and grep and, unless the sandbox is read-only, write
// and edit. Reading is allowed in the folder. Writing is asked for, unless a rule of
// the profile allows it; so is what lies outside, and files that hold secrets.
func New(s Sandbox) engine.Capability {
	c := engine.Capability{Name: "files", Summary: "read, write, change and find files", Builtin: []string{"files"}}
	if s.ReadOnly {
		c.Summary, c.Builtin = "read and find files", []string{"read", "glob", "grep"}
	}
	if s.Dir != "" {
		c.Keys = map[string]string{"workspace": s.Dir}
	}
	return c
}
