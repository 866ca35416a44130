// Package schema checks JSON values against JSON Schemas.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Schema checks values. It is safe for concurrent use.
type Schema struct{ compiled *jsonschema.Schema }

// Compile reads a schema. References out of it are errors: nothing is fetched.
func Compile(text []byte) (*Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("the schema is not JSON: %w", err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	const url = "schema:input"
	if err := c.AddResource(url, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("the schema does not compile: %w", err)
	}
	return &Schema{compiled}, nil
}

// Violations lists what of a value does not fit, each with its place; none: it
// fits. root is the name of the place of the whole.
func (s *Schema) Violations(value []byte, root string) []string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return []string{"the " + root + " is not valid JSON: " + err.Error()}
	}
	err = s.compiled.Validate(doc)
	if err == nil {
		return nil
	}
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return []string{err.Error()}
	}
	list := collect(nil, failed, root, message.NewPrinter(language.English))
	slices.Sort(list) // the schema's properties come in no order
	return list
}

// collect gathers the leaves of the tree of errors: the others only say that
// something below them is wrong.
func collect(list []string, err *jsonschema.ValidationError, root string, p *message.Printer) []string {
	for _, cause := range err.Causes {
		list = collect(list, cause, root, p)
	}
	if len(err.Causes) > 0 {
		return list
	}
	where := strings.Join(err.InstanceLocation, ".")
	if where == "" {
		where = root
	}
	return append(list, where+": "+err.ErrorKind.LocalizedString(p))
}

// Strict says whether a schema is of the narrow kind that providers enforce to
// the letter: each object lists its properties, requires all of them, and allows
// no others.
func Strict(text []byte) bool {
	var node any
	return json.Unmarshal(text, &node) == nil && strict(node)
}

func strict(node any) bool {
	switch n := node.(type) {
	case []any:
		return !slices.ContainsFunc(n, func(x any) bool { return !strict(x) })
	case map[string]any:
		properties, isObject := n["properties"].(map[string]any)
		if isObject || n["type"] == "object" {
			required, _ := n["required"].([]any)
			if n["additionalProperties"] != false || len(required) != len(properties) {
				return false
			}
			for name := range properties {
				if !slices.Contains(required, any(name)) {
					return false
				}
			}
		}
		for _, below := range n {
			if !strict(below) {
				return false
			}
		}
	}
	return true
}
