package trust

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// maxShown bounds what is shown of one item, in bytes: more nobody reads. What
// is left out is counted.
const maxShown = 8 << 10

// Show makes one line of a text that a person is to judge: what a terminal would
// not show as it is, such as control, bidirectional and zero-width characters, is
// escaped.
func Show(text string) string {
	var b strings.Builder
	for i, r := range text {
		if b.Len() > maxShown {
			fmt.Fprintf(&b, "… (%d bytes more)", len(text)-i)
			break
		}
		if r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) && !invisible(r) && r != unicode.ReplacementChar {
			b.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteToASCII(string(r))
		b.WriteString(quoted[1 : len(quoted)-1])
	}
	return b.String()
}

// invisible says that a character is graphic by its class and shows nothing.
func invisible(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u034f', '\u17b4', '\u17b5':
		return true
	}
	return unicode.Is(unicode.Variation_Selector, r)
}

// render writes a value in one line, as YAML's braces do. What stands under
// headers, in the environment or in a key for secrets is masked, unless it is a
// variable.
func render(n *yaml.Node) string {
	r := renderer{left: maxNodes}
	r.node(n, maxDepth, false)
	return Show(r.String())
}

type renderer struct {
	strings.Builder
	left int
}

func (r *renderer) node(n *yaml.Node, depth int, secret bool) {
	n = deref(n)
	if r.left--; r.left < 0 || depth == 0 {
		r.WriteString("…")
		return
	}
	switch n.Kind {
	case yaml.MappingNode:
		r.WriteByte('{')
		for i := 0; i+1 < len(n.Content); i += 2 {
			if i > 0 {
				r.WriteString(", ")
			}
			key := deref(n.Content[i]).Value
			r.WriteString(key + ": ")
			r.node(n.Content[i+1], depth-1, secret || holdsSecrets(key))
		}
		r.WriteByte('}')
	case yaml.SequenceNode:
		r.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				r.WriteString(", ")
			}
			r.node(c, depth-1, secret)
		}
		r.WriteByte(']')
	default:
		r.text(n.Value, secret)
	}
}

func (r *renderer) text(value string, secret bool) {
	switch {
	case secret && !profile.HasVars(value) && !strings.HasPrefix(value, "!"):
		r.WriteString("•••")
	case value == "" || strings.ContainsAny(value, ",[]{}") || strings.TrimSpace(value) != value:
		r.WriteString(strconv.Quote(mask(value)))
	default:
		r.WriteString(mask(value))
	}
}

// Masked says whether the text of an item may leave out some of what its file says: a
// secret, or the end of what is long.
func Masked(text string) bool {
	return strings.Contains(text, "•••") || strings.Contains(text, "…")
}

// holdsSecrets says whether the values below a key may be secrets.
func holdsSecrets(key string) bool {
	switch strings.ToLower(key) {
	case "headers", "env", "environment", "authorization", "token", "secret", "password", "api-key", "api_key", "apikey":
		return true
	}
	return false
}

// plainSecret matches what is given to words such as token, if it is plain: in a
// command, a mask must not hide anything that a shell would run.
var plainSecret = regexp.MustCompile(`(?i)((?:api[_-]?key|token|secret|password|authorization)["']?\s*[:=]\s*["']?(?:bearer\s+)?)([A-Za-z0-9_.+/=~-]{6,})`)

// password matches the one in an address.
var password = regexp.MustCompile(`(://[^/\s:@]*:)([^@/\s]+)@`)

func mask(text string) string {
	return password.ReplaceAllString(plainSecret.ReplaceAllString(text, "$1•••"), "$1•••@")
}
