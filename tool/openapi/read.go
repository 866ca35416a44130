package openapi

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rosterrun/roster/source"
)

// reader reads the parts of a document that calls need.
type reader struct {
	*Document
	ctx  context.Context
	root node

	paths, servers, definitions, security node
	consumes                              []string // 2.0: the media types of bodies
}

// refuse is why the whole document is not read.
func refuse(n node, format string, args ...any) error {
	return &Problem{At: n.at(), Text: fmt.Sprintf(format, args...)}
}

func (d *Document) problem(at source.Origin, op *Operation, format string, args ...any) {
	p := Problem{At: at, Text: fmt.Sprintf(format, args...)}
	if op != nil {
		p.Operation = op.name()
	}
	d.Problems = append(d.Problems, p)
}

// name is what an operation is called in a problem: its ID is known only when all are
// read.
func (o *Operation) name() string { return o.Method + " " + o.Path }

func (r *reader) read() error {
	if r.root.kind() != '{' {
		return refuse(r.root, "an OpenAPI document is a map")
	}
	if err := r.head(); err != nil {
		return err
	}
	if r.servers.there() {
		r.Servers = r.serverList(r.servers)
	}
	r.schemes()
	if r.paths.there() && r.paths.kind() != '{' && !r.paths.isNull() {
		return refuse(r.paths, "paths is a map of paths")
	}
	if err := r.operations(); err != nil {
		return err
	}
	r.name(r.Operations)
	return nil
}

// head reads what kind of document it is, and where its parts are.
func (r *reader) head() error {
	var version, swagger, info, host node
	r.root.each(func(key string, _, v node) bool {
		switch key {
		case "openapi":
			version = v
		case "swagger":
			swagger = v
		case "info":
			info = v
		case "paths":
			r.paths = v
		case "servers":
			r.servers = v
		case "security":
			r.security = v
		case "components":
			r.definitions = v.get("securitySchemes")
		case "host":
			host = v
		case "consumes":
			r.consumes = v.strings()
		}
		return true
	})
	r.Title, r.Version = info.get("title").scalar(), info.get("version").scalar()
	r.Description = cut(info.get("description").str(), r.options.MaxText)
	r.Format = version.scalar()
	switch {
	case strings.HasPrefix(r.Format, "3.0"), strings.HasPrefix(r.Format, "3.1"), strings.HasPrefix(r.Format, "3.2"):
		if !r.paths.there() && strings.HasPrefix(r.Format, "3.0") {
			return refuse(r.root, "the document has no paths")
		}
		return nil
	case version.there():
		return refuse(version, "openapi %q is not read: 3.0, 3.1, 3.2 and swagger 2.0 are", short(r.Format))
	case !swagger.there():
		return refuse(r.root, "this is not an OpenAPI document: it has neither openapi nor swagger")
	}
	r.Format = swagger.scalar()
	if r.Format != "2.0" && r.Format != "2" {
		return refuse(swagger, "swagger %q is not read: 2.0 and openapi 3.0, 3.1, 3.2 are", short(r.Format))
	}
	if !r.paths.there() {
		return refuse(r.root, "the document has no paths")
	}
	r.old, r.Format = true, "2.0"
	r.definitions = r.root.get("securityDefinitions")
	r.oldServers(host)
	return nil
}

// methods are those that an operation may have, as they stand in a document.
var methods = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

func (r *reader) operations() error {
	var err error
	r.paths.each(func(path string, at, item node) bool {
		if err = r.ctx.Err(); err != nil {
			return false
		}
		if !strings.HasPrefix(path, "x-") {
			r.path(path, at, item)
		}
		if len(r.Operations) > r.options.MaxOperations {
			err = refuse(at, "the document has more than %d operations", r.options.MaxOperations)
		}
		return err == nil
	})
	r.Total = len(r.Operations)
	return err
}

func (r *reader) path(path string, at, item node) {
	if !strings.HasPrefix(path, "/") {
		r.problem(at.at(), nil, "the path %q is left out: a path begins with /", short(path))
		return
	}
	if len(path) > maxPath {
		r.problem(at.at(), nil, "the path %q is left out: it has more than %d bytes", short(path), maxPath)
		return
	}
	item, err := r.refs.resolve(item)
	if err != nil {
		r.problem(at.at(), nil, "the path %q is left out: %v", short(path), err)
		return
	}
	var params, servers node
	item.each(func(key string, _, v node) bool {
		switch key {
		case "parameters":
			params = v
		case "servers":
			servers = v
		}
		return true
	})
	item.each(func(key string, at, v node) bool {
		switch {
		case key == "additionalOperations":
			r.problem(at.at(), nil, "the operations of %q with other methods are left out", short(path))
		case !slices.Contains(methods, key) || key == "query" && !strings.HasPrefix(r.Format, "3.2"):
		case v.kind() != '{':
			r.problem(v.at(), nil, "%s %s is left out: an operation is a map", strings.ToUpper(key), short(path))
		default:
			r.operation(&Operation{Method: strings.ToUpper(key), Path: path, doc: r.Document, at: at}, v, params, servers)
		}
		return len(r.Operations) <= r.options.MaxOperations
	})
}

// maxPath and maxWord bound texts that are kept whole.
const (
	maxPath = 2048
	maxWord = 256
)

// unread is what of an operation is read after the rest of it is known.
type unread struct {
	params, body, servers, security node
	consumes                        []string
}

func (r *reader) operation(op *Operation, n, params, servers node) {
	at := op.at.at()
	op.File, op.Line = at.File, at.Line
	in := unread{consumes: r.consumes, security: r.security}
	n.each(func(key string, _, v node) bool {
		switch key {
		case "operationId":
			op.OperationID = v.scalar()
		case "summary":
			op.Summary = cut(v.str(), r.options.MaxText)
		case "description":
			op.Description = cut(v.str(), r.options.MaxText)
		case "tags":
			op.Tags = v.strings()
		case "deprecated":
			op.Deprecated = v.isTrue()
		case "parameters":
			in.params = v
		case "requestBody":
			in.body = v
		case "servers":
			in.servers = v
		case "security":
			in.security = v
		case "consumes":
			in.consumes = v.strings()
		}
		return true
	})
	if len(op.OperationID) > maxWord {
		r.problem(at, op, "its operationId is not used: it has more than %d bytes", maxWord)
		op.OperationID = ""
	}
	op.Security = requirements(in.security)
	op.Servers = r.Servers
	for _, list := range []node{in.servers, servers} {
		if own := r.serverList(list); len(own) > 0 {
			op.Servers = own
			break
		}
	}
	if why := r.inputs(op, in, params); why != nil {
		r.problem(why.At, op, "the operation is left out: %s", why.Text)
		return
	}
	r.Operations = append(r.Operations, op)
}

// inputs reads what the operation takes. A reason means that it cannot be called.
func (r *reader) inputs(op *Operation, in unread, shared node) *Problem {
	var oldBody []node
	for _, list := range []node{shared, in.params} {
		more, why := r.parameters(op, list)
		if why != nil {
			return why
		}
		oldBody = append(oldBody, more...)
	}
	if why := r.template(op); why != nil {
		return why
	}
	var why *Problem
	if r.old {
		why = r.oldBody(op, oldBody, in.consumes)
	} else if in.body.there() && !in.body.isNull() {
		why = r.body(op, in.body)
	}
	if why != nil {
		return why
	}
	return nameArgs(op)
}
