package dialect

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/service"
)

// known says whether a tool of that name may come with something besides what is
// built in: with what the options name, or with a server or a service that the
// profile itself has. Which tools those have is not known before they are asked.
func (d *decoder) known(name string) bool {
	return slices.Contains(d.opts.Tools, name) || ofAny(name, d.opts.Reaches) || ofAny(name, d.reaches())
}

// ofAny says whether a name is one of the names, or that of a tool of theirs.
func ofAny(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return n != "" && (name == n || strings.HasPrefix(name, offeredName(n)+"_"))
	})
}

// reaches names the servers and services of the profile.
func (d *decoder) reaches() (names []string) {
	if d.doc == nil {
		return nil
	}
	for _, f := range d.doc.fields {
		if f.node == nil {
			continue
		}
		switch f.key {
		case profile.Servers:
			list, listed, _ := profile.ServerEntries(f.node)
			for _, e := range list {
				names = append(names, e.Name)
			}
			names = append(names, listed...)
		case service.Key:
			n := deref(f.node)
			for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
				names = append(names, n.Content[i].Value)
			}
		}
	}
	return names
}
