package dialect

import (
	"slices"
	"strings"

	"github.com/rosterrun/roster/profile"
)

// Fresh completes a profile that is to be a new file of a dialect with what such
// a file says unasked: in some dialects a listed tool is an allowed one, and what
// is left out has a default that is not the native one. What the profile sets
// itself stays.
func Fresh(p *profile.Profile, dialect string) {
	t := &p.Tools
	switch dialect {
	case "directory":
		freshFolder(p)
		return
	case "knot":
		if provider, id, ok := strings.Cut(p.Model.V, "/"); ok && !p.Provider.Set {
			p.Provider, p.Model.V = profile.Value[string]{V: provider, Set: true, At: p.Model.At}, id
		}
	case "config", "docker":
	default:
		return
	}
	if !t.Set && !p.Extends.Set && dialect != "config" { // no list is an empty one
		t.Set, t.V.Names = true, []string{}
	}
	if t.Set && len(p.Permission) == 0 {
		p.Permission = granted(*t, nil)
	}
}

// freshFolder gives a profile the defaults of a folder that sets nothing.
func freshFolder(p *profile.Profile) {
	empty, _ := decodeDirectory(&File{Name: dirMain, Path: dirMain, Data: []byte("{}")})
	if len(empty) == 0 {
		return
	}
	d := empty[0]
	if !p.Provider.Set && !strings.Contains(p.Model.V, "/") {
		p.Provider = d.Provider
	}
	if !p.Model.Set {
		p.Model = d.Model
	}
	if !p.Temperature.Set {
		p.Temperature = d.Temperature
	}
	if !p.Limits.Turns.Set {
		p.Limits.Turns = d.Limits.Turns
	}
	if !p.SubagentTools.Set {
		p.SubagentTools = d.SubagentTools
	}
	for _, x := range d.Extra {
		if !slices.ContainsFunc(p.Extra, func(o profile.Extra) bool { return o.Key == x.Key }) {
			p.Extra = append(p.Extra, x)
		}
	}
	listed, rules := listTools(p.Tools.V.Names)
	p.Tools.Set, p.Tools.V = true, listed
	if len(p.Permission) == 0 {
		p.Permission = rules
	}
}
