package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// tomlReader makes a tree with places of TOML text. The library's parser gives
// the expressions one by one; which table they belong to is found here, and
// the library then judges the document as a whole.
type tomlReader struct {
	file   string
	data   []byte
	starts []int // where each line starts
	parser unstable.Parser
	root   *yaml.Node
	table  *yaml.Node // the one that the last header opened
	depth  int        // of that table
	keys   map[*yaml.Node]map[string]*yaml.Node
	diags  []profile.Diagnostic
}

// parseTOML gives the tree of a TOML file, with every duplicate key, or the
// first other thing that is wrong. After an error the tree has what stood
// before it as its remains.
func parseTOML(file string, data []byte) *tree {
	r := &tomlReader{file: file, keys: map[*yaml.Node]map[string]*yaml.Node{}}
	if rest, ok := bytes.CutPrefix(data, []byte("\ufeff")); ok {
		data = rest
		r.report(profile.CodeBeforeOpener, 0, "", "a byte order mark before the first key", "save the file without it")
	}
	r.data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if !r.bounded() {
		return &tree{diags: r.diags}
	}
	r.starts = lineStarts(r.data)
	r.root = r.mapping(0)
	r.table = r.root
	r.read()
	if !profile.Refused(r.diags) {
		r.judge()
	}
	if profile.Refused(r.diags) {
		return &tree{remains: r.root, diags: r.diags}
	}
	return &tree{root: r.root, diags: r.diags}
}

func (r *tomlReader) at(offset int) source.Origin {
	offset = max(0, min(offset, len(r.data)))
	if r.starts == nil { // not counted yet: the file may be nothing but lines
		line := r.data[bytes.LastIndexByte(r.data[:offset], '\n')+1 : offset]
		return source.Origin{Layer: source.Profile, File: r.file, Line: 1 + bytes.Count(r.data[:offset], []byte("\n")), Column: 1 + utf8.RuneCount(line)}
	}
	line, found := slices.BinarySearch(r.starts, offset)
	if found {
		line++
	}
	column := 1 + utf8.RuneCount(r.data[r.starts[line-1]:offset])
	return source.Origin{Layer: source.Profile, File: r.file, Line: line, Column: column}
}

func (r *tomlReader) report(code string, offset int, key, message, hint string) {
	r.diags = append(r.diags, profile.Diagnose(code, r.at(offset), key, message, hint))
}

// maxTOMLKeys bounds the keys of a file: the library compares each with those
// that its table has.
const maxTOMLKeys = 5000

// maxDots bounds the names of one key, which make tables in each other. Those
// below the nesting that is allowed are found, with their place, when they are
// read.
const maxDots = 1000

// bounded looks at the text only, so that no parser sees more than it should.
func (r *tomlReader) bounded() bool {
	if bad := firstInvalid(r.data); bad >= 0 {
		r.report(profile.CodeNotUTF8, bad, "", fmt.Sprintf("the file is not UTF-8: byte %d is 0x%02x", bad, r.data[bad]), "save it as UTF-8")
		return false
	}
	if at := bytes.IndexByte(r.data, '\r'); at >= 0 {
		r.report(profile.CodeInvalidTOML, at, "", "the file is not valid TOML: a carriage return stands in the middle of a line", "end each line with a line feed")
		return false
	}
	depth, values, dots, keys := 0, 0, 0, 0
	for i := 0; i < len(r.data); i++ {
		switch r.data[i] {
		case '.':
			dots++
		case '=', '\n', ',', ']', '}':
			dots = 0
		}
		if r.data[i] == '=' || r.data[i] == '[' && (i == 0 || r.data[i-1] == '\n') {
			keys++
		}
		switch c := r.data[i]; c {
		case '"', '\'':
			i = skipString(r.data, i)
		case '#':
			if eol := bytes.IndexByte(r.data[i:], '\n'); eol >= 0 {
				i += eol - 1
			} else {
				i = len(r.data)
			}
		case '[', '{':
			depth++
			values++
		case ']', '}':
			depth = max(0, depth-1)
		case ',', '=', '.', '\n':
			values++
		}
		if depth > maxDepth || dots > maxDots {
			r.report(profile.CodeTooDeep, i, "", fmt.Sprintf("the file nests deeper than %d levels", maxDepth), "")
			return false
		}
		if keys > maxTOMLKeys {
			r.report(profile.CodeTooLarge, i, "", fmt.Sprintf("the file holds more than %d keys", maxTOMLKeys), "")
			return false
		}
		if values > maxValues {
			r.report(profile.CodeTooLarge, i, "", fmt.Sprintf("the file holds more than %d values", maxValues), "")
			return false
		}
	}
	return true
}

