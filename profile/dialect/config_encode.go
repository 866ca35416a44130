package dialect

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
)

// encodeConfig writes one profile as a TOML file of its own. What this format
// has no words for is written under its native key when the profile is from
// this dialect, as it is read there; otherwise it is lost.
func encodeConfig(p *profile.Profile) ([]Part, []profile.Diagnostic) {
	e := &configEncoder{newTreeEncoder(p, "config")}
	for _, table := range writtenTables() {
		e.root.Content = append(e.root.Content, str(table), mapping())
	}
	profileTable := mapping()
	setChild(e.table("agent"), "profile", profileTable)
	e.identity()
	e.model()
	e.prompt()
	e.tools()
	e.permission()
	e.limits()
	e.retry()
	e.cache()
	for _, x := range p.Extra {
		e.extra(x)
	}
	e.tidy()
	return e.file("profiles/" + p.Name + ".toml")
}

// writtenTables are the tables that profiles are written to, in their order.
func writtenTables() []string {
	return []string{"agent", "provider", "session", "tools", "execution", "compaction"}
}

type configEncoder struct{ *treeEncoder }

func (e *configEncoder) table(name string) *yaml.Node {
	t, _ := child(e.root, name)
	return t
}

// native writes a key under its native name, if the profile is from here.
func (e *configEncoder) native(key string, value *yaml.Node) {
	if e.own() {
		e.put(key, value, "agent", "profile", snake(key))
	}
}

func (e *configEncoder) identity() {
	p := e.p
	e.put("name", str(e.name()), "agent", "profile", "name")
	e.text("description", p.Description, "agent", "profile", "description")
	for _, t := range []struct {
		key string
		v   profile.Value[string]
	}{{"title", p.Title}, {"summary", p.Summary}, {"mode", p.Mode}, {"subagent-prompt", p.SubagentPrompt}} {
		if t.v.Set && !e.wrote[t.key] {
			e.native(t.key, str(t.v.V))
		}
	}
	if p.Hidden.Set {
		e.native("hidden", boolNode(p.Hidden.V))
	}
	if p.Details.Set {
		d := p.Details.V
		m := mapping()
		if d.Specialization != "" {
			setChild(m, "specialization", str(d.Specialization))
		}
		if d.WhenToUse != "" {
			setChild(m, "when_to_use", str(d.WhenToUse))
		}
		if d.KeyTools != nil {
			setChild(m, plus("key_tools", d.AddKeyTools), textList(d.KeyTools))
		}
		e.native("details", m)
	}
	if p.Extends.Set {
		e.native("extends", textList(p.Extends.V))
	}
	e.text("workspace", p.Workspace, "agent", "workspace")
	if p.SubagentTools.Set || p.SubagentMaxDepth.Set {
		m := mapping()
		if p.SubagentTools.Set {
			setChild(m, plus("tools", p.SubagentToolsAdd), textList(p.SubagentTools.V))
		}
		if p.SubagentMaxDepth.Set {
			setChild(m, "max_depth", intNode(int64(p.SubagentMaxDepth.V)))
		}
		e.native("subagents", m)
	}
}

func boolNode(v bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
}

func intNode(v int64) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
}

func floatNode(v float64) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!float", Value: strconv.FormatFloat(v, 'f', -1, 64)}
}

func textList(items []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, s := range items {
		n.Content = append(n.Content, str(s))
	}
	return n
}

func (e *configEncoder) model() {
	p := e.p
	e.text("provider", p.Provider, "provider", "provider")
	e.text("model", p.Model, "provider", "model")
	e.text("thinking", p.Thinking, "agent", "profile", "thinking_level")
	if p.Temperature.Set {
		e.put("temperature", floatNode(p.Temperature.V), "agent", "profile", "temperature")
	}
	if p.MaxTokens.Set {
		e.put("max-tokens", intNode(int64(p.MaxTokens.V)), "agent", "profile", "max_tokens")
	}
	if p.TopP.Set {
		e.native("top-p", floatNode(p.TopP.V))
	}
}

