package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rosterrun/roster/tool/openapi"
)

// described writes an operation's inputs as a test sees them.
func described(op *openapi.Operation) string {
	var b strings.Builder
	for _, p := range op.Parameters {
		fmt.Fprintf(&b, "%s=%s %s", p.Arg, p.In, p.Name)
		if p.Content != "" {
			fmt.Fprintf(&b, " as %s", p.Content)
		} else {
			fmt.Fprintf(&b, " %s", p.Style)
		}
		writeFlags(&b, p.Explode, p.Required, p.AllowReserved, false)
		b.WriteString("; ")
	}
	if body := op.Body; body != nil {
		fmt.Fprintf(&b, "%s %s", body.Kind, body.Type)
		writeFlags(&b, false, body.Required, false, false)
		if body.Arg != "" {
			fmt.Fprintf(&b, " whole=%s", body.Arg)
		}
		for _, f := range body.Fields {
			fmt.Fprintf(&b, ", %s=%s", f.Arg, strings.TrimSpace(f.Name+" "+strings.TrimSpace(f.Style+" "+f.Type)))
			writeFlags(&b, f.Explode, f.Required, f.AllowReserved, f.File)
		}
		if len(body.Others) > 0 {
			fmt.Fprintf(&b, " (not %s)", strings.Join(body.Others, ", "))
		}
	}
	return strings.TrimSuffix(b.String(), "; ")
}

func writeFlags(b *strings.Builder, explode, required, reserved, file bool) {
	for _, f := range []struct {
		set  bool
		mark string
	}{{explode, " exploded"}, {required, " required"}, {reserved, " reserved"}, {file, " file"}} {
		if f.set {
			b.WriteString(f.mark)
		}
	}
}

