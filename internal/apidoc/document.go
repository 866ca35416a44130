// Package apidoc makes the OpenAPI document of the HTTP interface, of what a host
// says of its operations, of the Go types of bodies and answers, and of the comments
// that stand at these. Only tests and generators use it: a program has the document.
package apidoc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/permission"
)

type object = map[string]any

const about = `Profiles, prompts, sessions and their event streams of one Roster server.

Errors are JSON objects with a text (error) for people and a name (code) for programs. Answers only grow: a client passes over members that it does not know. In a request a member that is not known is refused; null is as if the member were not there. Without authentication every caller has every role, and a request says by tenantId whose sessions it means; with it, tenant and user come from the credential.`

// New makes the document of operations. root is the directory of the module, whose
// sources have the comments. What an operation does not say is an error.
func New(root, module string, operations []host.Operation) ([]byte, error) {
	ts := &types{
		comments: &comments{root: root, module: module, packages: map[string]*pkg{}}, components: map[string]any{}, named: map[string]reflect.Type{},
		own: map[reflect.Type]*schema{
			timeType:                             timeSchema,
			reflect.TypeFor[json.RawMessage]():   {},
			reflect.TypeFor[jsontext.Value]():    {},
			reflect.TypeFor[[]byte]():            {Type: "string", Encoding: "base64"},
			reflect.TypeFor[message.Parts]():     {Type: "array", Items: &schema{Ref: "#/components/schemas/Part"}},
			reflect.TypeFor[permission.Step]():   {Type: "string"}, // there are more than it names
			reflect.TypeFor[permission.Effect](): {Type: "string", Enum: []string{"allow", "ask", "deny"}},
		},
	}
	for _, s := range []host.Schema{partSchema, eventSchema} {
		ts.components[s.Name] = json.RawMessage(s.JSON)
	}
	if _, err := ts.of(reflect.TypeFor[host.Error](), false); err != nil {
		return nil, err
	}
	paths := map[string]object{}
	for _, o := range operations {
		made, err := ts.operation(o)
		if err != nil {
			return nil, fmt.Errorf("%s %s (%s): %w", o.Method, o.Path, o.ID, err)
		}
		if paths[o.Path] == nil {
			paths[o.Path] = object{}
		}
		for _, method := range methods(o) {
			if paths[o.Path][method] = made; len(methods(o)) > 1 {
				one := maps.Clone(made)
				one["operationId"] = o.ID + strings.ToUpper(method[:1]) + method[1:]
				if method != "post" {
					delete(one, "requestBody")
				}
				paths[o.Path][method] = one
			}
		}
	}
	if ts.comments.err != nil {
		return nil, ts.comments.err
	}
	doc, err := encode(object{
		"openapi": "3.1.0",
		"info":    object{"title": "Roster", "version": "1", "description": about, "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"}},
		"paths":   paths,
		"components": object{"schemas": ts.components, "securitySchemes": object{
			"key":  object{"type": "http", "scheme": "bearer", "description": "An API key (roster keys)."},
			"oidc": object{"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "A token of the OpenID Connect provider that the server is configured for."},
		}},
		"tags": tags(operations),
	})
	if err != nil {
		return nil, err
	}
	v := jsontext.Value(doc)
	err = v.Indent(jsontext.WithIndent(" "))
	return append(v, '\n'), err
}

func methods(o host.Operation) []string {
	if o.Method != "" {
		return []string{strings.ToLower(o.Method)}
	}
	return []string{"get", "post", "delete"}
}

// tags are in the order of the operations, but for what is about the server itself:
// people look for that last.
func tags(operations []host.Operation) []object {
	const last = "server"
	var names []string
	for _, o := range operations {
		if o.Tag != "" && o.Tag != last && !slices.Contains(names, o.Tag) {
			names = append(names, o.Tag)
		}
	}
	var all []object
	for _, name := range append(names, last) {
		all = append(all, object{"name": name})
	}
	return all
}

// operation is an operation as the document has it.
func (ts *types) operation(o host.Operation) (object, error) {
	if o.Tag == "" || o.Summary == "" || len(o.Replies) == 0 {
		return nil, fmt.Errorf("is not documented: see host.Description")
	}
	params, err := ts.params(o)
	if err != nil {
		return nil, err
	}
	out := object{"operationId": o.ID, "tags": []string{o.Tag}, "summary": o.Summary, "security": security(o.Role)}
	said := o.About
	if o.Role != 0 {
		roles := strings.ReplaceAll(o.Role.String(), ",", " or ")
		said = strings.TrimSpace(said + " Takes the role " + roles + ".")
		out["x-roster-roles"] = strings.Split(o.Role.String(), ",")
	}
	if o.Live {
		out["x-roster-live"] = true
	}
	if said != "" {
		out["description"] = said
	}
	if len(params) > 0 {
		out["parameters"] = params
	}
	if o.Body != nil {
		body, err := ts.value(o.Body, true)
		if err != nil {
			return nil, err
		}
		if !json.Valid([]byte(o.Example)) {
			return nil, fmt.Errorf("has no Example of its body")
		}
		out["requestBody"] = object{"required": !o.Optional, "content": object{cmp.Or(o.BodyType, "application/json"): object{"schema": body, "example": json.RawMessage(o.Example)}}}
	}
	out["responses"], err = ts.responses(o)
	return out, err
}

