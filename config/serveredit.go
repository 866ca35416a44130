package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/profile"
)

// ErrByHand says that a file cannot be changed in place without touching what did not
// change.
var ErrByHand = errors.New("its mcp-servers are written in a way that is only changed by hand: write them as a block, each server in lines of its own")

// PutServer gives the text of a roster.yaml with a server, in the place of the one of
// that name. The rest stays as it is, its comments too.
func PutServer(text []byte, s profile.Server) ([]byte, error) {
	entry := quoted(s.Name) + ": " + serverText(s)
	return edited(text, s.Name, func(e *serverLines) ([]string, error) {
		switch {
		case e.from < e.to:
			return e.replaced(strings.Repeat(" ", e.indent) + entry), nil
		case e.end > 0:
			e.from, e.to = e.end, e.end
			return e.replaced(strings.Repeat(" ", e.indent) + entry), nil
		}
		return append(e.lines, profile.Servers+":", "  "+entry), nil
	})
}

// DropServer gives the text without the server.
func DropServer(text []byte, name string) ([]byte, error) {
	return edited(text, name, func(e *serverLines) ([]string, error) {
		switch {
		case e.from == e.to:
			return nil, fmt.Errorf("there is no server %q in it", name)
		case e.only:
			e.from = e.key
		}
		return e.replaced(), nil
	})
}

// serverLines are the lines of a file, and which of them the servers have. They are
// counted from 0; to and end are behind the last.
type serverLines struct {
	lines    []string
	key      int // of mcp-servers
	from, to int // of the server; the same: it is not there
	end      int // where one more is put; 0: there are none
	indent   int
	only     bool // there is no other
}

func (e *serverLines) replaced(with ...string) []string {
	out := append([]string(nil), e.lines[:e.from]...)
	return append(append(out, with...), e.lines[e.to:]...)
}

func edited(text []byte, name string, change func(*serverLines) ([]string, error)) ([]byte, error) {
	e, err := findServer(text, name)
	if err != nil {
		return nil, err
	}
	lines, err := change(e)
	if err != nil {
		return nil, err
	}
	out := []byte(strings.Join(lines, "\n") + "\n")
	var doc yaml.Node
	if len(bytes.TrimSpace(out)) > 0 {
		if err := yaml.Load(out, &doc); err != nil {
			return nil, ErrByHand
		}
	}
	return out, nil
}

// findServer finds the lines of the servers.
func findServer(text []byte, name string) (*serverLines, error) {
	e := &serverLines{indent: 2}
	if body := strings.TrimRight(string(text), "\n"); body != "" {
		e.lines = strings.Split(body, "\n")
	}
	if onlyComments(string(text)) {
		return e, nil
	}
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return nil, err
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode || root.Style&yaml.FlowStyle != 0 {
		return nil, ErrByHand
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if k := root.Content[i]; strings.ReplaceAll(k.Value, "_", "-") != profile.Servers {
			continue
		}
		after := len(e.lines)
		if i+2 < len(root.Content) {
			after = root.Content[i+2].Line - 1
		}
		e.key = root.Content[i].Line - 1
		return e, e.inValue(root.Content[i+1], name, after)
	}
	return e, nil
}

// inValue finds the server in the value, which ends before the line after.
func (e *serverLines) inValue(v *yaml.Node, name string, after int) error {
	if isNull(v) && v.Value == "" {
		e.end = e.key + 1
		return nil
	}
	if v.Kind != yaml.MappingNode || v.Style&yaml.FlowStyle != 0 || v.Anchor != "" {
		return ErrByHand
	}
	e.indent = v.Column - 1
	e.end = e.back(after)
	for i := 0; i+1 < len(v.Content); i += 2 {
		if v.Content[i].Value != name {
			continue
		}
		e.from, e.to, e.only = v.Content[i].Line-1, e.end, len(v.Content) == 2
		if i+2 < len(v.Content) {
			e.to = e.back(v.Content[i+2].Line - 1)
		}
	}
	return nil
}

// back leaves out blank lines and comments before a line that belong to what follows.
func (e *serverLines) back(line int) int {
	for line > 0 {
		text := e.lines[line-1]
		deep := len(text) - len(strings.TrimLeft(text, " "))
		if rest := strings.TrimSpace(text); rest != "" && (rest[0] != '#' || deep > e.indent) {
			break
		}
		line--
	}
	return line
}

// serverText is a server as one line of YAML.
func serverText(s profile.Server) string {
	var parts []string
	add := func(key, value string) { parts = append(parts, key+": "+value) }
	one := func(key, value string) {
		if value != "" {
			add(key, quoted(value))
		}
	}
	many := func(key string, list []string) {
		if len(list) > 0 {
			add(key, listText(list))
		}
	}
	one("command", s.Command)
	many("args", s.Args)
	pairs(add, "env", s.Env)
	one("dir", s.Dir)
	one("url", s.URL)
	pairs(add, "headers", s.Headers)
	if s.Timeout > 0 {
		add("timeout", s.Timeout.Round(time.Millisecond).String())
	}
	many("tools", s.Tools)
	many("without", s.Without)
	many("resources", s.Resources)
	if s.Roots {
		add("roots", "true")
	}
	if s.TrustAnnotations {
		add("trust-annotations", "true")
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func listText(list []string) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = quoted(v)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func pairs(add func(key, value string), key string, list []profile.Pair) {
	if len(list) == 0 {
		return
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = quoted(p.Name) + ": " + quoted(p.Value)
	}
	add(key, "{"+strings.Join(out, ", ")+"}")
}

// plain are texts that YAML takes for what they are without quotes.
var plain = regexp.MustCompile(`^[A-Za-z_./][A-Za-z0-9_./@-]*$`)

// quoted writes a text for YAML. JSON's form is YAML's too.
func quoted(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan":
	default:
		if plain.MatchString(text) {
			return text
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil {
		panic(err) // a text can be encoded
	}
	return strings.TrimSpace(b.String())
}
