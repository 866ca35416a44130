package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/schema"
	"github.com/rosterrun/roster/tool/openapi"
)

// schemas are shared by the documents of TestSchema.
const schemas = `
components:
  schemas:
    Name: {type: string, description: A name., maxLength: 10}
    Pet:
      required: [id, name]
      properties: {id: {type: integer, readOnly: true}, name: {$ref: '#/components/schemas/Name'}, secret: {type: string, writeOnly: true}}
    Cat: {allOf: [{$ref: '#/components/schemas/Pet'}, {required: [lives], properties: {lives: {type: integer}, name: {minLength: 2}}}]}
    Tree: {type: object, properties: {label: {type: string}, children: {type: array, items: {$ref: '#/components/schemas/Tree'}}}}
    Animal:
      properties: {kind: {type: string}}
      oneOf: [{$ref: '#/components/schemas/Dog'}, {$ref: '#/components/schemas/Bird'}]
      discriminator: {propertyName: kind}
    Dog: {allOf: [{$ref: '#/components/schemas/Animal'}, {properties: {bark: {type: boolean}}}]}
    Bird: {properties: {sings: {type: boolean}}}
    Chain: {properties: {next: {allOf: [{$ref: '#/components/schemas/Chain'}], description: The next.}}}
    Link: {properties: {next: {allOf: [{$ref: '#/components/schemas/Link'}, {description: The next.}]}}}
    Ring: {allOf: [{$ref: '#/components/schemas/Ring'}, {type: string}]}
    Lost: {properties: {a: {$ref: '#/components/schemas/None'}, b: {type: string}}}
`

