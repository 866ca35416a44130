package dialect

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/permission"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// decoder turns the fields of one document into one profile and collects every
// problem on the way.
type decoder struct {
	file string
	doc  *document
	p    *profile.Profile
	ds   []profile.Diagnostic
	opts Options

	toolRules   []permission.Rule // from the tool list
	almostRules []field           // keys that are almost permission
	alias       func(tool string) []string
}

func (d *decoder) report(code string, at source.Origin, key, message, hint string) {
	d.ds = append(d.ds, profile.Diagnose(code, at, key, message, hint))
}

func (d *decoder) at(n *yaml.Node) source.Origin { return d.doc.origin(d.file, n) }

// deref follows an alias. Aliases of aliases do not exist in YAML.
func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	n = deref(n)
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// blank says whether a key has no value or only white space.
func blank(n *yaml.Node) bool {
	n = deref(n)
	return isNull(n) || n.Kind == yaml.ScalarNode && strings.TrimSpace(n.Value) == ""
}

func set[T any](v T, f field) profile.Value[T] {
	return profile.Value[T]{V: v, Set: true, At: f.at}
}

func (d *decoder) wrongType(f field, n *yaml.Node, want string) {
	d.report(profile.CodeWrongType, d.at(n), f.written, fmt.Sprintf("%s takes %s, not %s", f.written, want, kindName(n)), "")
}

func kindName(n *yaml.Node) string {
	switch n = deref(n); n.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	if isNull(n) {
		return "nothing"
	}
	return strconv.Quote(shorten(n.Value))
}

func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// text reads a scalar as it is written, whatever YAML would make of it: dates
// stay dates in text, 1.0 stays 1.0. A list is joined with a warning.
func (d *decoder) text(f field) profile.Value[string] {
	n := deref(f.node)
	switch {
	case isNull(n):
		return profile.Value[string]{}
	case n.Kind == yaml.ScalarNode:
		return set(n.Value, f)
	case n.Kind == yaml.SequenceNode:
		items, ok := d.scalars(f, n)
		if !ok {
			return profile.Value[string]{}
		}
		joined := strings.Join(items, ", ")
		d.report(profile.CodeJoined, d.at(n), f.written, fmt.Sprintf("%s takes text; the list was read as %q", f.written, shorten(joined)), "quote the value")
		return set(joined, f)
	}
	d.wrongType(f, n, "text")
	return profile.Value[string]{}
}

// scalars gives the items of a list of scalars.
func (d *decoder) scalars(f field, n *yaml.Node) ([]string, bool) {
	items := make([]string, 0, len(n.Content))
	for _, c := range n.Content {
		if deref(c).Kind != yaml.ScalarNode || isNull(c) {
			d.wrongType(f, c, "a list of texts")
			return nil, false
		}
		items = append(items, deref(c).Value)
	}
	return items, true
}

// list reads a list of texts, or one text split at commas.
func (d *decoder) list(f field) profile.Value[[]string] {
	n := deref(f.node)
	switch {
	case isNull(n):
		return profile.Value[[]string]{}
	case n.Kind == yaml.ScalarNode:
		items := []string{}
		for s := range strings.SplitSeq(n.Value, ",") {
			if s = strings.TrimSpace(s); s != "" {
				items = append(items, s)
			}
		}
		return set(items, f)
	case n.Kind == yaml.SequenceNode:
		if items, ok := d.scalars(f, n); ok {
			return set(items, f)
		}
		return profile.Value[[]string]{}
	}
	d.wrongType(f, n, "a list of texts")
	return profile.Value[[]string]{}
}

// oneOf reads a word of a closed set.
func (d *decoder) oneOf(f field, words ...string) profile.Value[string] {
	v := d.text(f)
	if !v.Set {
		return v
	}
	for _, w := range words {
		if v.V == w {
			return v
		}
	}
	d.report(profile.CodeNotAllowed, d.at(f.node), f.written,
		fmt.Sprintf("%s takes %s, not %q", f.written, strings.Join(words, ", "), shorten(v.V)), didYouMean(v.V, words))
	return profile.Value[string]{}
}

func didYouMean(word string, candidates []string) string {
	near := profile.Nearest(word, candidates, 1)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", near[0])
}

func (d *decoder) flag(f field) profile.Value[bool] {
	n := deref(f.node)
	if isNull(n) {
		return profile.Value[bool]{}
	}
	if b, ok := parseBool(n); ok {
		return set(b, f)
	}
	d.wrongType(f, n, "true or false")
	return profile.Value[bool]{}
}

