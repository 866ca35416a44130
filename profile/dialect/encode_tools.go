package dialect

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/tool/contract"
)

// tools writes the list. Rules that reading the list gives again are not
// written a second time; listRules counts them.
func (e *encoder) tools() {
	t := e.p.Tools
	if e.wrote["tools"] {
		return
	}
	if e.offeredOnly() || !t.Set {
		return
	}
	for _, items := range e.toolTexts() {
		rules, same := e.listed(items)
		if same && e.allows(rules) {
			e.writeTools(items, rules)
			return
		}
	}
	items := e.fewerTools()
	rules, _ := e.listed(items)
	if !e.allows(rules) {
		e.lose("tools", t.At, "in this dialect every listed tool is allowed; an empty list was written")
		e.node("tools", list(nil))
		return
	}
	e.lose("tools", t.At, "the list names fewer tools than before")
	e.writeTools(items, rules)
}

// allows says whether the rules that a list stands for are the profile's first.
// Where every listed tool is allowed and no other rule can follow, they have to
// be all of them.
func (e *encoder) allows(rules []permission.Rule) bool {
	whole := len(rules) == len(e.p.Permission) || !e.g.grants || e.own()
	return whole && startsWith(e.p.Permission, rules)
}

func (e *encoder) writeTools(items []string, rules []permission.Rule) {
	e.listRules = len(rules)
	n := list(items)
	if joined := strings.Join(items, ", "); e.g.text && len(items) > 0 && slices.Equal(splitTools(joined), items) {
		n = str(joined)
	}
	e.node(e.listKey("tools"), n)
	e.wrote["tools"] = true
}

// toolTexts gives the ways to write the list, the best first: as the file has
// it, with the arguments that the first rules stand for, and with names alone.
func (e *encoder) toolTexts() [][]string {
	t := e.p.Tools.V
	var out [][]string
	if e.own() && t.Written != nil {
		out = append(out, t.Written)
	}
	plain := []string{}
	for _, name := range t.Names {
		plain = append(plain, e.spelled(name))
	}
	if t.All {
		plain = append(plain, "*")
	}
	if e.g.text && e.deniesRest() {
		out = append(out, e.withArguments())
	}
	names := slices.Clone(t.Names)
	if t.All {
		names = append(names, "*")
	}
	return append(out, plain, names)
}

// deniesRest says whether nothing but denials follows the rules at the head
// that allow: what else follows is lost, and would not narrow them any more.
func (e *encoder) deniesRest() bool {
	rest := e.p.Permission
	for len(rest) > 0 && rest[0].Effect == permission.Allow {
		rest = rest[1:]
	}
	return e.own() || slices.EqualFunc(e.readDenials(e.denialTexts(rest)), rest, sameRule)
}

// withArguments gives the list with what the rules at the head allow: Bash(ls).
func (e *encoder) withArguments() []string {
	items := []string{}
	for _, name := range e.p.Tools.V.Names {
		n := len(items)
		for _, r := range e.p.Permission {
			if r.Effect != permission.Allow {
				break
			}
			if r.Tool == name {
				items = append(items, e.spelled(name)+"("+r.Subject+")")
			}
		}
		if len(items) == n {
			items = append(items, e.spelled(name))
		}
	}
	if e.p.Tools.V.All {
		items = append(items, "*")
	}
	return items
}

// fewerTools gives the names that the dialect reads as no more than the tools
// that the profile lists.
func (e *encoder) fewerTools() []string {
	items := []string{}
	for _, name := range e.p.Tools.V.Names {
		items = append(items, e.within(e.p.Tools.V.Names, name)...)
	}
	if e.p.Tools.V.All {
		items = append(items, "*")
	}
	return items
}

// within spells a tool so that the dialect reads no tool that is not among
// those; nothing if there is no such spelling.
func (e *encoder) within(tools []string, name string) []string {
	for _, text := range []string{e.spelled(name), name} {
		d := decoder{alias: e.g.alias}
		names, _ := d.names(text)
		if !strings.Contains(text, "(") && text != "*" && !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(tools, n) }) {
			return []string{text}
		}
	}
	return nil
}

