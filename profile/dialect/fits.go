package dialect

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/profile/schema"
)

// strict says whether native keys that are only kept must have their native
// form. In other dialects a key of the same name may be another thing.
func (d *decoder) strict() bool {
	switch d.p.Dialect {
	case "", "roster", "knot":
		return true
	}
	return false
}

// fits checks a value against what its key takes, and reports every problem. It
// says whether there was no error.
func (d *decoder) fits(f field, s *schema.Shape) bool {
	before := len(d.ds)
	d.check(f, s)
	return !profile.Refused(d.ds[before:])
}

func (d *decoder) check(f field, s *schema.Shape) {
	n := deref(f.node)
	if isNull(n) {
		return
	}
	of := form(s, n)
	switch {
	case of == nil:
		d.wrongType(f, n, strings.ReplaceAll(s.Takes(), "`", ""))
	case n.Kind == yaml.MappingNode:
		d.checkMap(f, of)
	case n.Kind == yaml.SequenceNode && of.Each != nil:
		for _, item := range n.Content {
			d.check(field{key: f.key, written: f.written, at: d.at(item), node: item}, of.Each)
		}
	default:
		d.checkScalar(f, of)
	}
}

// form gives the shape among the alternatives that a value of this kind can
// have. A list is also taken where text is, and a text where a list of texts is.
func form(s *schema.Shape, n *yaml.Node) *schema.Shape {
	var second *schema.Shape
	for ; s != nil; s = s.Or {
		switch {
		case s.Kind == schema.Any,
			s.Kind == schema.Map && n.Kind == yaml.MappingNode,
			s.Kind == schema.List && n.Kind == yaml.SequenceNode,
			s.Kind != schema.Map && s.Kind != schema.List && n.Kind == yaml.ScalarNode:
			return s
		case s.Kind == schema.List && s.Each == nil && n.Kind == yaml.ScalarNode,
			s.Kind == schema.Text && n.Kind == yaml.SequenceNode:
			second = s
		}
	}
	return second
}

func (d *decoder) checkScalar(f field, s *schema.Shape) {
	if s.None && strings.EqualFold(deref(f.node).Value, "none") {
		return
	}
	switch s.Kind {
	case schema.Text:
		d.text(f)
	case schema.Bool:
		d.flag(f)
	case schema.Number:
		d.number(f, s.Low, s.High)
	case schema.Count:
		d.count(f, int64(s.Low))
	case schema.Duration:
		d.duration(f)
	case schema.Word:
		d.oneOf(f, s.Words...)
	case schema.List:
		d.list(f)
	}
}

func (d *decoder) checkMap(f field, s *schema.Shape) {
	subs, _ := d.entries(f)
	for _, sub := range subs {
		if s.Keys == nil {
			if s.Each != nil {
				d.check(sub, s.Each)
			}
			continue
		}
		name := sub.key[len(f.key)+1:]
		if k, ok := s.Find(name); ok {
			d.check(sub, &k.Shape)
			continue
		}
		d.report(profile.CodeUnknownKey, sub.at, sub.written, fmt.Sprintf("%s is not a known key; it is kept and has no effect", sub.written),
			didYouMean(sub.key, within(f.key, s.Names())))
	}
}
