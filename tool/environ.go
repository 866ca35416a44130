package tool

import (
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/secret"
)

// Environ returns the environment that commands get: without variables that make
// bash run something of its own or take a line in another way, without the
// user's word that workspaces are to be trusted, and without secrets, which are
// those named, those that hold the same text, and those whose name says so.
func Environ(environ, secrets []string) []string {
	var kept, values []string
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case slices.Contains(secrets, name):
			if value = strings.TrimSpace(value); len(value) >= secret.MinLength {
				values = append(values, value)
			}
		case ok && name != "" && name != "PWD" && name != "ROSTER_TRUST" && !runsInBash(name) && !secret.Name(name):
			kept = append(kept, kv)
		}
	}
	return slices.DeleteFunc(kept, func(kv string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(kv, v) })
	})
}

func runsInBash(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH", "POSIXLY_CORRECT":
		return true
	}
	return strings.HasPrefix(name, "BASH_FUNC_")
}
