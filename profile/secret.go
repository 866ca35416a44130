package profile

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// secretKey matches the end of a key that names a secret, up to its value, in
// TOML, JSON and YAML.
const secretKey = `(?i)(?:api[_-]?key|[_-]key|token|secret|passwd|password|authorization|[_-]auth|cookie|credentials?)["']?\s*[:=]\s*`

var (
	secretValue = regexp.MustCompile(`(` + secretKey + `)("[^"]*"?|'[^']*'?|[^\s,}\]][^,}\]]*)`)
	secretBlock = regexp.MustCompile(secretKey + `(?:[|>][-+0-9]*)?\s*$`)
	// userInfo is what stands before the host of a URL.
	userInfo = regexp.MustCompile(`(://)([^\s/?#@"']+)@`)
	urlKey   = regexp.MustCompile(`(?i)([?&](?:key|sig|signature|code)=)([^\s&"']+)`)
)

// MaskSecrets hides what a line of a file gives to keys such as api_key, and the
// user and password of a URL, before the line is shown. Its characters keep
// their places. A reference to a variable is no secret.
func MaskSecrets(line string) string {
	for _, secret := range []*regexp.Regexp{secretValue, userInfo, urlKey} {
		line = secret.ReplaceAllStringFunc(line, func(match string) string {
			m := secret.FindStringSubmatch(match)
			value, _, _ := strings.Cut(m[2], " #")
			value = strings.Trim(strings.TrimSpace(value), `"'`)
			if value == "" || strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") && strings.Count(value, "$") == 1 {
				return match
			}
			return m[1] + strings.Replace(match[len(m[1]):], value, strings.Repeat("•", utf8.RuneCountInString(value)), 1)
		})
	}
	return line
}

// MaskExtra gives the value of a key that is kept as YAML, with its secrets
// hidden, also those that stand in the lines below their key.
func MaskExtra(x Extra) string {
	lines := strings.SplitAfter(x.Key+":"+string(x.YAML), "\n")
	secret := -1 // the indentation of the key whose value goes on
	for i, line := range lines {
		text := strings.TrimRight(line, "\r\n")
		deep := len(text) - len(strings.TrimLeft(text, " -"))
		switch {
		case secret >= 0 && (deep > secret || text == ""):
			value := strings.TrimSpace(text)
			lines[i] = strings.Replace(line, value, strings.Repeat("•", utf8.RuneCountInString(value)), 1)
			continue
		case secretBlock.MatchString(text):
			secret = deep
			continue
		default:
			secret = -1
		}
		lines[i] = MaskSecrets(text) + line[len(text):]
	}
	return strings.TrimPrefix(strings.Join(lines, ""), x.Key+":")
}
