package dialect

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/schema"
	"github.com/rosterrun/roster/source"
)

// encoder writes one profile as a Markdown file and remembers what it wrote, so
// that the rest can be reported as lost.
type encoder struct {
	p     *profile.Profile
	g     grammar
	buf   bytes.Buffer
	wrote map[string]bool
	lost  []profile.Diagnostic

	listRules int // rules at the head that the tool list stands for
	tailRules int // rules at the end that another key stands for

	body  *string                    // written instead of the profile's
	extra func(x profile.Extra) bool // writes a kept key in the dialect's own way
}

func newEncoder(p *profile.Profile, g grammar) *encoder {
	e := &encoder{p: p, g: g, wrote: map[string]bool{}}
	e.buf.WriteString("---\n")
	return e
}

// file ends the frontmatter, adds the body and reports every field that is set
// and was not written.
func (e *encoder) file(path string) ([]Part, []profile.Diagnostic) {
	e.buf.WriteString("---\n")
	if e.body != nil {
		e.buf.WriteString(*e.body)
	} else {
		e.buf.WriteString(e.p.Body)
	}
	for _, s := range setKeys(e.p) {
		if !e.wrote[s.key] {
			e.lose(s.key, s.at, "")
		}
	}
	return []Part{{Path: path, Data: e.buf.Bytes()}}, e.lost
}

func (e *encoder) lose(key string, at source.Origin, hint string) {
	e.lost = append(e.lost, profile.Diagnose(profile.CodeLost, at, key, fmt.Sprintf("the %s dialect cannot hold %s", e.g.dialect, key), hint))
}

func (e *encoder) node(key string, n *yaml.Node) {
	e.wrote[kebab(key)] = true
	writeEntry(&e.buf, 0, key, n)
}

// asPeopleWrite keeps a text on its line, however long: readers that are no YAML
// libraries take a second line for something else. It is made for each use: the
// width option writes to itself when it is applied.
func asPeopleWrite() yaml.Option {
	return yaml.Options(yaml.WithV3Defaults(), yaml.WithIndent(2), yaml.WithLineWidth(-1))
}

// writeEntry writes "key: value" indented by a number of spaces.
func writeEntry(b *bytes.Buffer, indent int, key string, n *yaml.Node) {
	m := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{str(key), n}}
	out, err := yaml.Dump(m, asPeopleWrite())
	if err != nil {
		panic(fmt.Sprintf("yaml refuses a node that was just made: %v", err))
	}
	for line := range bytes.Lines(out) {
		if len(line) > 1 {
			b.WriteString(strings.Repeat(" ", indent))
		}
		b.Write(line)
	}
}

func str(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case strings.ContainsAny(s, oddBreaks):
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(s, "\n") && strings.TrimSpace(s) != "":
		n.Style = yaml.LiteralStyle
	}
	return n
}

func scalar(v string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: v} }

func list(items []string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, s := range items {
		item := str(s)
		if item.Style == yaml.LiteralStyle {
			item.Style = yaml.DoubleQuotedStyle
		}
		n.Content = append(n.Content, item)
	}
	return n
}

func mapping(pairs ...*yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: pairs}
}

func (e *encoder) text(key string, v profile.Value[string]) {
	if v.Set && !e.wrote[kebab(key)] {
		e.node(key, str(v.V))
	}
}

// name writes the text that the name was made from, where there is one and the
// dialect has no title.
func (e *encoder) name() {
	n := e.p.Name
	if t := e.p.Title; t.Set && profile.CheckName(t.V) != nil && strings.TrimSpace(t.V) == t.V {
		if slug, err := profile.Slug(t.V); err == nil && slug == n {
			n, e.wrote["title"] = t.V, true
		}
	}
	e.node("name", str(n))
}

func (e *encoder) flag(key string, v profile.Value[bool]) {
	if v.Set && !e.wrote[kebab(key)] {
		e.node(key, scalar(strconv.FormatBool(v.V)))
	}
}

func formatFloat(v float64) *yaml.Node { return scalar(strconv.FormatFloat(v, 'f', -1, 64)) }

func (e *encoder) float(key string, v profile.Value[float64]) {
	if v.Set && !e.wrote[kebab(key)] {
		e.node(key, formatFloat(v.V))
	}
}

func (e *encoder) integer(key string, v profile.Value[int]) {
	if v.Set && !e.wrote[kebab(key)] {
		e.node(key, countOrNone(int64(v.V), key == "max-tokens"))
	}
}

func countOrNone(v int64, zero bool) *yaml.Node {
	if v == 0 && !zero {
		return scalar("none")
	}
	return scalar(strconv.FormatInt(v, 10))
}

func durationOrNone(v time.Duration) *yaml.Node {
	if v == 0 {
		return scalar("none")
	}
	return scalar(v.String())
}

// extras writes the keys that are not acted on: all of them in the dialect that
// they came from, native ones in the native dialect and where the dialect has
// them as well.
func (e *encoder) extras() {
	e.extends()
	var groups []string
	for _, x := range e.p.Extra {
		if e.extra != nil && e.extra(x) {
			continue
		}
		if !e.own() && !(e.g.dialect == "roster" && x.Known && isNative(x.Key)) {
			e.lose(x.Key, x.At, "")
			continue
		}
		if !e.fits(x) {
			e.lose(x.Key, x.At, "its value has not the form that the key has there")
			continue
		}
		if group, _, ok := strings.Cut(x.Key, "."); ok && isGroup(group) {
			if !e.wrote[group] && !slices.Contains(groups, group) {
				groups = append(groups, group)
			}
			continue
		}
		e.buf.WriteString(keyText(x.Key) + ":")
		e.buf.Write(x.YAML)
		e.buf.WriteByte('\n')
	}
	for _, g := range groups {
		e.group(g)
	}
}

func isNative(key string) bool {
	_, ok := schema.Find(key)
	return ok
}

// keyText quotes a key that is not a plain word.
func keyText(key string) string {
	if isKey([]byte(key)) {
		return key
	}
	return strconv.Quote(key) // every escape of a JSON-like string is one of YAML
}

func isGroup(key string) bool {
	return slices.Contains([]string{"details", "limits", "retry", "tool-execution", "subagents"}, key)
}

// group writes a map of the given pairs and of the extra keys inside it.
func (e *encoder) group(key string, pairs ...*yaml.Node) {
	var inner bytes.Buffer
	for i := 0; i+1 < len(pairs); i += 2 {
		writeEntry(&inner, 2, pairs[i].Value, pairs[i+1])
	}
	for _, x := range e.p.Extra {
		if name, ok := strings.CutPrefix(x.Key, key+"."); ok {
			inner.WriteString("  " + keyText(name) + ":")
			inner.Write(bytes.ReplaceAll(x.YAML, []byte("\n"), []byte("\n  ")))
			inner.WriteByte('\n')
		}
	}
	if inner.Len() > 0 {
		e.wrote[key] = true
		e.buf.WriteString(key + ":\n")
		e.buf.Write(inner.Bytes())
	}
}
