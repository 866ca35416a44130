package profile

import (
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/source"
)

// ActsOnHooks says whether the keys hooks and openapi of a dialect have the native
// form, and act. In others they are something else, and kept.
func ActsOnHooks(dialect string) bool {
	switch dialect {
	case "", "roster", "knot", "config":
		return true
	}
	return false
}

// The keys whose values are read by others.
const (
	hooks    = "hooks"
	services = "openapi"
)

// Written is the value of a key as it is written.
type Written struct {
	Extra
	Value   *yaml.Node
	written bool // in the lines of its file
}

// Hooks gives the hooks of a profile, apart from those of its parents; nil: it
// has none that act.
func (p *Profile) Hooks() (*Written, error) { return p.native(hooks) }

// Services gives the OpenAPI services of a profile in the same way.
func (p *Profile) Services() (*Written, error) { return p.native(services) }

// native gives the value of a key in dialects in which it has the native form.
func (p *Profile) native(key string) (*Written, error) {
	for _, x := range p.Extra {
		if x.Key != key || !x.Known || !ActsOnHooks(p.Dialect) {
			continue
		}
		n, err := x.Node()
		return &Written{x, n, p.Dialect == "roster" || p.Dialect == "knot"}, err
	}
	return nil, nil
}

// Place is where a node of the value stands.
func (h *Written) Place(n *yaml.Node) source.Origin {
	at := h.At
	if h.written {
		at.Line, at.Column = at.Line+n.Line-1, 0
	}
	return at
}

// joinHooks adds the hooks of a stronger profile to those of a weaker one, which
// it does not take away.
func joinHooks(w, s *yaml.Node) bool {
	if w.Kind != yaml.MappingNode || s.Kind != yaml.MappingNode {
		return false
	}
	for i := 0; i+1 < len(s.Content); i += 2 {
		at := indexOf(w, s.Content[i].Value)
		switch {
		case at < 0:
			w.Content = append(w.Content, s.Content[i], s.Content[i+1])
		case w.Content[at+1].Kind != yaml.SequenceNode:
			w.Content[at+1] = s.Content[i+1]
		default:
			w.Content[at+1].Content = append(w.Content[at+1].Content, s.Content[i+1].Content...)
		}
	}
	return true
}
