package resolve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Difference says in which fields two explanations differ. Where they were written
// is none, and neither is the name.
type Difference struct {
	A      Side                `json:"a"`
	B      Side                `json:"b"`
	Fields map[string]TwoSided `json:"fields"` // by native key

	keys []string // in the order of values
}

// Side is what is compared. Label is how it was asked for, such as NAME@REVISION.
type Side struct {
	Label    string `json:"label"`
	Name     string `json:"name"`
	Revision string `json:"revision"`
}

// TwoSided is a field that differs. One that only one side has is null on the
// other.
type TwoSided struct {
	A *Field `json:"a"`
	B *Field `json:"b"`
}

// Differences compares two explanations.
func Differences(labelA, labelB string, a, b Explanation) Difference {
	d := Difference{
		A: Side{labelA, a.Name, a.Revision}, B: Side{labelB, b.Name, b.Revision}, Fields: map[string]TwoSided{},
	}
	for _, key := range append(a.keys(), b.keys()...) {
		if key == "name" || key == "revision" || slices.Contains(d.keys, key) {
			continue
		}
		fa, inA := a.Fields[key]
		fb, inB := b.Fields[key]
		if inA == inB && bytes.Equal(placeless(fa.Value), placeless(fb.Value)) {
			continue
		}
		var two TwoSided
		if inA {
			two.A = &fa
		}
		if inB {
			two.B = &fb
		}
		d.keys = append(d.keys, key)
		d.Fields[key] = two
	}
	return d
}

// placeless is a value without the places in it.
func placeless(v any) []byte {
	if rules, ok := v.([]Rule); ok {
		rules = slices.Clone(rules)
		for i := range rules {
			rules[i].Place = Place{}
		}
		v = rules
	}
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Append(nil, v) // none of the values of a spec
	}
	return data
}

// WriteText prints the difference: for each key both values, with place and
// layer; of rules those that only one side has.
func (d Difference) WriteText(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, key := range d.keys {
		two := d.Fields[key]
		a, b := lines(two.A), lines(two.B)
		if rules(two.A) || rules(two.B) {
			onlyA, onlyB := without(a, b), without(b, a)
			if len(onlyA)+len(onlyB) > 0 {
				a, b = onlyA, onlyB
			}
		} else if len(a) == 1 && len(b) == 1 {
			a[0].value, b[0].value = apart(a[0].value, b[0].value)
		}
		for _, l := range a {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", key, d.A.Label, cell(l.value), l.at, l.at.Layer)
		}
		for _, l := range b {
			fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\n", key, d.B.Label, cell(l.value), l.at, l.at.Layer)
		}
	}
	return tw.Flush()
}

type line struct {
	value string
	at    Place
}

func rules(f *Field) bool {
	if f == nil {
		return false
	}
	_, ok := f.Value.([]Rule)
	return ok
}

// lines are what is shown of a field.
func lines(f *Field) (out []line) {
	if f == nil {
		return nil
	}
	list, ok := f.Value.([]Rule)
	if !ok {
		return []line{{show(f.Value), f.Origin}}
	}
	for _, r := range list {
		text := fmt.Sprintf("%s %q %s", r.Tool, r.Subject, r.Effect)
		if r.Counts != r.Effect {
			text += fmt.Sprintf(" (counts as %s)", r.Counts)
		}
		out = append(out, line{text, r.Place})
	}
	return out
}

// without gives the lines that the other side has not as often.
func without(list, other []line) (out []line) {
	n := map[string]int{}
	for _, l := range other {
		n[l.value]++
	}
	for _, l := range list {
		if n[l.value]--; n[l.value] < 0 {
			out = append(out, l)
		}
	}
	return out
}

// apart cuts two texts to the first line in which they differ, so that what is
// shown of them does.
func apart(a, b string) (x, y string) {
	la, lb := strings.Split(a, "\n"), strings.Split(b, "\n")
	i := 0
	for i < len(la) && i < len(lb) && la[i] == lb[i] {
		i++
	}
	if i == 0 {
		return a, b
	}
	from := func(lines []string) string {
		if i >= len(lines) {
			return fmt.Sprintf("(ends before line %d)", i+1)
		}
		return fmt.Sprintf("line %d: %s", i+1, strings.Join(lines[i:], "\n"))
	}
	return from(la), from(lb)
}
