package dialect

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// extends reads the names of the parents. Whether they exist is for the catalog
// to say.
func (d *decoder) extends(f field) {
	v := d.list(f)
	d.p.Extends, d.p.ExtendsAt = profile.Value[[]string]{}, nil
	if !v.Set {
		return
	}
	if len(v.V) > profile.MaxParents {
		d.report(profile.CodeParents, d.at(f.node), f.written, fmt.Sprintf("%d parents are more than %d", len(v.V), profile.MaxParents), "")
		return
	}
	n := deref(f.node)
	for i, name := range v.V {
		at := n
		if n.Kind == yaml.SequenceNode {
			at = n.Content[i]
		}
		name = strings.TrimSpace(name)
		if profile.CheckName(name) != nil {
			d.report(profile.CodeName, d.at(at), f.written, fmt.Sprintf("%q is not a name of a profile", shorten(name)), nameHint(name))
			continue
		}
		d.p.Extends.V = append(d.p.Extends.V, name)
		d.p.ExtendsAt = append(d.p.ExtendsAt, d.at(at))
	}
	d.p.Extends.Set, d.p.Extends.At = true, f.at
}

// nameHint gives the name that a profile has whose name is a text.
func nameHint(text string) string {
	if slug, err := profile.Slug(text); err == nil && slug != "" {
		return fmt.Sprintf("did you mean %q?", slug)
	}
	return "names are letters, digits, '.', '_', '-', in segments joined by '/'"
}

// addTools reads a list that is added to what the parents list.
func (d *decoder) addTools(g grammar, f field) {
	if n := deref(f.node); n.Kind == yaml.MappingNode {
		d.wrongType(f, n, "a list of tools")
		return
	}
	if d.adds(f, d.doc.fields) {
		d.tools(g, f)
		d.p.Tools.V.Add = d.p.Tools.Set
	}
}

// adds checks a list that is written with "+": it must not stand beside the one
// that replaces, and without parents there is nothing to add to.
func (d *decoder) adds(f field, siblings []field) bool {
	i := strings.LastIndexByte(f.key, '+')
	plain := f.key[:i] + f.key[i+1:]
	if slices.ContainsFunc(siblings, func(s field) bool { return s.key == plain }) {
		d.report(profile.CodeNotAllowed, f.at, f.written, fmt.Sprintf("%s stands beside %s", f.written, plain), "keep one of the two")
		return false
	}
	if d.p.Name != "" && !d.p.Extends.Set && !d.doc.has("extends") {
		d.report(profile.CodeAddsToAll, f.at, f.written, fmt.Sprintf("%s adds to what parents list, and the profile has none", f.written), fmt.Sprintf("write extends, or %s without the +", plain))
	}
	return true
}