// skipString gives the last byte of the string that starts at i. A string of
// one line that is not closed ends with its line: the parser refuses it there.
func skipString(data []byte, i int) int {
	quote := data[i]
	if long := bytes.Repeat([]byte{quote}, 3); bytes.HasPrefix(data[i:], long) {
		for i += 3; i < len(data); i++ {
			switch {
			case data[i] == '\\' && quote == '"':
				i++
			case bytes.HasPrefix(data[i:], long):
				for i += 2; i+1 < len(data) && data[i+1] == quote; i++ {
				}
				return i
			}
		}
		return len(data)
	}
	for i++; i < len(data) && data[i] != quote && data[i] != '\n'; i++ {
		if data[i] == '\\' && quote == '"' {
			i++
		}
	}
	return i
}

func (r *tomlReader) read() {
	r.parser.Reset(r.data)
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		ok := true
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			ok = r.header(e)
		case unstable.KeyValue:
			ok = r.pair(r.table, e, r.depth)
		}
		if !ok {
			return // what is wrong is reported, or the library will say it
		}
	}
	var pe *unstable.ParserError
	if err := r.parser.Error(); errors.As(err, &pe) {
		r.report(profile.CodeInvalidTOML, r.offset(pe.Highlight), strings.Join(pe.Key, "."), pe.Message, tomlHint(pe.Message))
	} else if err != nil {
		r.report(profile.CodeInvalidTOML, 0, "", err.Error(), "")
	}
}

// offset gives where a part of the text starts.
func (r *tomlReader) offset(part []byte) int {
	if part == nil {
		return 0
	}
	return cap(r.data) - cap(part)
}

func tomlHint(message string) string {
	switch {
	case strings.Contains(message, "expected '=' after key"):
		return "write key = value"
	case strings.Contains(message, "at start of value"), strings.Contains(message, "keyword"):
		return "quote the text"
	case strings.Contains(message, "escape"):
		return `write \\ for a backslash, or put the text between single quotes`
	}
	return ""
}

// judge lets the library say what no single expression shows: a table that
// stands twice, a value that is a table elsewhere, a date that does not exist.
func (r *tomlReader) judge() {
	var all map[string]any
	err := toml.Unmarshal(r.data, &all)
	if err == nil {
		return
	}
	var de *toml.DecodeError
	if !errors.As(err, &de) {
		r.report(profile.CodeInvalidTOML, 0, "", strings.TrimPrefix(err.Error(), "toml: "), "")
		return
	}
	line, column := de.Position()
	at := source.Origin{Layer: source.Profile, File: r.file, Line: max(1, line), Column: max(1, column)}
	r.diags = append(r.diags, profile.Diagnose(profile.CodeInvalidTOML, at, strings.Join(de.Key(), "."), strings.TrimPrefix(de.Error(), "toml: "), ""))
}

func (r *tomlReader) mapping(offset int) *yaml.Node {
	n := r.node(yaml.MappingNode, "!!map", "", offset)
	r.keys[n] = map[string]*yaml.Node{}
	return n
}

func (r *tomlReader) node(kind yaml.Kind, tag, value string, offset int) *yaml.Node {
	at := r.at(offset)
	return &yaml.Node{Kind: kind, Tag: tag, Value: value, Line: at.Line, Column: at.Column}
}

func (r *tomlReader) add(table *yaml.Node, key *unstable.Node, value *yaml.Node) {
	name := string(key.Data)
	table.Content = append(table.Content, r.node(yaml.ScalarNode, "!!str", name, int(key.Raw.Offset)), value)
	r.keys[table][name] = value
}

func keyParts(it unstable.Iterator) []*unstable.Node {
	var parts []*unstable.Node
	for it.Next() {
		parts = append(parts, it.Node())
	}
	return parts
}

func (r *tomlReader) tooDeep(depth, offset int) bool {
	if depth > maxDepth {
		r.report(profile.CodeTooDeep, offset, "", fmt.Sprintf("the file nests deeper than %d levels", maxDepth), "")
	}
	return depth > maxDepth
}

