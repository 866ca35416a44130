// Package browser is the capability to use a browser, for profiles that are defined in
// code.
package browser

import "github.com/rosterrun/roster/engine"

// New gives the tools that open pages, read them, click, fill in and take pictures.
// They are offered where there is a Chromium. Opening, clicking and filling in are asked
// for, unless a rule of the profile allows them.
func New() engine.Capability {
	return engine.Capability{Name: "browser", Summary: "open pages in a browser, read and use them", Builtin: []string{"browser"}}
}
