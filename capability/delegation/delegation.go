// Package delegation is the capability to give work to other profiles, for profiles
// that are defined in code.
package delegation

import (
	"strconv"

	"github.com/rosterrun/roster/engine"
)

// New gives the tool that hands tasks to other profiles, which may be defined in files
// or in code. With names, which may be patterns with *, it is those alone; without, all
// but those of mode primary.
func New(names ...string) engine.Capability {
	c := engine.Capability{Name: "delegation", Summary: "give tasks to other profiles", Builtin: []string{"task"}}
	if len(names) > 0 {
		rules := `{"*": deny`
		for _, name := range names {
			rules += ", " + strconv.Quote(name) + ": allow"
		}
		c.Keys = map[string]string{"permission.task": rules + "}"}
	}
	return c
}
