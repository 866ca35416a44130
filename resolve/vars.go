package resolve

import (
	"errors"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
	"github.com/rosterrun/roster/trust"
)

// configDialect is the one whose values hold variables.
const configDialect = "config"

// variables fills in the variables of a value, if it is from a profile whose
// dialect has them. What they hold may be a secret: the trace keeps the value
// as it is written, for those who show it.
func (r *resolver) variables(key string, v profile.Value[string]) profile.Value[string] {
	if !v.Set || r.err != nil || r.layers[r.won[key]].Keys.Dialect != configDialect || !profile.HasVars(v.V) {
		return v
	}
	v.V, r.err = r.fill(r.layers[r.won[key]].Keys.Name, key, v.At)(v.V)
	return v
}

// fill gives what fills in the variables of a key's texts. A prompt whose
// variables may not be read stays as it is written, and keeps the spec from being
// run.
func (r *resolver) fill(name, key string, at source.Origin) func(string) (string, error) {
	return func(text string) (string, error) {
		if profile.HasVars(text) {
			err := r.in.Trust.Gate(trust.VariableItem(name, key, text, at))
			if err != nil && key != "system-prompt" {
				return "", err
			}
			if err != nil {
				r.withhold(err)
				return text, nil
			}
		}
		filled, err := profile.ExpandVars(text, r.in.LookupEnv)
		var missing *profile.MissingVariable
		if errors.As(err, &missing) {
			return "", &ValueError{Key: key, At: at, Message: err.Error(), Hint: "set " + missing.Name + ", or write the value out"}
		}
		if profile.HasVars(text) {
			trace := r.out.Origins[key]
			if trace.Written != "" {
				trace.Written += "\n\n"
			}
			trace.Written += text
			r.out.Origins[key] = trace
		}
		return filled, nil
	}
}

// withhold notes what keeps the spec from being run.
func (r *resolver) withhold(err error) {
	r.out.Withheld = append(r.out.Withheld, err)
	if inert := (*trust.Error)(nil); errors.As(err, &inert) {
		r.ds = append(r.ds, inert.Diagnostic())
	}
}
