package openapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// styled is a parameter of the fixture. Only the values of TestFixture fit it.
type styled struct {
	in, style string
	explode   bool
	kind      string // list, object or text
}

// fixture is a document with an operation for each place, style and kind of value.
func fixture(host string) (document string, all []styled) {
	places := []struct{ in, style string }{
		{"path", "simple"}, {"path", "label"}, {"path", "matrix"}, {"query", "form"}, {"query", "spaceDelimited"}, {"query", "pipeDelimited"},
		{"query", "deepObject"}, {"header", "simple"}, {"cookie", "form"},
	}
	schemas := map[string]string{
		"text":   `{"type":"string","enum":["blue","blue sky"]}`,
		"list":   `{"type":"array","minItems":3,"maxItems":3,"uniqueItems":true,"items":{"type":"string","enum":["blue","black","brown"]}}`,
		"object": `{"type":"object","required":["R","G"],"additionalProperties":false,"properties":{"R":{"type":"integer","enum":[100]},"G":{"type":"integer","enum":[200]}}}`,
	}
	var paths []string
	for _, p := range places {
		for _, explode := range []bool{false, true} {
			for _, kind := range []string{"text", "list", "object"} {
				s := styled{p.in, p.style, explode, kind}
				if !s.defined() {
					continue
				}
				path := "/" + s.id()
				if p.in == "path" {
					path += "/{color}"
				}
				paths = append(paths, fmt.Sprintf(`%q:{"get":{"operationId":%q,"parameters":[{"name":"color","in":%q,"required":true,"style":%q,"explode":%t,"schema":%s}],"responses":{"200":{"description":"ok"}}}}`,
					path, s.id(), p.in, p.style, explode, schemas[kind]))
				all = append(all, s)
			}
		}
	}
	return fmt.Sprintf(`{"openapi":"3.0.3","info":{"title":"fixture","version":"1"},"servers":[{"url":"http://%s"}],"paths":{%s}}`, host, strings.Join(paths, ",")), all
}

func (s styled) id() string { return fmt.Sprintf("%s_%s_%t_%s", s.in, s.style, s.explode, s.kind) }

// defined says whether the specification defines the style for such a value.
func (s styled) defined() bool {
	switch s.style {
	case "deepObject":
		return s.kind == "object" && s.explode
	case "spaceDelimited", "pipeDelimited":
		return s.kind == "list" && !s.explode
	}
	return !(s.in == "cookie" && s.explode && s.kind != "text") && !(s.in == "header" && s.kind == "text" && s.explode)
}

// TestFixture: a service that another implementation makes of the same document, and
// that refuses what does not fit, takes every call.
func TestFixture(t *testing.T) {
	var service http.Handler
	_, host := serve(t, func(w http.ResponseWriter, r *http.Request) { service.ServeHTTP(w, r) })
	written, all := fixture(host)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(written))
	if err != nil {
		t.Fatal(err)
	}
	service = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, value, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		path, params := "/"+id, map[string]string{}
		if doc.Paths.Value(path) == nil {
			path, params["color"] = path+"/{color}", value
		}
		item := doc.Paths.Value(path)
		if item == nil {
			http.NotFound(w, r)
			return
		}
		route := &routers.Route{Spec: doc, Path: path, PathItem: item, Method: r.Method, Operation: item.Get}
		if err := openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route}); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	values := map[string]any{"text": "blue sky", "list": []string{"blue", "black", "brown"}, "object": map[string]int{"R": 100, "G": 200}}
	w := world{entry: fmt.Sprintf("{spec: a, hosts: [%q]}", host), document: written}
	for _, s := range all {
		t.Run(s.id(), func(t *testing.T) {
			v := values[s.kind]
			if s.in == "cookie" && s.kind == "text" {
				v = "blue" // the other implementation takes escapes in cookies as they are
			}
			r, err := w.call(t, s.id(), map[string]any{"color": v})
			if err != nil || r.Error {
				t.Errorf("%v, %s", err, text(r))
			}
		})
	}
	if len(all) < 30 {
		t.Errorf("only %d cases", len(all))
	}
}
