package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// effort is how much of a schema is said. Less is tried until it fits.
type effort struct {
	depth int // levels below an input
	text  int // bytes of a description
	words int // values of an enum
}

var efforts = []effort{
	{10, defaultInnerText, 1000}, {6, defaultInnerText, 1000}, {4, 200, 500}, {3, 200, 200}, {2, 120, 100}, {1, 120, 50}, {0, 80, 20}, {0, 0, 0},
}

// Schema is the JSON Schema of the input: one flat object of all that the operation
// takes. It is made when first asked for. The problems are those of making it, and
// are not among the document's. Without a schema the operation cannot be called.
//
// It says no more than the service demands, and where the document is large, nested in
// itself or unclear less: alternatives are all anyOf, what JSON Schema can hardly say
// is left out, and the service judges in the end.
func (o *Operation) Schema() (json.RawMessage, []Problem) {
	o.doc.mu.Lock()
	defer o.doc.mu.Unlock()
	if o.schema == nil && o.made == nil {
		o.schema, o.made = o.makeSchema()
	}
	return o.schema, o.made
}

func (o *Operation) makeSchema() (json.RawMessage, []Problem) {
	for i, e := range efforts {
		w := &writer{op: o, effort: e, most: o.doc.options.MaxSchema}
		w.input()
		if w.full {
			continue
		}
		if i > 1 {
			w.problem(o.at, "its input is large: what lies deeper than %d levels is not described", e.depth)
		}
		return w.out, w.problems
	}
	return nil, []Problem{{
		At: o.at.at(), Operation: o.ID,
		Text: fmt.Sprintf("it cannot be offered: the description of its input takes more than %d bytes", o.doc.options.MaxSchema),
	}}
}

// writer writes the schema of one operation.
type writer struct {
	op *Operation
	effort
	most     int
	out      []byte
	full     bool // it became too long
	above    []node
	problems []Problem
	steps    int
}

// maxSteps bounds the work for one schema, of which not all is written.
const maxSteps = 20_000

func (w *writer) problem(at node, format string, args ...any) {
	p := Problem{At: at.at(), Operation: w.op.ID, Text: fmt.Sprintf(format, args...)}
	same := func(q Problem) bool { return q.At == p.At && q.Text == p.Text }
	if len(w.problems) < maxInputs && !slices.ContainsFunc(w.problems, same) {
		w.problems = append(w.problems, p)
	}
}

func (w *writer) raw(s string) {
	if len(w.out)+len(s) > w.most {
		w.full = true
		return
	}
	w.out = append(w.out, s...)
}

func (w *writer) quoted(s string) {
	text, _ := json.Marshal(s)
	w.raw(string(text))
}

// input writes the whole.
func (w *writer) input() {
	var required []string
	w.raw(`{"type":"object","properties":{`)
	put := func(arg string, must bool, s said, nodes ...node) {
		if w.out[len(w.out)-1] != '{' {
			w.raw(",")
		}
		w.quoted(arg)
		w.raw(":")
		w.value(nodes, w.depth, s)
		if must {
			required = append(required, arg)
		}
	}
	for _, p := range w.op.Parameters {
		put(p.Arg, p.Required, said{text: p.text}, p.schema)
	}
	if b := w.op.Body; b != nil {
		switch {
		case b.Arg != "" && b.Kind == Text:
			put(b.Arg, b.Required, said{text: join(b.text, "The body, as "+b.Type+".")}, textNode)
		case b.Arg != "":
			put(b.Arg, b.Required, said{text: b.text, file: b.Kind == File}, b.schema)
		}
		for _, f := range b.Fields {
			put(f.Arg, f.Required && b.Required, said{f.text, f.File, f.Required && !b.Required}, append([]node{f.schema}, f.more...)...)
		}
	}
	w.raw("}")
	w.required(required)
	w.raw(`,"additionalProperties":false}`)
}

// textNode is a schema of texts.
var textNode = (&file{text: []byte(`{"type":"string"}`)}).node()

// said is what is known of an input beside its schema.
type said struct {
	text   string
	file   bool // it is the path of a file, or a list of such
	needed bool // where the body is given at all
}

// after is what is said of an input after its own text.
func (s said) after() string {
	switch {
	case s.file && s.needed:
		return fileText + " " + neededText
	case s.file:
		return fileText
	case s.needed:
		return neededText
	}
	return ""
}

const (
	fileText   = "The path of a file in the workspace."
	neededText = "Required if the body is given."
)

func join(a, b string) string { return strings.TrimSpace(strings.TrimSpace(a) + " " + b) }

func (w *writer) required(names []string) {
	if len(names) == 0 {
		return
	}
	text, _ := json.Marshal(names)
	w.raw(`,"required":` + string(text))
}

// value writes the schema of what must fit all the nodes.
func (w *writer) value(nodes []node, depth int, s said) {
	w.steps++
	if w.steps > maxSteps {
		w.full = true
	}
	if w.full {
		return
	}
	f, err := w.op.doc.refs.flatten(nodes, w.above...)
	if err != nil {
		w.problem(nodes[0], "a value is not described: %v", err)
	}
	if s.file {
		w.files(f, s)
		return
	}
	above := len(w.above)
	w.above = append(w.above, f.targets...)
	w.raw("{")
	start := len(w.out)
	w.head(f, s)
	if depth > 0 && !f.again {
		w.inner(f, depth)
	} else if slices.Contains(f.types, "array") {
		w.key("items", "{}")
	}
	if !w.full && len(w.out) > start && w.out[start] == ',' {
		w.out = slices.Delete(w.out, start, start+1)
	}
	w.raw("}")
	w.above = w.above[:above]
}

