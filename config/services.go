package config

import (
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/service"
	"github.com/rosterrun/roster/trust"
)

// services reads the services of roster.yaml. They have the form that they have in a
// profile; the user's are below the workspace's.
func (s section) services(it item) {
	key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: it.key, Line: it.at.Line, Column: it.at.Column}
	_, ds := dialect.Keys(s.file, &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, it.node}})
	s.strictly(ds)
	s.mayAll(it)
	view := trust.Everything()
	if s.workspace {
		view = s.trust
	}
	list, err := view.Services("", service.Key, deref(it.node), s.at)
	if err != nil {
		return // it is among what is wrong with the keys
	}
	s.cfg.Services = list.Over(s.cfg.Services)
}
