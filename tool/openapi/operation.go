package openapi

import "encoding/json"

// Operation is one thing that a service can be asked for.
type Operation struct {
	// ID is unique within the document and holds letters, digits, "_" and "-" only,
	// at most 64. It does not depend on the filter or on the order of operations.
	ID          string
	OperationID string // as it stands in the document; may be empty
	Method      string // in capitals
	Path        string // with {parameters}
	Summary     string
	Description string
	Tags        []string
	Deprecated  bool
	// Parameters are in the document's order, those of the path first. None has the
	// name of a header that a client sets by itself.
	Parameters []Parameter
	Body       *Body // nil: there is none
	// Security lists alternatives, each of which is met by all of its requirements;
	// empty: none is needed. An alternative without requirements is met by every call.
	Security [][]Requirement
	// Servers are those of the operation, else of its path, else of the document.
	Servers []ServerURL
	File    string // in which it stands
	Line    int    // at which it stands

	doc    *Document
	at     node
	schema json.RawMessage
	made   []Problem
}

// Parameter is a named part of a request outside of its body.
type Parameter struct {
	Name string // as the service knows it
	Arg  string // its name in the input
	In   string // "path", "query", "header" or "cookie"
	// Style is how lists and objects are written: "simple", "label", "matrix", "form",
	// "spaceDelimited", "pipeDelimited", "deepObject", or 2.0's "tabDelimited". It is
	// never empty, but of no meaning with Content.
	Style         string
	Explode       bool
	Required      bool
	AllowReserved bool
	// Content is the media type in which the value is written; empty: by Style.
	Content string

	schema node
	text   string
}

// BodyKind is how a body is written.
type BodyKind string

// The kinds of bodies.
const (
	JSON      BodyKind = "json"
	Form      BodyKind = "form"      // application/x-www-form-urlencoded
	Multipart BodyKind = "multipart" // multipart/form-data
	Text      BodyKind = "text"      // as the input has it: text, XML, YAML …
	File      BodyKind = "file"      // the bytes of a file of the workspace
)

// Body is what a request carries.
type Body struct {
	Kind BodyKind
	// Type is the media type, without a range: "application/json".
	Type     string
	Required bool
	// Arg is the one input that is the whole body; empty: it is made of Fields.
	Arg    string
	Fields []Field
	// Others are the media types that the service takes too, and that are not used.
	Others []string

	schema node
	text   string
}

// Field is a property of a body, which is an input of its own.
type Field struct {
	Name     string
	Arg      string
	Required bool
	// File says that the input is the path of a file of the workspace, or a list of
	// such, whose bytes are sent.
	File bool
	// Type is the media type of a part of a multipart body; empty: what fits its value.
	Type string
	// Style, Explode and AllowReserved are of a form, as those of a query parameter.
	// An empty Style of a part means that it is written as its media type.
	Style         string
	Explode       bool
	AllowReserved bool

	schema node
	more   []node // what it must fit besides
	text   string
}

// Args lists the names of the inputs, those of parameters first.
func (o *Operation) Args() []string {
	var names []string
	for _, p := range o.Parameters {
		names = append(names, p.Arg)
	}
	if b := o.Body; b != nil {
		if b.Arg != "" {
			names = append(names, b.Arg)
		}
		for _, f := range b.Fields {
			names = append(names, f.Arg)
		}
	}
	return names
}
