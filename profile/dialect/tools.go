package dialect

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/tool/contract"
)

// maxTools is the longest tool list.
const maxTools = 1000

// tools reads the tool list and puts its rules before those of the permission
// key, whichever comes first in the file.
func (d *decoder) tools(g grammar, f field) {
	if deref(f.node).Kind == yaml.MappingNode {
		d.toolMap(f)
		return
	}
	v, rules := d.toolList(f)
	if !v.Set {
		return
	}
	d.p.Tools = v
	if g.grants {
		rules = granted(v, rules)
	}
	d.toolRules = rules
}

// granted makes every listed tool an allow rule, but for those that were listed
// with arguments only.
func granted(v profile.Value[profile.Tools], narrow []permission.Rule) []permission.Rule {
	var rules []permission.Rule
	if v.V.All {
		rules = append(rules, permission.Rule{Tool: "*", Subject: "*", Effect: permission.Allow, At: v.At})
	}
	for _, name := range v.V.Names {
		if !slices.ContainsFunc(narrow, func(r permission.Rule) bool { return r.Tool == name }) {
			rules = append(rules, permission.Rule{Tool: name, Subject: "*", Effect: permission.Allow, At: v.At})
		}
	}
	return append(rules, narrow...)
}

// toolList reads a list, or a text with commas or spaces between the names. An
// item with arguments, such as Bash(git push:*), is also an allow rule.
func (d *decoder) toolList(f field) (profile.Value[profile.Tools], []permission.Rule) {
	n := deref(f.node)
	var items []string
	switch {
	case isNull(n):
		return profile.Value[profile.Tools]{}, nil
	case n.Kind == yaml.ScalarNode:
		items = splitTools(n.Value)
	case n.Kind == yaml.SequenceNode:
		list, ok := d.scalars(f, n)
		if !ok {
			return profile.Value[profile.Tools]{}, nil
		}
		items = list
	default:
		d.wrongType(f, n, "a list of tools")
		return profile.Value[profile.Tools]{}, nil
	}
	if len(items) > maxTools {
		d.report(profile.CodeNotAllowed, d.at(n), f.written, fmt.Sprintf("%d tools are more than %d", len(items), maxTools), "")
		return profile.Value[profile.Tools]{}, nil
	}
	v := profile.Tools{Names: make([]string, 0, len(items)), Written: append([]string{}, items...)}
	var rules []permission.Rule
	var unknown unknownTools
	text := d.textItems(n)
	for i, item := range items {
		var pos source.Origin
		if n.Kind == yaml.SequenceNode {
			pos = d.at(n.Content[i])
		} else {
			pos = text.next(item)
		}
		rules = append(rules, d.toolItem(&v, &unknown, f, item, pos)...)
	}
	unknown.report(d, f)
	return set(v, f), rules
}

// textItems gives the places of the items of a text with commas.
type textItems struct {
	d      *decoder
	n      *yaml.Node
	line   string // what is written from the text's first character on
	from   int    // how far the text was looked through, in bytes
	column int    // there
}

func (d *decoder) textItems(n *yaml.Node) *textItems {
	t := &textItems{d: d, n: n, column: n.Column}
	if d.doc.starts == nil {
		d.doc.starts = lineStarts(d.doc.front.YAML)
	}
	if n.Kind != yaml.ScalarNode || d.doc.lines != nil || n.Line < 1 || n.Line > len(d.doc.starts) {
		return t
	}
	line, _, _ := bytes.Cut(d.doc.front.YAML[d.doc.starts[n.Line-1]:], []byte("\n"))
	if isQuoted(n) {
		t.column++
	}
	for range t.column - 1 {
		_, size := utf8.DecodeRune(line)
		line = line[size:]
	}
	t.line = string(line)
	return t
}

// next gives the place of the next item: that of the text, where it is not
// written as it is read.
func (t *textItems) next(item string) source.Origin {
	skip := strings.Index(t.n.Value[t.from:], item)
	if skip < 0 {
		return t.d.at(t.n)
	}
	at := t.from + skip
	t.column += utf8.RuneCountInString(t.n.Value[t.from:at])
	here := *t.n
	here.Column = t.column
	t.from, t.column = at+len(item), t.column+utf8.RuneCountInString(item)
	if at > len(t.line) || !strings.HasPrefix(t.line[at:], item) {
		return t.d.at(t.n)
	}
	return t.d.at(&here)
}

// unknownTools are the names of one list that are not built in. They make one
// warning: the lists of other tools are full of names of their own.
type unknownTools struct {
	names []string
	at    source.Origin // of the first
}

func (u *unknownTools) add(name string, at source.Origin) {
	if len(u.names) == 0 {
		u.at = at
	}
	if !slices.Contains(u.names, name) {
		u.names = append(u.names, name)
	}
}

