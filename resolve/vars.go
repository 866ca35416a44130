package resolve

import (
	"errors"

	"github.com/rosterrun/roster/profile"
)

// variables fills in the variables of a value, if it is from a profile whose
// dialect has them. What they hold may be a secret: the trace keeps the value
// as it is written, for those who show it.
func (r *resolver) variables(key string, v profile.Value[string]) profile.Value[string] {
	if !v.Set || r.layers[r.won[key]].Keys.Dialect != "config" || !profile.HasVars(v.V) || r.err != nil {
		return v
	}
	text, err := profile.ExpandVars(v.V, r.in.LookupEnv)
	var missing *profile.MissingVariable
	if errors.As(err, &missing) {
		r.fail(key, v.At, err.Error(), "set "+missing.Name+", or write the value out")
		return v
	}
	trace := r.out.Origins[key]
	trace.Written = v.V
	r.out.Origins[key] = trace
	v.V = text
	return v
}
