package config

import (
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/trust"
)

// sandbox reads the wall around what any profile runs. It has the form that it
// has in a profile.
func (s section) sandbox(it item) {
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: it.key, Line: it.at.Line, Column: it.at.Column}
	keys, ds := dialect.Keys(s.file, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, it.node}})
	s.strictly(ds)
	if s.workspace {
		s.cfg.Executing = append(s.cfg.Executing, trust.OfProfile(keys)...)
		var inert []*trust.Error
		keys, inert = s.trust.Strip(keys)
		for _, e := range inert {
			s.inert(e)
		}
	}
	wall, err := keys.Sandbox()
	if err != nil {
		s.report(CodeNotAllowed, it.at, it.path, err.Error(), "")
	} else if wall != nil {
		s.cfg.Policy.Sandbox = append(s.cfg.Policy.Sandbox, wall)
	}
}
