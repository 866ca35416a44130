package dialect

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// tomlText writes a map of keys as a TOML document. It fails for what TOML
// cannot hold: nothing, a key that is no text, a whole number beyond 64 bits.
func tomlText(root *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	err := writeTable(&b, nil, root)
	return b.Bytes(), err
}

// writeTable writes the plain keys of a table, then the tables in it.
func writeTable(b *bytes.Buffer, path []string, table *yaml.Node) error {
	for i := 0; i+1 < len(table.Content); i += 2 {
		k, v := table.Content[i], table.Content[i+1]
		if isTable(v) || isTableList(v) {
			continue
		}
		text, err := tomlValue(v)
		if err != nil {
			return fmt.Errorf("%s: %w", k.Value, err)
		}
		fmt.Fprintf(b, "%s = %s\n", tomlKey(k.Value), text)
	}
	for i := 0; i+1 < len(table.Content); i += 2 {
		k, v := table.Content[i], table.Content[i+1]
		below := append(path[:len(path):len(path)], tomlKey(k.Value))
		if isTable(v) {
			if err := writeHeader(b, "[", below, v, "]"); err != nil {
				return err
			}
		}
		if isTableList(v) {
			for _, item := range v.Content {
				if err := writeHeader(b, "[[", below, item, "]]"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// writeHeader leaves the header out of a table that holds nothing but tables.
func writeHeader(b *bytes.Buffer, open string, path []string, table *yaml.Node, end string) error {
	plain := len(table.Content) == 0 || open == "[["
	for i := 1; i < len(table.Content); i += 2 {
		plain = plain || !isTable(table.Content[i]) && !isTableList(table.Content[i])
	}
	if plain {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(b, "%s%s%s\n", open, strings.Join(path, "."), end)
	}
	return writeTable(b, path, table)
}

// isTable says whether a map can be written as a table of its own without a
// change of order: its plain keys stand before its tables.
func isTable(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		return false
	}
	tables := false
	for i := 1; i < len(n.Content); i += 2 {
		table := isTable(n.Content[i]) || isTableList(n.Content[i])
		if tables && !table {
			return false
		}
		tables = tables || table
	}
	return true
}

func isTableList(n *yaml.Node) bool {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		return false
	}
	for _, c := range n.Content {
		if !isTable(c) {
			return false
		}
	}
	return true
}

func tomlKey(key string) string {
	if isKey([]byte(key)) {
		return key
	}
	return tomlString(key)
}

// tomlValue writes a value in one place; only a text may have several lines.
func tomlValue(n *yaml.Node) (string, error) {
	switch n.Kind {
	case yaml.SequenceNode:
		var items []string
		for _, c := range n.Content {
			item, err := tomlItem(c)
			if err != nil {
				return "", err
			}
			items = append(items, item)
		}
		return "[" + strings.Join(items, ", ") + "]", nil
	case yaml.MappingNode:
		var items []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			item, err := tomlItem(n.Content[i+1])
			if err != nil {
				return "", err
			}
			items = append(items, tomlKey(n.Content[i].Value)+" = "+item)
		}
		if items == nil {
			return "{}", nil
		}
		return "{ " + strings.Join(items, ", ") + " }", nil
	case yaml.ScalarNode:
		return tomlScalarText(n)
	}
	return "", fmt.Errorf("TOML cannot hold an alias")
}

func tomlItem(n *yaml.Node) (string, error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		return tomlString(n.Value), nil
	}
	return tomlValue(n)
}

// tomlFloat matches a number as TOML writes it.
var tomlFloat = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

func tomlScalarText(n *yaml.Node) (string, error) {
	switch n.ShortTag() {
	case "!!null":
		return "", fmt.Errorf("TOML has no value for nothing")
	case "!!bool":
		if on, ok := parseBool(n); ok {
			return strconv.FormatBool(on), nil
		}
	case "!!int":
		v, err := strconv.ParseInt(n.Value, 0, 64)
		if err != nil {
			return "", fmt.Errorf("TOML cannot hold the number %s", shorten(n.Value))
		}
		return strconv.FormatInt(v, 10), nil
	case "!!float":
		switch strings.ToLower(n.Value) {
		case ".inf", "+.inf":
			return "inf", nil
		case "-.inf":
			return "-inf", nil
		case ".nan":
			return "nan", nil
		}
		if tomlFloat.MatchString(n.Value) && strings.ContainsAny(n.Value, ".eE") {
			return n.Value, nil
		}
		v, err := strconv.ParseFloat(n.Value, 64)
		if err != nil {
			return "", fmt.Errorf("TOML cannot hold the number %s", shorten(n.Value))
		}
		text := strconv.FormatFloat(v, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		return text, nil
	}
	if strings.Contains(n.Value, "\n") {
		return tomlLines(n.Value), nil
	}
	return tomlString(n.Value), nil
}

// tomlString writes a text in one line.
func tomlString(s string) string { return `"` + tomlEscape(s, false) + `"` }

// tomlLines writes a text of several lines as it is read.
func tomlLines(s string) string { return "\"\"\"\n" + tomlEscape(s, true) + `"""` }

func tomlEscape(s string, lines bool) string {
	var b strings.Builder
	quotes := 0
	for _, r := range s {
		quotes++
		if r != '"' {
			quotes = 0
		}
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == '"' && (!lines || quotes == 3):
			b.WriteString(`\"`)
			quotes = 0
		case r == '\n' && !lines:
			b.WriteString(`\n`)
		case r == '\n', r == '\t':
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			b.WriteRune(r)
		}
	}
	text := b.String()
	if lines && strings.HasSuffix(text, `"`) && !strings.HasSuffix(text, `\"`) {
		text = text[:len(text)-1] + `\"`
	}
	return text
}