// only is the one operation of a document at "get /a/{id}" or, where text has a body,
// at "post /a/{id}".
func only(t *testing.T, head, text string) (*openapi.Document, *openapi.Operation) {
	t.Helper()
	d := load(t, head+"\npaths:\n  /a/{id}:\n    "+strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ")+"\n", openapi.Options{})
	if len(d.Operations) == 0 {
		return d, nil
	}
	return d, d.Operations[0]
}

const (
	v30 = "openapi: 3.0.3"
	v31 = "openapi: 3.1.0"
	v20 = "swagger: '2.0'"
)

func TestParameters(t *testing.T) {
	const id = "id=path id simple required"
	for _, c := range []struct {
		name, head, text, want string
		problems               []string
	}{
		{"their defaults", v30, `
parameters: [{name: id, in: path, required: true}]
get:
  parameters: [{name: q, in: query}, {name: h, in: header}, {name: c, in: cookie}]`,
			id + "; q=query q form exploded; h=header h simple; c=cookie c form exploded", nil},
		{"styles", v30, `
get:
  parameters:
  - {name: id, in: path, style: matrix, explode: true}
  - {name: s, in: query, style: spaceDelimited, explode: false}
  - {name: p, in: query, style: pipeDelimited}
  - {name: d, in: query, style: deepObject, explode: true, required: true}
  - {name: f, in: query, style: form, explode: false, allowReserved: true}
  - {name: h, in: header, style: simple, explode: true}`,
			"id=path id matrix exploded required; s=query s spaceDelimited; p=query p pipeDelimited; d=query d deepObject exploded required; f=query f form reserved; h=header h simple exploded", nil},
		{"a style of another place", v30, `
get:
  parameters: [{name: id, in: path, style: deepObject}]`,
			id, []string{`api.yaml:5:48: get_a_id: the style "deepObject" of the parameter "id" is none for a path: simple is used`}},
		{"content", v30, `
get:
  parameters: [{name: id, in: path}, {name: q, in: query, content: {application/json: {schema: {type: object}}}}]`,
			id + "; q=query q as application/json exploded", nil},
		{"the operation's own win", v30, `
parameters: [{name: id, in: path}, {name: q, in: query, explode: false}, {name: r, in: query}]
get:
  parameters: [{name: q, in: query, required: true}, {name: q, in: header}]`,
			id + "; q=query q form exploded required; r=query r form exploded; header_q=header q simple", nil},
		{"what clients set", v30, `
get:
  parameters: [{name: id, in: path}, {name: Accept, in: header}, {name: content-type, in: header, required: true}, {name: AUTHORIZATION, in: header}, {name: accept, in: query}]`,
			id + "; accept=query accept form exploded", nil},
		{"not described", v30, `get: {}`,
			id, []string{"api.yaml:4:5: get_a_id: {id} of the path is not described: it is taken as a text"}},
		{"not in the path", v30, `
get:
  parameters: [{name: id, in: path}, {name: other, in: path}]`,
			id, []string{`get_a_id: the parameter "other" is left out: the path has no {other}`}},
		{"in no place", v30, `
get:
  parameters: [{name: id, in: path}, {name: x, in: body}]`,
			id, []string{`the parameter "x" is left out: it is in "body"`}},
		{"required in no place", v30, `
get:
  parameters: [{name: id, in: path}, {name: x, in: querystring, required: true}]`,
			"", []string{`GET /a/{id}: the operation is left out: the parameter "x" is in "querystring"`}},
		{"no name", v30, `
get:
  parameters: [{in: query}]`,
			"", []string{"api.yaml:5:20: GET /a/{id}: the operation is left out: a parameter has no name"}},
		{"no map", v30, `
get:
  parameters: [7]`,
			"", []string{"a parameter is a map"}},
		{"no list", v30, `
get:
  parameters: {name: id}`,
			"", []string{"api.yaml:5:19: GET /a/{id}: the operation is left out: parameters is a list"}},
		{"names for a model", v30, `
get:
  parameters: [{name: id, in: path}, {name: 'filter[name]', in: query}, {name: $top, in: query}, {name: a.b, in: query}, {name: é, in: query}, {name: X-Id, in: header}, {name: top, in: query}, {name: ` + strings.Repeat("x", 80) + `, in: query}]`,
			id + "; filter_name=query filter[name] form exploded; top=query $top form exploded; a.b=query a.b form exploded; _=query é form exploded; query_top=query top form exploded; " +
				strings.Repeat("x", 55) + "_d929cdee=query " + strings.Repeat("x", 80) + " form exploded; X-Id=header X-Id simple", nil},
		{"one name in all places", v30, `
post:
  parameters: [{name: id, in: cookie}, {name: id, in: header}, {name: id, in: query}, {name: id, in: path}, {name: header_id, in: query}]
  requestBody: {content: {application/json: {schema: {properties: {id: {}, query_id: {}, body_id: {}}}}}}`,
			id + "; query_id=query id form exploded; header_id=query header_id form exploded; header_id_2=header id simple; cookie_id=cookie id form exploded; " +
				"json application/json, body_id=id, body_query_id=query_id, body_body_id=body_id", nil},
		{"2.0", v20, `
get:
  parameters:
  - {name: id, in: path, type: array, collectionFormat: pipes}
  - {name: c, in: query, type: array, collectionFormat: csv}
  - {name: m, in: query, type: array, collectionFormat: multi}
  - {name: s, in: query, type: array, collectionFormat: ssv}
  - {name: t, in: query, type: array, collectionFormat: tsv}
  - {name: h, in: header, type: string, required: true}`,
			"id=path id pipeDelimited required; c=query c form; m=query m form exploded; s=query s spaceDelimited; t=query t tabDelimited; h=header h simple required", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, op := only(t, c.head, c.text)
			wantProblems(t, d.Problems, c.problems...)
			if op == nil {
				if c.want != "" {
					t.Error("the operation is not there")
				}
				return
			}
			if got := described(op); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPaths(t *testing.T) {
	d := load(t, `
openapi: 3.1.0
paths:
  x-more: {get: {}}
  nowhere: {get: {}}
  /a/{x}/{y}/{x}:
    servers: [{url: https://a.example}]
    get: {parameters: [{name: x, in: path}, {name: y, in: path}]}
    put: 7
    head: {parameters: [{name: x, in: path}, {name: y, in: path}], servers: [{url: https://b.example}]}
    summary: none
  /lost: {$ref: '#/components/pathItems/none'}
  /found: {$ref: '#/components/pathItems/it'}
  /{open: {get: {}}
webhooks: {hook: {post: {}}}
servers: [{url: https://c.example}]
components: {pathItems: {it: {options: {}, trace: {}, query: {}}}}
`, openapi.Options{})
	var got []string
	for _, op := range d.Operations {
		got = append(got, fmt.Sprintf("%s %s %s line %d", op.ID, op.Method, op.Servers[0].URL, op.Line))
	}
	want := "get_a_x_y_x GET https://a.example line 8\nhead_a_x_y_x HEAD https://b.example line 10\n" +
		"options_found OPTIONS https://c.example line 17\ntrace_found TRACE https://c.example line 17\nget_open GET https://c.example line 14"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	wantProblems(t, d.Problems, `api.yaml:5:3: the path "nowhere" is left out: a path begins with /`,
		"api.yaml:9:10: PUT /a/{x}/{y}/{x} is left out: an operation is a map",
		`api.yaml:12:3: the path "/lost" is left out: $ref "#/components/pathItems/none": there is nothing of that name`)
}

func TestMethodsOf32(t *testing.T) {
	d := load(t, "openapi: 3.2.0\npaths: {/a: {query: {}, additionalOperations: {COPY: {}}}}", openapi.Options{})
	if len(d.Operations) != 1 || d.Operations[0].Method != "QUERY" {
		t.Errorf("got %v", d.Operations)
	}
	wantProblems(t, d.Problems, `the operations of "/a" with other methods are left out`)
}

func TestBodies(t *testing.T) {
	for _, c := range []struct {
		name, head, text, want string
		problems               []string
	}{
		{"JSON of an object", v30, `
post:
  requestBody: {required: true, content: {application/json: {schema: {type: object, required: [b], properties: {a: {}, b: {}, c: {readOnly: true}}}}}}`,
			"json application/json required, a=a, b=b required", nil},
		{"JSON of a list", v30, `
post:
  requestBody: {content: {application/json: {schema: {type: array}}}}`, "json application/json whole=body", nil},
		{"JSON of anything", v30, `
post:
  requestBody: {content: {application/json: {}}}`, "json application/json whole=body", nil},
		{"an object with other properties", v30, `
post:
  requestBody: {content: {application/json: {schema: {properties: {a: {}}, additionalProperties: {type: string}}}}}`, "json application/json whole=body", nil},
		{"an object without others", v30, `
post:
  requestBody: {content: {application/json: {schema: {properties: {a: {}}, additionalProperties: false}}}}`, "json application/json, a=a", nil},
		{"one of several", v30, `
post:
  requestBody: {content: {application/json: {schema: {properties: {a: {}}, oneOf: [{}, {}]}}}}`, "json application/json whole=body", nil},
		{"parts of one", v30, `
post:
  requestBody: {content: {application/json: {schema: {allOf: [{properties: {a: {}}}, {properties: {b: {}}, required: [a]}]}}}}`, "json application/json, a=a required, b=b", nil},
		{"a part that is lost", v30, `
post:
  requestBody: {content: {application/json: {schema: {allOf: [{$ref: '#/components/schemas/A'}, {properties: {b: {}}, required: [a]}]}}}}`, "", []string{"its body is left out, for it cannot be read"}},
		{"JSON before all", v30, `
post:
  requestBody: {content: {text/plain: {}, multipart/form-data: {}, application/vnd.x+json: {}, application/json; charset=utf-8: {schema: {type: string}}, '*/*': {}}}`,
			"json application/json whole=body (not application/vnd.x+json, */*, multipart/form-data, text/plain)", nil},
		{"a form", v30, `
post:
  requestBody:
    content:
      application/x-www-form-urlencoded:
        schema: {properties: {a: {}, b: {}, c: {}}}
        encoding: {b: {style: spaceDelimited, explode: false}, c: {style: deepObject, allowReserved: true}}`,
			"form application/x-www-form-urlencoded, a=a form exploded, b=b spaceDelimited, c=c deepObject reserved", nil},
		{"files", v30, `
post:
  requestBody:
    content:
      multipart/form-data:
        schema: {required: [f], properties: {f: {type: string, format: binary}, l: {type: array, items: {type: string, format: binary}}, t: {type: string}, o: {type: object}}}
        encoding: {f: {contentType: 'image/png, image/jpeg'}, o: {contentType: application/xml}}`,
			"multipart multipart/form-data, f=f image/png required file, l=l file, t=t, o=o application/xml", nil},
		{"files of 3.1", v31, `
post:
  requestBody: {content: {multipart/form-data: {schema: {properties: {f: {contentMediaType: application/octet-stream}, g: {type: array, items: {contentMediaType: image/png}}, t: {type: string, contentEncoding: base64, contentMediaType: image/png}}}}}}`,
			"multipart multipart/form-data, f=f file, g=g file, t=t", nil},
		{"text", v30, `
post:
  requestBody: {content: {application/xml: {schema: {properties: {a: {}}}}}}`, "text application/xml whole=body", nil},
		{"bytes", v30, `
post:
  requestBody: {content: {image/png: {schema: {type: string, format: binary}}}}`, "file image/png whole=body", nil},
		{"bytes of some kind", v30, `
post:
  requestBody: {required: true, content: {image/*: {}}}`, "file  required whole=body", nil},
		{"in no way that is known", v30, `
post:
  requestBody: {content: {multipart/mixed: {}}}`, "", []string{"its body is left out: it is of multipart/mixed, which is not written"}},
		{"required in no way", v30, `
post:
  requestBody: {required: true, content: {}}`, "gone", []string{"the operation is left out: its body is of nothing"}},
		{"lost", v30, `
post:
  requestBody: {$ref: '#/components/requestBodies/x'}`, "gone", []string{"the operation is left out: its body cannot be read"}},

		{"2.0's body", v20, `
post:
  parameters: [{name: it, in: body, required: true, schema: {properties: {a: {}}, required: [a]}}]`, "json application/json required, a=a required", nil},
		{"2.0's media types", v20 + "\nconsumes: [application/xml, application/vnd.x+json]", `
post:
  parameters: [{name: it, in: body, schema: {type: string}}]`, "json application/vnd.x+json whole=body", nil},
		{"2.0's body of the operation's type", v20 + "\nconsumes: [application/json]", `
post:
  consumes: [text/plain]
  parameters: [{name: it, in: body, schema: {type: string}}]`, "text text/plain whole=body", nil},
		{"2.0's form", v20, `
post:
  parameters: [{name: a, in: formData, type: string, required: true}, {name: l, in: formData, type: array, collectionFormat: multi}, {name: p, in: formData, type: array, collectionFormat: pipes}]`,
			"form application/x-www-form-urlencoded required, a=a form required, l=l form exploded, p=p pipeDelimited", nil},
		{"2.0's file", v20 + "\nconsumes: [application/x-www-form-urlencoded]", `
post:
  parameters: [{name: f, in: formData, type: file}]`, "multipart multipart/form-data, f=f form file", nil},
		{"2.0's parts", v20 + "\nconsumes: [multipart/form-data]", `
post:
  parameters: [{name: a, in: formData, type: string}]`, "multipart multipart/form-data, a=a form", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, op := only(t, c.head, "parameters: [{name: id, in: path}]\n"+strings.TrimSpace(c.text))
			wantProblems(t, d.Problems, c.problems...)
			if op == nil {
				if c.want != "gone" {
					t.Error("the operation is not there")
				}
				return
			}
			op.Parameters = nil
			if got := described(op); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
