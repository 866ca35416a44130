package dialect

import (
	"fmt"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// servers reports what is wrong with MCP servers. A profile in our own form is
// refused for it, since it would lack what it was written for; one of another tool
// does without the server.
func (d *decoder) servers(f field) {
	code := profile.CodeServerOut
	if d.strict() {
		code = profile.CodeServer
	}
	list, _, _ := profile.ServerEntries(f.node)
	for _, e := range list {
		at := d.at(e.Value)
		if at.Line == 0 {
			at = f.at
		}
		key := f.written + "." + e.Name
		_, _, unknown, err := profile.ParseServer(e.Name, e.Value, profile.ServerUnit(d.p.Dialect))
		if err != nil {
			d.report(code, at, key, key+": "+strings.ReplaceAll(err.Error(), "\n", "; "), "")
		}
		if len(unknown) > 0 && !d.strict() { // else its shape is checked
			d.report(profile.CodeServerKey, at, key, fmt.Sprintf("%s: %s has no effect here", key, strings.Join(unknown, ", ")), "")
		}
	}
}
