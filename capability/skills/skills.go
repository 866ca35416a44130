// Package skills is the capability to use skills, for profiles that are defined in
// code.
package skills

import (
	"encoding/json"

	"github.com/rosterrun/roster/engine"
)

// New gives the tool that loads skills. Without names, the profile may use all that
// the workspace has; with names, which may be patterns with *, those.
func New(names ...string) engine.Capability {
	c := engine.Capability{Name: "skills", Summary: "load skills", Builtin: []string{"skill"}}
	if len(names) > 0 {
		list, err := json.Marshal(names)
		if err != nil {
			panic(err) // texts always have a form in JSON
		}
		c.Keys = map[string]string{"skills": string(list)}
	}
	return c
}