func (e *encoder) spelled(name string) string {
	if e.g.spell == nil {
		return name
	}
	return e.g.spell(name)
}

// listed reads a list back: its rules, and whether it names the same tools.
func (e *encoder) listed(items []string) (rules []permission.Rule, same bool) {
	return e.readTools(list(items))
}

func (e *encoder) readTools(n *yaml.Node) (rules []permission.Rule, same bool) {
	d := decoder{doc: &document{}, p: &profile.Profile{}, alias: e.g.alias}
	d.tools(e.g, field{key: "tools", written: "tools", node: n})
	got := d.p.Tools
	return d.toolRules, got.Set && got.V.All == e.p.Tools.V.All && slices.Equal(got.V.Names, e.p.Tools.V.Names)
}

func startsWith(rules, head []permission.Rule) bool {
	return len(rules) >= len(head) && slices.EqualFunc(rules[:len(head)], head, sameRule)
}

func sameRule(a, b permission.Rule) bool {
	return a.Tool == b.Tool && a.Subject == b.Subject && a.Effect == b.Effect
}

// toolMap writes the list as name→bool. A tool that the first rules deny is
// switched off in it.
func (e *encoder) toolMap() {
	t := e.p.Tools
	if !t.Set || e.wrote["tools"] {
		return
	}
	if e.listKey("tools") != "tools" {
		e.tools()
		return
	}
	for _, off := range [][]permission.Rule{e.switchedOff(), nil} {
		n := e.switches(off)
		if rules, same := e.readTools(n); same && startsWith(e.p.Permission, rules) {
			e.listRules = len(rules)
			e.node("tools", n)
			return
		}
	}
	if e.own() {
		e.tools()
		return
	}
	e.node("tools", e.switches(nil))
	e.lose("tools", t.At, "")
}

// switchedOff gives the rules at the head that deny whole tools.
func (e *encoder) switchedOff() []permission.Rule {
	seen := map[string]bool{"*": true}
	for i, r := range e.p.Permission {
		if r.Effect != permission.Deny || r.Subject != "*" || seen[r.Tool] || slices.Contains(e.p.Tools.V.Names, r.Tool) {
			return e.p.Permission[:i]
		}
		seen[r.Tool] = true
	}
	return e.p.Permission
}

func (e *encoder) switches(off []permission.Rule) *yaml.Node {
	t := e.p.Tools.V
	n := mapping()
	if !t.All || len(off) == 0 {
		all := "false"
		if t.All {
			all = "true"
		}
		n.Content = append(n.Content, quoted("*"), scalar(all))
	}
	for _, name := range t.Names {
		if !t.All {
			n.Content = append(n.Content, quoted(e.spelled(name)), scalar("true"))
		}
	}
	for _, r := range off {
		n.Content = append(n.Content, quoted(e.spelled(r.Tool)), scalar("false"))
	}
	return n
}

// left gives the rules that neither the tool list nor another key stands for.
func (e *encoder) left() []permission.Rule {
	return e.p.Permission[e.listRules : len(e.p.Permission)-min(e.tailRules, len(e.p.Permission)-e.listRules)]
}

// disallowed writes the denials at the end as the list that Claude has for
// them. Of rules that it cannot hold, whatever denies is written all the same.
func (e *encoder) disallowed() {
	rules := e.left()
	start := len(rules)
	for start > 0 && rules[start-1].Effect == permission.Deny {
		start--
	}
	tail := rules[start:]
	exact := slices.EqualFunc(e.readDenials(e.denialTexts(tail)), tail, sameRule)
	switch {
	case exact && (start == 0 || e.own()):
		e.writeDenials(e.denialTexts(tail))
		e.tailRules = len(tail)
	case !e.own():
		e.lose("permission", rules[0].At, "of its rules only those that deny are left; Claude asks for the rest")
		e.writeDenials(e.denialTexts(e.denials()))
		e.tailRules = len(rules)
	}
	if len(e.left()) == 0 {
		e.wrote["permission"] = true
	}
}

