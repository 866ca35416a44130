package dialect

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// maxDepth is the deepest nesting of a frontmatter.
const maxDepth = 100

// depthLimit has no state.
var depthLimit = yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth)))

// document is a Markdown file whose frontmatter was parsed into its top-level
// keys. When the frontmatter could not be parsed, its fields have keys and
// places only, as far as the raw lines show them, and diags holds the error.
type document struct {
	front  profile.Frontmatter
	fields []field
	diags  []profile.Diagnostic
	broken bool // no frontmatter, or none that can be parsed

	// partial says that some keys of a broken frontmatter were parsed. The
	// fields of the others are unread.
	partial  bool
	repaired *places // set when the frontmatter was repaired; front.YAML is what was read
	edits    []edit  // the repair

	lines  []int // the line of the file for each line that YAML counts; nil: they run along
	starts []int // where each line of the frontmatter starts, once it is asked for
}

// field is a top-level key. Key is its native spelling: kebab-case.
type field struct {
	key, written string
	at           source.Origin // of the key
	node         *yaml.Node    // the value
	unread       bool          // YAML refused it, and the node is a guess
}

func parseDocument(file string, data []byte) *document {
	var d document
	d.front, d.diags = profile.Split(file, data)
	if profile.Refused(d.diags) {
		d.broken = true
		d.fields = d.sniff(file)
		return &d
	}
	d.lines = fileLines(d.front)
	root, diag, ok := d.parse(file)
	if !ok {
		d.repair(file, diag)
		return &d
	}
	d.fields = d.fieldsOf(file, root)
	return &d
}

// fieldsOf gives the keys of a map; nil is an empty one.
func (d *document) fieldsOf(file string, root *yaml.Node) []field {
	if root == nil {
		return nil
	}
	fields := make([]field, 0, len(root.Content)/2)
	for i := 0; i+1 < len(root.Content); i += 2 {
		k, v := root.Content[i], root.Content[i+1]
		fields = append(fields, field{key: kebab(k.Value), written: k.Value, at: d.origin(file, k), node: v})
	}
	return fields
}

// parse gives the root map, or nil when the frontmatter is empty.
func (d *document) parse(file string) (*yaml.Node, profile.Diagnostic, bool) {
	if root, ok := parseFast(d.front.YAML); ok {
		return root, profile.Diagnostic{}, true
	}
	var doc yaml.Node
	if err := yaml.Load(d.front.YAML, &doc, depthLimit); err != nil {
		if onlyComments(d.front.YAML) {
			return nil, profile.Diagnostic{}, true
		}
		return nil, d.yamlError(file, err), false
	}
	if len(doc.Content) == 0 {
		return nil, profile.Diagnostic{}, true
	}
	root := doc.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, profile.Diagnostic{}, true
	}
	if root.Kind != yaml.MappingNode {
		return nil, profile.Diagnose(profile.CodeNotAMap, d.origin(file, root), "", "the frontmatter is not a map of keys", "write key: value"), false
	}
	if key := overExpanded(root); key != nil {
		return nil, profile.Diagnose(profile.CodeTooDeep, d.origin(file, key), key.Value, fmt.Sprintf("the aliases stand for more than %d values together", maxExpanded), "write out what they stand for"), false
	}
	return root, profile.Diagnostic{}, true
}

func (d *document) origin(file string, n *yaml.Node) source.Origin {
	if d.repaired != nil {
		line, column := d.repaired.origin(n.Line, n.Column)
		return source.Origin{Layer: source.Profile, File: file, Line: line, Column: column}
	}
	return source.Origin{Layer: source.Profile, File: file, Line: d.line(n.Line), Column: n.Column}
}

// line gives the line of the file for a line of YAML, from 1.
func (d *document) line(n int) int {
	if d.lines == nil {
		return d.front.YAMLLine + n - 1
	}
	return d.lines[max(1, min(n, len(d.lines)))-1]
}

