package dialect

import (
	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// ReadField is a top-level key as the decoders are given it.
type ReadField struct {
	Key  string
	At   source.Origin
	Node *yaml.Node
}

// ReadDocument gives the frontmatter of a file of any format, for files that
// are no profiles; not ok when it is refused.
func ReadDocument(f *File) (fields []ReadField, ds []profile.Diagnostic, ok bool) {
	doc := f.document()
	for _, fd := range doc.fields {
		fields = append(fields, ReadField{fd.written, fd.at, fd.node})
	}
	return fields, doc.diags, !doc.broken
}

// NodeAt gives the place of a node in the file.
func NodeAt(f *File, n *yaml.Node) source.Origin { return f.document().origin(f.Name, n) }
