package dialect

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
)

// tools writes the list. Rules that reading the list gives again are not
// written a second time; e.rules holds the others.
func (e *encoder) tools() {
	t := e.p.Tools
	if !t.Set {
		return
	}
	items := slices.Clone(t.V.Written)
	rules, same := e.listed(items)
	if !same || !startsWith(e.p.Permission, rules) {
		items = slices.Clone(t.V.Names)
		if t.V.All {
			items = append(items, "*")
		}
		rules, _ = e.listed(items)
	}
	if !startsWith(e.p.Permission, rules) {
		e.lose("tools", t.At, "in this dialect every listed tool is allowed; the list was left out")
		e.wrote["tools"] = true
		return
	}
	e.listRules = len(rules)
	if e.listRules == len(e.p.Permission) {
		e.wrote["permission"] = true
	}
	e.node(e.listKey("tools"), list(items))
	e.wrote["tools"] = true
}

// listed reads a list back: its rules, and whether it names the same tools.
func (e *encoder) listed(items []string) (rules []permission.Rule, same bool) {
	d := decoder{doc: &document{}, p: &profile.Profile{}}
	d.tools(e.g, field{key: "tools", written: "tools", node: list(items)})
	got := d.p.Tools.V
	return d.toolRules, items != nil && got.All == e.p.Tools.V.All && slices.Equal(got.Names, e.p.Tools.V.Names)
}

func startsWith(rules, head []permission.Rule) bool {
	return len(rules) >= len(head) && slices.EqualFunc(rules[:len(head)], head, sameRule)
}

func sameRule(a, b permission.Rule) bool {
	return a.Tool == b.Tool && a.Subject == b.Subject && a.Effect == b.Effect
}

// toolMap writes the list as name→bool.
func (e *encoder) toolMap() {
	t := e.p.Tools
	if !t.Set {
		return
	}
	if e.listKey("tools") != "tools" {
		e.tools()
		return
	}
	n := mapping(str("*"), scalar("false"))
	if t.V.All {
		n.Content[1] = scalar("true")
	}
	for _, name := range t.V.Names {
		if !t.V.All {
			n.Content = append(n.Content, str(name), scalar("true"))
		}
	}
	e.node("tools", n)
}

func (e *encoder) settings(key string) {
	if len(e.p.ToolSettings) == 0 {
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
	rules := e.p.Permission[e.listRules:]
	if len(rules) == 0 {
		return
	}
	whole := true
	if e.g.twins {
		rules, whole = withoutTwins(rules)
	}
	if m, ok := ruleMap(rules); ok && whole {
		e.node("permission", m)
		return
	}
	if e.g.dialect != "roster" {
		e.node("permission", str("deny"))
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

// ruleMap gives tool→effect or tool→subject→effect. It fails when a tool comes
// up again after another one, or a subject twice.
func ruleMap(rules []permission.Rule) (*yaml.Node, bool) {
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
		m.Content = append(m.Content, quoted(tool), value)
		rules = rules[n:]
	}
	return m, true
}

// quoted writes patterns in quotes, as people do: `*` alone would be an alias.
func quoted(s string) *yaml.Node {
	n := str(s)
	if strings.ContainsAny(s, "*?") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
