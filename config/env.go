package config

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Scalars lists the keys that a variable or a flag can set.
func Scalars() []string {
	return []string{
		"store", "store-sync", "dispatch", "server.addr", "server.auth.kind", "server.hosts", "server.origins", "server.tls.cert", "server.tls.key", "server.insecure-http", "catalog.keep-last-good", "approvals.timeout",
		"defaults.provider", "defaults.model", "defaults.temperature", "defaults.top-p", "defaults.max-tokens",
		"defaults.cache", "defaults.tool-execution", "defaults.default-permission", "defaults.permission-mode",
		"defaults.limits.turns", "defaults.limits.tokens", "defaults.limits.duration", "defaults.limits.cost",
		"policy.limits.turns", "policy.limits.tokens", "policy.limits.duration", "policy.limits.cost",
	}
}

// Variable returns the name of the environment variable of a scalar key.
func Variable(key string) string {
	return "ROSTER_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

// others are variables of roster's that are no keys.
func others() []string {
	return []string{"ROSTER_HOME", "ROSTER_TRUST", "ROSTER_STATE", "ROSTER_AGE_IDENTITY"}
}

func (l *loader) environment(getenv func(string) string) {
	for _, key := range Scalars() {
		if v := getenv(Variable(key)); v != "" {
			section{l, origin{file: "$" + Variable(key), layer: source.Defaults}}.scalar(key, v)
		}
	}
}

func (l *loader) flags(flags map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		s := section{l, origin{file: "--" + key, layer: source.Flag}}
		if !slices.Contains(Scalars(), key) {
			s.unknown(item{key: key, path: key, at: source.Origin{Layer: source.Flag, File: s.file}}, Scalars()...)
			continue
		}
		s.scalar(key, flags[key])
	}
}

// scalar decodes one value as if it stood in a file.
func (s section) scalar(key, text string) {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	parts := strings.Split(key, ".")
	for _, part := range slices.Backward(parts) {
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: part}
		node = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{name, node}}
	}
	s.root(item{at: source.Origin{Layer: s.layer, File: s.file}, node: node})
}

// UnknownVariables reports the variables that start with ROSTER_ and are no
// key: environ is the environment as NAME=VALUE.
func UnknownVariables(environ []string) []profile.Diagnostic {
	l := &loader{}
	known := others()
	for _, key := range Scalars() {
		known = append(known, Variable(key))
	}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "ROSTER_") || slices.Contains(known, name) {
			continue
		}
		hint := ""
		if near := profile.Nearest(name, known, 1); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		l.report(CodeVariable, source.Origin{File: "$" + name}, name, "the variable "+name+" names no key and has no effect", hint)
	}
	return l.ds
}
