package dialect

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// tools reads the list that is the grant, how calls are executed, and the
// instances that are servers.
func (b *configProfile) tools(fields []field) {
	g := grammar{dialect: "config", grants: true}
	var size field
	for _, f := range fields {
		switch f.key {
		case "enabled":
			b.d.tools(g, f)
		case "tool-strategy":
			if v := b.d.oneOf(f, "sequential", "parallel", "batched"); v.Set {
				b.d.p.ToolExecution = set(profile.ToolExecution{Strategy: v.V}, f)
			}
		case "batch-size":
			size = f
		case "instances":
			b.toolInstances(f)
		default:
			b.unknown("tools", f)
		}
	}
	if size.node == nil {
		return
	}
	if v := b.d.count(size, 1); v.Set {
		if !b.d.p.ToolExecution.Set {
			b.d.p.ToolExecution = set(profile.ToolExecution{Strategy: "parallel"}, size)
		}
		b.d.p.ToolExecution.V.Size = int(v.V)
	}
}

// toolInstances takes each instance with a command or an address for a server;
// any other is kept as it is.
func (b *configProfile) toolInstances(list field) {
	others := &yaml.Node{Kind: yaml.SequenceNode}
	for _, in := range b.c.list(b.c.sections["tools"], "tool") {
		config, ok := tableOf(deref(in.node), "config")
		if !ok || !has(config, "command") && !has(config, "url") || in.name == "" {
			others.Content = append(others.Content, in.node)
			continue
		}
		server := mapping()
		for i := 0; i+1 < len(config.Content); i += 2 {
			if key := kebab(deref(config.Content[i]).Value); key != "transport" {
				setChild(server, key, config.Content[i+1])
			}
		}
		if on, ok := child(deref(in.node), "enabled"); ok {
			if v, ok := parseBool(on); ok && !v {
				setChild(server, "enabled", on)
			}
		}
		b.keepIn("mcp-servers", list, in.name, server)
	}
	if len(others.Content) > 0 {
		list.node = others
		b.unknown("tools", list)
	}
}

// servers reads what stands outside of the tools table.
func (b *configProfile) servers() {
	if f, ok := b.c.sections["mcp-servers"]; ok {
		b.serverMap(f)
	}
	for _, f := range b.c.fields(b.c.sections["mcp"]) {
		switch f.key {
		case "servers":
			b.serverMap(f)
		default:
			b.unknown("mcp", f)
		}
	}
}

// serverMap reads servers by their names, or a list of servers with names.
func (b *configProfile) serverMap(f field) {
	switch n := deref(f.node); n.Kind {
	case yaml.MappingNode:
		if b.d.unique(f.written, n) {
			for i := 0; i+1 < len(n.Content); i += 2 {
				b.keepIn("mcp-servers", f, deref(n.Content[i]).Value, n.Content[i+1])
			}
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			item = deref(item)
			name, ok := child(item, "name")
			if item.Kind != yaml.MappingNode || !ok || deref(name).Kind != yaml.ScalarNode {
				b.d.report(profile.CodeNotAllowed, b.d.at(item), f.written, "a server needs a name", "write name = …")
				continue
			}
			server := mapping()
			for i := 0; i+1 < len(item.Content); i += 2 {
				if key := deref(item.Content[i]).Value; key != "name" {
					setChild(server, key, item.Content[i+1])
				}
			}
			b.keepIn("mcp-servers", f, deref(name).Value, server)
		}
	default:
		if !isNull(n) {
			b.d.wrongType(f, n, "a table of servers")
		}
	}
}

// callbacks makes hooks of the scripts among the callbacks. A callback that
// names a function of another program is kept as it is.
func (b *configProfile) callbacks() {
	for _, f := range b.c.fields(b.c.sections["callbacks"]) {
		event, ok := callbackEvent(f.key)
		if n := deref(f.node); !ok || n.Kind != yaml.ScalarNode || !isScript(n.Value) {
			b.unknown("callbacks", f)
			continue
		}
		hook := mapping(str("command"), str(deref(f.node).Value))
		b.keepIn("hooks", f, event, &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{hook}})
	}
	f, ok := b.c.sections["hooks"]
	if !ok {
		return
	}
	for _, h := range b.c.fields(f) {
		if n := deref(h.node); n.Kind == yaml.SequenceNode {
			b.keepIn("hooks", h, h.key, h.node)
		} else {
			b.unknown("hooks", h)
		}
	}
}

func callbackEvent(key string) (string, bool) {
	switch key {
	case "before-turn", "after-turn", "before-loop", "after-loop":
		return key, true
	case "before-tool-execution":
		return "before-tool", true
	case "after-tool-execution":
		return "after-tool", true
	}
	return "", false
}

func isScript(s string) bool {
	return !strings.Contains(s, "::") && (strings.Contains(s, "/") || strings.HasSuffix(s, ".sh") || strings.HasSuffix(s, ".py"))
}

func quoteKey(key string) string { return strconv.Quote(key) }
