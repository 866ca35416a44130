package profile

import (
	"fmt"
	"strings"
	"unicode"
)

// MaxName is the longest name, in bytes.
const MaxName = 200

// CheckName says whether a name has the form of catalog names: segments joined
// by "/", each a letter or digit followed by letters, digits, ".", "_", "-".
// Such a name is safe to join to a folder's path.
func CheckName(name string) error {
	if err := refuseName(name); err != nil {
		return err
	}
	for seg := range strings.SplitSeq(name, "/") {
		if !validSegment(seg) {
			return fmt.Errorf("the name %q is not segments of letters, digits, '.', '_' and '-' joined by '/': %w", name, SchemaValidation)
		}
	}
	return nil
}

// Slug turns the text of a name into a name: lower case, with "-" for every run
// of other characters. It fails for what must never become a name: "..", a
// leading "/", a backslash, a control character, nothing at all. The result is
// empty when the text has no ASCII letter or digit. "C++" and "C#" become "cpp"
// and "cs", so that they stay two names.
func Slug(text string) (string, error) {
	if err := refuseName(text); err != nil {
		return "", err
	}
	var segs []string
	for seg := range strings.SplitSeq(text, "/") {
		if s := slugSegment(seg); s != "" {
			segs = append(segs, s)
		}
	}
	return strings.Join(segs, "/"), nil
}

func refuseName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("the name is empty: %w", SchemaValidation)
	case len(name) > MaxName:
		return fmt.Errorf("the name has %d bytes, more than %d: %w", len(name), MaxName, SchemaValidation)
	case strings.Contains(name, ".."), strings.HasPrefix(name, "/"), strings.Contains(name, `\`):
		return fmt.Errorf("the name %q is a path; it must not hold \"..\", start with '/' or hold a backslash: %w", name, SchemaValidation)
	case strings.IndexFunc(name, unicode.IsControl) >= 0:
		return fmt.Errorf("the name %q holds a control character: %w", name, SchemaValidation)
	}
	return nil
}

func validSegment(s string) bool {
	for i := range len(s) {
		if !alnum(s[i]) && (i == 0 || !strings.ContainsRune("._-", rune(s[i]))) {
			return false
		}
	}
	return s != ""
}

func slugSegment(s string) string {
	if validSegment(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		c := s[i]
		switch {
		case alnum(c):
			out = append(out, strings.ToLower(string(c))...)
		case (c == '.' || c == '_') && len(out) > 0:
			out = append(out, c)
		case i > 0 && alnum(s[i-1]) && strings.HasPrefix(s[i:], "++"):
			out = append(out, 'p')
		case i > 1 && alnum(s[i-2]) && s[i-1] == '+' && c == '+':
			out = append(out, 'p')
		case c == '#' && i > 0 && alnum(s[i-1]) && (i+1 == len(s) || !alnum(s[i+1])):
			out = append(out, 's')
		case len(out) > 0 && out[len(out)-1] != '-':
			out = append(out, '-')
		}
	}
	return strings.TrimRight(string(out), "-._")
}

func alnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
