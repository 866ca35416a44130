package dialect

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// maxInstances is the longest list of instances: each may be a profile, and is
// looked at once for each of the others.
const maxInstances = 200

// instance is one named entry of a list of instances.
type instance struct {
	field
	name      string // as references name it
	nameNode  *yaml.Node
	nameAt    source.Origin
	nameWrite string
}

// nameField gives the name of an instance as if it stood under a key name.
func (in instance) nameField(key string) *field {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: in.name}
	at, written := in.at, in.written+"."+key
	if in.nameNode != nil {
		n.Line, n.Column = in.nameNode.Line, in.nameNode.Column
		at, written = in.nameAt, in.nameWrite
	} else {
		n.Line, n.Column = in.node.Line, in.node.Column
	}
	return &field{key: "name", written: written, at: at, node: n}
}

// instances reads the list of instances of a section.
func (c *configFile) instances(section, namespace string) []instance {
	return c.list(c.sections[section], namespace)
}

func (c *configFile) list(section field, namespace string) []instance {
	if section.node == nil || deref(section.node).Kind != yaml.MappingNode {
		return nil
	}
	var out []instance
	for _, f := range c.fields(section) {
		if f.key != "instances" {
			continue
		}
		n := deref(f.node)
		if n.Kind != yaml.SequenceNode {
			c.report(profile.CodeWrongType, c.d.at(n), f.written, fmt.Sprintf("%s takes a list, not %s", f.written, kindName(n)), "")
			return nil
		}
		if len(n.Content) > maxInstances {
			c.report(profile.CodeNotAllowed, c.d.at(n), f.written, fmt.Sprintf("%d instances are more than %d", len(n.Content), maxInstances), "divide the file")
			return nil
		}
		for _, item := range n.Content {
			if deref(item).Kind != yaml.MappingNode {
				c.report(profile.CodeWrongType, c.d.at(item), f.written, fmt.Sprintf("%s takes a list of tables, not of %s", f.written, kindName(item)), "")
				continue
			}
			out = append(out, c.instance(f, item, namespace))
		}
	}
	return out
}

// instance reads how an entry is named: by its id, else by its name.
func (c *configFile) instance(list field, item *yaml.Node, namespace string) instance {
	in := instance{field: field{key: list.key, written: list.written, at: c.d.at(item), node: item}}
	keys := []string{"id", "name"}
	if namespace == "" || namespace == "sub_agent" {
		keys = []string{"name", "id"}
	}
	for _, key := range keys {
		for _, f := range c.fields(in.field) {
			if f.key == key && in.name == "" && deref(f.node).Kind == yaml.ScalarNode {
				in.name = refName(deref(f.node).Value, namespace)
				in.nameNode, in.nameAt, in.nameWrite = deref(f.node), f.at, f.written
			}
		}
	}
	return in
}

// isRef says whether a text is a reference: {{name}}, {{%name%}}, {{#id#}}.
func isRef(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{{") && strings.HasSuffix(s, "}}") && !strings.Contains(s, "\n")
}

// refName takes the marks off a reference, and the kind of thing in front of
// its name.
func refName(s, namespace string) string {
	s = strings.TrimSpace(s)
	if isRef(s) {
		s = strings.TrimSpace(s[2 : len(s)-2])
		for _, mark := range []string{"%", "#"} {
			if len(s) > 1 && strings.HasPrefix(s, mark) && strings.HasSuffix(s, mark) {
				s = strings.TrimSpace(s[1 : len(s)-1])
			}
		}
	}
	if namespace == "" {
		return s
	}
	for _, prefix := range []string{namespace, namespace + "s", strings.ReplaceAll(namespace, "_", ".")} {
		if rest, ok := strings.CutPrefix(s, prefix+"."); ok {
			return rest
		}
	}
	return s
}

// find looks an instance up. A reference that names none is an error; a text
// that is no reference may stand for itself.
func (c *configFile) find(f field, list []instance, namespace string) (instance, bool) {
	text := deref(f.node).Value
	if deref(f.node).Kind != yaml.ScalarNode {
		c.report(profile.CodeWrongType, c.d.at(f.node), f.written, fmt.Sprintf("%s takes a reference, not %s", f.written, kindName(f.node)), "")
		return instance{}, false
	}
	name := refName(text, namespace)
	i := slices.IndexFunc(list, func(in instance) bool { return in.name == name })
	if i < 0 {
		i = slices.IndexFunc(list, func(in instance) bool { return in.called(name) })
	}
	if i >= 0 {
		return list[i], true
	}
	if isRef(text) || namespace != "provider" {
		var names []string
		for _, in := range list {
			names = append(names, in.name)
		}
		c.report(profile.CodeReference, c.d.at(f.node), f.written,
			fmt.Sprintf("%s names %q, and the file has no such %s", f.written, shorten(name), strings.ReplaceAll(namespace, "_", " ")), didYouMean(name, names))
	}
	return instance{}, false
}

// called says whether an instance has a name beside its id.
func (in instance) called(name string) bool {
	v, ok := child(deref(in.node), "name")
	return ok && deref(v).Kind == yaml.ScalarNode && deref(v).Value == name
}
