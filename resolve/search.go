package resolve

import (
	"slices"

	"github.com/rosterrun/roster/profile"
)

// websearch is the tool that needs somebody who answers it.
const websearch = "websearch"

// searching says that the profile lists a search that nobody answers.
func (r *resolver) searching() {
	if r.in.Config.Search.Kind != "" || !slices.Contains(r.out.Tools, websearch) {
		return
	}
	d := profile.Diagnose(profile.CodeNoSearch, r.out.Origins["tools"].Origin, "tools",
		"tools lists websearch, and no service answers searches: the tool is not offered",
		"name a service under search in roster.yaml, such as search: {kind: searxng, url: …}, or take websearch out")
	r.ds = append(r.ds, d)
}
