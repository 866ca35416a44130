package script

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v4"
)

// fields says what to do with each key of a mapping.
type fields map[string]func(value *yaml.Node)

// fields reads a mapping and returns the keys that it has. Unknown and
// repeated keys are errors.
func (p *parser) fields(n *yaml.Node, what string, known fields) map[string]bool {
	seen := map[string]bool{}
	if !p.is(n, yaml.MappingNode, what, "a mapping") {
		return seen
	}
	names := slices.Sorted(maps.Keys(known))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		set, ok := known[key.Value]
		switch {
		case key.Kind != yaml.ScalarNode || !ok:
			p.fail(key, fmt.Sprintf("%s has no key %q", what, key.Value), didYouMean(key.Value, names))
		case seen[key.Value]:
			p.fail(key, fmt.Sprintf("%s has the key %q twice", what, key.Value), "")
		default:
			seen[key.Value] = true
			set(value)
		}
	}
	return seen
}

func (p *parser) is(n *yaml.Node, kind yaml.Kind, what, want string) bool {
	if n.Kind != kind {
		p.fail(n, fmt.Sprintf("%s must be %s", what, want), "")
		return false
	}
	return true
}

func (p *parser) text(n *yaml.Node, key string) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		p.fail(n, key+" must be text", "")
		return ""
	}
	return n.Value
}

func (p *parser) decode(n *yaml.Node, key, want string, into any) {
	if n.Kind != yaml.ScalarNode || n.Decode(into) != nil {
		p.fail(n, fmt.Sprintf("%s must be %s, not %q", key, want, n.Value), "")
	}
}

// farthest is the edit distance up to which a known name is taken for what was
// meant.
const farthest = 3

func didYouMean(name string, known []string) string {
	best, distance := "", farthest+1
	if len(name) <= 64 {
		for _, k := range known {
			if d := levenshtein.ComputeDistance(name, k); d < distance {
				best, distance = k, d
			}
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "known: " + strings.Join(known, ", ")
}
