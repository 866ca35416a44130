package tool

import (
	"slices"
	"strings"
)

// minSecret is the length in bytes from which a secret is looked for in other
// variables.
const minSecret = 8

// scrub returns the environment that commands get: without variables that make
// bash run something of its own or take a line in another way, without the
// user's word that workspaces are to be trusted, and without secrets, which are
// those named, those that hold the same text, and those whose name says so.
func scrub(environ, secrets []string) []string {
	var kept, values []string
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case slices.Contains(secrets, name):
			if value = strings.TrimSpace(value); len(value) >= minSecret {
				values = append(values, value)
			}
		case ok && name != "" && name != "PWD" && name != "ROSTER_TRUST" && !runsInBash(name) && !secretName(name):
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

// secretName looks for the words that secrets are called by: the long ones
// anywhere, the short ones between underscores.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "PRIVATE"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	for word := range strings.SplitSeq(name, "_") {
		switch word {
		case "KEY", "KEYS", "PASS", "PWD", "PAT", "PIN", "AUTH":
			return name != "SSH_AUTH_SOCK"
		}
	}
	return strings.HasSuffix(name, "KEY") || strings.HasSuffix(name, "PASS")
}