func parseBool(n *yaml.Node) (b, ok bool) {
	if n = deref(n); n.Kind != yaml.ScalarNode {
		return false, false
	}
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off":
		return false, true
	}
	return false, false
}

// number reads a number from low to high.
func (d *decoder) number(f field, low, high float64) profile.Value[float64] {
	n := deref(f.node)
	if isNull(n) {
		return profile.Value[float64]{}
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yaml.ScalarNode || err != nil {
		d.wrongType(f, n, "a number")
		return profile.Value[float64]{}
	}
	if !(v >= low && v <= high) { // NaN too
		d.report(profile.CodeNotAllowed, d.at(n), f.written, fmt.Sprintf("%s is %s; it takes %g to %g", f.written, n.Value, low, high), "")
		return profile.Value[float64]{}
	}
	return set(v, f)
}

// count reads a whole number of at least low.
func (d *decoder) count(f field, low int64) profile.Value[int64] {
	n := deref(f.node)
	if isNull(n) {
		return profile.Value[int64]{}
	}
	v, err := strconv.ParseInt(strings.ReplaceAll(n.Value, "_", ""), 10, 64)
	if n.Kind != yaml.ScalarNode || err != nil {
		d.wrongType(f, n, "a whole number")
		return profile.Value[int64]{}
	}
	if v < low {
		d.report(profile.CodeNotAllowed, d.at(n), f.written, fmt.Sprintf("%s is %d; it takes %d or more", f.written, v, low), "")
		return profile.Value[int64]{}
	}
	return set(v, f)
}

func asInt(v profile.Value[int64]) profile.Value[int] {
	return profile.Value[int]{V: int(v.V), Set: v.Set, At: v.At}
}

// duration reads a time with its unit, such as 90s or 1h30m, above zero.
func (d *decoder) duration(f field) profile.Value[time.Duration] {
	n := deref(f.node)
	if isNull(n) {
		return profile.Value[time.Duration]{}
	}
	v, hint := parseDuration(n)
	if hint != "" {
		d.report(profile.CodeWrongType, d.at(n), f.written, fmt.Sprintf("%s takes a time above zero, not %s", f.written, kindName(n)), hint)
		return profile.Value[time.Duration]{}
	}
	return set(v, f)
}

// parseDuration gives a hint when the node is not a positive duration.
func parseDuration(n *yaml.Node) (time.Duration, string) {
	const form = "write it with its unit: 500ms, 90s, 10m, 1h30m"
	if n.Kind != yaml.ScalarNode {
		return 0, form
	}
	v, err := time.ParseDuration(n.Value)
	if _, numErr := strconv.ParseFloat(n.Value, 64); numErr == nil && n.Value != "0" {
		return 0, fmt.Sprintf("write the unit: %ss", n.Value)
	}
	if err != nil || v <= 0 {
		return 0, form
	}
	return v, ""
}

// entries gives the keys of a map under f, each as a field with a dotted key.
func (d *decoder) entries(f field) ([]field, bool) {
	n := deref(f.node)
	if isNull(n) {
		return nil, true
	}
	if n.Kind != yaml.MappingNode {
		d.wrongType(f, n, "a map")
		return nil, false
	}
	if !d.unique(f.written, n) {
		return nil, false
	}
	out := make([]field, 0, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if deref(k).Kind != yaml.ScalarNode {
			d.wrongType(f, k, "a map with plain keys")
			return nil, false
		}
		name := deref(k).Value
		written := f.written + "." + name
		key := written
		if native := kebab(name); native != name || f.key != f.written {
			key = f.key + "." + native
		}
		out = append(out, field{key: key, written: written, at: d.at(k), node: n.Content[i+1]})
	}
	return out, true
}

// unique reports keys that stand twice in a map.
func (d *decoder) unique(in string, n *yaml.Node) bool {
	const few = 16
	var seen map[string]bool
	if len(n.Content) > 2*few {
		seen = make(map[string]bool, len(n.Content)/2)
	}
	ok := true
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := deref(n.Content[i]).Value
		twice := seen[k]
		for j := 0; seen == nil && j < i && !twice; j += 2 {
			twice = deref(n.Content[j]).Value == k
		}
		if seen != nil {
			seen[k] = true
		}
		if twice {
			d.report(profile.CodeDuplicateKey, d.at(n.Content[i]), in, fmt.Sprintf("%q stands twice in %s", k, in), "keep one of the two")
			ok = false
		}
	}
	return ok
}
