package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// JSON gives the JSON Schema (draft 2020-12) of the native frontmatter, for
// editors. Each key stands there in kebab-case; snake_case and camelCase are
// accepted by pattern. Keys that are not in it are accepted too, because they
// are kept.
func JSON() []byte {
	root := object{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "Roster profile",
		"description": "The frontmatter of an agent profile in the native dialect.",
		"type":        []string{"object", "null"},
	}
	addKeys(root, "#", keys[:])
	defs := object{}
	for name, s := range plainShapes() {
		defs[name] = s.alternatives("#/$defs/" + name)
	}
	root["$defs"] = defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		panic(fmt.Sprintf("JSON refuses a schema of texts and numbers: %v", err))
	}
	return b.Bytes()
}

type object = map[string]any

// addKeys adds keys to the schema of a map that stands at a JSON pointer.
func addKeys(to object, pointer string, in []Key) {
	properties, patterns := object{}, object{}
	for i := range in {
		k := &in[i]
		at := pointer + "/properties/" + k.Name
		properties[k.Name] = k.schema(at)
		if pattern := spellings(k.Name); pattern != "" {
			patterns["^"+pattern+"$"] = object{"$ref": at}
		}
		if k.Adds {
			patterns[`^\+`+anySpelling(k.Name)+"$"] = object{"description": "Added to what the parents list.", "$ref": "#/$defs/list"}
		}
	}
	to["properties"] = properties
	if len(patterns) > 0 {
		to["patternProperties"] = patterns
	}
}

// plainShapes are those that many keys have. They stand once in the schema.
func plainShapes() map[string]Shape {
	return map[string]Shape{"text": text, "filled": text.filled(), "flag": boolean, "time": duration, "list": list, "count": atLeast1}
}

func (s *Shape) ref() string {
	for name, plain := range plainShapes() {
		if s.Kind == plain.Kind && s.Low == plain.Low && s.Filled == plain.Filled && !s.None && s.Each == nil && s.Or == nil {
			return "#/$defs/" + name
		}
	}
	return ""
}

// spellings is a pattern for the other spellings of a key; empty if it is one
// word.
func spellings(name string) string {
	if !strings.Contains(name, "-") {
		return ""
	}
	return anySpelling(name)
}

func anySpelling(name string) string {
	words := strings.Split(name, "-")
	var b strings.Builder
	b.WriteString(words[0])
	for _, w := range words[1:] {
		first, rest := w[:1], w[1:]
		fmt.Fprintf(&b, "([-_]%s|%s)%s", first, strings.ToUpper(first), rest)
	}
	return b.String()
}

// schema is that of the key's value, with what an editor shows.
func (k *Key) schema(pointer string) object {
	s := k.Shape.schema(pointer)
	text := strings.ToUpper(k.Meaning[:1]) + k.Meaning[1:] + "."
	if k.Default != "" {
		text += " Default: " + k.Default + "."
		if v, ok := k.value(); ok {
			s["default"] = v
		}
	}
	if !k.Acts {
		text += " This version keeps it and does not act on it."
	}
	s["description"] = strings.ReplaceAll(text, "`", "'")
	return s
}

// value gives the default as a value, if it is one.
func (k *Key) value() (any, bool) {
	switch n, err := strconv.ParseFloat(k.Default, 64); {
	case err == nil:
		return n, true
	case k.Default == "true", k.Default == "false":
		return k.Default == "true", true
	}
	return k.Default, !strings.Contains(k.Default, " ")
}

func (s *Shape) schema(pointer string) object {
	if ref := s.ref(); ref != "" {
		return object{"$ref": ref}
	}
	return s.alternatives(pointer)
}

// alternatives gives what a shape accepts; a key without a value is as if it
// were left out, except where blank is an error.
func (s *Shape) alternatives(pointer string) object {
	if s.Kind == Any {
		return object{}
	}
	var any []object
	for alt := s; alt != nil; alt = alt.Or {
		any = append(any, alt.forms(fmt.Sprintf("%s/anyOf/%d", pointer, len(any)))...)
	}
	if !s.Filled {
		any = append(any, object{"type": "null"})
	}
	return object{"anyOf": any}
}

// forms gives what a shape accepts; pointer is that of the first.
func (s *Shape) forms(pointer string) []object {
	var out []object
	switch s.Kind {
	case Text:
		text := object{"type": "string"}
		if s.Filled {
			text["pattern"] = `\S`
		}
		out = append(out, text, object{"type": []string{"number", "boolean"}})
	case Bool:
		out = append(out, object{"type": "boolean"}, object{"enum": []string{"yes", "no", "on", "off", "true", "false"}})
	case Number:
		out = append(out, object{"type": "number", "minimum": s.Low, "maximum": s.High}, object{"type": "string", "pattern": `^[-+]?[0-9.]+([eE][-+]?[0-9]+)?$`})
	case Count:
		out = append(out, object{"type": "integer", "minimum": s.Low}, object{"type": "string", "pattern": `^[0-9_]+$`})
	case Duration:
		out = append(out, object{"type": "string", "pattern": `^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`, "examples": []string{"90s", "10m", "1h30m"}})
	case Word:
		out = append(out, object{"enum": s.Words})
	case List:
		out = append(out, s.listForms(pointer)...)
	case Map:
		out = append(out, s.mapForm(pointer))
	}
	if s.None {
		out = append(out, object{"const": "none"})
	}
	return out
}

func (s *Shape) listForms(pointer string) []object {
	if s.Each != nil {
		return []object{{"type": "array", "items": s.Each.schema(pointer + "/items")}}
	}
	scalar := []string{"string", "number", "boolean"}
	return []object{{"type": "array", "items": object{"type": scalar}}, {"type": scalar}}
}

func (s *Shape) mapForm(pointer string) object {
	m := object{"type": "object"}
	switch {
	case s.Keys != nil:
		addKeys(m, pointer, s.Keys)
	case s.Each != nil:
		m["additionalProperties"] = s.Each.schema(pointer + "/additionalProperties")
	}
	return m
}
