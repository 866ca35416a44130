package config

import (
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/model/catalog"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/trust"
)

// may notes an executing key of the workspace. The error says that it has no
// effect; it is among the diagnostics then. value is what it is pinned by.
func (s section) may(kind trust.Kind, it item, value *yaml.Node) *trust.Error {
	if !s.workspace {
		return nil
	}
	return s.judge(trust.NewItem(kind, "", it.path, it.at, value))
}

// mayAll does so for all that the value of a key holds, and says whether all of
// it has an effect.
func (s section) mayAll(it item) bool {
	all := true
	if s.workspace {
		for _, i := range trust.OfValue(it.key, it.at, it.node) {
			all = s.judge(i) == nil && all
		}
	}
	return all
}

func (s section) judge(i trust.Item) *trust.Error {
	s.cfg.Executing = append(s.cfg.Executing, i)
	state := s.trust.State(i)
	if state.Acts() {
		return nil
	}
	e := &trust.Error{Item: i, State: state}
	s.inert(e)
	return e
}

// inert reports a key that has no effect.
func (s section) inert(e *trust.Error) {
	s.report(CodeExecuting, e.Item.At, e.Item.Key, e.Message(),
		e.Hint()+"; or put it into "+filepath.Join(s.cfg.Home, File)+", which is your own")
}

// led is a path as it is pinned: with where it leads, for it may be a link.
func (s section) led(n *yaml.Node, path string) *yaml.Node {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.base(), path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == deref(n).Value {
		return n
	}
	to := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: real}
	return &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n, to}}
}

// reaching are the keys by which a provider is reached. They are pinned
// together: a key must not go to another address than the one that was seen.
func reaching() []string { return []string{"api", "base-url", "key-env", "key-command", "headers"} }

// disarm takes out of a workspace's declaration what would send a key or a
// conversation somewhere, as far as it is not trusted: everything that reaches
// beyond loopback, that changes where a built-in provider or one of the user's
// is reached, that takes the key of one of these, or that reads the environment
// or runs a command for a header.
func (s section) disarm(p *catalog.Provider, items map[string]item) {
	known := s.user[p.Name] || slices.Contains(s.builtIn().Providers(), p.Name)
	near := !known && s.near(p)
	whole := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range reaching() {
		if it, ok := items[key]; ok {
			whole.Content = append(whole.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, it.node)
		}
	}
	inert := func(kind trust.Kind, key string) bool {
		e := s.may(kind, items[key], whole)
		if e != nil && !known {
			p.Withheld = append(p.Withheld, catalog.Withheld{Key: items[key].path, At: e.Item.At, Why: e})
		}
		return e != nil
	}
	if _, ok := items["key-command"]; ok && inert(trust.KeyCommand, "key-command") {
		p.KeyCommand = profile.Value[[]string]{}
	}
	if p.BaseURL.Set && !near && inert(s.reach(p), "base-url") {
		p.BaseURL = profile.Value[string]{}
	}
	if p.KeyEnv.Set && (!near || s.others(p.KeyEnv.V)) && inert(trust.KeyEnv, "key-env") {
		p.KeyEnv = profile.Value[string]{}
	}
	if kind := headersDo(p.Headers.V, near); kind != "" && inert(kind, "headers") {
		p.Headers = profile.Value[[]catalog.Header]{}
	}
}

// near says whether a provider is reached without leaving this machine or, for
// scripted replies, the workspace.
func (s section) near(p *catalog.Provider) bool {
	if p.API.V == catalog.APIScript {
		return p.BaseURL.Set && s.inside(p.BaseURL.V)
	}
	return trust.Loopback(p.BaseURL.V)
}

// reach is what a base-url does: it names a file, or an address.
func (s section) reach(p *catalog.Provider) trust.Kind {
	if !strings.Contains(p.BaseURL.V, "://") {
		return trust.Path
	}
	return trust.BaseURL
}

// headersDo says what headers would do; empty: nothing.
func headersDo(headers []catalog.Header, near bool) trust.Kind {
	switch {
	case slices.ContainsFunc(headers, func(h catalog.Header) bool { return strings.HasPrefix(strings.TrimSpace(h.Value), "!") }):
		return trust.Command
	case slices.ContainsFunc(headers, func(h catalog.Header) bool { return strings.Contains(h.Value, "${") }):
		return trust.Variable
	case len(headers) > 0 && !near:
		return trust.Headers
	}
	return ""
}
