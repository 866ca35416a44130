package profile

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// secretValue matches a value after a key that names a secret, in TOML, JSON
// and YAML.
var secretValue = regexp.MustCompile(`(?i)((?:api[_-]?key|token|secret|password|authorization)["']?\s*[:=]\s*)("[^"]*"?|'[^']*'?|[^\s,}\]]+)`)

// MaskSecrets hides what a line of a file gives to keys such as api_key, before
// the line is shown. Its characters keep their places. A reference to a
// variable is no secret.
func MaskSecrets(line string) string {
	return secretValue.ReplaceAllStringFunc(line, func(match string) string {
		m := secretValue.FindStringSubmatch(match)
		value := strings.Trim(m[2], `"'`)
		if value == "" || strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") && strings.Count(value, "$") == 1 {
			return match
		}
		return m[1] + strings.Replace(m[2], value, strings.Repeat("•", utf8.RuneCountInString(value)), 1)
	})
}