func (u *unknownTools) report(d *decoder, f field) {
	const most = 20 // that one message names
	var quoted, meant []string
	for _, name := range u.names[:min(most, len(u.names))] {
		quoted = append(quoted, fmt.Sprintf("%q", shorten(name)))
		near := profile.Nearest(name, contract.Names(), 1)
		if len(near) > 0 && !slices.Contains(meant, strconv.Quote(near[0])) {
			meant = append(meant, strconv.Quote(near[0]))
		}
	}
	if more := len(u.names) - most; more > 0 {
		quoted = append(quoted, fmt.Sprintf("%d more", more))
	}
	hint := ""
	if len(meant) > 0 {
		hint = "did you mean " + strings.Join(meant, ", ") + "?"
	}
	switch len(quoted) {
	case 0:
	case 1:
		d.report(profile.CodeUnknownTool, u.at, f.written, quoted[0]+" is not a built-in tool; it is kept", hint)
	default:
		d.report(profile.CodeUnknownTool, u.at, f.written, strings.Join(quoted, ", ")+" are not built-in tools; they are kept", hint)
	}
}

func (d *decoder) toolItem(v *profile.Tools, unknown *unknownTools, f field, item string, at source.Origin) []permission.Rule {
	name, args, narrowed := strings.Cut(strings.TrimSpace(item), "(")
	name = strings.TrimSpace(name)
	if name == "*" {
		v.All = true
		return nil
	}
	names, known := d.names(name)
	if name == "" {
		d.report(profile.CodeNotAllowed, at, f.written, "a tool without a name", "")
		return nil
	}
	if !known && !d.known(name) {
		unknown.add(name, at)
	}
	var rules []permission.Rule
	for _, n := range names {
		if !slices.Contains(v.Names, n) {
			v.Names = append(v.Names, n)
		}
		if narrowed {
			for _, s := range subjects(n, strings.TrimSuffix(strings.TrimSpace(args), ")")) {
				rules = append(rules, permission.Rule{Tool: n, Subject: s, Effect: permission.Allow, At: at})
			}
		}
	}
	return rules
}

// subjects translates the argument of a listed tool to subject patterns: "git
// push:*" is the command with or without arguments, "domain:x" any page there.
func subjects(tool, arg string) []string {
	arg = strings.TrimSpace(arg)
	if arg == "" || arg == "*" || arg == ":*" {
		return []string{"*"}
	}
	if prefix, ok := strings.CutSuffix(arg, ":*"); ok && tool == "bash" {
		return []string{prefix, prefix + " *"}
	}
	if host, ok := strings.CutPrefix(arg, "domain:"); ok && tool == "webfetch" {
		return []string{"*://" + host, "*://" + host + "/*"}
	}
	if tool != "bash" {
		arg = strings.ReplaceAll(strings.TrimPrefix(arg, "./"), "**", "*")
	}
	return []string{arg}
}

// splitTools splits at commas and white space outside parentheses.
func splitTools(s string) []string {
	depth := 0
	return slices.DeleteFunc(strings.FieldsFunc(s, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(0, depth-1)
		}
		return depth == 0 && (r == ',' || unicode.IsSpace(r))
	}), func(item string) bool { return item == "" })
}

// toolMap reads name→bool. It starts from all tools; a false takes a tool away
// by a deny rule, and after "*": false the true ones are the list.
func (d *decoder) toolMap(f field) {
	v := profile.Tools{All: true}
	entries, ok := d.entries(f)
	if !ok {
		return
	}
	for _, e := range entries {
		on, ok := parseBool(e.node)
		if !ok {
			d.wrongType(e, e.node, "true or false")
			continue
		}
		d.toolSwitch(&v, e, e.written[len(f.written)+1:], on)
	}
	d.p.Tools = set(v, f)
}

func (d *decoder) toolSwitch(v *profile.Tools, e field, written string, on bool) {
	if written == "*" {
		*v = profile.Tools{All: on, Names: []string{}}
		d.toolRules = nil
		return
	}
	names, known := d.names(written)
	if !on && partialTools(written) != nil {
		names = []string{written}
	}
	if !known && !d.known(written) {
		d.report(profile.CodeUnknownTool, e.at, e.written, fmt.Sprintf("%q is not a built-in tool; it is kept", written), didYouMean(written, contract.Names()))
	}
	for _, n := range names {
		isName := func(s string) bool { return s == n }
		d.toolRules = slices.DeleteFunc(d.toolRules, func(r permission.Rule) bool { return on && isName(r.Tool) })
		switch {
		case !on:
			v.Names = slices.DeleteFunc(v.Names, isName)
			d.toolRules = append(d.toolRules, permission.Rule{Tool: n, Subject: "*", Effect: permission.Deny, At: e.at})
		case !v.All && !slices.ContainsFunc(v.Names, isName):
			v.Names = append(v.Names, n)
		}
	}
}