// denials gives what the rules keep from the model, and every narrower denial,
// each once.
func (e *encoder) denials() []permission.Rule {
	out := e.withheld()
	if !e.wrote["tools"] && e.withholds(nobodys) {
		out = []permission.Rule{{Tool: "*", Subject: "*", Effect: permission.Deny}}
	}
	for _, r := range e.p.Permission {
		again := func(o permission.Rule) bool { return o.Tool == r.Tool && (o.Subject == "*" || o.Subject == r.Subject) }
		if r.Effect != permission.Deny || r.Subject == "*" {
			continue
		}
		if r.Tool == "*" { // a list of denials takes no subject for all tools
			for _, tool := range e.toolsInQuestion() {
				r.Tool = tool
				if !slices.ContainsFunc(out, again) {
					out = append(out, r)
				}
			}
		} else if !slices.ContainsFunc(out, again) {
			out = append(out, r)
		}
	}
	return out
}

func (e *encoder) writeDenials(items []string) {
	if len(items) == 0 {
		return
	}
	n := list(items)
	if joined := strings.Join(items, ", "); slices.Equal(splitTools(joined), items) {
		n = str(joined)
	}
	e.node("disallowedTools", n)
}

func (e *encoder) denialTexts(rules []permission.Rule) []string {
	items := []string{}
	for _, r := range rules {
		item := e.spelled(r.Tool)
		if r.Subject != "*" {
			item += "(" + r.Subject + ")"
		}
		items = append(items, item)
	}
	return items
}

func (e *encoder) readDenials(items []string) []permission.Rule {
	d := decoder{doc: &document{}, p: &profile.Profile{}, alias: e.g.alias}
	return d.denials(field{key: "disallowed-tools", written: "disallowedTools", node: list(items)})
}

// withheld gives a rule for each tool that the profile's rules keep from the
// model.
func (e *encoder) withheld() []permission.Rule {
	var out []permission.Rule
	for _, tool := range e.toolsInQuestion() {
		if e.withholds(tool) {
			out = append(out, permission.Rule{Tool: tool, Subject: "*", Effect: permission.Deny})
		}
	}
	return out
}

func (e *encoder) withholds(tool string) bool {
	engine, err := permission.Compile(permission.Layers{Rules: e.p.Permission, Default: permission.Allow})
	return err != nil || !engine.Offered(tool)
}

// nobodys is the name of no tool: what holds for it holds for every tool that
// the rules do not name.
const nobodys = "\x00"

// toolsInQuestion are our tools and those that the rules name.
func (e *encoder) toolsInQuestion() []string {
	tools := contract.Names()
	for _, r := range e.p.Permission {
		if r.Tool != "*" && !slices.Contains(tools, r.Tool) {
			tools = append(tools, r.Tool)
		}
	}
	return tools
}

// offeredOnly writes the list without the tools that the rules withhold, where
// the dialect cannot hold the rules: otherwise those tools would be offered.
func (e *encoder) offeredOnly() bool {
	if e.own() || !e.g.listOnly && !e.othersWithheld() {
		return false
	}
	off := e.withheld()
	if len(off) == 0 {
		return false
	}
	from := contract.Names()
	if t := e.p.Tools; t.Set && !t.V.All {
		from = t.V.Names
	}
	left := slices.DeleteFunc(slices.Clone(from), e.withholds)
	items := []string{}
	for _, tool := range left {
		items = append(items, e.within(left, tool)...)
	}
	e.node("tools", list(items))
	e.lose("tools", e.p.Permission[0].At, "the list leaves out the tools that the rules withhold")
	return true
}

// othersWithheld says whether rules that Claude cannot hold keep every tool
// from the model that they do not name: it has no list of these to disallow.
func (e *encoder) othersWithheld() bool {
	onlyDenies := !slices.ContainsFunc(e.p.Permission, func(r permission.Rule) bool { return r.Effect != permission.Deny })
	return e.g.dialect == "claude" && !onlyDenies && e.withholds(nobodys)
}
