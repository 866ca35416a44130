package dialect

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
)

func (e *encoder) settings(key string) {
	if len(e.p.ToolSettings) == 0 || e.wrote[kebab(key)] {
		return
	}
	m := mapping()
	for _, s := range e.p.ToolSettings {
		var doc yaml.Node
		if err := yaml.Load(s.JSON, &doc); err != nil || len(doc.Content) != 1 { // JSON is YAML
			e.lose(key+"."+s.Tool, s.At, "its settings are not JSON")
			continue
		}
		blockStyle(doc.Content[0])
		m.Content = append(m.Content, str(s.Tool), doc.Content[0])
	}
	e.node(key, m)
}

func blockStyle(n *yaml.Node) {
	n.Style = 0
	for _, c := range n.Content {
		blockStyle(c)
	}
}

// permission writes the rules as a map of tools in their order; natively as a
// list where a map cannot keep the order. A dialect that cannot keep it gets
// one rule that denies everything.
func (e *encoder) permission() {
	rules := e.left()
	if len(rules) == 0 {
		e.wrote["permission"] = true
	}
	if e.wrote["permission"] {
		return
	}
	whole := true
	if e.g.twins {
		rules, whole = withoutTwins(rules)
	}
	if m, ok := e.ruleMap(rules); ok && whole {
		e.node("permission", m)
		return
	}
	if stricter, ok := denyingTwins(rules); ok && !whole {
		if m, ok := e.ruleMap(stricter); ok {
			e.node("permission", m)
			e.lose("permission", rules[0].At, "a rule for edit decides write as well")
			return
		}
	}
	if e.g.dialect != "roster" && (!e.own() || !whole) {
		e.node("permission", mapping(quoted("*"), str("deny"), str("task"), str("deny"))) // a star alone leaves delegation
		e.lose("permission", rules[0].At, "its rules cannot be kept in their order; it denies everything instead")
		return
	}
	seq := &yaml.Node{Kind: yaml.SequenceNode}
	for _, r := range rules {
		item := mapping(str("tool"), str(r.Tool), str("subject"), str(r.Subject), str("effect"), str(r.Effect.String()))
		item.Style = yaml.FlowStyle
		seq.Content = append(seq.Content, item)
	}
	e.node("permission", seq)
}

// withoutTwins drops the write rule after each edit rule; it fails when an edit
// rule has none.
func withoutTwins(rules []permission.Rule) ([]permission.Rule, bool) {
	var out []permission.Rule
	for i := 0; i < len(rules); i++ {
		r := rules[i]
		out = append(out, r)
		if r.Tool != "edit" {
			continue
		}
		if i+1 == len(rules) || !sameRule(rules[i+1], permission.Rule{Tool: "write", Subject: r.Subject, Effect: r.Effect}) {
			return rules, false
		}
		i++
	}
	return out, true
}

// denyingTwins drops the rules for write that one for edit beside them stands
// for. It fails when an edit rule without one would allow more than before.
func denyingTwins(rules []permission.Rule) ([]permission.Rule, bool) {
	var out []permission.Rule
	for i, r := range rules {
		twin := permission.Rule{Tool: "edit", Subject: r.Subject, Effect: r.Effect}
		before := i > 0 && sameRule(rules[i-1], twin)
		after := i+1 < len(rules) && sameRule(rules[i+1], twin)
		if r.Tool == "write" && (before || after) {
			continue
		}
		if twin.Tool = "write"; r.Tool == "edit" && r.Effect != permission.Deny &&
			!(i > 0 && sameRule(rules[i-1], twin)) && !(i+1 < len(rules) && sameRule(rules[i+1], twin)) {
			return nil, false
		}
		out = append(out, r)
	}
	return out, true
}

// ruleMap gives tool→effect or tool→subject→effect. It fails when a tool comes
// up again after another one, or a subject twice.
func (e *encoder) ruleMap(rules []permission.Rule) (*yaml.Node, bool) {
	m := mapping()
	seen := map[string]bool{}
	for len(rules) > 0 {
		tool := rules[0].Tool
		n := slices.IndexFunc(rules, func(r permission.Rule) bool { return r.Tool != tool })
		if n < 0 {
			n = len(rules)
		}
		group := mapping()
		for _, r := range rules[:n] {
			if key := tool + "\x00" + r.Subject; seen[key] || r.Subject == "<<" {
				return nil, false
			} else {
				seen[key] = true
			}
			group.Content = append(group.Content, quoted(r.Subject), str(r.Effect.String()))
		}
		if seen[tool] || tool == "" || strings.Contains(tool, "\x00") {
			return nil, false
		}
		seen[tool] = true
		value := group
		if n == 1 && rules[0].Subject == "*" {
			value = group.Content[1]
		}
		m.Content = append(m.Content, quoted(e.ruleName(tool)), value)
		rules = rules[n:]
	}
	return m, true
}

// ruleName spells a tool in the rules: as the dialect does where rules are its
// own.
func (e *encoder) ruleName(tool string) string {
	if e.g.twins {
		return e.spelled(tool)
	}
	return tool
}

// quoted writes patterns in quotes, as people do: `*` alone would be an alias.
func quoted(s string) *yaml.Node {
	n := str(s)
	if strings.ContainsAny(s, "*?") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
