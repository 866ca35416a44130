package trust

import (
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/profile"
)

// ServerFile is a file of another tool that names MCP servers, at the root of a
// workspace.
type ServerFile struct {
	Name string
	Unit time.Duration // of a timeout that has none
}

// ServerFiles lists them, the weakest first.
func ServerFiles() []ServerFile {
	return []ServerFile{{"opencode.json", time.Millisecond}, {"opencode.jsonc", time.Millisecond}, {".mcp.json", time.Millisecond}}
}

// Servers finds the servers in the content of such a file, and the key that they
// stand under; nil: there are none.
func (f ServerFile) Servers(data []byte) (key string, value *yaml.Node, err error) {
	var doc yaml.Node // JSON is YAML, and this knows the places
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))
	if err := yaml.Load(profile.PlainJSON(data), &doc, limits); err != nil {
		return "", nil, err
	}
	if len(doc.Content) == 0 {
		return "", nil, nil
	}
	root := deref(doc.Content[0])
	for _, key := range []string{"mcpServers", profile.Servers, "mcp"} {
		servers, ok := child(root, key)
		if !ok || isNull(servers) {
			continue
		}
		value = deref(servers)
		if strings.HasPrefix(f.Name, "opencode") {
			variables(value, maxDepth)
		}
		return key, value, nil
	}
	return "", nil, nil
}

// variables writes the variables of opencode, {env:NAME}, as ours.
func variables(n *yaml.Node, depth int) {
	if depth == 0 {
		return
	}
	if n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "{env:") && !strings.Contains(n.Value, "${") {
		n.Value = strings.ReplaceAll(n.Value, "{env:", "${")
	}
	for _, c := range n.Content {
		variables(c, depth-1)
	}
}