// prompt writes the prompt. In a profile of another dialect ${ is text; here it
// begins a variable unless it is escaped.
func (e *configEncoder) prompt() {
	p := e.p
	if p.SystemPrompt.Set {
		text := p.SystemPrompt.V
		if !e.own() {
			text = profile.EscapeVars(text)
		}
		e.put("system-prompt", str(text), "agent", "profile", "system_prompt")
		if strings.TrimSpace(p.Body) != "" {
			e.lose("body", p.BodyAt, "beside a system-prompt it is documentation")
		}
		return
	}
	text := strings.TrimSpace(p.Body)
	if text == "" {
		return
	}
	if indirect(text) {
		e.lose("body", p.BodyAt, "here the text would be read as a reference")
		return
	}
	e.put("body", str(profile.EscapeVars(text)), "agent", "profile", "system_prompt")
}

// tools writes the list, which is the grant here: with it come rules. A list
// without them would allow what the profile does not, so none is offered then.
func (e *configEncoder) tools() {
	p := e.p
	if x := p.ToolExecution; x.Set {
		e.put("tool-execution", str(x.V.Strategy), "tools", "tool_strategy")
		if x.V.Size > 0 {
			e.put("tool-execution", intNode(int64(x.V.Size)), "tools", "batch_size")
		}
	}
	t := p.Tools
	if t.Set && (!t.V.Add || e.own()) {
		items := slices.Clone(t.V.Written)
		rules, same := e.listed(items)
		if !same || !startsWith(p.Permission, rules) {
			items = slices.Clone(t.V.Names)
			if t.V.All {
				items = append(items, "*")
			}
			if rules, same = e.listed(items); !same || !startsWith(p.Permission, rules) {
				e.lose("tools", t.At, "in this dialect every listed tool is allowed; an empty list was written")
				items, rules = nil, nil
			}
		}
		if !e.own() {
			if few := unrestricted(items, p.Permission[len(rules):]); len(few) < len(items) {
				e.lose("tools", t.At, "the list leaves out the tools that rules restrict")
				items = few
			}
		}
		if t.V.Add {
			e.put("tools", textList(items), "agent", "profile", "+tools")
		} else {
			e.put("tools", textList(items), "tools", "enabled")
		}
		e.p = withoutRules(p, len(rules))
	}
	if len(p.ToolSettings) > 0 {
		m := mapping()
		for _, s := range p.ToolSettings {
			if n, err := tomlExtra(profile.Extra{YAML: append([]byte(" "), s.JSON...)}); err == nil {
				setChild(m, s.Tool, n)
			}
		}
		if len(m.Content) == 2*len(p.ToolSettings) {
			e.native("tool-settings", m)
		}
	}
}

// unrestricted leaves out what rules that will be lost do not simply allow:
// where every listed tool is allowed, it would be allowed too.
func unrestricted(items []string, lost []permission.Rule) []string {
	restricts := func(tool string) bool {
		return slices.ContainsFunc(lost, func(r permission.Rule) bool {
			pattern, err := permission.ParsePattern(r.Tool)
			return r.Effect != permission.Allow && (err != nil || tool == "*" || pattern.Match(tool))
		})
	}
	return slices.DeleteFunc(slices.Clone(items), func(item string) bool {
		names, _ := toolNames(item)
		return item == "*" && restricts("*") || slices.ContainsFunc(names, restricts)
	})
}

// listed reads a list back: its rules, and whether it names the same tools.
func (e *configEncoder) listed(items []string) ([]permission.Rule, bool) {
	d := decoder{doc: &document{}, p: &profile.Profile{}}
	d.tools(grammar{dialect: "config", grants: true}, field{key: "tools", written: "tools", node: list(items)})
	got := d.p.Tools.V
	return d.toolRules, items != nil && got.All == e.p.Tools.V.All && slices.Equal(got.Names, e.p.Tools.V.Names)
}

// withoutRules leaves out the rules at the head that the tool list stands for.
func withoutRules(p *profile.Profile, n int) *profile.Profile {
	c := *p
	c.Permission = p.Permission[n:]
	return &c
}

func (e *configEncoder) permission() {
	if len(e.p.Permission) > 0 {
		rules := &yaml.Node{Kind: yaml.SequenceNode}
		for _, r := range e.p.Permission {
			rules.Content = append(rules.Content, mapping(str("tool"), str(r.Tool), str("subject"), str(r.Subject), str("effect"), str(r.Effect.String())))
		}
		e.native("permission", rules)
	}
	if e.p.DefaultPermission.Set {
		e.native("default-permission", str(e.p.DefaultPermission.V.String()))
	}
	if e.p.PermissionMode.Set {
		e.native("permission-mode", str(e.p.PermissionMode.V))
	}
}

