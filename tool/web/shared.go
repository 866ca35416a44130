package web

import (
	"net/url"

	"github.com/rosterrun/roster/internal/reach"
)

// What other tools of the web hold to as well.

// ParseURL reads an http or https address in the one form in which it is judged,
// shown and fetched.
func ParseURL(text string) (*url.URL, error) { return parseURL(text) }

// Clean leaves out of a text what no reader would see: control characters, and
// those that say something to a model alone.
func Clean(text string) string { return clean(text) }

// Guard keeps connections to what may be reached.
func (r Reach) Guard() (*reach.Guard, error) { return r.guard() }
