package catalog

import (
	"errors"
	"strings"

	"github.com/rosterrun/roster/source"
)

// What can be wrong with a model reference; reach them with errors.Is.
var (
	ErrMalformed       = errors.New("MalformedModelIdentifier")
	ErrMissing         = errors.New("MissingEffectiveModel")
	ErrUnknownProvider = errors.New("UnknownProvider")
	ErrUnknownModel    = errors.New("UnknownModel")
	ErrMissingKey      = errors.New("MissingKey")
)

// ModelError says why there is no model: which reference, where it is written,
// and what to write instead.
type ModelError struct {
	// Kind is one of the errors above.
	Kind error
	// Ref is the reference as written, empty if there was none.
	Ref string
	// At is where it is written.
	At source.Origin
	// Message says what is wrong, Hint what to do.
	Message, Hint string
	// Nearest are the names that resemble it, the best first.
	Nearest []string
}

// Name is the stable name of the error, such as "UnknownModel".
func (e *ModelError) Name() string { return e.Kind.Error() }

func (e *ModelError) Error() string {
	var b strings.Builder
	if at := e.At.String(); at != "" && e.At.Layer != source.Builtin {
		b.WriteString(at + ": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

func (e *ModelError) Unwrap() error { return e.Kind }
