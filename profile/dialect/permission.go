package dialect

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// mergeKey merges a map into another in YAML 1.1, and is a key like any in 1.2.
const mergeKey = "<<"

func isQuoted(n *yaml.Node) bool {
	return n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
}

func effects() []string { return []string{"allow", "ask", "deny"} }

func (d *decoder) effect(f field, n *yaml.Node) (permission.Effect, bool) {
	if s := deref(n); s.Kind == yaml.ScalarNode {
		if e, err := permission.ParseEffect(s.Value); err == nil {
			return e, true
		}
	}
	d.report(profile.CodeNotAllowed, d.at(n), f.written,
		fmt.Sprintf("%s takes allow, ask or deny, not %s", f.written, kindName(n)), didYouMean(deref(n).Value, effects()))
	return permission.Deny, false
}

// permission reads rules in their written order: a map of tools, each with an
// effect or a map of subjects; a list of {tool, subject, effect}; or one effect
// for everything.
func (d *decoder) permission(g grammar, f field) {
	switch n := deref(f.node); {
	case isNull(n):
	case n.Kind == yaml.ScalarNode:
		if e, ok := d.effect(f, n); ok {
			d.rule(g, "*", "*", e, d.at(n))
		}
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			d.listedRule(g, f, item)
		}
	default:
		d.ruleMap(g, f)
	}
}

func (d *decoder) ruleMap(g grammar, f field) {
	tools, _ := d.entries(f)
	for i, t := range tools {
		name := t.written[len(f.written)+1:]
		if name == mergeKey && !isQuoted(deref(f.node).Content[2*i]) {
			d.report(profile.CodeNotAllowed, t.at, t.written, "rules are not merged in with <<: these would be missing", "write them out")
			continue
		}
		if deref(t.node).Kind != yaml.MappingNode {
			if e, ok := d.effect(t, t.node); ok {
				d.rule(g, name, "*", e, t.at)
			}
			continue
		}
		subjects, _ := d.entries(t)
		for _, s := range subjects {
			if e, ok := d.effect(s, s.node); ok {
				d.rule(g, name, s.written[len(t.written)+1:], e, s.at)
			}
		}
	}
}

func (d *decoder) listedRule(g grammar, f field, item *yaml.Node) {
	var tool, effect *yaml.Node
	subject := "*"
	keys, ok := d.entries(field{key: f.key, written: f.written, at: f.at, node: item})
	for _, k := range keys {
		switch k.key {
		case f.key + ".tool":
			tool = deref(k.node)
		case f.key + ".subject":
			subject = d.text(k).V
		case f.key + ".effect":
			effect = k.node
		default:
			d.report(profile.CodeNotAllowed, k.at, k.written, "a rule takes tool, subject and effect", "")
			ok = false
		}
	}
	if !ok {
		return
	}
	if tool == nil || effect == nil {
		d.report(profile.CodeNotAllowed, d.at(item), f.written, "a rule needs a tool and an effect", "write {tool: bash, subject: \"git *\", effect: allow}")
		return
	}
	if e, ok := d.effect(f, effect); ok {
		d.rule(g, tool.Value, subject, e, d.at(item))
	}
}

// rule appends a rule for each of our tools that a name stands for.
func (d *decoder) rule(g grammar, tool, subject string, e permission.Effect, at source.Origin) {
	if strings.TrimSpace(tool) == "" || subject == "" {
		d.report(profile.CodeNotAllowed, at, "permission", "a rule needs a tool and a subject", `write "*" for any`)
		return
	}
	at.Layer = source.Profile
	for _, name := range ruleTools(tool, e) {
		if name == "task" && e == permission.Ask && d.opts.Headless {
			d.report(profile.CodeHeadlessAsk, at, "permission", "task: ask cannot be answered without a person", "write allow or deny")
		}
		d.p.Permission = append(d.p.Permission, permission.Rule{Tool: name, Subject: subject, Effect: e, At: at})
		if g.twins && name == "edit" {
			d.p.Permission = append(d.p.Permission, permission.Rule{Tool: "write", Subject: subject, Effect: e, At: at})
		}
	}
}
