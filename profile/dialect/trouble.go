package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/source"
)

// yamlError says where and why YAML refuses a frontmatter.
func (d *document) yamlError(file string, err error) profile.Diagnostic {
	at := source.Origin{File: file, Line: d.front.YAMLLine, Column: 1}
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	var all *yaml.LoadErrors
	if errors.As(err, &all) && len(all.Errors) > 0 {
		msg = all.Errors[0].Message
	}
	var le *yaml.LoadError
	if errors.As(err, &le) {
		msg = le.Message
		if m := markOf(le); m.Line > 0 {
			at.Line, at.Column = d.line(m.Line), max(1, m.Column)
		}
		if le.ContextMsg != "" {
			msg += " " + le.ContextMsg
		}
	}
	written := places{written: d.front.YAML, line: d.front.YAMLLine}
	var text []byte
	switch {
	case strings.Contains(msg, "max depth"):
		return profile.Diagnose(profile.CodeTooDeep, at, "", fmt.Sprintf("the frontmatter nests deeper than %d levels", maxDepth), "")
	case hasControl(d.front.YAML):
		off := controlAt(d.front.YAML)
		r, _ := utf8.DecodeRune(d.front.YAML[off:])
		at.Line, at.Column = written.at(off)
		return profile.Diagnose(profile.CodeInvalidYAML, at, "", fmt.Sprintf("the control character %U is not allowed in YAML", r), "remove it")
	case strings.Contains(msg, "found multiple"):
		off := documentEnd(d.front.YAML)
		at.Line, at.Column = written.at(off)
		return profile.Diagnose(profile.CodeUnindented, at, "", "this line ends the YAML, and more follows", "remove it; a line that closes the frontmatter must hold three dashes and nothing else")
	}
	if starts := yamlLines(d.front.YAML); le != nil && le.Mark.Line > 0 {
		text, _, _ = bytes.Cut(d.front.YAML[starts[min(le.Mark.Line, len(starts))-1]:], []byte("\n"))
	}
	return profile.Diagnose(profile.CodeInvalidYAML, at, "", msg, hintFor(text, msg))
}

// markOf gives the place of an error. For a key without a colon it is that of
// the key, which YAML misses only in the next line.
func markOf(le *yaml.LoadError) yaml.Mark {
	if strings.Contains(le.Message, "expected ':'") && le.ContextMark.Line > 0 {
		return le.ContextMark
	}
	return le.Mark
}

// documentEnd gives the offset of the first line that ends a YAML document.
func documentEnd(b []byte) int {
	at := 0
	for line := range bytes.Lines(b) {
		if bytes.HasPrefix(line, []byte("---")) || bytes.HasPrefix(line, []byte("...")) {
			break
		}
		at += len(line)
	}
	return at
}

// hintFor names the usual causes of what YAML refuses in a line.
func hintFor(text []byte, msg string) string {
	_, value, _ := bytes.Cut(text, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case strings.Contains(msg, "mapping values"):
		return "quote the value: it holds a colon and a space"
	case strings.Contains(msg, "alias"), bytes.HasPrefix(value, []byte("*")), bytes.HasPrefix(bytes.TrimSpace(text), []byte("*")):
		return `quote what starts with "*"`
	case strings.Contains(msg, "tab"):
		return "indent with spaces"
	case bytes.HasPrefix(value, []byte("@")), bytes.HasPrefix(value, []byte("`")), bytes.HasPrefix(value, []byte("[")):
		return "quote the value"
	case bytes.HasPrefix(text, []byte("---")):
		return "the closing line of three dashes must hold nothing else"
	case strings.Contains(msg, "did not find expected key"), strings.Contains(msg, "could not find expected ':'"):
		return "each line must be a key with its value, or be indented like the lines that it belongs to"
	}
	return ""
}

// controlAt gives the offset of the first character that YAML allows nowhere;
// the length if there is none.
func controlAt(b []byte) int {
	for i, r := range string(b) {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff || 0x7f < r && r < 0xa0 && r != 0x85 {
			return i
		}
	}
	return len(b)
}

func hasControl(b []byte) bool { return controlAt(b) < len(b) }

func hasAnchor(b []byte) bool {
	for i, c := range b {
		if c == '&' && i+1 < len(b) && isKey(b[i+1:i+2]) && (i == 0 || bytes.IndexByte([]byte(" \t\n[{,:"), b[i-1]) >= 0) {
			return true
		}
	}
	return false
}
