package profile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/source"
)

// Sandbox is what a file says of where commands run. What it does not say is
// left to weaker layers.
type Sandbox struct {
	Kind    Value[string] // none, landlock, bubblewrap or docker
	Preset  Value[string] // public or maintenance
	Network Value[bool]
	Image   Value[string]
	// Read are paths as written, each with its place; ReadSet says that there is
	// a list, if an empty one.
	Read    []Value[string]
	ReadSet bool
	At      source.Origin
}

// The presets of sandboxes.
const (
	SandboxPublic      = "public"
	SandboxMaintenance = "maintenance"
)

const sandbox = "sandbox"

// Sandbox gives what the profile says, apart from its parents; nil: nothing that
// acts. Other dialects have words of their own under the key.
func (p *Profile) Sandbox() (*Sandbox, error) {
	for _, x := range p.Extra {
		if x.Key != sandbox || !x.Known || !ActsOnHooks(p.Dialect) {
			continue
		}
		n, err := x.Node()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.At, err)
		}
		s := &Sandbox{At: x.At}
		place := func(n *yaml.Node) source.Origin {
			at := x.At
			if n.Line > 1 && (p.Dialect == "" || p.Dialect == "roster" || p.Dialect == "knot") {
				at.Line, at.Column = at.Line+n.Line-1, 0
			}
			return at
		}
		return s, s.read(n, place)
	}
	return nil, nil
}

func (s *Sandbox) read(n *yaml.Node, place func(*yaml.Node) source.Origin) error {
	switch {
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
	case n.Kind == yaml.ScalarNode && (n.Value == SandboxPublic || n.Value == SandboxMaintenance):
		s.Preset = Value[string]{n.Value, true, place(n)}
	case n.Kind == yaml.ScalarNode:
		s.Kind = Value[string]{n.Value, true, place(n)}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if err := s.member(n.Content[i].Value, n.Content[i+1], place); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("%s: sandbox takes a word or a map", s.At)
	}
	return s.fits()
}

func (s *Sandbox) member(key string, n *yaml.Node, place func(*yaml.Node) source.Origin) error {
	at := place(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return nil
	}
	if key == "read" {
		s.ReadSet = true
		items := n.Content
		if n.Kind == yaml.ScalarNode {
			for part := range strings.SplitSeq(n.Value, ",") {
				items = append(items, &yaml.Node{Kind: yaml.ScalarNode, Value: part, Line: n.Line, Column: n.Column})
			}
		}
		for _, c := range items {
			if c.Kind != yaml.ScalarNode || strings.TrimSpace(c.Value) == "" {
				return fmt.Errorf("%s: sandbox.read takes a list of paths", place(c))
			}
			s.Read = append(s.Read, Value[string]{strings.TrimSpace(c.Value), true, place(c)})
		}
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		return fmt.Errorf("%s: sandbox.%s takes one value", at, key)
	}
	var err error
	switch key {
	case "kind":
		s.Kind = Value[string]{n.Value, true, at}
	case "preset":
		s.Preset = Value[string]{n.Value, true, at}
	case "image":
		s.Image = Value[string]{n.Value, true, at}
	case "network":
		s.Network = Value[bool]{Set: true, At: at}
		if s.Network.V, err = strconv.ParseBool(n.Value); err != nil {
			err = fmt.Errorf("%s: sandbox.network takes true or false, not %q", at, n.Value)
		}
	}
	return err
}

// fits says whether the parts go together.
func (s *Sandbox) fits() error {
	switch kinds := []string{"none", "landlock", "bubblewrap", "docker"}; {
	case s.Kind.Set && !slices.Contains(kinds, s.Kind.V):
		return fmt.Errorf("%s: sandbox takes none, landlock, bubblewrap, docker, public or maintenance, not %q", s.Kind.At, s.Kind.V)
	case s.Preset.Set && s.Preset.V != SandboxPublic && s.Preset.V != SandboxMaintenance:
		return fmt.Errorf("%s: sandbox.preset takes public or maintenance, not %q", s.Preset.At, s.Preset.V)
	case s.Preset.Set && s.Kind.Set && (s.Kind.V == "none" || s.Kind.V == "landlock"):
		return fmt.Errorf("%s: landlock and none cannot do what sandbox.preset %s says; choose bubblewrap, or leave the kind out", s.Kind.At, s.Preset.V)
	case s.Preset.Set && s.Preset.V == SandboxMaintenance && s.Kind.V == "docker":
		return fmt.Errorf("%s: docker does not show the machine that sandbox.preset maintenance is for; choose bubblewrap, or leave the kind out", s.Kind.At)
	case s.Preset.V == SandboxPublic && (s.ReadSet || s.Network.V):
		return fmt.Errorf("%s: sandbox.preset public has neither the network nor further files of the host: leave read and network out", s.Preset.At)
	case s.Kind.Set && s.Network.Set && !s.Network.V && (s.Kind.V == "none" || s.Kind.V == "landlock"):
		return fmt.Errorf("%s: %s does not keep commands from the network; choose bubblewrap", s.Network.At, s.Kind.V)
	}
	return nil
}
