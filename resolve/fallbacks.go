package resolve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/spec"
)

// maxFallbacks bounds the models of a chain.
const maxFallbacks = 16

// fallbacks finds the models that are asked when that of the profile is not to
// be had. Whoever names another model for one run or session gets that one
// alone, unless he names its fallbacks too.
func (r *resolver) fallbacks() {
	var names []string
	trace := spec.Trace{Origin: source.Origin{Layer: source.Builtin}}
	last := r.own - 1
	for i, l := range r.layers {
		for _, x := range l.Keys.Extra {
			add := x.Key == "+fallbacks"
			if x.Key != "fallbacks" && !add || !x.Known {
				continue
			}
			list, err := textList(x)
			if err != nil {
				r.fail("fallbacks", x.At, err.Error(), "write a list of models")
				return
			}
			if !add {
				names = nil
			}
			if len(names) > 0 || trace.Origin.File != "" {
				trace.Overrode = append(trace.Overrode, trace.Origin)
			}
			names, trace.Origin, last = append(names, list...), x.At, i
			trace.Origin.Layer = l.Name
		}
	}
	if by := r.won["model"]; by > last && !slices.Contains([]source.Layer{source.Builtin, source.User, source.Defaults, source.Extends, source.Profile}, r.layers[by].Name) {
		names = nil
	}
	if len(names) > maxFallbacks {
		r.fail("fallbacks", trace.Origin, fmt.Sprintf("there are %d; a chain has at most %d", len(names), maxFallbacks), "")
		return
	}
	for _, name := range names {
		found, err := r.in.Models.Lookup(catalog.Ref{Text: name, At: trace.Origin})
		if err == nil {
			r.script(&found, trace.Origin)
			err = r.err
		}
		if err != nil {
			r.err = err
			return
		}
		if found.Variant != nil {
			r.fail("fallbacks", trace.Origin, fmt.Sprintf("%s is a variant: a fallback is asked with the profile's settings", name), "name "+found.Model.String())
			return
		}
		m := found.Model
		if m.String() != r.out.Model.String() && !slices.ContainsFunc(r.out.Fallbacks, func(f spec.Model) bool { return f.String() == m.String() }) {
			r.out.Fallbacks = append(r.out.Fallbacks, m)
		}
	}
	r.out.Origins["fallbacks"] = trace
}

// textList reads a key that is kept: a list of texts, or one text with commas.
func textList(x profile.Extra) ([]string, error) {
	value, err := x.Node()
	if err != nil {
		return nil, err
	}
	return names(value)
}

// names reads a list of names, or one text with commas.
func names(value *yaml.Node) ([]string, error) {
	nodes := value.Content
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag == "!!null":
		return nil, nil
	case value.Kind == yaml.ScalarNode:
		nodes = nil
		for part := range strings.SplitSeq(value.Value, ",") {
			nodes = append(nodes, &yaml.Node{Kind: yaml.ScalarNode, Value: part})
		}
	case value.Kind != yaml.SequenceNode:
		return nil, errors.New("it is no list")
	}
	var out []string
	for _, n := range nodes {
		name := strings.TrimSpace(n.Value)
		if n.Kind != yaml.ScalarNode || name == "" {
			return nil, errors.New("it holds what is no name")
		}
		out = append(out, name)
	}
	return out, nil
}
