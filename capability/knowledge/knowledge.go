// Package knowledge is the capability to look things up in folders of texts, for
// profiles that are defined in code.
package knowledge

import (
	"encoding/json"

	"github.com/rosterrun/roster/engine"
)

// New gives the tools that list, read and search folders: below that which the profile
// works in, which is the workspace or a folder of it (files.Sandbox).
func New(folders ...string) engine.Capability {
	if folders == nil {
		folders = []string{}
	}
	list, err := json.Marshal(folders)
	if err != nil {
		panic(err) // texts always have a form in JSON
	}
	return engine.Capability{
		Name: "knowledge", Summary: "look things up in folders of texts", Builtin: []string{"knowledge"},
		Keys: map[string]string{"tool-settings.knowledge_search.folders": string(list)},
	}
}
