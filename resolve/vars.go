package resolve

import (
	"errors"
	"path/filepath"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
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
	v.V, r.err = r.fill(key, v.At)(v.V)
	return v
}

// fill gives what fills in the variables of a key's texts.
func (r *resolver) fill(key string, at source.Origin) func(string) (string, error) {
	return func(text string) (string, error) {
		if profile.HasVars(text) && !r.ownFile(at.File) {
			return "", &ValueError{Key: key, At: at, name: profile.ExecutingKey, Message: "the value reads the environment, which files of a workspace may not",
				Hint: "write the value out, or keep the file below " + r.in.Config.Home}
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

// ownFile says whether a file is the user's own. What a cloned workspace says must
// not take the environment into a prompt.
func (r *resolver) ownFile(file string) bool {
	rel, err := filepath.Rel(r.in.Config.Home, file)
	return err == nil && r.in.Config.Home != "" && filepath.IsAbs(file) && filepath.IsLocal(rel)
}
