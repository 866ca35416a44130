package permission

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Expand replaces a leading "~" by the home directory and $NAME and ${NAME} by
// the variable's value, in a rule's subject. getenv is os.LookupEnv or the
// like. A variable that is unset, or whose value would act as a pattern, is an
// error: the rule would not mean what it says. So is one whose value is no
// absolute path, which may be a key: rules are shown, stored and told to the
// model.
func Expand(subject string, getenv func(string) (string, bool)) (string, error) {
	if !strings.ContainsAny(subject, "~$") {
		return subject, nil
	}
	var b strings.Builder
	rest := subject
	if rest == "~" || strings.HasPrefix(rest, "~/") {
		home, err := variable(subject, "HOME", getenv)
		if err != nil {
			return "", err
		}
		b.WriteString(home)
		rest = rest[1:]
	}
	for {
		before, after, found := strings.Cut(rest, "$")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		name, tail := variableName(after)
		rest = tail
		if name == "" {
			b.WriteByte('$')
			continue
		}
		value, err := variable(subject, name, getenv)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
	}
}

// variableName splits the text after a "$" into the name that it begins with
// and the rest.
func variableName(s string) (name, rest string) {
	if inner, ok := strings.CutPrefix(s, "{"); ok {
		name, rest, closed := strings.Cut(inner, "}")
		if closed && nameLen(name) == len(name) {
			return name, rest
		}
		return "", s
	}
	n := nameLen(s)
	return s[:n], s[n:]
}

func nameLen(s string) int {
	for i, c := range []byte(s) {
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(s)
}

func variable(subject, name string, getenv func(string) (string, bool)) (string, error) {
	value, ok := getenv(name)
	if !ok || value == "" {
		return "", fmt.Errorf("permission subject %q: $%s is not set; set it or write the path out", subject, name)
	}
	if !filepath.IsAbs(value) {
		return "", fmt.Errorf("permission subject %q: the value of $%s is not an absolute path; write out what is meant", subject, name)
	}
	if strings.ContainsAny(value, "*?") {
		return "", fmt.Errorf("permission subject %q: the value of $%s contains * or ?, which would act as a pattern", subject, name)
	}
	return filepath.Clean(value), nil
}
