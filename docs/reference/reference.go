// Package reference holds the reference pages that a program needs itself.
package reference

import _ "embed"

// OpenAPI is the OpenAPI 3.1 document of the HTTP interface. It must not be changed.
//
//go:embed openapi.json
var OpenAPI []byte
