// Package apitest holds requests and answers against the OpenAPI document, in tests.
package apitest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rosterrun/roster/docs/reference"
)

// Document is the OpenAPI document. It is safe for concurrent use.
type Document struct {
	// Paths are the operations by path and method, that in lower case.
	Paths map[string]map[string]Operation

	patterns map[string]*regexp.Regexp // by path
	mu       sync.Mutex                // of what follows
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

// Operation is an operation of the document.
type Operation struct {
	Method     string           `json:"-"` // in lower case
	Path       string           `json:"-"`
	ID         string           `json:"operationId"`
	Roles      []string         `json:"x-roster-roles"`
	Live       bool             `json:"x-roster-live"`
	Parameters []Param          `json:"parameters"`
	Body       *Body            `json:"requestBody"`
	Responses  map[string]Reply `json:"responses"`
}

// Param is a parameter.
type Param struct {
	In, Name string
	Required bool
	Schema   json.RawMessage
}

// Body is the body of a request.
type Body struct {
	Required bool
	Content  map[string]struct {
		Schema, Example json.RawMessage
	}
}

// Reply is an answer as the document has it.
type Reply struct {
	Content map[string]json.RawMessage
}

// Answer is an answer that was read to its end.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

const base = "https://example.invalid/openapi.json"

// Open reads the document once. Of answers it is strict: an object has no member that
// the document does not name.
var Open = sync.OnceValue(func() *Document {
	d := &Document{patterns: map[string]*regexp.Regexp{}, compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	must := func(err error) {
		if err != nil {
			panic(err) // the document is checked when it is generated
		}
	}
	must(json.Unmarshal(reference.OpenAPI, &struct {
		Paths *map[string]map[string]Operation `json:"paths"`
	}{&d.Paths}))
	param := regexp.MustCompile(`\\\{\w+\\\}`)
	for path, methods := range d.Paths {
		for method, o := range methods {
			o.Method, o.Path = method, path
			methods[method] = o
		}
		d.patterns[path] = regexp.MustCompile("^" + param.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$")
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(reference.OpenAPI))
	must(err)
	for _, s := range whole.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any) {
		s := s.(map[string]any)
		if _, open := s["additionalProperties"]; !open && s["properties"] != nil && s["maxProperties"] == nil {
			s["additionalProperties"] = false
		}
	}
	d.compiler.AssertFormat()
	must(d.compiler.AddResource(base, whole))
	return d
})

// Schema gives the schema at a place of the document.
func (d *Document) Schema(place ...string) (*jsonschema.Schema, error) {
	at := base + "#"
	for _, p := range place {
		at += "/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.compiled[at]; s != nil {
		return s, nil
	}
	s, err := d.compiler.Compile(at)
	if err == nil {
		d.compiled[at] = s
	}
	return s, err
}

// PathOf finds the path of the document that a request is for: the one with the
// fewest parameters. Empty: there is none.
func (d *Document) PathOf(method, path string) string {
	best := ""
	for p, pattern := range d.patterns {
		if d.Paths[p][method].ID != "" && pattern.MatchString(path) && (best == "" || strings.Count(p, "{") < strings.Count(best, "{")) {
			best = p
		}
	}
	return best
}

// Check says how the answer to a request differs from what the document says of it.
func (d *Document) Check(method, target string, a Answer) error {
	method = strings.ToLower(method)
	if method == "head" {
		method = "get"
	}
	u, err := url.Parse(target)
	if err != nil {
		return err
	}
	path := d.PathOf(method, u.EscapedPath())
	if path == "" {
		if a.Status == 404 || a.Status == 405 || a.Status == 403 || method == "options" {
			return nil
		}
		return fmt.Errorf("%s %s answers %d and is not in the document", method, target, a.Status)
	}
	o, status := d.Paths[path][method], strconv.Itoa(a.Status)
	reply, known := o.Responses[status]
	if !known {
		return fmt.Errorf("%s: %s %s answers %d, which is not documented: %.500s", o.ID, method, target, a.Status, a.Body)
	}
	if a.Body == "" {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(a.Header.Get("Content-Type"))
	for documented := range reply.Content {
		if known, _, _ := mime.ParseMediaType(documented); known != kind {
			continue
		}
		if kind != "application/json" {
			return nil
		}
		if err := d.fits(a.Body, "paths", path, method, "responses", status, "content", documented, "schema"); err != nil {
			return fmt.Errorf("%s: the %d of %s %s is not as documented: %w\n%.2000s", o.ID, a.Status, method, target, err, a.Body)
		}
		return nil
	}
	return fmt.Errorf("%s: the %d of %s %s is %q, which is not documented", o.ID, a.Status, method, target, kind)
}

// Fits says why a body is not one that an operation takes; nil: it is.
func (d *Document) Fits(method, path, body string) error {
	if !jsontext.Value(body).IsValid() { // which is stricter: UTF-8, no name twice
		return errors.New("it is not valid JSON")
	}
	return d.fits(body, "paths", path, method, "requestBody", "content", "application/json", "schema")
}

func (d *Document) fits(text string, place ...string) error {
	s, err := d.Schema(place...)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(v)
}
