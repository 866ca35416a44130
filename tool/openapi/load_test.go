package openapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rosterrun/roster/tool/openapi"
)

// load reads a document from text.
func load(t *testing.T, text string, o openapi.Options) *openapi.Document {
	t.Helper()
	d, err := openapi.Load(t.Context(), openapi.Source{Name: "api.yaml", Data: []byte(text)}, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func problems(all []openapi.Problem) []string {
	var list []string
	for _, p := range all {
		list = append(list, p.Error())
	}
	return list
}

// wantProblems fails unless there is one problem for each part, in order, which it
// holds.
func wantProblems(t *testing.T, got []openapi.Problem, parts ...string) {
	t.Helper()
	list := problems(got)
	good := len(list) == len(parts)
	for i := range min(len(list), len(parts)) {
		good = good && strings.Contains(list[i], parts[i])
	}
	if !good {
		t.Errorf("got the problems\n\t%s\nwant\n\t%s", strings.Join(list, "\n\t"), strings.Join(parts, "\n\t"))
	}
}

func TestRefused(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "api.yaml:1:1: the file is empty"},
		{"blanks", " \n\n", "api.yaml:1:1: the file is empty"},
		{"a page", "<html>", "api.yaml:1:1: this is a page"},
		{"bytes", "openapi: \xff", "api.yaml:1:10: this is not UTF-8 text"},
		{"a list", "[]", "api.yaml:1:1: an OpenAPI document is a map"},
		{"a text", "hello", "api.yaml:1:1: an OpenAPI document is a map"},
		{"another document", "name: x\n", "api.yaml:1:1: this is not an OpenAPI document: it has neither openapi nor swagger"},
		{"OpenAPI 4", "info: {}\nopenapi: 4.0.0\n", `api.yaml:2:10: openapi "4.0.0" is not read: 3.0, 3.1, 3.2 and swagger 2.0 are`},
		{"Swagger 1.2", "swagger: '1.2'\n", `api.yaml:1:10: swagger "1.2" is not read`},
		{"no paths", "openapi: 3.0.0\n", "api.yaml:1:1: the document has no paths"},
		{"paths that are a list", "openapi: 3.0.0\npaths: [a]\n", "api.yaml:2:8: paths is a map of paths"},
		{"JSON that ends", `{"openapi": "3.0.0",`, "api.yaml:1:21: the text ends within a value"},
		{"JSON with a comma too many", "{\"openapi\": \"3.0.0\",\n\"paths\": {},}", "api.yaml:2:12: this is not JSON"},
		{"a key twice in JSON", "{\"openapi\": \"3.0.0\",\n\"paths\": {}, \"paths\": {}}", `api.yaml:2:14: the key "paths" stands twice`},
		{"two values", "{} {}", "api.yaml:1:4: more follows after the end of the document"},
		{"a key twice in YAML", "openapi: 3.0.0\npaths: {}\npaths: {}\n", `api.yaml:3:1: the key "paths" stands twice, first in line 2`},
		{"bad YAML", "openapi: 3.0.0\npaths: [\n", "api.yaml:3:1: this is not YAML"},
		{"a list as a key", "openapi: 3.0.0\n? [a]\n: b\n", "api.yaml:2:3: a key is plain text"},
		{"an alias of what holds it", "openapi: 3.0.0\npaths: &a\n  /x: *a\n", "api.yaml:"},
		{"a merge of no map", "openapi: 3.0.0\npaths: {<<: [1]}\n", "api.yaml:2:14: only maps can be merged into a map"},
		{"JSON too deep", `{"openapi": ` + strings.Repeat("[", 300), "api.yaml:1:212: values nest deeper than 200 levels"},
		{"YAML too deep", "openapi: " + strings.Repeat("[", 300) + strings.Repeat("]", 300), "api.yaml:1:"},
		{"YAML too deep by indents", "openapi:\n" + indents(300), "api.yaml:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openapi.Load(t.Context(), openapi.Source{Name: "api.yaml", Data: []byte(c.text)}, openapi.Options{})
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func indents(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i+1))
	}
	return b.String()
}

