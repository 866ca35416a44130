package dialect

import (
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/hook"
	"github.com/rosterrun/roster/profile"
)

const hooks = "hooks"

// hooks reports what is wrong with hooks, which would keep a profile from being
// run.
func (d *decoder) hooks(f field) {
	n := deref(f.node)
	if n.Kind != yaml.MappingNode {
		return // its shape is checked, or there is nothing
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		event, list := deref(n.Content[i]), deref(n.Content[i+1])
		if isNull(list) {
			continue
		}
		items := []*yaml.Node{list}
		if list.Kind == yaml.SequenceNode {
			items = list.Content
		}
		for _, item := range items {
			if _, err := hook.ParseEntry(event.Value, deref(item)); err != nil {
				at := f.at
				if d.strict() {
					at = d.at(item)
				}
				d.report(profile.CodeHook, at, f.written+"."+event.Value, f.written+"."+event.Value+": "+err.Error(), "")
			}
		}
	}
}