// oddBreaks end a line for YAML, but not for editors.
const oddBreaks = "\r\u0085\u2028\u2029"

// hasOddBreak looks for each of them alone, which is quick in a text of another
// script.
func hasOddBreak(b []byte) bool {
	for _, r := range oddBreaks {
		if bytes.Contains(b, []byte(string(r))) {
			return true
		}
	}
	return false
}

// fileLines is nil when the frontmatter has no odd line breaks.
func fileLines(f profile.Frontmatter) []int {
	if !hasOddBreak(f.YAML) {
		return nil
	}
	var lines []int
	line, from := f.YAMLLine, 0
	for _, start := range yamlLines(f.YAML) {
		line += bytes.Count(f.YAML[from:start], []byte("\n"))
		lines, from = append(lines, line), start
	}
	return lines
}

// sniff reads what looks like top-level keys from lines that YAML refused, so
// that the file's dialect and the name it claims are known all the same.
func (d *document) sniff(file string) []field {
	var fields []field
	n := d.front.YAMLLine - 1
	for line := range bytes.Lines(d.front.YAML) {
		n++
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || !isKey(key) {
			continue
		}
		fields = append(fields, field{
			key: kebab(string(key)), written: string(key),
			at:   source.Origin{Layer: source.Profile, File: file, Line: n, Column: 1},
			node: &yaml.Node{Kind: yaml.ScalarNode, Value: strings.Trim(string(bytes.TrimSpace(value)), `"'`)},
		})
	}
	return fields
}

func (d *document) find(key string) (field, bool) {
	for _, f := range d.fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

func (d *document) has(keys ...string) bool {
	for _, k := range keys {
		if _, ok := d.find(k); ok {
			return true
		}
	}
	return false
}

// raw gives the value of a field as written: everything between its colon and
// the next key. It fails for what is not a plain key at the start of a line.
func (d *document) raw(i int) ([]byte, bool) {
	f := d.fields[i]
	if len(d.front.YAML) == 0 || f.at.Column != 1 || !isKey([]byte(f.written)) || d.lines != nil || d.moved() {
		return nil, false
	}
	if d.starts == nil {
		d.starts = lineStarts(d.front.YAML)
	}
	from, to := d.starts[f.at.Line-d.front.YAMLLine], len(d.front.YAML)
	if i+1 < len(d.fields) {
		to = d.starts[d.fields[i+1].at.Line-d.front.YAMLLine]
	}
	text, ok := bytes.CutPrefix(d.front.YAML[from:max(from, to)], []byte(f.written))
	if !ok {
		return nil, false
	}
	value, ok := bytes.CutPrefix(bytes.TrimLeft(text, " "), []byte(":"))
	return bytes.TrimRight(value, " \n"), ok && indented(value) && !bytes.ContainsAny(value, oddBreaks)
}

// indented says whether the lines of a value below its first one can stand
// below any key: what else starts a line, such as the "?" of the next key, may
// not belong to the value.
func indented(value []byte) bool {
	first := true
	for line := range bytes.Lines(value) {
		if !first && !bytes.ContainsAny(line[:1], " -#\n") {
			return false
		}
		first = false
	}
	return true
}

func isKey(b []byte) bool {
	for _, c := range b {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return len(b) > 0
}

// lineStarts gives where each line starts.
func lineStarts(b []byte) []int {
	starts := []int{0}
	for i, c := range b {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func onlyComments(b []byte) bool {
	for line := range bytes.Lines(b) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// kebab turns snake_case and camelCase into the native spelling.
func kebab(s string) string {
	plain := true
	for i := range len(s) {
		if s[i] == '_' || i > 0 && 'A' <= s[i] && s[i] <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	out := make([]byte, 0, len(s)+4)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '_':
			out = append(out, '-')
		case i > 0 && 'A' <= c && c <= 'Z':
			if p := s[i-1]; 'a' <= p && p <= 'z' || '0' <= p && p <= '9' {
				out = append(out, '-')
			}
			out = append(out, c+'a'-'A')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}