func TestRefusedForItsSize(t *testing.T) {
	small := "openapi: 3.0.0\npaths: {/a: {get: {}}, /b: {get: {}}}\n"
	for _, c := range []struct {
		name string
		o    openapi.Options
		want string
	}{
		{"bytes", openapi.Options{MaxBytes: 10}, "api.yaml:1:1: the document is too large"},
		{"YAML", openapi.Options{MaxYAML: 10}, "api.yaml:1:1: YAML of 15 bytes that cannot be taken apart is not read, only up to 10: convert the document to JSON"},
		{"operations", openapi.Options{MaxOperations: 1}, "api.yaml:2:24: the document has more than 1 operations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := openapi.Load(t.Context(), openapi.Source{Name: "api.yaml", Data: []byte(small)}, c.o)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestHead reads what a document says of itself, and of where it is to be had.
func TestHead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"3.0", "openapi: 3.0.3\ninfo: {title: Shop, version: 1.0}\npaths: {}", "3.0.3 Shop 1.0 []"},
		{"3.1 without paths", "openapi: 3.1.0\ninfo: {title: Shop}", "3.1.0 Shop  []"},
		{"a mark at the start", "\ufeff{\"openapi\": \"3.2.0\"}", "3.2.0   []"},
		{"comments first", "# {\n---\nopenapi: 3.0.0\npaths:\n", "3.0.0   []"},
		{"YAML in braces", "{openapi: 3.0.0, paths: {}}", "3.0.0   []"},
		{"servers", "openapi: 3.0.0\npaths: {}\nservers: [{url: 'https://{where}.example', variables: {where: {default: eu, enum: [eu, us]}}}, {url: /v1}, {}]",
			"3.0.0   [{https://{where}.example  [{where eu [eu us]}]} {/v1  []}]"},
		{"2.0", "swagger: '2.0'\npaths: {}\nhost: shop.example\nbasePath: /v1\nschemes: [http, wss, https]", "2.0   [{https://shop.example/v1  []} {http://shop.example/v1  []}]"},
		{"2.0 as a number", "swagger: 2.0\npaths: {}\nbasePath: /v1", "2.0   [{/v1  []}]"},
		{"2.0 without schemes", "swagger: 2\npaths: {}\nhost: shop.example", "2.0   [{https://shop.example  []}]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := load(t, c.text, openapi.Options{})
			if got := fmt.Sprintf("%s %s %s %v", d.Format, d.Title, d.Version, d.Servers); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			wantProblems(t, d.Problems)
		})
	}
}

func TestSecurity(t *testing.T) {
	d := load(t, `
openapi: 3.0.0
security: [{key: []}, {login: [read, write], key: []}]
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    login: {$ref: '#/components/securitySchemes/other'}
    other: {type: http, scheme: Bearer}
    lost: {$ref: '#/nowhere'}
paths:
  /a:
    get: {operationId: as-all}
    put: {operationId: none, security: []}
    post: {operationId: optional, security: [{}, {key: []}]}
`, openapi.Options{})
	want := map[string]string{
		"as-all":   "[[{key []}] [{login [read write]} {key []}]]",
		"none":     "[]",
		"optional": "[[] [{key []}]]",
	}
	for _, op := range d.Operations {
		if got := fmt.Sprint(op.Security); got != want[op.ID] {
			t.Errorf("%s: got %s, want %s", op.ID, got, want[op.ID])
		}
	}
	if got := fmt.Sprint(d.SecuritySchemes); got != "map[key:{apiKey  X-Key header} login:{http bearer  } other:{http bearer  }]" {
		t.Error(got)
	}
	wantProblems(t, d.Problems, `api.yaml:9:5: the security scheme "lost" is left out: $ref "#/nowhere": there is nothing of that name`)

	old := load(t, "swagger: '2.0'\nsecurityDefinitions: {in: {type: basic}}\npaths: {}", openapi.Options{})
	if got := fmt.Sprint(old.SecuritySchemes); got != "map[in:{http basic  }]" {
		t.Error(got)
	}
}

