package dialect

import (
	"bytes"
	"fmt"
	"path"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// tree is a file that is one map of keys, without Markdown around it: JSON,
// YAML or TOML. Its nodes have their places in the file.
type tree struct {
	root    *yaml.Node // nil when the file could not be parsed
	remains *yaml.Node // of TOML that could not be parsed: what stands before the error
	diags   []profile.Diagnostic
}

// tree parses the file once. Its limits are those of a frontmatter in depth and
// those of a file in size.
func (f *File) tree() *tree {
	if f.root == nil {
		f.root = parseTree(f.Name, f.Path, f.Data)
	}
	return f.root
}

func parseTree(file, place string, data []byte) *tree {
	at := source.Origin{File: file, Line: 1, Column: 1}
	if len(data) > profile.MaxFile {
		return &tree{diags: []profile.Diagnostic{profile.Diagnose(profile.CodeTooLarge, at, "",
			fmt.Sprintf("the file has more than %d bytes", profile.MaxFile), "")}}
	}
	ext := path.Ext(place)
	if isOpencodeConfig(place) {
		data, ext = profile.PlainJSON(data), ".json"
	}
	if ext != ".toml" && tooMany(data, ext == ".json") {
		return &tree{diags: []profile.Diagnostic{profile.Diagnose(profile.CodeTooLarge, at, "",
			fmt.Sprintf("the file holds more than %d values", maxValues), "")}}
	}
	switch ext {
	case ".json":
		return jsonTree(file, data)
	case ".toml":
		return parseTOML(file, data)
	case ".yaml", ".yml":
	default:
		return &tree{diags: []profile.Diagnostic{profile.Diagnose(profile.CodeNotAMap, at, "", "the file is not a map of keys", "")}}
	}
	d := document{front: profile.Frontmatter{YAML: data, YAMLLine: 1}}
	root, diag, ok := d.parse(file)
	if !ok {
		return &tree{diags: []profile.Diagnostic{diag}}
	}
	if root == nil {
		root = &yaml.Node{Kind: yaml.MappingNode, Line: 1, Column: 1}
	}
	return &tree{root: root}
}

// maxValues bounds what a file may hold before a parser makes nodes of it.
const maxValues = 100_000

// tooMany counts what stands between the values of JSON or YAML; there, the
// lines of a text count too.
func tooMany(data []byte, isJSON bool) bool {
	if len(data) <= maxValues {
		return false
	}
	if !isJSON {
		return bytes.Count(data, []byte(","))+bytes.Count(data, []byte("\n")) > maxValues
	}
	values := 0
	for i := 0; i < len(data) && values <= maxValues; i++ {
		switch data[i] {
		case '"':
			i = skipString(data, i)
		case ',', '{', '[':
			values++
		}
	}
	return values > maxValues
}

func jsonTree(file string, data []byte) *tree {
	root, diag := parseJSON(file, data)
	if diag != nil {
		return &tree{diags: []profile.Diagnostic{*diag}}
	}
	if root.Kind != yaml.MappingNode {
		at := source.Origin{File: file, Line: root.Line, Column: root.Column}
		return &tree{diags: []profile.Diagnostic{profile.Diagnose(profile.CodeNotAMap, at, "", "the file is not a map of keys", "")}}
	}
	return &tree{root: root}
}
