package profile

import (
	"fmt"
	"strings"
)

// MissingVariable says that a text names a variable that is not set.
type MissingVariable struct{ Name string }

func (e *MissingVariable) Error() string {
	return fmt.Sprintf("the variable %s is not set", e.Name)
}

// ExpandVars puts the values of variables in the place of ${NAME}, as profiles
// of the config dialect write them. $${ stands for ${ itself. What does not
// hold a name, such as ${} or ${a-b}, stays as it is. The result is not looked
// through again. A variable that lookup does not find is a *MissingVariable.
func ExpandVars(text string, lookup func(string) (string, bool)) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		if i < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		if i > 0 && text[i-1] == '$' {
			b.WriteString(text[:i-1] + "${")
			text = text[i+2:]
			continue
		}
		b.WriteString(text[:i])
		name, rest, ok := strings.Cut(text[i+2:], "}")
		if !ok || !isVariable(name) {
			b.WriteString("${")
			text = text[i+2:]
			continue
		}
		value, found := lookup(name)
		if !found {
			return "", &MissingVariable{Name: name}
		}
		b.WriteString(value)
		text = rest
	}
}

// EscapeVars writes a text so that ExpandVars gives it back.
func EscapeVars(text string) string { return strings.ReplaceAll(text, "${", "$${") }

// HasVars says whether ExpandVars changes a text.
func HasVars(text string) bool {
	changed, err := ExpandVars(text, func(string) (string, bool) { return "", false })
	return err != nil || changed != text
}

func isVariable(name string) bool {
	for i := range len(name) {
		if c := name[i]; c != '_' && !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
