// Package source says where a value was written, so that every field of a
// resolved profile and every permission rule can name its file and line.
package source

import (
	"cmp"
	"strconv"
)

// Layer names one layer of resolution. Later layers win; Host is not a layer
// of resolution but marks rules and limits of the host policy, which cap the
// result.
type Layer string

// The layers in the order in which they are applied.
const (
	Builtin  Layer = "builtin"
	Server   Layer = "server" // what a model server says that it has
	User     Layer = "user"
	Defaults Layer = "defaults"
	Extends  Layer = "extends"
	Profile  Layer = "profile"
	Session  Layer = "session"
	Override Layer = "override"
	Flag     Layer = "flag"
	Host     Layer = "host"
)

// Origin says where a value was written. Line and Column count from 1; 0 means
// that the value is not from a file. The zero Origin means unknown.
type Origin struct {
	Layer  Layer  `json:"layer,omitempty"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

// String gives file:line:column as far as it is known, else the layer.
func (o Origin) String() string {
	s := cmp.Or(o.File, string(o.Layer))
	if o.Line > 0 {
		s += ":" + strconv.Itoa(o.Line)
		if o.Column > 0 {
			s += ":" + strconv.Itoa(o.Column)
		}
	}
	return s
}
