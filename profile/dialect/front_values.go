package dialect

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// Top is the place of the line that opens the frontmatter: that of what is missing.
func (f *Front) Top() source.Origin {
	return source.Origin{Layer: source.Profile, File: f.d.file, Line: max(1, f.d.doc.front.YAMLLine-1), Column: 1}
}

// Open makes the keys of a map ones of the Front, as KEY.NAME. It says whether the
// file has the key, and a map under it.
func (f *Front) Open(key string) bool {
	fd, ok := f.field(key)
	if !ok || isNull(fd.node) {
		return false
	}
	list, ok := f.d.entries(fd)
	for _, e := range list {
		if first, twice := f.d.doc.find(e.key); twice {
			f.d.report(profile.CodeDuplicateKey, e.at, e.written, fmt.Sprintf("%q stands twice, first in line %d", e.written, first.at.Line), "keep one of the two")
			continue
		}
		f.d.doc.fields = append(f.d.doc.fields, e)
	}
	return ok
}

// Blank says whether the file has a key with nothing, or only white space, as its
// value.
func (f *Front) Blank(key string) bool {
	fd, ok := f.field(key)
	return ok && blank(fd.node)
}

// OneOf reads a word of a closed set.
func (f *Front) OneOf(key string, words ...string) (v profile.Value[string]) {
	if fd, ok := f.field(key); ok {
		v = f.d.oneOf(fd, words...)
	}
	return v
}

// Count reads a whole number, from low to high.
func (f *Front) Count(key string, low, high int64) (v profile.Value[int]) {
	fd, ok := f.field(key)
	if !ok {
		return v
	}
	n := f.d.count(fd, low)
	if n.Set && n.V > high {
		f.d.report(profile.CodeNotAllowed, f.d.at(fd.node), fd.written, fmt.Sprintf("%s is %d; it takes %d to %d", fd.written, n.V, low, high), "")
		return v
	}
	return asInt(n)
}

// Number reads a number, from low to high.
func (f *Front) Number(key string, low, high float64) (v profile.Value[float64]) {
	if fd, ok := f.field(key); ok {
		v = f.d.number(fd, low, high)
	}
	return v
}

// Duration reads a time with its unit, such as 100ms or 1h30m, from low to high.
func (f *Front) Duration(key string, low, high time.Duration) (v profile.Value[time.Duration]) {
	fd, ok := f.field(key)
	if !ok {
		return v
	}
	v = f.d.duration(fd)
	if v.Set && (v.V < low || v.V > high) {
		f.d.report(profile.CodeNotAllowed, f.d.at(fd.node), fd.written, fmt.Sprintf("%s is %s; it takes %s to %s", fd.written, v.V, low, high), "")
		return profile.Value[time.Duration]{}
	}
	return v
}

// Items reads a list of texts, each with its place. A text alone is a list of one.
func (f *Front) Items(key string) (items []profile.Value[string]) {
	fd, ok := f.field(key)
	if !ok || isNull(fd.node) {
		return nil
	}
	n := deref(fd.node)
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
	}
	for _, c := range nodes {
		if deref(c).Kind != yaml.ScalarNode || isNull(c) {
			f.d.wrongType(fd, c, "a list of texts")
			continue
		}
		items = append(items, profile.Value[string]{V: deref(c).Value, Set: true, At: f.d.at(c)})
	}
	return items
}

// Profile reads a map of native keys as a profile without a name. A list of tools is
// the grant of what it lists, as in the dialect knot. The keys in without are not
// the profile's: they, and all others, are keys of the Front then, as with Open. It is
// nil if the file does not have the key, or no map under it.
//
// set are the same keys, as texts that resolve.Keys reads as what is written.
func (f *Front) Profile(key string, without ...string) (p *profile.Profile, set map[string]string) {
	fd, ok := f.field(key)
	if !ok || isNull(fd.node) {
		return nil, nil
	}
	n := deref(fd.node)
	if n.Kind != yaml.MappingNode {
		f.d.wrongType(fd, n, "a map of keys")
		return nil, nil
	}
	doc := *f.d.doc
	doc.fields = nil
	for _, own := range doc.fieldsOf(f.d.file, n) {
		nested := own
		nested.key, nested.written = fd.key+"."+own.key, fd.written+"."+own.written
		f.d.doc.fields = append(f.d.doc.fields, nested)
		if !slices.Contains(without, own.key) {
			doc.fields = append(doc.fields, own)
			f.read = append(f.read, nested.key)
		}
	}
	p = &profile.Profile{Dialect: "knot", File: f.d.file}
	d := &decoder{file: f.d.file, doc: &doc, p: p}
	d.keys(grammar{dialect: "knot", grants: true})
	p.Permission = append(d.toolRules, p.Permission...)
	set = d.texts()
	f.d.ds = append(f.d.ds, d.ds...)
	return p, set
}

// texts gives the fields as texts: a text as it is, a map or a list in its braces.
func (d *decoder) texts() map[string]string {
	set := map[string]string{}
	for _, f := range d.doc.fields {
		n := deref(f.node)
		switch {
		case isNull(n):
		case n.Kind == yaml.ScalarNode:
			set[f.key] = n.Value
		default:
			budget := maxExpanded
			c := expand(n, &budget)
			if c == nil { // parsing refuses what refers to so much
				continue
			}
			inBraces(c)
			if out, err := yaml.Dump(c, asPeopleWrite()); err == nil {
				set[f.key] = strings.TrimSpace(string(out))
			}
		}
	}
	return set
}

// inBraces has a value written on one line.
func inBraces(n *yaml.Node) {
	if n.Kind != yaml.ScalarNode {
		n.Style = yaml.FlowStyle
	} else if n.Tag == "!!str" {
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		inBraces(c)
	}
}
