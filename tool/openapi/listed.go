package openapi

import (
	"encoding/json"
	"slices"
)

// Listed is an operation as lists of them show it.
type Listed struct {
	ID          string          `json:"id"`
	OperationID string          `json:"operation_id,omitempty"`
	Method      string          `json:"method"`
	Path        string          `json:"path"`
	Summary     string          `json:"summary,omitempty"`
	Description string          `json:"description,omitempty"`
	Tags        []string        `json:"tags,omitempty"`
	Deprecated  bool            `json:"deprecated,omitempty"`
	Inputs      []string        `json:"inputs"`
	Body        string          `json:"body,omitempty"` // its media type
	Line        int             `json:"line"`
	Schema      json.RawMessage `json:"schema,omitempty"` // of the input
}

// Listed is the operation as lists show it, without its schema.
func (o *Operation) Listed() Listed {
	l := Listed{
		ID: o.ID, OperationID: o.OperationID, Method: o.Method, Path: o.Path, Summary: o.Summary, Description: o.Description,
		Tags: o.Tags, Deprecated: o.Deprecated, Inputs: o.Args(), Line: o.Line,
	}
	if l.Inputs == nil {
		l.Inputs = []string{}
	}
	if o.Body != nil {
		l.Body = o.Body.Type
	}
	return l
}

// Find is the operation of that ID or operationId, or the one at "METHOD /path"; nil:
// there is none.
func (d *Document) Find(name string) *Operation {
	for _, same := range []func(*Operation) bool{
		func(o *Operation) bool { return o.ID == name },
		func(o *Operation) bool { return name != "" && o.OperationID == name },
		func(o *Operation) bool { return o.name() == name },
	} {
		if i := slices.IndexFunc(d.Operations, same); i >= 0 {
			return d.Operations[i]
		}
	}
	return nil
}
