package prompt

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// Vars are what a prompt may name as {{ .Workspace }}, {{ .Platform }},
// {{ .Name }}, {{ .Title }}, {{ .Description }} and {{ .Vars.NAME }}. There are
// no others: everything else that looks like one is text.
type Vars struct {
	Workspace, Platform      string
	Name, Title, Description string
	Own                      map[string]string // by the key vars
}

var variable = regexp.MustCompile(`\{\{\s*\.([A-Z][A-Za-z]*)(?:\.([A-Za-z0-9_-]+))?\s*\}\}`)

// Expand fills the variables in. Those of Vars that are not set stay as they
// are and are listed, each once.
func (v Vars) Expand(text string) (string, []string) {
	if !strings.Contains(text, "{{") {
		return text, nil
	}
	var unset []string
	out := variable.ReplaceAllStringFunc(text, func(found string) string {
		m := variable.FindStringSubmatch(found)
		value, known := v.value(m[1], m[2])
		if !known {
			if m[1] == "Vars" && m[2] != "" && !slices.Contains(unset, m[2]) {
				unset = append(unset, m[2])
			}
			return found
		}
		return value
	})
	return out, unset
}

func (v Vars) value(name, of string) (string, bool) {
	if name == "Vars" {
		value, ok := v.Own[of]
		return value, ok
	}
	if of != "" {
		return "", false
	}
	switch name {
	case "Workspace":
		return v.Workspace, true
	case "Platform":
		return v.Platform, true
	case "Name":
		return v.Name, true
	case "Title":
		return v.Title, true
	case "Description":
		return v.Description, true
	}
	return "", false
}

// ReadVars gives the texts of the key vars by name.
func ReadVars(x profile.Extra) (map[string]string, error) {
	value, err := x.Node()
	if err != nil {
		return nil, fmt.Errorf("%s: vars: %w", x.At, err)
	}
	p := parser{file: x.At.File, layer: x.At.Layer, above: x.At.Line - 1}
	out := map[string]string{}
	if value.Kind != yaml.MappingNode {
		p.problem(value, "vars", "it takes a map of names to text")
	}
	for i := 0; value.Kind == yaml.MappingNode && i+1 < len(value.Content); i += 2 {
		name := value.Content[i].Value
		out[name], _ = p.text("vars."+name, deref(value.Content[i+1]))
	}
	if len(p.problems) > 0 {
		return nil, p.problems[0]
	}
	return out, nil
}
