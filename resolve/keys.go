package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/dialect"
	"github.com/rosterrun/roster/source"
)

// Keys reads profile keys and their text, as a layer of its own. The text is
// read as the value would be in a file, and for texts as it is; a map or a list
// is written in its braces. max-turns, max-cost and max-duration are short for
// the limits. All errors come at once, joined by line, as a *KeysError.
func Keys(layer source.Layer, set map[string]string) (*profile.Profile, error) {
	var e KeysError
	root := e.tree(set)
	p, ds := dialect.Keys("", root)
	for _, d := range ds {
		if d.Code == profile.CodeUnknownKey {
			d.Severity, d.Name = profile.SeverityError, string(profile.SchemaValidation)
			d.Message = fmt.Sprintf("%s is not a known key", d.Key)
		}
		if d.Severity == profile.SeverityError {
			e.Diagnostics = append(e.Diagnostics, d)
		}
	}
	if len(e.Diagnostics) > 0 {
		e.Layer = layer
		return nil, &e
	}
	return p, nil
}

// Object gives profile keys and their text, as Keys reads them, as the object that a
// file would have: for a server, which reads them then.
func Object(layer source.Layer, set map[string]string) (map[string]any, error) {
	if _, err := Keys(layer, set); err != nil {
		return nil, err
	}
	object := map[string]any{}
	err := new(KeysError).tree(set).Decode(&object)
	return object, err
}

// tree gives keys as a file has them, and keeps what is wrong with their texts.
func (e *KeysError) tree(set map[string]string) *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		node, err := keyValue(key, set[key])
		if err != nil {
			e.Diagnostics = append(e.Diagnostics, keyDiagnostic(key, err.Error()))
			continue
		}
		insert(root, strings.Split(fullKey(key), "."), node)
	}
	return root
}

// KeysError lists what is wrong with keys that were set beside a profile.
type KeysError struct {
	Layer       source.Layer
	Diagnostics []profile.Diagnostic
}

func (e *KeysError) Error() string {
	var lines []string
	for _, d := range e.Diagnostics {
		line := fmt.Sprintf("%s: %s", e.Layer, d.Message)
		if d.Hint != "" {
			line += " (" + d.Hint + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives each diagnostic.
func (e *KeysError) Unwrap() []error {
	var errs []error
	for i := range e.Diagnostics {
		errs = append(errs, &e.Diagnostics[i])
	}
	return errs
}

func keyDiagnostic(key, message string) profile.Diagnostic {
	return profile.Diagnostic{Severity: profile.SeverityError, Code: profile.CodeInvalidYAML, Name: string(profile.InvalidYAML), Key: key,
		Message: fmt.Sprintf("%s: %s", key, message)}
}

// fullKey writes out a short key.
func fullKey(key string) string {
	switch strings.ReplaceAll(key, "_", "-") {
	case "max-turns", "max-cost", "max-duration":
		return "limits." + key[len("max-"):]
	}
	return key
}

// Bounds of one override: its value in bytes, the parts of its key, and how
// deep the value nests.
const (
	maxText  = 1 << 20
	maxParts = 8
	maxDepth = 100
)

// keyValue reads a text as YAML only if it stands in braces and its key takes
// no plain text.
func keyValue(key, text string) (*yaml.Node, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the value has more than %d bytes", maxText)
	}
	if strings.Count(key, ".") >= maxParts {
		return nil, fmt.Errorf("a key has at most %d parts", maxParts)
	}
	plain := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	trimmed := strings.TrimSpace(text)
	if isText(key) || !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") {
		return plain, nil
	}
	var doc yaml.Node
	limits := yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))
	if err := yaml.Load([]byte(trimmed), &doc, limits); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 {
		return plain, nil
	}
	return doc.Content[0], nil
}

func isText(key string) bool {
	switch strings.ReplaceAll(key, "_", "-") {
	case "title", "description", "summary", "system-prompt", "subagent-prompt", "model", "provider", "workspace":
		return true
	}
	return false
}

// insert puts a value at a path of keys, making maps on the way. A path through
// what is no map replaces it: the decoder then says what is wrong.
func insert(m *yaml.Node, path []string, value *yaml.Node) {
	for i := 0; i+1 < len(m.Content); i += 2 {
		if m.Content[i].Value != path[0] {
			continue
		}
		if len(path) > 1 && m.Content[i+1].Kind == yaml.MappingNode {
			insert(m.Content[i+1], path[1:], value)
			return
		}
	}
	for _, name := range slices.Backward(path[1:]) {
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}
		value = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}}
	}
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path[0]}, value)
}
