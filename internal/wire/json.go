package wire

import (
	"bytes"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rosterrun/roster/model"
)

// AppendString appends s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD.
func AppendString[S ~string | ~[]byte](dst []byte, s S) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // its only error is that such bytes were replaced
	return dst
}

// AppendSampling appends the members temperature and top_p where they are set.
func AppendSampling(dst []byte, p model.Params) ([]byte, error) {
	for _, member := range []struct {
		name  string
		value *float64
	}{{"temperature", p.Temperature}, {"top_p", p.TopP}} {
		if member.value == nil {
			continue
		}
		v := *member.value
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s: %v is not a number that a request can hold", member.name, v)
		}
		dst = append(append(append(dst, `,"`...), member.name...), `":`...)
		dst = strconv.AppendFloat(dst, v, 'g', -1, 64)
	}
	return dst, nil
}

// WithSchema adds to the last text that a model is sent what its answer has to
// fit, for where the API has no member for it.
func WithSchema(tail string, s *model.Schema) string {
	if tail != "" {
		tail += "\n\n"
	}
	return tail + "When you give your final answer, give one JSON value and nothing else: no other text, and no code fence around it. " +
		"It has to fit this JSON Schema:\n" + string(s.JSON)
}

// ValidJSON says whether b is one JSON value in UTF-8.
func ValidJSON(b []byte) bool {
	return jsontext.Value(b).IsValid(jsontext.AllowDuplicateNames(true))
}

// IsObject says whether b is one JSON object.
func IsObject(b []byte) bool {
	return ValidJSON(b) && jsontext.Value(b).Kind() == jsontext.KindBeginObject
}

// emptyInput stands for a call whose arguments the model left empty.
const emptyInput = "{}"

// CallInput returns what a model sent as a call's arguments: a JSON value, or
// what it was and that it is none.
func CallInput(b []byte) (input []byte, invalid bool) {
	if len(bytes.TrimSpace(b)) == 0 {
		return []byte(emptyInput), false
	}
	return b, !ValidJSON(b)
}

// AppendInput appends a call's arguments as a JSON object, which is what
// providers take back. Anything else is wrapped, so that the model sees what
// it had sent.
func AppendInput(dst, input []byte) []byte {
	switch {
	case len(bytes.TrimSpace(input)) == 0:
		return append(dst, emptyInput...)
	case IsObject(input):
		return append(dst, input...)
	}
	dst = append(dst, `{"INVALID_JSON":`...)
	dst = AppendString(dst, input)
	return append(dst, '}')
}
