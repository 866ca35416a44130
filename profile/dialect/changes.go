package dialect

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// changes lists the keys in which a profile that was written and read back says
// something else than before. It goes by the fields of the type, so that no
// field is forgotten.
func changes(want, got *profile.Profile) []setKey {
	moved := promptMoved(want, got)
	sameModel := got.Model.Set == want.Model.Set && want.Model.Set && fullModel(want) != "" && fullModel(want) == fullModel(got)
	var out []setKey
	a, b := reflect.ValueOf(want).Elem(), reflect.ValueOf(got).Elem()
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		switch name {
		case "NameAt", "Dialect", "File", "BodyAt", "Changed", "Parents", "revision":
		case "Extra":
			out = append(out, changedExtras(want, got)...)
		case "Limits":
			for j := range a.Field(i).NumField() {
				if !alike(a.Field(i).Field(j), b.Field(i).Field(j)) {
					out = append(out, setKey{"limits." + keyOf(a.Field(i).Type().Field(j).Name), placeOf(a.Field(i).Field(j), want)})
				}
			}
		case "SystemPrompt":
			if !moved && !alike(a.Field(i), b.Field(i)) || otherwise(want, got, want.SystemPrompt.V) {
				out = append(out, setKey{"system-prompt", placeOf(a.Field(i), want)})
			}
		case "Body":
			if moved && want.SystemPrompt.Set && want.Body != got.Body && strings.TrimSpace(want.Body) != "" || !moved && want.Body != got.Body {
				out = append(out, setKey{"body", want.BodyAt})
			}
		case "Provider", "Model":
			if !sameModel && !alike(a.Field(i), b.Field(i)) || otherwise(want, got, a.Field(i).Field(0).String()) {
				out = append(out, setKey{keyOf(name), placeOf(a.Field(i), want)})
			}
		case "SubagentTools", "SubagentMaxDepth":
			if !alike(a.Field(i), b.Field(i)) {
				out = append(out, setKey{"subagents", placeOf(a.Field(i), want)})
			}
		default:
			if !alike(a.Field(i), b.Field(i)) {
				out = append(out, setKey{keyOf(name), placeOf(a.Field(i), want)})
			}
		}
	}
	return out
}

// keyOf gives the key of a field.
func keyOf(field string) string { return kebab(strings.ToLower(field[:1]) + field[1:]) }

// promptMoved says whether the prompt changed its place: the system prompt
// became the body, where the body is the prompt, or the body the system prompt.
func promptMoved(want, got *profile.Profile) bool {
	if !want.SystemPrompt.Set && got.SystemPrompt.Set && got.Body == "" {
		return plainPrompt(got) == strings.TrimSpace(want.Body)
	}
	if want.SystemPrompt.Set && !got.SystemPrompt.Set {
		return got.Body == want.SystemPrompt.V
	}
	return want.SystemPrompt.Set && got.Body == want.Body && got.Dialect != want.Dialect && plainPrompt(got) == want.SystemPrompt.V
}

// plainPrompt gives a system prompt without the marks that keep ${ from being a
// variable.
func plainPrompt(p *profile.Profile) string {
	if p.Dialect != "config" {
		return p.SystemPrompt.V
	}
	text, err := profile.ExpandVars(p.SystemPrompt.V, func(string) (string, bool) { return "", false })
	if err != nil {
		return p.SystemPrompt.V
	}
	return text
}

// otherwise says whether a value holds variables, and is text after it was
// written in a dialect without them.
func otherwise(want, got *profile.Profile, value string) bool {
	return want.Dialect == "config" && got.Dialect != "config" && profile.HasVars(value)
}

// alike compares values without their places, and a tool list without the way
// it was written.
func alike(a, b reflect.Value) bool {
	if a.Type() == reflect.TypeFor[source.Origin]() {
		return true
	}
	switch a.Kind() {
	case reflect.Struct:
		if set := a.FieldByName("Set"); set.IsValid() && set.Kind() == reflect.Bool && !set.Bool() && !b.FieldByName("Set").Bool() {
			return true
		}
		for i := range a.NumField() {
			if a.Type() == reflect.TypeFor[profile.Tools]() && a.Type().Field(i).Name == "Written" {
				continue
			}
			if !alike(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !alike(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}

// placeOf gives where a value was set.
func placeOf(v reflect.Value, p *profile.Profile) source.Origin {
	if v.Kind() == reflect.Struct {
		if at := v.FieldByName("At"); at.IsValid() {
			if o, ok := at.Interface().(source.Origin); ok && o != (source.Origin{}) {
				return o
			}
		}
	}
	return source.Origin{File: p.File}
}

// changedExtras lists the kept keys that are gone or say something else. What a
// format adds on its own when it is read is no change of what the profile said.
func changedExtras(want, got *profile.Profile) []setKey {
	var out []setKey
	byKey := make(map[string][]profile.Extra, len(got.Extra)) // there may be thousands
	for _, x := range got.Extra {
		byKey[x.Key] = append(byKey[x.Key], x)
	}
	for _, x := range want.Extra {
		same := func(y profile.Extra) bool { return x.Known == y.Known && sameYAML(x.YAML, y.YAML) }
		if !slices.ContainsFunc(byKey[x.Key], same) {
			out = append(out, setKey{x.Key, x.At})
		}
	}
	return out
}

// sameYAML compares two values by what they say.
func sameYAML(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, okX := valueNode(a)
	y, okY := valueNode(b)
	return okX && okY && sameNode(x, y)
}

// valueNode parses the value of a key that is kept as written.
func valueNode(text []byte) (*yaml.Node, bool) {
	var doc yaml.Node
	if err := yaml.Load(append([]byte("x:"), text...), &doc, depthLimit); err != nil {
		return nil, false
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode || len(doc.Content[0].Content) != 2 {
		return nil, false
	}
	return doc.Content[0].Content[1], true
}

func sameNode(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !sameNode(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