func security(role identity.Role) []object {
	if role == 0 {
		return []object{}
	}
	return []object{{}, {"key": []string{}}, {"oidc": []string{}}}
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

func (ts *types) params(o host.Operation) ([]object, error) {
	var list []object
	all := o.Params
	if o.Role != 0 {
		all = append(slices.Clone(all), host.Param{In: "query", Name: "tenantId", Schema: nameLimits, About: who["tenantId"]})
	}
	has := map[string]bool{}
	for _, p := range all {
		if p.In == "path" {
			has[p.Name] = true
		}
		s := &schema{Type: "string"}
		required, err := s.limit(p.Schema)
		if err != nil {
			return nil, err
		}
		one := object{"in": p.In, "name": p.Name, "description": p.About, "schema": s}
		if required {
			one["required"] = true
		}
		if p.In == "query" && slices.Contains(s.Enum, "") {
			one["allowEmptyValue"] = true
		}
		list = append(list, one)
	}
	for _, m := range inPath.FindAllStringSubmatch(o.Path, -1) {
		if !has[m[1]] {
			return nil, fmt.Errorf("does not say what {%s} is", m[1])
		}
	}
	return list, nil
}

// value is the schema of a value of the type that is meant.
func (ts *types) value(v any, sent bool) (*schema, error) {
	switch v := v.(type) {
	case host.Schema:
		if !json.Valid([]byte(v.JSON)) {
			return nil, fmt.Errorf("the schema %s is not valid JSON", v.Name)
		}
		ts.components[v.Name] = json.RawMessage(v.JSON)
		return &schema{Ref: "#/components/schemas/" + v.Name}, nil
	case host.OneOf:
		s := &schema{}
		for _, one := range v {
			of, err := ts.value(one, sent)
			if err != nil {
				return nil, err
			}
			s.AnyOf = append(s.AnyOf, of)
		}
		return s, nil
	}
	return ts.of(reflect.TypeOf(v), sent)
}

func (ts *types) responses(o host.Operation) (object, error) {
	all := object{}
	for _, r := range o.Replies {
		one := object{"description": r.About}
		headers := object{}
		for name, said := range r.Headers {
			headers[name] = object{"description": said, "schema": object{"type": "string"}}
		}
		if len(headers) > 0 {
			one["headers"] = headers
		}
		if r.Body != nil {
			s, err := ts.value(r.Body, false)
			if err != nil {
				return nil, err
			}
			content := object{}
			for kind := range strings.SplitSeq(cmp.Or(r.Type, "application/json"), ", ") {
				content[kind] = object{"schema": s}
			}
			if before, ok := all[strconv.Itoa(r.Status)].(object); ok { // of another type
				maps.Copy(before["content"].(object), content)
				continue
			}
			one["content"] = content
		}
		all[strconv.Itoa(r.Status)] = one
	}
	for status, codes := range refusals(o) {
		if key := strconv.Itoa(status); all[key] == nil {
			all[key] = refusal(codes)
		}
	}
	return all, nil
}

// refusals are the codes of the errors that an operation may answer, by status.
func refusals(o host.Operation) map[int][]string {
	all := map[int][]string{}
	add := func(status int, codes string) { all[status] = append(all[status], strings.Fields(codes)...) }
	for status, codes := range o.Errors {
		add(status, codes)
	}
	add(403, "ForbiddenHost ForbiddenOrigin")
	add(500, "*")
	add(503, "*")
	if o.Role != 0 {
		add(400, "InvalidField MissingField")
		add(401, "*")
		add(403, "MissingRole ForeignIdentity")
		add(429, "*")
	}
	if o.Body != nil {
		add(400, "MalformedBody BrokenBody")
		add(413, "BodyTooLarge")
		add(415, "UnsupportedMediaType")
	}
	return all
}

func refusal(codes []string) object {
	var s any = &schema{Ref: "#/components/schemas/Error"}
	text := "An error."
	if slices.Sort(codes); !slices.Contains(codes, "*") {
		codes = slices.Compact(codes)
		s = object{"allOf": []any{s, object{"properties": object{"code": object{"enum": codes}}}}}
		text = strings.Join(codes, ", ") + "."
	} else if named := slices.Compact(slices.DeleteFunc(codes, func(c string) bool { return c == "*" })); len(named) > 0 {
		text = strings.Join(named, ", ") + ", and others."
	}
	return object{"description": text, "content": object{"application/json": object{"schema": s}}}
}

var partSchema = host.Schema{Name: "Part", JSON: `{
	"type": "object",
	"description": "A part of a message. Its type says which of the other members are there.",
	"required": ["type"],
	"properties": {
		"type": {"enum": ["text", "thinking", "image", "tool_call", "tool_result"]},
		"text": {"type": "string"}, "phase": {"type": "string"}, "signature": {"type": "string"}, "redacted": {"type": "string"}, "by": {"type": "string"},
		"media_type": {"type": "string"}, "data": {"type": "string", "contentEncoding": "base64"}, "blob": {"type": "string"},
		"call": {"type": "string"}, "name": {"type": "string"}, "input": {}, "invalid_input": {"type": "string"},
		"parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}}, "error": {"type": "boolean"}, "artifact": {"type": "string"}
	}
}`}

var eventSchema = host.Schema{Name: "Event", JSON: `{
	"type": "object",
	"description": "An event of a session. What is live only has no seq; a delta has no data, but message, attempt, offset and text.",
	"required": ["type", "session"],
	"properties": {
		"v": {"type": "integer"}, "seq": {"type": "integer", "description": "Its number in the session, from 1."},
		"session": {"type": "string"}, "loop": {"type": "string"}, "turn": {"type": "integer"}, "agent_id": {"type": "string"},
		"depth": {"type": "integer"}, "chainId": {"type": "string"}, "time": {"type": "string", "format": "date-time"},
		"type": {"type": "string"}, "data": {"type": "object"},
		"message": {"type": "string"}, "attempt": {"type": "integer"}, "offset": {"type": "integer"}, "text": {"type": "string"}
	}
}`}
