package profile

import (
	"fmt"
	"strings"
)

// ErrorName names a kind of failure for programs. It is an error itself, so
// that errors.Is(err, profile.MissingFrontmatter) finds it in a Diagnostic, a
// ParseError or a LoadError.
type ErrorName string

// The names under which files and profiles fail.
const (
	IO                    ErrorName = "IO"
	MissingFrontmatter    ErrorName = "MissingFrontmatter"
	InvalidYAML           ErrorName = "InvalidYAML"
	InvalidFormat         ErrorName = "InvalidFormat"
	SchemaValidation      ErrorName = "SchemaValidation"
	MissingName           ErrorName = "MissingName"
	EmptyProvider         ErrorName = "EmptyProvider"
	EmptyModel            ErrorName = "EmptyModel"
	MissingSystemPrompt   ErrorName = "MissingSystemPrompt"
	MissingPromptTemplate ErrorName = "MissingPromptTemplate"
	EmptyGoal             ErrorName = "EmptyGoal"
	MissingStrandDir      ErrorName = "MissingStrandDir"
	ExecutingKey          ErrorName = "ExecutingKey"
	ProfileNotFound       ErrorName = "ProfileNotFound"
	ProfileExists         ErrorName = "ProfileExists"
	RevisionMismatch      ErrorName = "RevisionMismatch"
	RevisionNotFound      ErrorName = "RevisionNotFound"
	ReadOnly              ErrorName = "ReadOnly"

	BothProfileAndConfig           ErrorName = "BothProfileAndConfig"
	MissingAgentConfigOrProfileRef ErrorName = "MissingAgentConfigOrProfileRef"
)

func (n ErrorName) Error() string { return string(n) }

// LoadError says which file, or in-memory source, could not be loaded. Err is a
// *ParseError, or wraps IO and the error of the operating system.
type LoadError struct {
	Path string
	Err  error
}

func (e *LoadError) Error() string {
	if p, ok := e.Err.(*ParseError); ok {
		return p.Error() // its diagnostics name the file already
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

func (e *LoadError) Unwrap() error { return e.Err }

// ParseError holds everything that was found in a file that was refused: at
// least one error, and its warnings and notes.
type ParseError struct {
	Diagnostics []Diagnostic
}

func (e *ParseError) Error() string {
	var lines []string
	for i := range e.Diagnostics {
		if e.Diagnostics[i].Severity == SeverityError {
			lines = append(lines, e.Diagnostics[i].Error())
		}
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the errors among the diagnostics.
func (e *ParseError) Unwrap() []error {
	var errs []error
	for i := range e.Diagnostics {
		if e.Diagnostics[i].Severity == SeverityError {
			errs = append(errs, &e.Diagnostics[i])
		}
	}
	return errs
}

// Refused says whether one of the diagnostics is an error.
func Refused(ds []Diagnostic) bool {
	for i := range ds {
		if ds[i].Severity == SeverityError {
			return true
		}
	}
	return false
}