// TestSchema holds what a model is told of a value against what the document says.
func TestSchema(t *testing.T) {
	for _, c := range []struct {
		name, head, text, want string
		problems               []string
	}{
		{"nothing", v30, `{}`, `{}`, nil},
		{"anything, in 3.1", v31, `true`, `{}`, nil},
		{"never, in 3.1", v31, `false`, `{"not":{}}`, nil},
		{"bounds", v30, `{type: integer, minimum: 1, maximum: 5, multipleOf: 2, default: 2, format: int64}`,
			`{"type":"integer","default":2,"format":"int64","minimum":1,"maximum":5,"multipleOf":2}`, nil},
		{"3.0's exclusive bounds", v30, `{type: number, minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false}`,
			`{"type":"number","maximum":5,"exclusiveMinimum":1}`, nil},
		{"3.1's exclusive bounds", v31, `{type: number, exclusiveMinimum: 1, exclusiveMaximum: 5}`, `{"type":"number","exclusiveMinimum":1,"exclusiveMaximum":5}`, nil},
		{"bounds that are none", v30, `{type: string, minLength: -1, maxLength: 1.5, minItems: x, multipleOf: 0, maximum: 1e999999999, pattern: '(?!x)', uniqueItems: 1}`,
			`{"type":"string"}`, nil},
		{"a pattern", v30, `{type: string, pattern: '^\d+$', maxLength: 9}`, `{"type":"string","maxLength":9,"pattern":"^\\d+$"}`, nil},
		{"words", v30, `{type: string, enum: [a, b, a], default: a}`, `{"type":"string","enum":["a","b"],"default":"a"}`, nil},
		{"words of more than text", v30, `{enum: [1, {a: b}]}`, `{}`, nil},
		{"a constant", v31, `{const: x}`, `{"enum":["x"]}`, nil},
		{"null in 3.0", v30, `{type: string, nullable: true, enum: [a]}`, `{"type":["string","null"],"enum":["a",null]}`, nil},
		{"null in 3.1", v31, `{type: [string, 'null']}`, `{"type":["string","null"]}`, nil},
		{"only null", v31, `{type: 'null'}`, `{"type":"null"}`, nil},
		{"several types", v31, `{type: [string, integer]}`, `{"type":["string","integer"]}`, nil},
		{"a type that is none", v30, `{type: any}`, `{}`, nil},
		{"no type", v30, `{properties: {a: {items: {type: string}}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`, nil},
		{"a list of anything", v30, `{type: array}`, `{"type":"array","items":{}}`, nil},
		{"a list of places", v31, `{type: array, prefixItems: [{type: string}], items: {type: integer}}`, `{"type":"array","items":{}}`, nil},
		{"a map", v30, `{type: object, additionalProperties: {type: integer}}`, `{"type":"object","additionalProperties":{"type":"integer"}}`, nil},
		{"no others", v30, `{type: object, properties: {a: {}}, additionalProperties: false}`, `{"type":"object","properties":{"a":{}},"additionalProperties":false}`, nil},
		{"the title for a description", v30, `{title: Its title, type: string}`, `{"type":"string","description":"Its title"}`, nil},
		{"no longer", v30, `{type: string, deprecated: true}`, `{"type":"string","description":"Deprecated."}`, nil},
		{"bytes", v30, `{type: string, format: binary}`, `{"type":"string","description":"Base64."}`, nil},
		{"what JSON Schema can hardly say", v31, `{type: string, not: {const: x}, if: {}, then: false, $comment: x, example: x, xml: {}, x-more: y}`, `{"type":"string"}`, nil},

		{"a reference", v30, `{$ref: '#/components/schemas/Name'}`, `{"type":"string","description":"A name.","maxLength":10}`, nil},
		{"words beside a reference", v31, `{description: Its own., $ref: '#/components/schemas/Name'}`, `{"type":"string","description":"Its own.","maxLength":10}`, nil},
		{"read-only properties", v30, `{$ref: '#/components/schemas/Pet'}`,
			`{"type":"object","properties":{"name":{"type":"string","description":"A name.","maxLength":10},"secret":{"type":"string"}},"required":["name"]}`, nil},
		{"all of", v30, `{$ref: '#/components/schemas/Cat'}`,
			`{"type":"object","properties":{"name":{"type":"string","description":"A name.","minLength":2,"maxLength":10},"secret":{"type":"string"},"lives":{"type":"integer"}},"required":["name","lives"]}`, nil},
		{"all of, apart", v30, `{allOf: [{type: [integer, string], maximum: 5}, {type: integer, maximum: 3, minimum: 1}]}`, `{"type":"integer","minimum":1,"maximum":5}`, nil},
		{"one of", v30, `{oneOf: [{type: string}, {type: integer}], nullable: true}`, `{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}`, nil},
		{"one of and any of", v30, `{oneOf: [{type: string}], anyOf: [{maxLength: 5}, {pattern: ^a}]}`,
			`{"anyOf":[{"type":"string"}],"allOf":[{"anyOf":[{"maxLength":5},{"pattern":"^a"}]}]}`, nil},
		{"in itself", v30, `{$ref: '#/components/schemas/Tree'}`,
			`{"type":"object","properties":{"label":{"type":"string"},"children":{"type":"array","items":{"type":"object"}}}}`, nil},
		{"in what it is part of", v30, `{$ref: '#/components/schemas/Animal'}`,
			`{"type":"object","properties":{"kind":{"type":"string"}},"anyOf":[` +
				`{"type":"object","properties":{"kind":{"type":"string"},"bark":{"type":"boolean"}}},{"type":"object","properties":{"sings":{"type":"boolean"}}}]}`, nil},
		{"in itself, with words", v30, `{$ref: '#/components/schemas/Chain'}`, `{"type":"object","properties":{"next":{"type":"object","description":"The next."}}}`, nil},
		{"in itself, merged", v30, `{$ref: '#/components/schemas/Link'}`,
			`{"type":"object","properties":{"next":{"type":"object","description":"The next."}}}`, nil},
		{"part of itself", v30, `{$ref: '#/components/schemas/Ring'}`, `{"type":"string"}`, nil},
		{"lost", v30, `{$ref: '#/components/schemas/Lost'}`, `{"type":"object","properties":{"a":{},"b":{"type":"string"}}}`,
			[]string{`get_a: a value is not described: $ref "#/components/schemas/None": there is nothing of that name`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := load(t, c.head+"\npaths: {/a: {get: {parameters: [{name: v, in: query, schema: "+c.text+"}]}}}"+schemas, openapi.Options{})
			wantProblems(t, d.Problems)
			got, problems := d.Operations[0].Schema()
			wantProblems(t, problems, c.problems...)
			want := `{"type":"object","properties":{"v":` + c.want + `},"additionalProperties":false}`
			if string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if _, err := schema.Compile(got); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestInput is the schema of a whole input: what is required, and what is said of
// files and bodies.
func TestInput(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", `get: {}`, `{"type":"object","properties":{},"additionalProperties":false}`},
		{"an optional body", `
post:
  requestBody: {content: {application/json: {schema: {required: [a], properties: {a: {type: string, description: An a.}, b: {type: string}}}}}}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"An a. Required if the body is given."},"b":{"type":"string"}},"additionalProperties":false}`},
		{"files", `
post:
  requestBody:
    required: true
    content: {multipart/form-data: {schema: {required: [f], properties: {f: {type: string, format: binary, description: A picture.}, l: {type: array, items: {format: binary}}}}}}`,
			`{"type":"object","properties":{"f":{"type":"string","description":"A picture. The path of a file in the workspace."},` +
				`"l":{"type":"array","items":{"type":"string"},"description":"The path of a file in the workspace."}},"required":["f"],"additionalProperties":false}`},
		{"bytes", `
post:
  requestBody: {required: true, description: A picture., content: {image/png: {}}}`,
			`{"type":"object","properties":{"body":{"type":"string","description":"A picture. The path of a file in the workspace."}},"required":["body"],"additionalProperties":false}`},
		{"text", `
post:
  requestBody: {content: {application/xml: {schema: {properties: {a: {}}}}}}`,
			`{"type":"object","properties":{"body":{"type":"string","description":"The body, as application/xml."}},"additionalProperties":false}`},
		{"a text of its own", `
get:
  parameters: [{name: q, in: query, description: "Of the parameter.\x07 \u202e", deprecated: true, schema: {description: Of the schema., type: string}}]`,
			`{"type":"object","properties":{"q":{"type":"string","description":"Of the parameter.  Deprecated."}},"additionalProperties":false}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, op := only(t, v30, "parameters: [{name: id, in: path}]\n"+strings.TrimSpace(c.text))
			got, problems := op.Schema()
			wantProblems(t, problems)
			text := strings.Replace(string(got), `"id":{},`, "", 1)
			text = strings.Replace(text, `"id":{}`, "", 1)
			text = strings.Replace(text, `"required":["id"],`, "", 1)
			text = strings.Replace(text, `"required":["id",`, `"required":[`, 1)
			if text != c.want {
				t.Errorf("got  %s\nwant %s", text, c.want)
			}
		})
	}
}

// TestLargeSchemas: what is too much is said less of, the deep parts first.
func TestLargeSchemas(t *testing.T) {
	long := strings.Repeat("word ", 200)
	deep := `{type: string, description: "` + long + `"}`
	for range 6 {
		deep = `{type: object, properties: {a: ` + deep + `, b: ` + deep + `}}`
	}
	for _, c := range []struct {
		name, text string
		most       int
		want       string // part of the schema
		problem    string
	}{
		{"it fits", `{type: string}`, 200, `"v":{"type":"string"}`, ""},
		{"long texts", `{type: string, description: "` + long + `"}`, 0, `word word…"`, ""},
		{"deep", deep, 2000, `"v":{"type":"object","properties":{"a":{"type":"object"`, "what lies deeper than 4 levels is not described"},
		{"deeper", deep, 200, `"v":{"type":"object","properties":{"a":{"type":"object"},"b":{"type":"object"}}}`, "what lies deeper than 1 levels"},
		{"hardly anything", deep, 120, `"v":{"type":"object"}`, "what lies deeper than 0 levels"},
		{"not at all", deep, 50, "", "it cannot be offered: the description of its input takes more than 50 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := load(t, "openapi: 3.0.0\npaths: {/a: {get: {parameters: [{name: v, in: query, schema: "+c.text+"}]}}}", openapi.Options{MaxSchema: c.most})
			got, problems := d.Operations[0].Schema()
			if c.problem == "" {
				wantProblems(t, problems)
			} else {
				wantProblems(t, problems, c.problem)
			}
			if c.most > 0 && len(got) > c.most || !strings.Contains(string(got), c.want) || c.want != "" && !json.Valid(got) {
				t.Errorf("got %d bytes: %s", len(got), got)
			}
			if again, _ := d.Operations[0].Schema(); string(again) != string(got) {
				t.Error("it is another one the second time")
			}
		})
	}
}
