package profile

import (
	"errors"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// maxDepth is the deepest nesting of a value.
const maxDepth = 100

// Node reads the value. A line that is the first of it is the line of At.
func (x Extra) Node() (*yaml.Node, error) {
	text := append(append([]byte("k:"), x.YAML...), '\n') // without its end a literal text loses its last line feed
	var doc yaml.Node
	if err := yaml.Load(text, &doc, yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode || len(doc.Content[0].Content) != 2 {
		return nil, errors.New("it is not one value")
	}
	n := doc.Content[0].Content[1]
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n, nil
}
