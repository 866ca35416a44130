package dialect

import (
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// Keys reads native keys that stand outside of a profile's own file, such as a
// workspace's defaults or an override. root is a map node with its places in
// the file. The profile has no name; its places are of the layer that profiles
// have, and the caller knows better.
func Keys(file string, root *yaml.Node) (*profile.Profile, []profile.Diagnostic) {
	doc := &document{front: profile.Frontmatter{YAMLLine: 1}}
	d := &decoder{file: file, doc: doc, p: &profile.Profile{File: file}}
	root = deref(root)
	if root.Kind != yaml.MappingNode {
		d.wrongType(field{written: "the value", at: d.at(root)}, root, "a map of keys")
		return d.p, d.ds
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		k := deref(root.Content[i])
		doc.fields = append(doc.fields, field{key: kebab(k.Value), written: k.Value, at: d.at(k), node: root.Content[i+1]})
	}
	d.keys(grammar{})
	return d.p, d.ds
}

// keys reads the decoder's fields as keys that stand outside of a profile's own file.
func (d *decoder) keys(g grammar) {
	d.topLevelUnique()
	for i, f := range d.doc.fields {
		if f.key == "name" || f.key == "extends" {
			d.report(profile.CodeNotAllowed, f.at, f.written, f.written+" is a profile's own", "take the key out")
			continue
		}
		if !d.identity(f) && !d.running(f) && !d.acting(g, f) && !d.nested(f) {
			d.keep(g, i, f)
		}
	}
	d.restrict(g)
}
