// Package openapi makes tools of the operations that an OpenAPI document describes.
//
// Documents are read here and not by a library: of a document with a thousand
// operations an agent is offered a few, so the text is kept as it is and looked into
// where it is asked for. Everything in a document is somebody else's word: it is
// bounded, and nothing that it says is fetched or started.
package openapi

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/rosterrun/roster/source"
)

// Source is the text of a document.
type Source struct {
	Name string // as it is named in problems: a path or a URL
	Data []byte // JSON or YAML; it must not be changed
	// Dir is the document's folder, in which other files may be referred to; nil:
	// none may be. It is used by Load only.
	Dir *os.Root
}

// Options are the bounds of a document and the choice of operations. The zero value
// has the defaults.
type Options struct {
	Filter Filter
	// MaxBytes bounds the text of the document and of the files that it refers to,
	// together; 0: 32 MiB.
	MaxBytes int
	// MaxYAML bounds what of a file in YAML must be read at once, which takes much
	// memory: the whole if it has an anchor or begins with a brace, else the longest of
	// its parts; 0: 4 MiB.
	MaxYAML int
	// MaxOperations bounds the operations before any filter; 0: 20,000.
	MaxOperations int
	// MaxSchema bounds the bytes of the schema of an operation's input; 0: 32 KiB.
	MaxSchema int
	// MaxText bounds the bytes of a description; 0: 1,024 for an operation and 300
	// within a schema.
	MaxText int
}

const (
	defaultBytes      = 32 << 20
	defaultYAML       = 4 << 20
	defaultOperations = 20_000
	defaultSchema     = 32 << 10
	defaultText       = 1024
	defaultInnerText  = 300
)

func (o Options) filled() Options {
	fill := func(n *int, otherwise int) {
		if *n <= 0 {
			*n = otherwise
		}
	}
	fill(&o.MaxBytes, defaultBytes)
	fill(&o.MaxYAML, min(defaultYAML, o.MaxBytes))
	fill(&o.MaxOperations, defaultOperations)
	fill(&o.MaxSchema, defaultSchema)
	fill(&o.MaxText, defaultText)
	return o
}

// Document is what is known of a document. It is safe for concurrent use.
type Document struct {
	Name        string // that of its source
	Format      string // the version of the format, as "3.1.0" or "2.0"
	Title       string
	Version     string
	Description string
	// Operations are those that the filter chose, in the document's order.
	Operations []*Operation
	// Total is how many operations there are without the filter.
	Total int
	// Servers are those of the whole document.
	Servers []ServerURL
	// SecuritySchemes are by their names in Requirement.
	SecuritySchemes map[string]SecurityScheme
	// Problems say what was left out or read otherwise than it stands, and why.
	Problems []Problem

	options Options
	refs    resolver
	old     bool // Swagger 2.0

	mu sync.Mutex // of what schemas are made with
}

// Problem is what is wrong with a place of a document. As an error it is why a
// document is refused.
type Problem struct {
	At source.Origin
	// Operation is the ID of the operation that it is about; empty: the document.
	Operation string
	Text      string
}

// Error gives the place and what is wrong with it.
func (p *Problem) Error() string { return fmt.Sprintf("%s: %s", p.At, p.Message()) }

// Message is what is wrong, and with which operation.
func (p *Problem) Message() string {
	if p.Operation != "" {
		return p.Operation + ": " + p.Text
	}
	return p.Text
}

// ServerURL is an address at which operations are. It may be relative to where the
// document is from, and hold {variables}.
type ServerURL struct {
	URL         string
	Description string
	Variables   []Variable
}

// Variable is a part of a server's address.
type Variable struct {
	Name, Default string
	Enum          []string // what it may be; nil: anything
}

// SecurityScheme is a way to say who calls.
type SecurityScheme struct {
	Type   string // "apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"; 2.0's "basic" is http
	Scheme string // of http: "basic", "bearer", in lower case
	Name   string // of apiKey: that of the header, query parameter or cookie
	In     string // of apiKey: "header", "query" or "cookie"
}

// Requirement is one thing that a call must have to be allowed.
type Requirement struct {
	Scheme string
	Scopes []string
}

// maxProblems bounds what is said of one document.
const maxProblems = 1000

// Load reads a document. An error is a *Problem where the document is refused for
// what it says; what is wrong with a part of it leaves that part out, and is among
// the Problems.
func Load(ctx context.Context, s Source, o Options) (*Document, error) {
	o = o.filled()
	d := &Document{Name: s.Name, SecuritySchemes: map[string]SecurityScheme{}, options: o}
	folder, base := path.Split(filepath.ToSlash(s.Name))
	d.refs = resolver{dir: s.Dir, left: o.MaxBytes, yaml: o.MaxYAML, base: folder, files: map[string]*file{}, bad: map[string]error{}}
	root, err := d.refs.add(s.Name, base, s.Data)
	if err != nil {
		return nil, err
	}
	r := &reader{Document: d, ctx: ctx, root: root.node()}
	if err := r.read(); err != nil {
		return nil, err
	}
	d.Problems = append(d.Problems, d.choose()...)
	if s.Dir != nil && root.refersOut() { // the folder is looked into while it is open
		for _, op := range d.Operations {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			op.Schema()
		}
	}
	d.refs.dir = nil
	d.Problems = slices.Clip(d.Problems[:min(len(d.Problems), maxProblems)])
	return d, nil
}