// inside finds or makes the tables on the way to the last part of a key.
func (r *tomlReader) inside(table *yaml.Node, parts []*unstable.Node) (*yaml.Node, bool) {
	for _, part := range parts {
		next, ok := r.keys[table][string(part.Data)]
		if !ok {
			next = r.mapping(int(part.Raw.Offset))
			r.add(table, part, next)
		}
		if next.Kind == yaml.SequenceNode && len(next.Content) > 0 {
			next = next.Content[len(next.Content)-1]
		}
		if r.keys[next] == nil {
			return nil, false
		}
		table = next
	}
	return table, true
}

func (r *tomlReader) header(e *unstable.Node) bool {
	parts := keyParts(e.Key())
	last := parts[len(parts)-1]
	start := int(parts[0].Raw.Offset)
	r.depth = len(parts)
	if r.tooDeep(r.depth, start) {
		return false
	}
	table, ok := r.inside(r.root, parts[:len(parts)-1])
	if !ok {
		return false
	}
	if e.Kind == unstable.Table {
		r.table, ok = r.inside(table, parts[len(parts)-1:])
		return ok
	}
	list, ok := r.keys[table][string(last.Data)]
	if !ok {
		list = r.node(yaml.SequenceNode, "!!seq", "", start)
		r.add(table, last, list)
	}
	r.table = r.mapping(start)
	list.Content = append(list.Content, r.table)
	return list.Kind == yaml.SequenceNode
}

// pair reads key = value into a table.
func (r *tomlReader) pair(table *yaml.Node, e *unstable.Node, depth int) bool {
	parts := keyParts(e.Key())
	last := parts[len(parts)-1]
	depth += len(parts)
	table, ok := r.inside(table, parts[:len(parts)-1])
	if !ok || r.tooDeep(depth, int(last.Raw.Offset)) {
		return false
	}
	if _, twice := r.keys[table][string(last.Data)]; twice {
		r.report(profile.CodeDuplicateKey, int(last.Raw.Offset), string(last.Data), fmt.Sprintf("%q stands twice in its table", last.Data), "keep one of the two")
		return true
	}
	value, ok := r.value(e.Value(), r.valueOffset(last), depth)
	if ok {
		r.add(table, last, value)
	}
	return ok
}

// valueOffset gives where the value after a key starts.
func (r *tomlReader) valueOffset(key *unstable.Node) int {
	i := int(key.Raw.Offset + key.Raw.Length)
	for i < len(r.data) && strings.IndexByte(" \t=", r.data[i]) >= 0 {
		i++
	}
	return i
}

func (r *tomlReader) value(v *unstable.Node, offset, depth int) (*yaml.Node, bool) {
	if v.Raw.Length > 0 {
		offset = int(v.Raw.Offset)
	}
	if r.tooDeep(depth, offset) {
		return nil, false
	}
	switch v.Kind {
	case unstable.InlineTable:
		n := r.mapping(offset)
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.KeyValue && !r.pair(n, it.Node(), depth) {
				return nil, false
			}
		}
		return n, true
	case unstable.Array:
		n := r.node(yaml.SequenceNode, "!!seq", "", offset)
		for it := v.Children(); it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			item, ok := r.value(it.Node(), offset, depth+1)
			if !ok {
				return nil, false
			}
			n.Content = append(n.Content, item)
		}
		return n, true
	}
	tag, text := tomlScalar(v)
	return r.node(yaml.ScalarNode, tag, text, offset), true
}

// tomlScalar gives a value as YAML writes it. Dates stay text.
func tomlScalar(v *unstable.Node) (tag, text string) {
	text = string(v.Data)
	switch v.Kind {
	case unstable.Bool:
		return "!!bool", text
	case unstable.Integer:
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			text = strconv.FormatInt(n, 10)
		} else if n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64); err == nil {
			text = strconv.FormatInt(n, 10)
		}
		return "!!int", text
	case unstable.Float:
		text = strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
		switch strings.TrimPrefix(text, "-") {
		case "inf":
			text = strings.Replace(text, "inf", ".inf", 1)
		case "nan":
			text = ".nan"
		}
		return "!!float", text
	}
	return "!!str", text
}
