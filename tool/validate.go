package tool

import (
	"fmt"
	"strings"

	"github.com/rosterrun/roster/internal/schema"
	"github.com/rosterrun/roster/model"
)

// Validator checks inputs against a tool's schema. It is safe for concurrent
// use.
type Validator struct {
	tool   string
	schema *schema.Schema
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
	s, err := schema.Compile(def.Schema)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", def.Name, err)
	}
	return &Validator{def.Name, s}, nil
}

// Validate checks one input. What does not fit is an *InputError that lists
// every violation.
func (v *Validator) Validate(input []byte) error {
	if wrong := v.schema.Violations(input, "input"); len(wrong) > 0 {
		return &InputError{v.tool, wrong}
	}
	return nil
}