// TestYAMLValues holds what YAML says against what JSON would.
func TestYAMLValues(t *testing.T) {
	d := load(t, `
openapi: 3.1.0
x-base: &base {type: string, minLength: 1}
x-more: &more {maxLength: 0x10}
paths:
  /a:
    get:
      responses: {200: {description: ok}}
      parameters:
        - &page {name: page, in: query, schema: {type: integer, default: 0o17, minimum: +1, maximum: 1_000}}
        - {name: word, in: query, schema: {<<: [*base, *more], minLength: 2, default: 2020-01-02, description: ~}}
        - {name: yes, in: query, schema: {enum: [yes, No, true, null, 1.50, .inf, "1"]}}
`, openapi.Options{})
	schema, _ := d.Operations[0].Schema()
	want := `{"type":"object","properties":{` +
		`"page":{"type":"integer","default":15,"minimum":1,"maximum":1000},` +
		`"word":{"type":"string","default":"2020-01-02","minLength":2,"maxLength":16},` +
		`"yes":{"enum":["yes","No",true,null,1.50,".inf","1"]}},"additionalProperties":false}`
	if string(schema) != want {
		t.Errorf("got  %s\nwant %s", schema, want)
	}
	wantProblems(t, d.Problems)
}

// TestAliasesAreBounded: a few lines would be gigabytes.
func TestAliasesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("openapi: 3.0.0\npaths: {}\nx0: &x0 [a, a, a, a, a, a, a, a, a, a]\n")
	for i := range 9 {
		fmt.Fprintf(&b, "x%d: &x%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*x%d, ", i), 10), ", "))
	}
	_, err := openapi.Load(t.Context(), openapi.Source{Name: "api.yaml", Data: []byte(b.String())}, openapi.Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "api.yaml") {
		t.Errorf("got %v", err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "api.yaml", "openapi: 3.0.0\npaths: {/a: {$ref: 'more/a.yaml#/it'}}\n")
	write(t, dir, "more/a.yaml", "it: {get: {parameters: [{$ref: '../b.json'}]}}\n")
	write(t, dir, "b.json", `{"name": "b", "in": "query", "schema": {"$ref": "c.json"}}`)
	write(t, dir, "c.json", `{"type": "boolean"}`)
	d, err := openapi.Open(t.Context(), filepath.Join(dir, "api.yaml"), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, d.Problems)
	schema, more := d.Operations[0].Schema()
	wantProblems(t, more)
	if !strings.Contains(string(schema), `"b":{"type":"boolean"}`) {
		t.Errorf("got %s", schema)
	}
	if got := d.Operations[0].File; got != filepath.Join(dir, "more/a.yaml") {
		t.Errorf("the operation stands in %s", got)
	}

	for _, c := range []struct{ name, path, want string }{
		{"a folder", dir, "is a folder"},
		{"nothing", filepath.Join(dir, "no.yaml"), "no such file"},
		{"a device", "/dev/zero", "is not a plain file"},
		{"too large", filepath.Join(dir, "api.yaml"), "is too large: it has 54 bytes, and at most 20 are read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := openapi.Open(t.Context(), c.path, openapi.Options{MaxBytes: 20}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestReferences follows references, or says why not. Nothing but files in the
// document's folder is read.
func TestReferences(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "secret.json", `{"name": "secret", "in": "query"}`)
	write(t, dir, "in/good.json", `{"name": "good", "in": "query", "list": [{"name": "first", "in": "query"}], "a/b": {"~c d": {"name": "odd", "in": "query"}}}`)
	write(t, dir, "in/bad.json", `{"name": `)
	write(t, dir, "in/loop.json", `{"$ref": "loop.json"}`)
	write(t, dir, "in/sub/x.json", `{"name": "x", "in": "query"}`)
	for link, to := range map[string]string{"out.json": "../secret.json", "near.json": "good.json", "away": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, "in", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, ref, arg, problem string }{
		{"here", "#/components/parameters/here", "here", ""},
		{"through another", "#/components/parameters/chain", "here", ""},
		{"this file by its name", "api.yaml#/components/parameters/here", "here", ""},
		{"a file", "good.json", "good", ""},
		{"a file with a point", "./good.json#", "good", ""},
		{"an item of a list", "good.json#/list/0", "first", ""},
		{"escapes", "good.json#/a~1b/~0c%20d", "odd", ""},
		{"a link to a file here", "near.json", "good", ""},
		{"below", "sub/x.json", "x", ""},
		{"there and back", "sub/../good.json", "good", ""},

		{"nothing here", "#/components/parameters/none", "", "there is nothing of that name"},
		{"past a list", "good.json#/list/1", "", "there is nothing of that name"},
		{"no number", "good.json#/list/x", "", "there is nothing of that name"},
		{"below a text", "good.json#/name/x", "", "there is nothing of that name"},
		{"no file", "none.json", "", "no such file in the document's folder"},
		{"an anchor", "#here", "", "anchors are not followed"},
		{"itself", "#/components/parameters/self", "", "leads to itself"},
		{"a file that is itself", "loop.json", "", "leads to itself"},
		{"a bad file", "bad.json", "", "in/bad.json:1:10: the text ends within a value"},
		{"a folder", "sub", "", "is a folder"},
		{"above", "../secret.json", "", "it leads out of the document's folder"},
		{"above by escapes", "%2e%2e/secret.json", "", "it leads out of the document's folder"},
		{"above by steps", "sub/../../secret.json", "", "it leads out of the document's folder"},
		{"above by a backslash", `..\\secret.json`, "", "it leads out of the document's folder"},
		{"above by a link", "out.json", "", "path escapes from parent"},
		{"above by a linked folder", "away/secret.json", "", "path escapes from parent"},
		{"from the root", "/etc/passwd", "", "it leads out of the document's folder"},
		{"a URL", "http://127.0.0.1:1/x.json", "", "nothing is fetched"},
		{"a URL without a scheme", "//127.0.0.1:1/x.json", "", "nothing is fetched"},
		{"a file URL", "file:///etc/passwd", "", "nothing is fetched"},
		{"a short file URL", "file:good.json", "", "nothing is fetched"},
		{"a name", "urn:x", "", "nothing is fetched"},
		{"an escape that is none", "%zz", "", "it leads out of the document's folder"},
		{"a zero byte", "good%00.json", "", "it leads out of the document's folder"},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, dir, "in/api.yaml", `{"openapi": "3.0.0", "components": {"parameters": {
				"here": {"name": "here", "in": "query"}, "self": {"$ref": "#/components/parameters/self"}, "chain": {"$ref": "#/components/parameters/here"}}},
				"paths": {"/a": {"get": {"parameters": [{"$ref": "`+c.ref+`"}]}}}}`)
			d, err := openapi.Open(t.Context(), filepath.Join(dir, "in", "api.yaml"), openapi.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c.problem != "" {
				wantProblems(t, d.Problems, c.problem)
				return
			}
			wantProblems(t, d.Problems)
			if got := d.Operations[0].Args(); !slices.Equal(got, []string{c.arg}) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	var refs []string
	for i := range 300 {
		name := fmt.Sprintf("f%d.json", i)
		write(t, dir, name, fmt.Sprintf(`{"name": "p%d", "in": "query"}`, i))
		refs = append(refs, fmt.Sprintf(`"/%d": {"get": {"parameters": [{"$ref": %q}]}}`, i, name))
	}
	write(t, dir, "api.json", `{"openapi": "3.0.0", "paths": {`+strings.Join(refs, ",")+`}}`)
	d, err := openapi.Open(t.Context(), filepath.Join(dir, "api.json"), openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Operations) != 200 || len(d.Problems) != 100 || !strings.Contains(d.Problems[0].Text, "more than 200 files") {
		t.Errorf("%d operations, %d problems: %v", len(d.Operations), len(d.Problems), d.Problems[:1])
	}
}
