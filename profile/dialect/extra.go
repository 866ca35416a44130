package dialect

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/schema"
	"github.com/rosterrun/roster/service"
)

// maxExpanded bounds the nodes of a value whose aliases are written out.
const maxExpanded = 10_000

// keep puts the i-th field among the keys that are not acted on.
func (d *decoder) keep(g grammar, i int, f field) {
	value, ok := d.doc.raw(i)
	if !ok || hasAlias(f.node, 0) {
		if value, ok = d.dump(f); !ok {
			return
		}
	}
	known := slices.Contains(g.keeps, f.key)
	if _, native := schema.Find(f.key); !native && !known {
		if key := almostGuard(f.written); key != "" {
			d.almost(f, key)
			d.p.Extra = append(d.p.Extra, profile.Extra{Key: f.written, YAML: bytes.Clone(value), At: f.at})
			return
		}
	}
	d.kept(f, value, known, func() []string {
		return append(schema.Names(), g.keeps...)
	})
}

// keepNested does the same for a key inside a map that is acted on.
func (d *decoder) keepNested(f field) {
	if value, ok := d.dump(f); ok {
		in := f.key[:strings.LastIndexByte(f.key, '.')]
		d.kept(f, value, false, func() []string {
			group, _ := schema.Find(in)
			return within(in, group.Names())
		})
	}
}

func within(in string, names []string) []string {
	for i := range names {
		names[i] = in + "." + names[i]
	}
	return names
}

func (d *decoder) kept(f field, value []byte, known bool, candidates func() []string) {
	key, native := schema.Find(f.key)
	if !native || !d.strict() { // else its shape is checked
		d.uniqueIn(f.written, f.node)
	}
	switch {
	case native && d.strict() && !d.fits(f, &key.Shape): // the diagnostic says so
	case !native && isLabel(f.key):
	case f.key == hooks && profile.ActsOnHooks(d.p.Dialect):
		d.hooks(f)
	case f.key == profile.Servers:
		d.servers(f)
	case f.key == service.Key && profile.ActsOnHooks(d.p.Dialect):
		d.services(f)
	case native && key.Acts && f.key != hooks && f.key != service.Key && (f.key != "sandbox" || profile.ActsOnHooks(d.p.Dialect)):
	case key.Guard:
		d.report(profile.CodeInactiveGuard, f.at, f.written, fmt.Sprintf("this version does not act on %s: the profile is not restricted by it", f.written), "")
	case known || native:
		d.report(profile.CodeInactiveKey, f.at, f.written, fmt.Sprintf("this version does not act on %s; it is kept", f.written), "")
	default:
		d.report(profile.CodeUnknownKey, f.at, f.written, fmt.Sprintf("%s is not a known key; it is kept and has no effect", f.written), didYouMean(f.key, candidates()))
	}
	name := f.key
	if !known && !native {
		name = f.written
	}
	d.p.Extra = append(d.p.Extra, profile.Extra{Key: name, YAML: bytes.Clone(value), Known: known || native, At: f.at})
}

// uniqueIn reports keys that stand twice in the maps of a value.
func (d *decoder) uniqueIn(in string, n *yaml.Node) {
	if n.Kind == yaml.MappingNode && !d.unique(in, n) {
		return
	}
	for i, c := range n.Content {
		below := in
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			below = in + "." + n.Content[i-1].Value
		}
		d.uniqueIn(below, c)
	}
}

// isLabel knows the keys that say something about a file to people and shops, and
// that nobody acts on. A third of all files have some.
func isLabel(key string) bool {
	switch key {
	case "emoji", "icon", "color", "vibe", "category", "tags", "keywords", "author", "version", "license", "compatibility",
		"metadata", "id", "type", "role", "domain", "specialization", "experience-level", "expertise-level", "created", "updated":
		return true
	}
	return false
}

// notYet notes a key that is read, checked and written back, and that this
// version does not act on.
func (d *decoder) notYet(f field, set bool) {
	if set {
		d.report(profile.CodeInactiveKey, f.at, f.written, fmt.Sprintf("this version does not act on %s; it is kept", f.written), "")
	}
}

// dump writes a value anew, with its aliases written out.
func (d *decoder) dump(f field) ([]byte, bool) {
	budget := maxExpanded
	n := expand(f.node, &budget)
	if n == nil {
		d.report(profile.CodeTooDeep, f.at, f.written, fmt.Sprintf("the aliases of %s expand to more than %d values", f.written, maxExpanded), "")
		return nil, false
	}
	out, err := yaml.Dump(n, asPeopleWrite())
	if err != nil {
		d.report(profile.CodeInvalidYAML, f.at, f.written, err.Error(), "")
		return nil, false
	}
	out = bytes.TrimRight(append([]byte{' '}, out...), " \n")
	if n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle == 0 && len(n.Content) > 0 {
		out = append([]byte("\n  "), bytes.ReplaceAll(out[1:], []byte("\n"), []byte("\n  "))...)
	}
	return out, true
}

// expand copies a value without aliases and anchors; nil when the budget of
// nodes is used up, as it is for a value that holds itself.
func expand(n *yaml.Node, budget *int) *yaml.Node {
	if *budget--; *budget < 0 {
		return nil
	}
	if n.Kind == yaml.AliasNode {
		return expand(n.Alias, budget)
	}
	c := *n
	c.Anchor, c.HeadComment, c.LineComment, c.FootComment = "", "", "", ""
	if c.Kind == yaml.ScalarNode && (c.Value == "\n" || strings.HasSuffix(c.Value, "\n\n")) {
		c.Style = yaml.DoubleQuotedStyle // empty lines at the end of a text are not kept otherwise
	}
	c.Content = make([]*yaml.Node, 0, len(n.Content))
	for _, child := range n.Content {
		e := expand(child, budget)
		if e == nil {
			return nil
		}
		if n.Kind == yaml.MappingNode && len(c.Content)%2 == 0 && e.Tag == "!!null" && e.Value == "" {
			e = str("") // a key that is not written, as the formats have it whose keys are texts
		}
		c.Content = append(c.Content, e)
	}
	return &c
}

// overExpanded gives the key with which the aliases of a document stand for
// more values than are read; nil: they do not. What an alias stands for is
// counted once, so that counting is not what takes the time.
func overExpanded(root *yaml.Node) *yaml.Node {
	sizes, total := map[*yaml.Node]int{}, 0
	var size func(n *yaml.Node) int
	size = func(n *yaml.Node) int {
		if n.Kind != yaml.AliasNode {
			all := 1
			for _, c := range n.Content {
				all = min(all+size(c), maxExpanded+1)
			}
			return all
		}
		known, ok := sizes[n.Alias]
		if !ok {
			sizes[n.Alias] = maxExpanded + 1 // of a value that holds itself
			known = size(n.Alias)
			sizes[n.Alias] = known
		}
		total = min(total+known, maxExpanded+1)
		return known
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if size(root.Content[i+1]); total > maxExpanded {
			return root.Content[i]
		}
	}
	return nil
}

// hasAlias says whether a value refers to others, or is referred to.
func hasAlias(n *yaml.Node, depth int) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || depth > maxDepth {
		return true
	}
	for _, c := range n.Content {
		if hasAlias(c, depth+1) {
			return true
		}
	}
	return false
}
