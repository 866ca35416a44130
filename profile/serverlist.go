package profile

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/source"
)

// Servers is the key under which profiles and roster.yaml have MCP servers.
const Servers = "mcp-servers"

// ServerEntry is an MCP server as a value of that key has it.
type ServerEntry struct {
	Name  string
	Value *yaml.Node
	// Item is what of the value is about the server alone: the entry, or the item of
	// a list that holds it. Key is the item's key below that of the value; empty in a
	// list of maps.
	Item *yaml.Node
	Key  string
	Off  bool // it takes away the server of that name
}

// ServerEntries reads a value: a map of servers by name, or a list of names and of
// servers. names are those of a list, which narrows what there is to them and to
// what it defines itself; listed says that it is one.
func ServerEntries(value *yaml.Node) (list []ServerEntry, names []string, listed bool) {
	value = alias(value)
	switch value.Kind {
	case yaml.ScalarNode:
		if value.Tag == "!!null" {
			return nil, nil, false
		}
		for name := range strings.SplitSeq(value.Value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		return nil, names, true
	case yaml.MappingNode:
		return inMap(value), nil, false
	}
	for _, item := range value.Content {
		switch item = alias(item); item.Kind {
		case yaml.ScalarNode:
			names = append(names, item.Value)
		case yaml.MappingNode:
			list = append(list, inItem(item)...)
		}
	}
	return list, names, true
}

func inMap(m *yaml.Node) []ServerEntry {
	list := make([]ServerEntry, 0, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		name, v := alias(m.Content[i]).Value, alias(m.Content[i+1])
		list = append(list, ServerEntry{Name: name, Value: v, Item: v, Key: name, Off: TakesAway(v)})
	}
	return list
}

// inItem reads a map in a list: a server with its name in it, or servers by name.
func inItem(item *yaml.Node) []ServerEntry {
	for i := 0; i+1 < len(item.Content); i += 2 {
		if v := alias(item.Content[i+1]); item.Content[i].Value == "name" && v.Kind == yaml.ScalarNode {
			return []ServerEntry{{Name: v.Value, Value: item, Item: item, Key: v.Value}}
		}
	}
	list := inMap(item)
	for i := range list {
		list[i].Item, list[i].Key = item, ""
	}
	return list
}

func alias(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// TakesAway says that a value stands for nothing under a name.
func TakesAway(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || n.Value == "false")
}

// ServerUnit is the unit of a timeout of a server that has none, in the files of a
// dialect.
func ServerUnit(dialect string) time.Duration {
	switch dialect {
	case "claude", "copilot", "gemini", "opencode":
		return time.Millisecond
	}
	return time.Second
}

// ServerKey gives the value of the key of a profile, apart from those of its
// parents, and the place of a node of it; ok: it has one that can be read.
func (p *Profile) ServerKey() (x Extra, value *yaml.Node, at func(*yaml.Node) source.Origin, ok bool) {
	for _, x := range p.Extra {
		if x.Key != Servers || !x.Known {
			continue
		}
		n, err := x.Node()
		if err != nil {
			return x, nil, nil, false
		}
		inLines := p.Dialect == "" || p.Dialect == "roster" || p.Dialect == "knot" || p.Dialect == "claude" || p.Dialect == "copilot" || p.Dialect == "gemini"
		return x, n, func(n *yaml.Node) source.Origin {
			at := x.At
			if inLines && n.Line > 1 && at.Line > 0 {
				at.Line, at.Column = at.Line+n.Line-1, 0
			}
			return at
		}, true
	}
	return Extra{}, nil, nil, false
}
