package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// pair is a name and a value as they stand in a query, a form or a cookie: escaped.
type pair struct{ name, value string }

// value is an input as it is written: a text, a list of texts, or named texts.
type value struct {
	text  string
	list  []string
	named []pair
	kind  byte // 't', 'l', 'n', or 0: there is none
	deep  any  // for deepObject: all of it
}

// valueOf reads an input. What nests in lists and objects is written as JSON, since
// styles say nothing of it.
func valueOf(raw json.RawMessage) (value, error) {
	v, err := decodeAny(raw)
	if err != nil {
		return value{}, err
	}
	switch x := v.(type) {
	case nil:
		return value{}, nil
	case []any:
		out := value{kind: 'l', deep: v}
		for _, item := range x {
			out.list = append(out.list, textOf(item))
		}
		return out, nil
	case map[string]any:
		out := value{kind: 'n', deep: v}
		for _, k := range slices.Sorted(maps.Keys(x)) {
			if x[k] != nil {
				out.named = append(out.named, pair{k, textOf(x[k])})
			}
		}
		return out, nil
	}
	return value{kind: 't', text: textOf(v), deep: v}, nil
}

// decodeAny keeps numbers as they are written.
func decodeAny(raw json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func textOf(v any) string {
	switch x := v.(type) {
	case string:
		return x
	case json.Number:
		return x.String()
	case bool:
		return fmt.Sprint(x)
	case nil:
		return "null"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // it was JSON
	return strings.TrimSuffix(b.String(), "\n")
}

// escape writes a text so that it means nothing but itself; with reserved, what
// delimits the parts of a URL stays, apart from what would end a value or begin another.
func escape(s string, reserved bool) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0,
			reserved && strings.IndexByte(":/?@!$'()*,;=", c) >= 0,
			reserved && c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// joined writes a list, or the names and values of an object, each escaped by esc.
func (v value) joined(sep, between string, esc func(string) string) string {
	var parts []string
	for _, s := range v.list {
		parts = append(parts, esc(s))
	}
	for _, p := range v.named {
		parts = append(parts, esc(p.name)+between+esc(p.value))
	}
	return strings.Join(parts, sep)
}

// simple writes a value as the style of that name does: in paths and headers.
func (v value) simple(explode bool, esc func(string) string) string {
	switch {
	case v.kind == 't':
		return esc(v.text)
	case explode:
		return v.joined(",", "=", esc)
	}
	return v.joined(",", ",", esc)
}

// inPath writes the value of a parameter of the path. It cannot lead to another one.
func (p *Parameter) inPath(v value) (string, error) {
	for _, text := range append(v.texts(), v.text) {
		if slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }), dots) {
			return "", fmt.Errorf("%s: %q holds a part . or .., which would lead to another path", p.Arg, text)
		}
	}
	esc := func(s string) string { return escape(s, false) }
	var out string
	switch p.Style {
	case "label":
		switch {
		case v.kind == 't':
			out = "." + esc(v.text)
		case p.Explode:
			out = "." + v.joined(".", "=", esc)
		default:
			out = "." + v.joined(",", ",", esc)
		}
	case "matrix":
		out = p.matrix(v, esc)
	default:
		out = v.simple(p.Explode, esc)
	}
	if out == "" {
		return "", fmt.Errorf("%s: it is a part of the path and must not be empty", p.Arg)
	}
	return out, nil
}

func (p *Parameter) matrix(v value, esc func(string) string) string {
	name := esc(p.Name)
	switch {
	case v.kind == 't' && v.text == "":
		return ";" + name
	case v.kind == 't':
		return ";" + name + "=" + esc(v.text)
	case !p.Explode:
		return ";" + name + "=" + v.joined(",", ",", esc)
	case v.kind == 'n':
		return ";" + v.joined(";", "=", esc)
	}
	var b strings.Builder
	for _, s := range v.list {
		b.WriteString(";" + name + "=" + esc(s))
	}
	return b.String()
}

func (v value) texts() []string {
	out := slices.Clone(v.list)
	for _, p := range v.named {
		out = append(out, p.name, p.value)
	}
	return out
}

func dots(part string) bool { return part == "." || part == ".." }

// delimiters stand between the values of a list that is one value of a query.
var delimiters = map[string]string{"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}

// pairs writes a value for a query, a form or a cookie.
func (v value) pairs(name, style string, explode, reserved bool) []pair {
	esc := func(s string) string { return escape(s, reserved) }
	n := escape(name, false)
	sep, delimited := delimiters[style]
	if !delimited {
		sep = ","
	}
	switch {
	case v.kind == 0:
		return nil
	case style == "deepObject" && v.kind != 't':
		return deep(nil, n, v.deep, esc)
	case v.kind == 't':
		return []pair{{n, esc(v.text)}}
	case !explode:
		return []pair{{n, v.joined(sep, sep, esc)}}
	case v.kind == 'n':
		out := make([]pair, len(v.named))
		for i, p := range v.named {
			out[i] = pair{esc(p.name), esc(p.value)}
		}
		return out
	}
	out := make([]pair, len(v.list))
	for i, s := range v.list {
		out[i] = pair{n, esc(s)}
	}
	return out
}

// deep writes an object as name[key]=value, and what nests in it as name[a][b]=value.
// A key cannot close its brackets.
func deep(out []pair, name string, v any, esc func(string) string) []pair {
	switch x := v.(type) {
	case nil:
		return out
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(x)) {
			out = deep(out, name+"%5B"+escape(k, false)+"%5D", x[k], esc)
		}
		return out
	case []any:
		for _, item := range x {
			out = deep(out, name, item, esc)
		}
		return out
	}
	return append(out, pair{name, esc(textOf(v))})
}

func query(pairs []pair) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = p.name + "=" + p.value
	}
	return strings.Join(parts, "&")
}

var errHeader = errors.New("it holds a line break or another control character, which no header can have")

// headerText says whether a text can be the value of a header.
func headerText(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return errHeader
	}
	return nil
}

// template puts the values of parameters into a path, which it escapes.
func template(path string, values map[string]string) (string, error) {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(path, "{")
		b.WriteString(pathText(before))
		if !ok {
			break
		}
		name, end, ok := strings.Cut(after, "}")
		v, known := values[name]
		if !ok || !known {
			return "", fmt.Errorf("the path has {%s}, for which there is no input", name)
		}
		b.WriteString(v)
		path = end
	}
	out := b.String()
	before, _, _ := strings.Cut(out, "?")
	plain, err := url.PathUnescape(before)
	if err != nil || slices.ContainsFunc(strings.Split(plain, "/"), dots) {
		return "", fmt.Errorf("the path %s leads out of itself", out)
	}
	return out, nil
}

// pathText escapes what may not stand in a path as it is.
func pathText(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; strings.IndexByte("/?:@!$&'()*+,;=", c) >= 0 || c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			b.WriteByte(c)
		} else {
			b.WriteString(escape(s[i:i+1], false))
		}
	}
	return b.String()
}

func unescape(s string) (string, error) { return url.PathUnescape(s) }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
