package openapi

import (
	"slices"
)

// flat is a schema with its references followed and its allOf merged: what a value
// must fit at its own level. Where two parts say different things of the same, the
// first counts: the service judges in the end.
type flat struct {
	title, description string
	types              []string
	nullable           bool
	never              bool // nothing fits it
	readOnly           bool
	deprecated         bool
	format             string
	media              bool // 3.1: it holds another media type
	encoded            bool // 3.1: as text
	props              []prop
	required           []string
	extra              node // of additionalProperties
	items              []node
	prefix             bool // the first items have schemas of their own
	any                [][]node
	enum               node
	constant           node
	standard           node // its default
	bounds             map[string]node
	parts              int // how many schemas it is made of

	targets []node // what references have led to
	tooMany bool
	again   bool // it is what it is itself part of
}

// prop is a property and all that its value must fit.
type prop struct {
	name  string
	nodes []node
}

const (
	// maxParts bounds how many schemas one level is merged of.
	maxParts = 200
	// maxProps bounds the properties of an object, and the alternatives of a value.
	maxProps = 1000
)

// bounds are the keywords that are taken over as they are.
var boundKeys = []string{
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"minLength", "maxLength", "pattern", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
}

// plain says that a value is an object of known properties and of nothing else.
func (f *flat) plain() bool {
	object := len(f.types) == 0 || slices.Equal(f.types, []string{"object"})
	return object && len(f.props) > 0 && len(f.any) == 0 && !f.never && f.extra.kind() != 't' && f.extra.kind() != '{'
}

// flatten merges what a value must fit. An error says which reference cannot be
// followed; the rest is there all the same.
// above are the targets of what it is part of.
func (r *resolver) flatten(nodes []node, above ...node) (*flat, error) {
	f := &flat{}
	var err error
	for _, n := range nodes {
		if e := r.gather(f, n, above, len(nodes) > 1); err == nil {
			err = e
		}
	}
	return f, err
}

// gather adds what one schema says; merged: it is one of several.
func (r *resolver) gather(f *flat, n node, above []node, merged bool) error {
	f.parts++
	if f.parts > maxParts {
		f.tooMany = true
		return nil
	}
	switch n.kind() {
	case 'f':
		f.never = true
		return nil
	case '{':
	default:
		return nil
	}
	var err error
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	var ref, all node
	n.each(func(key string, _, v node) bool {
		switch key {
		case "$ref":
			ref = v
		case "allOf":
			all = v
		default:
			f.keyword(key, v)
		}
		return true
	})
	if ref.kind() == '"' {
		keep(r.follow(f, n, above, merged))
	}
	first := true
	all.items(func(v node) bool {
		last := space(v.f.text, v.to) == all.to-1
		keep(r.gather(f, v, above, merged || !first || !last))
		first = false
		return !f.tooMany
	})
	return err
}

// follow adds what a reference leads to. What leads back to where it is part of ends
// there, but a kind of thing may have the properties of that of which it is one: only
// the list of kinds is not repeated.
func (r *resolver) follow(f *flat, n node, above []node, merged bool) error {
	to, err := r.resolve(n)
	if err != nil || slices.ContainsFunc(f.targets, to.is) {
		return err
	}
	f.targets = append(f.targets, to)
	kinds := len(f.any)
	err = r.gather(f, to, above, merged)
	if slices.ContainsFunc(above, to.is) {
		f.again = f.again || !merged || len(f.any) == kinds
		f.any = f.any[:kinds]
	}
	return err
}

// keyword takes over one keyword of a schema.
func (f *flat) keyword(key string, v node) {
	switch key {
	case "title":
		f.title = first(f.title, v)
	case "description":
		f.description = first(f.description, v)
	case "type":
		f.typed(v)
	case "nullable", "x-nullable":
		f.nullable = f.nullable || v.isTrue()
	case "readOnly":
		f.readOnly = f.readOnly || v.isTrue()
	case "deprecated":
		f.deprecated = f.deprecated || v.isTrue()
	case "format":
		f.format = first(f.format, v)
	case "contentMediaType":
		f.media = true
	case "contentEncoding":
		f.encoded = true
	case "properties":
		v.each(func(name string, _, p node) bool { return f.property(name, p) })
	case "required":
		if v.kind() == '[' { // of a 2.0 parameter it is a truth value
			f.required = append(f.required, v.strings()...)
		}
	case "additionalProperties":
		f.extra = either(f.extra, v)
	case "items":
		f.items = append(f.items, v)
	case "prefixItems":
		f.prefix = true
	case "oneOf", "anyOf":
		f.alternatives(v)
	case "enum":
		f.enum = either(f.enum, v)
	case "const":
		f.constant = either(f.constant, v)
	case "default":
		f.standard = either(f.standard, v)
	default:
		if slices.Contains(boundKeys, key) {
			if f.bounds == nil {
				f.bounds = map[string]node{}
			}
			f.bounds[key] = either(f.bounds[key], v)
		}
	}
}

func first(have string, v node) string {
	if have != "" {
		return have
	}
	return v.str()
}

func either(have, v node) node {
	if have.there() {
		return have
	}
	return v
}

func (f *flat) property(name string, p node) bool {
	for i := range f.props {
		if f.props[i].name == name {
			f.props[i].nodes = append(f.props[i].nodes, p)
			return true
		}
	}
	if len(f.props) == maxProps {
		f.tooMany = true
		return false
	}
	f.props = append(f.props, prop{name, []node{p}})
	return true
}

func (f *flat) alternatives(v node) {
	var group []node
	v.items(func(a node) bool {
		f.tooMany = f.tooMany || len(group) == maxProps
		if !f.tooMany {
			group = append(group, a)
		}
		return !f.tooMany
	})
	if len(group) > 0 {
		f.any = append(f.any, group)
	}
}

// jsonTypes are those of JSON Schema.
var jsonTypes = []string{"null", "boolean", "object", "array", "number", "string", "integer"}

// typed narrows the types to those of v.
func (f *flat) typed(v node) {
	names := v.strings()
	if v.kind() == '"' {
		names = []string{v.str()}
	}
	if slices.Contains(names, "file") { // 2.0
		f.media, names = true, []string{"string"}
	}
	names = slices.DeleteFunc(names, func(s string) bool { return !slices.Contains(jsonTypes, s) })
	if i := slices.Index(names, "null"); i >= 0 {
		f.nullable = len(names) > 1 || f.nullable
		if len(names) > 1 {
			names = slices.Delete(names, i, i+1)
		}
	}
	if len(names) == 0 {
		return
	}
	if len(f.types) == 0 {
		f.types = names
		return
	}
	both := slices.DeleteFunc(slices.Clone(f.types), func(s string) bool { return !slices.Contains(names, s) })
	if len(both) > 0 {
		f.types = both
	}
}

// isFile says whether a part of a multipart body is a file, or a list of files.
func (r *resolver) isFile(f *flat) bool {
	if f.bytes() {
		return true
	}
	if len(f.items) == 0 || len(f.types) > 0 && !slices.Contains(f.types, "array") {
		return false
	}
	inner, _ := r.flatten(f.items)
	return inner.bytes()
}

// bytes says whether a value is bytes that JSON cannot hold as they are.
func (f *flat) bytes() bool { return f.format == "binary" || f.media && !f.encoded }
