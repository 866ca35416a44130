package openapi_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/rosterrun/roster/tool/openapi"
)

// TestBombs: documents of which a few kilobytes would be endless work end soon, with
// something to offer or the reason why not. What they allocate says so, for a time
// would depend on the machine.
func TestBombs(t *testing.T) {
	const most = 256 << 20
	for _, c := range []struct{ name, schema, schemas, want string }{
		{"wide and deep", "{$ref: '#/components/schemas/S0'}", layers(30, func(next string) string {
			return "{properties: {a: {$ref: " + next + "}, b: {$ref: " + next + "}, c: {$ref: " + next + "}, d: {$ref: " + next + "}}}"
		}), `"type":"object"`},
		{"all of twice the same", "{$ref: '#/components/schemas/S0'}", layers(60, func(next string) string {
			return "{allOf: [{$ref: " + next + "}, {$ref: " + next + "}]}"
		}), `"v":{}`},
		{"all of two others", "{$ref: '#/components/schemas/S0'}", layers(25, func(next string) string {
			return "{allOf: [{allOf: [{$ref: " + next + "}]}, {properties: {x: {$ref: " + next + "}}}]}"
		}), `"type":"object"`},
		{"any of twice the same", "{$ref: '#/components/schemas/S0'}", layers(60, func(next string) string {
			return "{anyOf: [{$ref: " + next + "}, {$ref: " + next + "}]}"
		}), `"anyOf"`},
		{"a list of lists", "{$ref: '#/components/schemas/S0'}", layers(100, func(next string) string {
			return "{type: array, items: {$ref: " + next + "}}"
		}), `"type":"array"`},
		{"a chain", "{$ref: '#/components/schemas/S0'}", layers(60, func(next string) string { return "{$ref: " + next + "}" }), `"v":{}`},
		{"many properties", "{properties: {" + strings.TrimSuffix(repeat(20_000, "p%d: {type: string}, "), ", ") + "}}", "", `"type":"object"`},
		{"many words", "{enum: [" + strings.TrimSuffix(repeat(20_000, "w%d, "), ", ") + "]}", "", `"v":{}`},
		{"a long text", "{type: string, description: " + strings.Repeat("x", 1<<20) + "}", "", `xxx…"`},
		{"a number of many digits", "{maximum: " + strings.Repeat("9", 100) + ", minimum: -" + strings.Repeat("9", 100) + "}", "", `"v":{}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			d := load(t, "openapi: 3.1.0\npaths: {/a: {get: {parameters: [{name: v, in: query, schema: "+c.schema+"}]}}}\n"+c.schemas, openapi.Options{})
			got, _ := d.Operations[0].Schema()
			runtime.ReadMemStats(&after)
			if !strings.Contains(string(got), c.want) {
				t.Errorf("got %.300s, want %s", got, c.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > most {
				t.Errorf("%d MiB were allocated", n>>20)
			}
		})
	}
}

// layers are n schemas, each made of the next.
func layers(n int, of func(next string) string) string {
	var b strings.Builder
	b.WriteString("components:\n  schemas:\n")
	for i := range n {
		fmt.Fprintf(&b, "    S%d: %s\n", i, of(fmt.Sprintf("'#/components/schemas/S%d'", i+1)))
	}
	fmt.Fprintf(&b, "    S%d: {}\n", n)
	return b.String()
}

func repeat(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// TestTooManyInputs leaves out what nobody could call.
func TestTooManyInputs(t *testing.T) {
	params := strings.TrimSuffix(repeat(400, "{name: p%d, in: query}, "), ", ")
	props := strings.TrimSuffix(repeat(400, "p%d: {}, "), ", ")
	forms := strings.TrimSuffix(repeat(400, "{name: p%d, in: formData, type: string}, "), ", ")
	for _, c := range []struct{ name, text, want string }{
		{"parameters", "openapi: 3.0.0\npaths: {/a: {get: {parameters: [" + params + "]}}}", "it has more than 300 parameters"},
		{"properties", "openapi: 3.0.0\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: {properties: {" + props + "}}}}}}}}", "its body has more than 300 properties"},
		{"both", "openapi: 3.0.0\npaths: {/a: {post: {parameters: [" + repeat(200, "{name: q%d, in: query}, ") + "], requestBody: {content: {application/json: {schema: {properties: {" + repeat(200, "p%d: {}, ") + "}}}}}}}}", "it takes"},
		{"a form of 2.0", "swagger: '2.0'\npaths: {/a: {post: {parameters: [" + forms + "]}}}", "inputs, more than 300"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := load(t, c.text, openapi.Options{})
			if len(d.Operations) != 0 {
				t.Error("the operation is there")
			}
			wantProblems(t, d.Problems, c.want)
		})
	}
}

// TestHugeNumbers: what a few characters stand for does not reach whoever checks with
// the schema, who would write it out.
func TestHugeNumbers(t *testing.T) {
	d := load(t, `{"openapi": "3.1.0", "paths": {"/a": {"get": {"parameters": [{"name": "v", "in": "query", "schema":
		{"minimum": 1e1000000000, "multipleOf": 1e-1000000000, "maximum": 1e3, "enum": [1e-400000000, 2E2], "const": 1e999999999}}]}}}}`, openapi.Options{})
	got, _ := d.Operations[0].Schema()
	if want := `"v":{"enum":[0,200],"maximum":1000}`; !strings.Contains(string(got), want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestManyProblems(t *testing.T) {
	d := load(t, "openapi: 3.0.0\npaths: {"+strings.TrimSuffix(repeat(3000, "p%d: {}, "), ", ")+"}", openapi.Options{})
	if len(d.Problems) != 1000 {
		t.Errorf("%d problems", len(d.Problems))
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := openapi.Load(ctx, openapi.Source{Name: "a", Data: []byte("openapi: 3.0.0\npaths: {/a: {get: {}}}")}, openapi.Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
