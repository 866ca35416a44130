package spec

import (
	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/source"
)

// Skill is one that an agent may use.
type Skill struct {
	Name        string `json:"name"`
	Description string `json:"-"` // what of it the model is told stands in the prompt
	// File is its SKILL.md as diagnostics name it, and Dir its folder, absolute; empty:
	// it is built in.
	File string `json:"file"`
	Dir  string `json:"dir,omitempty"`
	// Allowed are its allowed-tools as far as they count.
	Allowed []permission.Rule `json:"allowed,omitempty"`

	// Own says that it is the user's or built in, and no file of the workspace.
	Own bool `json:"own,omitempty"`

	// OnlyNamed says that it is for profiles that name it alone.
	OnlyNamed bool         `json:"-"`
	Layer     source.Layer `json:"-"`
	// Inert says that it has allowed-tools without effect, for nobody has trusted the
	// workspace.
	Inert bool `json:"-"`
}