// limits writes those that are numbers; none, and a time that is no whole
// number of seconds, have a native word only.
func (e *configEncoder) limits() {
	l := e.p.Limits
	native := mapping()
	count := func(key, theirs string, v int64, set bool) {
		switch {
		case set && v > 0:
			e.put("limits."+key, intNode(v), "execution", theirs)
		case set && e.own():
			e.wrote["limits."+key] = true
			setChild(native, key, str("none"))
		}
	}
	count("turns", "max_turns", int64(l.Turns.V), l.Turns.Set)
	count("tokens", "max_total_tokens", l.Tokens.V, l.Tokens.Set)
	switch d := l.Duration; {
	case d.Set && d.V > 0 && d.V%time.Second == 0 && d.V/time.Second < 1e9:
		e.put("limits.duration", intNode(int64(d.V/time.Second)), "execution", "max_duration_secs")
	case d.Set && e.own():
		e.wrote["limits.duration"] = true
		setChild(native, "duration", str(durationOrNone(d.V).Value))
	}
	switch c := l.Cost; {
	case c.Set && c.V > 0:
		e.put("limits.cost", floatNode(c.V), "execution", "max_cost")
	case c.Set && e.own():
		e.wrote["limits.cost"] = true
		setChild(native, "cost", str("none"))
	}
	if len(native.Content) > 0 {
		e.put("limits", native, "agent", "profile", "limits")
	}
}

func (e *configEncoder) retry() {
	r := e.p.Retry
	native, whole := mapping(), true
	pause := func(key, theirs string, v profile.Value[time.Duration]) {
		switch {
		case v.Set && v.V%time.Millisecond == 0 && v.V/time.Millisecond < 1e9:
			e.put("retry", intNode(int64(v.V/time.Millisecond)), "execution", "retry", theirs)
		case v.Set:
			whole = whole && e.own()
			setChild(native, key, str(v.V.String()))
		}
	}
	if r.Max.Set {
		e.put("retry", intNode(int64(r.Max.V)), "execution", "retry", "max_retries")
	}
	pause("base", "initial_delay_ms", r.Base)
	if r.Factor.Set {
		e.put("retry", floatNode(r.Factor.V), "execution", "retry", "backoff_multiplier")
	}
	pause("cap", "max_delay_ms", r.Cap)
	if !whole {
		e.wrote["retry"] = false
	} else if len(native.Content) > 0 {
		e.put("retry", native, "agent", "profile", "retry")
	}
}

func (e *configEncoder) cache() {
	c := e.p.Cache
	if !c.Set {
		return
	}
	e.put("cache", boolNode(c.V != "off"), "execution", "cache", "enabled")
	if c.V != "off" {
		e.put("cache", str(c.V), "execution", "cache", "strategy")
	}
}

// tidy takes out tables that nothing was written to.
func (e *configEncoder) tidy() {
	for i := len(e.root.Content) - 2; i >= 0; i -= 2 {
		if slices.Contains(writtenTables(), e.root.Content[i].Value) && len(e.root.Content[i+1].Content) == 0 {
			e.root.Content = slices.Delete(e.root.Content, i, i+2)
		}
	}
	if agent, ok := child(e.root, "agent"); ok {
		if p, ok := child(agent, "profile"); ok {
			order(p)
		}
	}
	for _, name := range writtenTables() {
		if t, ok := child(e.root, name); ok {
			order(t)
		}
	}
	order(e.root)
}

// order puts the plain keys of a table before the tables in it, as TOML needs
// them. It is for the tables of the format, where the order means nothing.
func order(table *yaml.Node) {
	var plain, tables []*yaml.Node
	for i := 0; i+1 < len(table.Content); i += 2 {
		if v := table.Content[i+1]; isTable(v) || isTableList(v) {
			tables = append(tables, table.Content[i], v)
		} else {
			plain = append(plain, table.Content[i], v)
		}
	}
	table.Content = append(plain, tables...)
}
