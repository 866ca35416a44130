package tool

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/rosterrun/roster/model"
)

// Validator checks inputs against a tool's schema. It is safe for concurrent
// use.
type Validator struct {
	tool   string
	schema *jsonschema.Schema
}

// InputError is an input that does not fit the tool's schema. Its text is
// written for the model.
type InputError struct {
	Tool       string
	Violations []string // each names the place and what is wrong
}

func (e *InputError) Error() string {
	return fmt.Sprintf("the input does not fit the schema of %s, nothing was done:\n- %s\nCall it again with these corrected.",
		e.Tool, strings.Join(e.Violations, "\n- "))
}

// NewValidator compiles the schema. References out of the schema are errors:
// nothing is fetched.
func NewValidator(def *model.ToolDef) (*Validator, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(def.Schema))
	if err != nil {
		return nil, fmt.Errorf("tool %s: the schema is not JSON: %w", def.Name, err)
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	const url = "schema:input"
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("tool %s: %w", def.Name, err)
	}
	schema, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("tool %s: the schema does not compile: %w", def.Name, err)
	}
	return &Validator{def.Name, schema}, nil
}

// Validate checks one input. What does not fit is an *InputError that lists
// every violation.
func (v *Validator) Validate(input []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(input))
	if err != nil {
		return &InputError{v.tool, []string{"the input is not valid JSON: " + err.Error()}}
	}
	err = v.schema.Validate(doc)
	if err == nil {
		return nil
	}
	var failed *jsonschema.ValidationError
	if !errors.As(err, &failed) {
		return &InputError{v.tool, []string{err.Error()}}
	}
	e := &InputError{Tool: v.tool}
	e.collect(failed, message.NewPrinter(language.English))
	slices.Sort(e.Violations) // the schema's properties come in no order
	return e
}

// collect gathers the leaves of the tree of errors: the others only say that
// something below them is wrong.
func (e *InputError) collect(err *jsonschema.ValidationError, p *message.Printer) {
	for _, cause := range err.Causes {
		e.collect(cause, p)
	}
	if len(err.Causes) > 0 {
		return
	}
	where := strings.Join(err.InstanceLocation, ".")
	if where == "" {
		where = "input"
	}
	e.Violations = append(e.Violations, where+": "+err.ErrorKind.LocalizedString(p))
}