// files writes the schema of the path of a file, or of a list of such.
func (w *writer) files(f *flat, s said) {
	text := join(cut(firstOf(s.text, f.description), w.text), s.after())
	if slices.Contains(f.types, "array") || len(f.items) > 0 {
		w.raw(`{"type":"array","items":{"type":"string"},"description":`)
	} else {
		w.raw(`{"type":"string","description":`)
	}
	w.quoted(text)
	w.raw("}")
}

func firstOf(a, b string) string {
	if strings.TrimSpace(a) != "" {
		return a
	}
	return b
}

func (w *writer) key(name, raw string) { w.raw(`,"` + name + `":` + raw) }

// head writes what needs no further level. Each key is written after a comma.
func (w *writer) head(f *flat, s said) {
	if f.never {
		w.key("not", "{}")
		return
	}
	switch types := f.types; {
	case len(types) == 0 && len(f.props) > 0:
		w.types([]string{"object"}, f.nullable)
	case len(types) == 0 && len(f.items) > 0:
		w.types([]string{"array"}, f.nullable)
	case len(types) > 0:
		w.types(types, f.nullable)
	}
	text := firstOf(firstOf(s.text, f.description), f.title)
	if f.deprecated {
		text = join(text, "Deprecated.")
	}
	if f.format == "binary" && slices.Contains(f.types, "string") {
		text = join(text, "Base64.")
	}
	if text = join(cut(text, w.text), s.after()); text != "" {
		w.raw(`,"description":`)
		w.quoted(text)
	}
	w.enum(f)
	if d := f.standard; d.there() && d.to-d.from <= maxWord {
		w.compact("default", d)
	}
	if f.format != "" && f.format != "binary" && len(f.format) <= 40 {
		w.raw(`,"format":`)
		w.quoted(f.format)
	}
	w.bounds(f)
}

func (w *writer) types(types []string, nullable bool) {
	if nullable && !slices.Contains(types, "null") {
		types = append(slices.Clone(types), "null")
	}
	if len(types) == 1 {
		w.key("type", strconv.Quote(types[0]))
		return
	}
	text, _ := json.Marshal(types)
	w.key("type", string(text))
}

func (w *writer) compact(key string, n node) {
	var b bytes.Buffer
	if json.Compact(&b, n.raw()) == nil {
		w.key(key, b.String())
	}
}

// inner writes what lies below a value.
func (w *writer) inner(f *flat, depth int) {
	if f.tooMany {
		w.problem(w.op.at, "a value is made of more than %d schemas, or has more than %d properties or alternatives; the rest does not count", maxParts, maxProps)
	}
	if len(f.props) > 0 {
		w.properties(f, depth)
	}
	switch f.extra.kind() {
	case '{':
		w.raw(`,"additionalProperties":`)
		w.value([]node{f.extra}, depth-1, said{})
	case 'f':
		if f.parts == 1 || len(f.targets) == 1 && f.parts == 2 {
			w.key("additionalProperties", "false")
		}
	}
	switch {
	case len(f.items) > 0 && !f.prefix && f.items[0].kind() != '[':
		w.raw(`,"items":`)
		w.value(f.items, depth-1, said{})
	case slices.Contains(f.types, "array"):
		w.key("items", "{}")
	}
	for i, group := range f.any {
		if i == 0 {
			w.raw(`,"anyOf":[`)
		} else {
			w.raw(`,"allOf":[{"anyOf":[`)
		}
		w.group(group, depth, f.nullable && len(f.types) == 0)
		w.raw("]")
		if i > 0 {
			w.raw("}]")
			break // of more than two, the rest is the service's to judge
		}
	}
}

func (w *writer) group(group []node, depth int, nullable bool) {
	for i, n := range group {
		if i > 0 {
			w.raw(",")
		}
		w.value([]node{n}, depth-1, said{})
		if w.full {
			return
		}
	}
	if nullable {
		w.raw(`,{"type":"null"}`)
	}
}

func (w *writer) properties(f *flat, depth int) {
	var required []string
	w.raw(`,"properties":{`)
	start := len(w.out)
	hidden := map[string]bool{}
	for _, p := range f.props {
		if inner, _ := w.op.doc.refs.flatten(p.nodes); inner.readOnly {
			hidden[p.name] = true
			continue
		}
		if len(w.out) > start {
			w.raw(",")
		}
		w.quoted(p.name)
		w.raw(":")
		w.value(p.nodes, depth-1, said{})
		if w.full {
			return
		}
	}
	w.raw("}")
	for _, name := range f.required {
		if !hidden[name] && !slices.Contains(required, name) {
			required = append(required, name)
		}
	}
	w.required(required)
}

// cut is a text of at most n bytes without control characters; 0: none.
func cut(s string, n int) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return -1
		}
		return r
	}, s[:min(len(s), 4*n+64)]))
	if len(s) <= n {
		return s
	}
	if n == 0 {
		return ""
	}
	s = strings.ToValidUTF8(s[:max(0, n-len("…"))], "")
	if i := strings.LastIndexAny(s, " \n"); i > len(s)*3/4 {
		s = s[:i]
	}
	return strings.TrimSpace(s) + "…"
}
