package dialect

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// keepTree puts a key of a data file among those that are not acted on. It is
// known under the given native key. Its value is written in one plain way,
// whatever kind of file it is from; dates are text.
func (d *decoder) keepTree(f field, key string, known bool, candidates []string) {
	f.key = key
	budget := maxExpanded
	if n := expand(f.node, &budget); n != nil {
		unstyled(n)
		f.node = n
	}
	if value, ok := d.dump(f); ok {
		d.kept(f, value, known, func() []string { return candidates })
	}
}

// unstyled takes the style out of a value, so that equal values are written
// equally.
func unstyled(n *yaml.Node) {
	n.Style = 0
	switch tag := n.ShortTag(); {
	case n.Kind == yaml.ScalarNode && tag == "!!timestamp":
		n.Tag = "!!str"
	case n.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float" || tag == "!!bool"):
		if text, err := tomlScalarText(n); err == nil {
			if strings.HasSuffix(text, "inf") || text == "nan" {
				text = strings.NewReplacer("inf", ".inf", "nan", ".nan").Replace(text)
			}
			n.Value, n.Tag = text, tag
		}
	}
	for _, c := range n.Content {
		unstyled(c)
	}
}

// treeEncoder writes one profile as a map of keys, and remembers what it wrote,
// so that the rest can be reported as lost.
type treeEncoder struct {
	p       *profile.Profile
	dialect string
	root    *yaml.Node
	wrote   map[string]bool
	places  map[*yaml.Node]map[string]int // of the keys of tables
	lost    []profile.Diagnostic
}

func newTreeEncoder(p *profile.Profile, dialect string) *treeEncoder {
	return &treeEncoder{p: p, dialect: dialect, root: mapping(), wrote: map[string]bool{}, places: map[*yaml.Node]map[string]int{}}
}

func (e *treeEncoder) lose(key string, at source.Origin, hint string) {
	e.lost = append(e.lost, profile.Diagnose(profile.CodeLost, at, key, fmt.Sprintf("the %s dialect cannot hold %s", e.dialect, key), hint))
}

// own says whether the profile is from this dialect.
func (e *treeEncoder) own() bool { return e.p.Dialect == e.dialect }

// put writes a native key under its name in this format, at a path of tables.
func (e *treeEncoder) put(key string, value *yaml.Node, path ...string) {
	e.wrote[key] = true
	table := e.root
	for _, name := range path[:len(path)-1] {
		next, ok := child(table, name)
		if !ok {
			next = mapping()
			table.Content = append(table.Content, str(name), next)
		}
		table = next
	}
	e.set(table, path[len(path)-1], value)
}

// set is setChild for a table that may have thousands of keys.
func (e *treeEncoder) set(table *yaml.Node, key string, value *yaml.Node) {
	places := e.places[table]
	if places == nil || 2*len(places) != len(table.Content) { // it is new, or has more keys by now
		places = make(map[string]int, len(table.Content)/2+1)
		for i := 0; i+1 < len(table.Content); i += 2 {
			places[table.Content[i].Value] = i
		}
		e.places[table] = places
	}
	if i, ok := places[key]; ok {
		table.Content[i+1] = value
		return
	}
	places[key] = len(table.Content)
	table.Content = append(table.Content, str(key), value)
}

func child(m *yaml.Node, key string) (*yaml.Node, bool) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			return m.Content[i+1], true
		}
	}
	return nil, false
}

func setChild(m *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value == key {
			m.Content[i+1] = value
			return
		}
	}
	m.Content = append(m.Content, str(key), value)
}

func (e *treeEncoder) text(key string, v profile.Value[string], path ...string) {
	if v.Set {
		e.put(key, str(v.V), path...)
	}
}

// name gives the text that the name was made from, where there is one.
func (e *treeEncoder) name() string {
	if t := e.p.Title; t.Set && t.V != e.p.Name && strings.TrimSpace(t.V) == t.V {
		if slug, err := profile.Slug(t.V); err == nil && slug == e.p.Name {
			e.wrote["title"] = true
			return t.V
		}
	}
	return e.p.Name
}

// file writes the document and reports every field that is set and was not
// written. Plain keys stand before tables.
func (e *treeEncoder) file(path string) ([]Part, []profile.Diagnostic) {
	for _, s := range setKeys(e.p) {
		if !e.wrote[s.key] {
			e.lose(s.key, s.at, "")
		}
	}
	data, err := tomlText(e.root)
	if err != nil {
		panic(fmt.Sprintf("a value that TOML can hold is refused: %v", err))
	}
	return []Part{{Path: path, Data: data}}, e.lost
}

// tomlExtra gives the value of a key that is not acted on, if TOML can hold it.
func tomlExtra(x profile.Extra) (*yaml.Node, error) {
	value, err := x.Node()
	if err != nil {
		return nil, err
	}
	budget := maxExpanded
	n := expand(value, &budget)
	if n == nil {
		return nil, errors.New("it expands to too much")
	}
	return n, holdable(n)
}

// holdable says why TOML cannot hold a value.
func holdable(n *yaml.Node) error {
	switch tag := n.ShortTag(); tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!timestamp":
		_, err := tomlScalarText(n)
		return err
	case "!!seq":
		for _, c := range n.Content {
			if err := holdable(c); err != nil {
				return err
			}
		}
		return nil
	case "!!map":
		seen := map[string]bool{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			if k.Kind != yaml.ScalarNode || k.ShortTag() != "!!str" || seen[k.Value] {
				return errors.New("a key is not a text, or stands twice")
			}
			seen[k.Value] = true
			if err := holdable(n.Content[i+1]); err != nil {
				return err
			}
		}
		return nil
	default:
		return fmt.Errorf("TOML has no %s", strings.TrimLeft(tag, "!"))
	}
}
