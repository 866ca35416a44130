package resolve

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/spec"
)

// The built-in defaults of what of a long conversation is sent.
const (
	DefaultCompactAt  = 0.85
	DefaultKeepFirst  = 2
	DefaultKeepRecent = 10
	DefaultMaxResult  = 6000
)

// maxProviders bounds what adds to each request.
const maxProviders = 16

// context finds what of a long conversation is sent: each key of the map from the
// strongest layer that has it.
func (r *resolver) context() {
	c := &r.out.Context
	c.Window = member(r, "context.window", 0, strconv.Atoi)
	if free := member(r, "context.reserve", -1, strconv.Atoi); free >= 0 {
		c.Reserve = &free
	}
	c.CompactAt = member(r, "context.compact-at", DefaultCompactAt, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
	c.KeepFirst = member(r, "context.keep-first", DefaultKeepFirst, strconv.Atoi)
	c.KeepRecent = member(r, "context.keep-recent", DefaultKeepRecent, strconv.Atoi)
	c.Strategy = member(r, "context.strategy", spec.ContextSummary, func(text string) (string, error) { return text, nil })
	c.MaxResult = member(r, "context.max-result", DefaultMaxResult, strconv.Atoi)
	if name := member(r, "context.summariser", "", func(text string) (string, error) { return strings.TrimSpace(text), nil }); name != "" {
		c.Summariser = &spec.Spec{Name: name} // who has the catalog fills it in
	}
	c.Providers = memberOf(r, "context.providers", nil, providers)
	if window := max(c.Window, 0); r.err == nil && c.Reserve != nil && window > 0 && *c.Reserve >= window {
		r.fail("context.reserve", r.out.Origins["context.reserve"].Origin,
			fmt.Sprintf("%d tokens are kept free of a window of %d: nothing is left", *c.Reserve, window), "write a smaller one")
	}
}

// member is one value of a map that is kept as it was written, MAP.KEY.
func member[T any](r *resolver, key string, def T, parse func(string) (T, error)) T {
	return memberOf(r, key, def, func(n *yaml.Node) (v T, err error) {
		if n.Kind != yaml.ScalarNode {
			return v, fmt.Errorf("it is one value")
		}
		return parse(n.Value)
	})
}

func memberOf[T any](r *resolver, key string, def T, parse func(*yaml.Node) (T, error)) T {
	in, name, _ := strings.Cut(key, ".")
	v := pick(r, key, func(p *profile.Profile) profile.Value[T] {
		x, ok := kept(p, in)
		if !ok || r.err != nil {
			return profile.Value[T]{}
		}
		at := x.At
		node, err := x.Node()
		if err == nil {
			node, err = memberNode(node, name)
		}
		if err == nil && node == nil {
			return profile.Value[T]{}
		}
		var value T
		if err == nil {
			at.Line += node.Line - 1
			if node.Line > 1 {
				at.Column = node.Column
			}
			value, err = parse(node)
		}
		if err != nil {
			r.fail(key, at, err.Error(), "see roster schema")
		}
		return profile.Value[T]{V: value, Set: err == nil, At: at}
	})
	if !v.Set {
		return def
	}
	return v.V
}

// memberNode is the value of a key in a map; nil: it is not there.
func memberNode(m *yaml.Node, key string) (*yaml.Node, error) {
	if m.Kind != yaml.MappingNode {
		if m.Tag == "!!null" {
			return nil, nil
		}
		return nil, fmt.Errorf("context is a map")
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		n := m.Content[i+1]
		if strings.ReplaceAll(m.Content[i].Value, "_", "-") == key && n.Tag != "!!null" {
			return n, nil
		}
	}
	return nil, nil
}

// providers reads what adds to each request.
func providers(n *yaml.Node) ([]string, error) {
	out, err := names(n)
	if len(out) > maxProviders {
		return nil, fmt.Errorf("there are %d; at most %d add to a request", len(out), maxProviders)
	}
	return out, err
}
