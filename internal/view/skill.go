package view

import "github.com/rosterrun/roster/profile"

// Skill is a skill as clients see it.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	File        string `json:"file"`
	Source      string `json:"source"` // workspace, user or builtin
	// Folder is where its files are, absolute; empty: it is built in, or whoever asks
	// has to say who he is.
	Folder string `json:"folder,omitempty"`
	// Called is the name that its file gives, where that is another.
	Called string `json:"called,omitempty"`
	// AllowedTools are rules as bash(git *); without effect while it is not trusted.
	AllowedTools []string `json:"allowed_tools,omitempty"`
	Inert        bool     `json:"inert,omitempty"`
	// OnlyUser says that no model calls it, and OnlyModel that no person does.
	OnlyUser      bool   `json:"only_user,omitempty"`
	OnlyModel     bool   `json:"only_model,omitempty"`
	ArgumentHint  string `json:"argument_hint,omitempty"`
	License       string `json:"license,omitempty"`
	Compatibility string `json:"compatibility,omitempty"`

	// Of one skill: what it says, its other files, and what is to be known of it. Text is
	// the whole SKILL.md, as it is saved.
	Body        string               `json:"body,omitempty"`
	Text        string               `json:"text,omitempty"`
	Files       []string             `json:"files,omitempty"`
	FileCount   int                  `json:"file_count,omitempty"`
	Diagnostics []profile.Diagnostic `json:"diagnostics,omitempty"`
	Revision    string               `json:"revision,omitempty"` // of its SKILL.md; empty: it is built in
}
