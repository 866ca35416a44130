package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Problem says what is wrong with a prompt or a template, and where.
type Problem struct {
	At      source.Origin
	Key     string
	Message string
}

func (e *Problem) Error() string { return fmt.Sprintf("%s: %s: %s", e.At, e.Key, e.Message) }

// Unwrap gives the name of the failure.
func (e *Problem) Unwrap() error { return profile.SchemaValidation }

// parser reads templates and instances out of YAML. All that is wrong is
// collected.
type parser struct {
	file     string
	layer    source.Layer
	above    int           // lines of the file above the first line of the YAML
	only     source.Origin // the place of everything, if it has a line
	problems []*Problem
}

// ReadInstance reads a prompt as it stands under its name in roster.yaml: a
// text, or {strategy, blocks}.
func ReadInstance(file string, layer source.Layer, name string, n *yaml.Node) (Instance, []*Problem) {
	p := parser{file: file, layer: layer}
	return p.instance(name, n), p.problems
}

// ReadTemplate reads a template as it stands under its name in roster.yaml:
// {blocks: [{name, order, max-length}]}.
func ReadTemplate(file string, layer source.Layer, name string, n *yaml.Node) (Template, []*Problem) {
	p := parser{file: file, layer: layer}
	return p.template(name, n), p.problems
}

// either reads a file: blocks that are a list make a template.
func (p *parser) either(name string, n *yaml.Node) shelved {
	if blocks, ok := p.child(n, "blocks"); ok && blocks.Kind == yaml.SequenceNode {
		t := p.template(name, n)
		return shelved{template: &t}
	}
	in := p.instance(name, n)
	return shelved{instance: &in}
}

func (p *parser) instance(name string, n *yaml.Node) Instance {
	n = deref(n)
	in := Instance{Name: name, At: p.at(n)}
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		in.Texts = []Text{{Name: "text", Text: n.Value, At: p.at(n)}}
		return in
	}
	p.each(name, n, func(key string, k, v *yaml.Node) {
		switch key {
		case "description", "id":
		case "strategy":
			in.Template, _ = p.text(name+".strategy", v)
		case "blocks":
			in.Texts = p.texts(name+".blocks", v)
		default:
			p.unknown(name, k, "strategy", "blocks", "description")
		}
	})
	return in
}

func (p *parser) texts(path string, n *yaml.Node) []Text {
	var out []Text
	p.each(path, n, func(_ string, k, v *yaml.Node) {
		t := Text{Name: kebab(k.Value), At: p.at(k)}
		at := path + "." + k.Value
		if v.Kind != yaml.MappingNode {
			t.Text, _ = p.text(at, v)
			out = append(out, t)
			return
		}
		p.each(at, v, func(key string, k, v *yaml.Node) {
			switch key {
			case "text":
				t.Text, _ = p.text(at+".text", v)
			case "order":
				t.Order = p.count(at+".order", v, 0)
			case "max-length":
				t.MaxLength = p.count(at+".max-length", v, 1)
			default:
				p.unknown(at, k, "text", "order", "max-length")
			}
		})
		out = append(out, t)
	})
	return out
}

func (p *parser) template(name string, n *yaml.Node) Template {
	t := Template{Name: name, At: p.at(deref(n))}
	p.each(name, n, func(key string, k, v *yaml.Node) {
		switch {
		case key == "description":
		case key != "blocks":
			p.unknown(name, k, "blocks", "description")
		case v.Kind != yaml.SequenceNode:
			p.problem(v, name+".blocks", "a template has a list of blocks, each with a name")
		default:
			for _, item := range v.Content {
				if s, ok := p.slot(name, len(t.Slots), deref(item)); ok {
					t.Slots = append(t.Slots, s)
				}
			}
		}
	})
	return t
}

// slot reads one block of a template: a name, or {name, order, max-length}.
func (p *parser) slot(template string, place int, n *yaml.Node) (Slot, bool) {
	s := Slot{Order: place}
	path := template + ".blocks"
	if n.Kind == yaml.ScalarNode {
		s.Name, _ = p.text(path, n)
	} else {
		p.each(path, n, func(key string, k, v *yaml.Node) {
			switch key {
			case "name":
				s.Name, _ = p.text(path+".name", v)
			case "order":
				s.Order = p.count(path+".order", v, 0).V
			case "max-length":
				s.MaxLength = p.count(path+".max-length", v, 1).V
			default:
				p.unknown(path, k, "name", "order", "max-length")
			}
		})
	}
	s.Name = kebab(s.Name)
	if s.Name == "" {
		p.problem(n, path, "a block has no name")
	}
	return s, s.Name != ""
}

// each calls do for every key of a map, in its native spelling.
func (p *parser) each(path string, n *yaml.Node, do func(key string, k, v *yaml.Node)) {
	if n = deref(n); n.Kind != yaml.MappingNode {
		p.problem(n, path, "it takes a map")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := deref(n.Content[i])
		if key := kebab(k.Value); seen[key] {
			p.problem(k, path, fmt.Sprintf("%q stands twice", k.Value))
		} else {
			seen[key] = true
			do(key, k, deref(n.Content[i+1]))
		}
	}
}

func (p *parser) child(n *yaml.Node, name string) (*yaml.Node, bool) {
	n = deref(n)
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return deref(n.Content[i+1]), true
		}
	}
	return nil, false
}

func (p *parser) text(path string, n *yaml.Node) (string, bool) {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.problem(n, path, "it takes text")
		return "", false
	}
	return n.Value, true
}

func (p *parser) count(path string, n *yaml.Node, least int) profile.Value[int] {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || err != nil || v < least {
		p.problem(n, path, fmt.Sprintf("it takes a whole number of at least %d", least))
		return profile.Value[int]{}
	}
	return profile.Value[int]{V: v, Set: true, At: p.at(n)}
}

func (p *parser) unknown(path string, k *yaml.Node, known ...string) {
	hint := "known are " + strings.Join(known, ", ")
	if near := nearest(k.Value, known); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	p.problem(k, path, fmt.Sprintf("unknown key %q; %s", k.Value, hint))
}

func (p *parser) problem(n *yaml.Node, path, message string) {
	p.problems = append(p.problems, &Problem{p.at(n), path, message})
}

func (p *parser) at(n *yaml.Node) source.Origin {
	if p.only.Line > 0 {
		return p.only
	}
	return source.Origin{Layer: p.layer, File: p.file, Line: p.above + n.Line, Column: n.Column}
}

func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func kebab(s string) string { return strings.ReplaceAll(s, "_", "-") }
