// Package secret knows which variables hold secrets, and hides their values.
package secret

import (
	"slices"
	"strings"
)

// MinLength is how long a secret must be to be looked for in texts, in bytes: a
// shorter one could be any word.
const MinLength = 8

// Hidden stands where a secret stood.
const Hidden = "[secret]"

// Hide replaces the values in a text, the longest first, so that no part of one
// is left. Values that are too short are not looked for.
func Hide(text string, values []string) string {
	var found []string
	for _, v := range values {
		if len(v) >= MinLength && strings.Contains(text, v) {
			found = append(found, v)
		}
	}
	slices.SortFunc(found, func(a, b string) int { return len(b) - len(a) })
	for _, v := range found {
		text = strings.ReplaceAll(text, v, Hidden)
	}
	return text
}

// Name says whether a variable of that name holds a secret. It looks for the words
// that secrets are called by: the long ones anywhere, the short ones between
// underscores.
func Name(name string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"SECRET", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "PRIVATE"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	for word := range strings.SplitSeq(name, "_") {
		switch word {
		case "KEY", "KEYS", "PASS", "PWD", "PAT", "PIN", "AUTH":
			return name != "SSH_AUTH_SOCK" && name != "PWD" // where a socket is, and where one works
		}
	}
	return strings.HasSuffix(name, "KEY") || strings.HasSuffix(name, "PASS")
}
