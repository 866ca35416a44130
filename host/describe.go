package host

import (
	"maps"

	"github.com/rosterrun/roster/identity"
)

// Operation is one thing that clients can ask a Host for. The OpenAPI document
// (docs/reference/openapi.json) is made of all of them.
type Operation struct {
	Method string // empty: any
	Path   string // with {parameters}
	ID     string
	Role   identity.Role // what the caller must have, any of several; 0: nobody is asked
	Live   bool          // the answer has no end by itself
	Description
}

// Description documents an operation.
//
// How to document a new one: add it under its id to a table that descriptions
// joins, with an Example of the body if it takes one, and run go generate ./...
// The tests then send the example, compare what is answered with the document, and
// try the operation as a stranger, with bodies that do not fit, and without a role.
type Description struct {
	Tag     string // the group in which it is listed
	Summary string // a few words
	About   string // what else is to be known; empty: nothing
	// Params are those of the path, the query and the header. The tenantId of the
	// query, which all operations with a role have, is not among them.
	Params []Param
	// Body is a value of the type that is sent, or a Schema; nil: there is no body.
	// A member is required, or bounded, as its schema tag says.
	Body     any
	BodyType string // its content type; empty: application/json
	Optional bool   // the body may be left out
	Example  string // of the body
	Replies  []Reply
	// Errors are the codes of each status, separated by spaces; what every operation
	// may answer is not among them. "*": any code.
	Errors map[int]string
}

// Param is a parameter.
type Param struct {
	In     string // path, query or header
	Name   string
	Schema string // as a schema tag has it, with type= unless it is a text
	About  string
}

// Reply is an answer that is no error.
type Reply struct {
	Status int
	About  string
	// Body is a value of the type that is answered, OneOf several, or a Schema; nil:
	// there is none.
	Body any
	Type string // the content type, or several with ", " between; empty: application/json where there is a body
	// Headers are those of interest, with what they say.
	Headers map[string]string
}

// OneOf are values of types of which an answer has one.
type OneOf []any

// Schema is a JSON Schema under a name, for what no Go type describes.
type Schema struct{ Name, JSON string }

// Operations lists what clients can ask this Host for.
func (h *Host) Operations() []Operation {
	docs := descriptions()
	var all []Operation
	for _, o := range h.operations() {
		all = append(all, Operation{o.method, o.path, o.id, o.role, o.live, docs[o.id]})
	}
	return all
}

// descriptions are the documents of all operations by their ids.
func descriptions() map[string]Description {
	all := map[string]Description{}
	for _, some := range []map[string]Description{describeServer(), describeIdentity(), describeLooks(), describeServers(), describeProfiles(), describeHistory(), describeSkills(), describeRigs(), describeSessions(), describeWork(), describeRuns(), describeOpenAI()} {
		maps.Copy(all, some)
	}
	return all
}

// Parameters that several operations have.
var (
	nameParam      = Param{"path", "name", "required", "The profile's name. A slash in it is sent as %2F."}
	sessionParam   = Param{"path", "id", "required", "The session's id, a UUID; of a child session with what leads to it behind."}
	rootParam      = Param{"path", "id", "required;format=uuid", "The session's id."}
	verboseParam   = Param{"query", "verbose", "enum=true|false|1|0|file|", "Answer with all that the profile's file says; with file, its provider, model and tools too as they are written there."}
	ifNoneMatch    = Param{"header", "If-None-Match", "", "ETags that the client has: 304 answers it if one of them is current."}
	ifMatchParam   = Param{"header", "If-Match", "", "The ETag of the profile, or its revision in quotes, that the client has read; * is any."}
	idempotencyKey = Param{"header", "Idempotency-Key", "max=255;pattern=^[ -~]*$", "The same key gives the same answer for 24 hours, and starts nothing twice."}
	lastEventParam = Param{"header", "Last-Event-ID", "type=integer;min=0", "The id of the last event that the client has: what follows it is sent."}
	ofProfile      = Param{"query", "profile", "", "The name of a profile: what counts for it."}
)

// tagged are the headers of answers that have an ETag.
var taggedHeaders = map[string]string{"ETag": "Names this answer, for If-None-Match."}

// cached are the answers of a GET that has an ETag.
func cached(about string, body any) []Reply {
	return []Reply{
		{Status: 200, About: about, Body: body, Headers: taggedHeaders},
		{Status: 304, About: "The client has it: If-None-Match names its ETag."},
	}
}

func ok(about string, body any) []Reply { return []Reply{{Status: 200, About: about, Body: body}} }

// noSession are the errors of operations on a session that may not be there.
var noSession = map[int]string{404: "SessionNotFound"}
