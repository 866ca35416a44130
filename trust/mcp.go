package trust

import (
	"fmt"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/source"
)

// ServerFiles lists the files of other tools that name MCP servers, at the root
// of a workspace.
func ServerFiles() []string { return []string{".mcp.json", "opencode.json"} }

// OfServerFile lists the MCP servers in such a file. file names it in items.
func OfServerFile(file string, data []byte) ([]Item, error) {
	var doc yaml.Node // JSON is YAML, and this knows the places
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))
	if err := yaml.Load(data, &doc, limits); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	var out []Item
	root := deref(doc.Content[0])
	for _, key := range []string{"mcpServers", "mcp-servers", "mcp"} {
		servers, ok := child(root, key)
		if !ok || isNull(servers) {
			continue
		}
		for _, f := range findNamed(Server)(key, deref(servers)) {
			at := source.Origin{File: file, Line: f.node.Line, Column: f.node.Column}
			out = append(out, NewItem(Server, "", f.key, at, f.node))
		}
	}
	return out, nil
}
