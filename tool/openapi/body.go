package openapi

import (
	"cmp"
	"slices"
	"strings"
)

// mediaType is a media type without its parameters, and how a body of it is written;
// an empty kind: in no way that is known.
func mediaType(text string) (media string, kind BodyKind) {
	media, _, _ = strings.Cut(text, ";")
	media = strings.ToLower(strings.TrimSpace(media))
	main, sub, _ := strings.Cut(media, "/")
	switch {
	case media == "*/*" || media == "application/*" || media == "":
		return "application/json", JSON
	case sub == "json" || strings.HasSuffix(sub, "+json"):
		return media, JSON
	case media == "application/x-www-form-urlencoded":
		return media, Form
	case media == "multipart/form-data" || media == "multipart/*":
		return "multipart/form-data", Multipart
	case main == "multipart":
		return media, ""
	case main == "text" && sub == "*":
		return "text/plain", Text
	case main == "text", sub == "xml", strings.HasSuffix(sub, "+xml"), strings.HasSuffix(sub, "yaml"), sub == "graphql", sub == "x-ndjson", sub == "sql", sub == "javascript":
		return media, Text
	case sub == "*":
		return "", File
	}
	return media, File
}

// kinds is the order in which a way to write a body is chosen.
var kinds = []BodyKind{JSON, Form, Multipart, Text, File}

// media is one of the media types of a body.
type media struct {
	name   string
	typ    string
	kind   BodyKind
	at     node
	schema node
	coding node
}

// rank orders media types: by kind, and plain JSON before its relatives.
func (m media) rank() int {
	n := 4 * slices.Index(kinds, m.kind)
	if m.kind == JSON && m.typ != "application/json" {
		n++
	}
	if strings.HasPrefix(m.name, "*") {
		n += 2
	}
	return n
}

func (r *reader) body(op *Operation, n node) *Problem {
	b := &Body{}
	at := n
	n, err := r.refs.resolve(n)
	if err != nil {
		return leftOut(at, "its body cannot be read: %v", err)
	}
	b.Required = n.get("required").isTrue()
	b.text = n.get("description").str()
	var all []media
	unknown := ""
	n.get("content").each(func(name string, at, v node) bool {
		m := media{name: name, at: at, schema: v.get("schema"), coding: v.get("encoding")}
		if m.typ, m.kind = mediaType(name); m.kind == "" {
			unknown = name
			return true
		}
		all = append(all, m)
		return len(all) < maxInputs
	})
	if len(all) == 0 {
		if unknown == "" {
			unknown = "nothing"
		}
		if b.Required {
			return leftOut(n, "its body is of %s, which is not written", short(unknown))
		}
		r.problem(n.at(), op, "its body is left out: it is of %s, which is not written", short(unknown))
		return nil
	}
	slices.SortStableFunc(all, func(a, b media) int { return cmp.Compare(a.rank(), b.rank()) })
	for _, m := range all[1:] {
		b.Others = append(b.Others, m.name)
	}
	return r.fields(op, b, all[0])
}

// fields makes inputs of what a body holds: of a plain object one of each property,
// else one of the whole.
func (r *reader) fields(op *Operation, b *Body, m media) *Problem {
	b.Kind, b.Type, b.schema = m.kind, m.typ, m.schema
	op.Body = b
	if m.kind == Text || m.kind == File {
		b.Arg = "body"
		return nil
	}
	f, err := r.refs.flatten([]node{m.schema})
	if err != nil {
		op.Body = nil
		if b.Required {
			return leftOut(m.at, "its body cannot be read: %v", err)
		}
		r.problem(m.at.at(), op, "its body is left out, for it cannot be read: %v", err)
		return nil
	}
	if !f.plain() {
		b.Arg = "body"
		return nil
	}
	b.text = cmp.Or(b.text, f.description)
	for _, p := range f.props {
		field, err := r.field(p, m, slices.Contains(f.required, p.name))
		if err != nil {
			r.problem(m.at.at(), op, "%s of its body: %v", short(p.name), err)
		}
		if field != nil {
			b.Fields = append(b.Fields, *field)
		}
		if len(b.Fields) > maxInputs {
			return leftOut(m.at, "its body has more than %d properties", maxInputs)
		}
	}
	return nil
}

// field makes an input of a property; nil: it is not for a request.
func (r *reader) field(p prop, m media, required bool) (*Field, error) {
	f, err := r.refs.flatten(p.nodes)
	if f.readOnly {
		return nil, nil
	}
	field := &Field{Name: p.name, Required: required, schema: p.nodes[0], more: p.nodes[1:]}
	if m.kind == JSON {
		return field, err
	}
	code := m.coding.get(p.name)
	field.Type, _, _ = strings.Cut(code.get("contentType").str(), ",")
	field.Style, field.AllowReserved = code.get("style").str(), code.get("allowReserved").isTrue()
	if m.kind == Form && !slices.Contains(styles["query"], field.Style) {
		field.Style = "form"
	}
	field.Explode = field.Style == "form"
	if e := code.get("explode"); e.there() {
		field.Explode = e.isTrue()
	}
	if m.kind == Multipart {
		field.File = r.refs.isFile(f)
	}
	return field, err
}

// oldBody makes a body of 2.0's parameters.
func (r *reader) oldBody(op *Operation, params []node, consumes []string) *Problem {
	if len(params) == 0 {
		return nil
	}
	if i := slices.IndexFunc(params, func(n node) bool { return n.get("in").str() == "body" }); i >= 0 {
		n := params[i]
		m := media{name: "application/json", typ: "application/json", kind: JSON, at: n, schema: n.get("schema")}
		for i, name := range consumes {
			typ, kind := mediaType(name)
			next := media{name: name, typ: typ, kind: kind, at: n, schema: m.schema}
			if kind != "" && kind != Form && kind != Multipart && (i == 0 || next.rank() < m.rank()) {
				m = next
			}
		}
		return r.fields(op, &Body{Required: n.get("required").isTrue(), text: n.get("description").str()}, m)
	}
	b := &Body{Kind: Form, Type: "application/x-www-form-urlencoded"}
	op.Body = b
	for _, n := range params {
		f := Field{Name: n.get("name").scalar(), Required: n.get("required").isTrue(), Style: "form", schema: n, text: n.get("description").str()}
		if f.Name == "" || len(f.Name) > maxWord {
			return leftOut(n, "a parameter has no name, or one of more than %d bytes", maxWord)
		}
		format := n.get("collectionFormat").str()
		f.Explode = format == "multi"
		f.Style = cmp.Or(oldFormats[format], f.Style)
		f.File = n.get("type").str() == "file"
		b.Required = b.Required || f.Required
		b.Fields = append(b.Fields, f)
	}
	file := slices.ContainsFunc(b.Fields, func(f Field) bool { return f.File })
	only := len(consumes) > 0 && !slices.ContainsFunc(consumes, func(s string) bool { _, k := mediaType(s); return k == Form })
	if file || only {
		b.Kind, b.Type = Multipart, "multipart/form-data"
	}
	return nil
}
