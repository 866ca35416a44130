package profile

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// Server is what a file says of an MCP server. Its texts may name variables,
// which ExpandServer fills in.
type Server struct {
	Name string
	// Command and Args start a server on this machine, in Dir (empty: the workspace)
	// and with Env.
	Command string
	Args    []string
	Env     []Pair
	Dir     string
	// URL and Headers reach one that is there.
	URL     string
	Headers []Pair

	Timeout          time.Duration // of one call; 0: the usual one
	TrustAnnotations bool
	Roots            bool     // it is told of the workspace
	Resources        []string // URIs that are added to each request
	// Tools are the only ones that count, by the server's names, and Without those
	// that do not; nil: all count.
	Tools, Without []string
}

// Pair is a name and its value, in written order.
type Pair struct{ Name, Value string }

// Bounds of what a file says of a server.
const (
	maxServerName = 64
	maxServerList = 256
	maxServerText = 32 << 10
)

// ServerName says what is wrong with the name of a server; nil: nothing.
func ServerName(name string) error {
	fits := func(r rune) bool {
		return r != '/' && r != '*' && r != '\\' && r != utf8.RuneError && unicode.IsPrint(r)
	}
	switch {
	case strings.TrimSpace(name) == "" || strings.TrimSpace(name) != name:
		return errors.New("a server needs a name without blanks around it")
	case utf8.RuneCountInString(name) > maxServerName:
		return fmt.Errorf("the name of a server has at most %d characters", maxServerName)
	case strings.ContainsFunc(name, func(r rune) bool { return !fits(r) }):
		return fmt.Errorf("%q is no name of a server: it holds a character such as / or *", name)
	case !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }):
		return fmt.Errorf("%q is no name of a server: it needs a letter or a digit", name)
	}
	return nil
}

// ParseServer reads the entry of a server in any of the forms that files have for
// it. number is the unit of a timeout that has none. off: the entry takes away the
// server of that name. unknown are the keys that mean nothing here. The error joins
// all that is wrong.
func ParseServer(name string, n *yaml.Node, number time.Duration) (s Server, off bool, unknown []string, err error) {
	p := serverParser{Server: Server{Name: name}, unit: number}
	n = alias(n)
	if TakesAway(n) {
		return p.Server, true, nil, ServerName(name)
	}
	p.wrong(ServerName(name))
	if n.Kind != yaml.MappingNode {
		p.wrong(errors.New("a server takes a map with command or url, or false"))
		return p.Server, false, nil, errors.Join(p.errs...)
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		p.key(n.Content[i].Value, alias(n.Content[i+1]))
	}
	p.fits()
	return p.Server, p.off, p.unknown, errors.Join(p.errs...)
}

// Check says what is wrong with a server that is made otherwise; nil: nothing.
func (s Server) Check() error {
	p := serverParser{Server: s}
	p.wrong(ServerName(s.Name))
	p.fits()
	return errors.Join(p.errs...)
}

type serverParser struct {
	Server
	unit    time.Duration
	off     bool
	unknown []string
	errs    []error
}

func (p *serverParser) wrong(err error) {
	if err != nil {
		p.errs = append(p.errs, err)
	}
}

// key reads one key. Those of other tools stand beside ours.
func (p *serverParser) key(written string, n *yaml.Node) {
	key := serverKey(written)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return
	}
	switch key {
	case "name", "type", "transport", "description": // the first is the entry's, the next two follow from it
	case "command":
		if list := p.list(written, n); len(list) > 0 {
			p.Command, p.Args = list[0], append(list[1:len(list):len(list)], p.Args...)
		}
	case "args":
		p.Args = append(p.Args, p.list(written, n)...)
	case "env", "environment":
		p.Env = append(p.Env, p.pairs(written, n)...)
	case "dir", "cwd", "working-dir":
		p.Dir = p.text(written, n)
	case "url", "http-url", "server-url":
		p.URL = p.text(written, n)
	case "headers", "http-headers":
		p.Headers = append(p.Headers, p.pairs(written, n)...)
	case "bearer-token-env-var":
		p.Headers = append(p.Headers, Pair{"Authorization", "Bearer ${" + p.text(written, n) + "}"})
	case "env-http-headers":
		for _, h := range p.pairs(written, n) {
			p.Headers = append(p.Headers, Pair{h.Name, "${" + h.Value + "}"})
		}
	case "env-vars":
		for _, name := range p.list(written, n) {
			p.Env = append(p.Env, Pair{name, "${" + name + "}"})
		}
	case "timeout":
		p.timeout(written, n)
	case "enabled":
		p.off = !p.truth(written, n)
	case "disabled":
		p.off = p.truth(written, n)
	case "trust-annotations":
		p.TrustAnnotations = p.truth(written, n)
	case "roots":
		p.Roots = p.truth(written, n)
	case "resources":
		p.Resources = p.list(written, n)
	case "tools", "include-tools", "enabled-tools":
		if p.Tools = p.list(written, n); slices.Contains(p.Tools, "*") {
			p.Tools = nil
		}
	case "without", "exclude-tools", "disabled-tools":
		p.Without = p.list(written, n)
	default:
		p.unknown = append(p.unknown, written)
	}
}

// serverKey is a key in kebab-case.
func serverKey(key string) string {
	var b strings.Builder
	for i, r := range key {
		switch {
		case r == '_':
			b.WriteByte('-')
		case r >= 'A' && r <= 'Z':
			if i > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r - 'A' + 'a')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func (p *serverParser) text(key string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "" {
		p.wrong(fmt.Errorf("%s takes text", key))
		return ""
	}
	return p.value(key, n.Value)
}

// value is a text that a program or a header can get.
func (p *serverParser) value(key, text string) string {
	switch {
	case len(text) > maxServerText:
		p.wrong(fmt.Errorf("%s has more than %d bytes", key, maxServerText))
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		p.wrong(fmt.Errorf("%s holds a NUL or is no text", key))
	default:
		return text
	}
	return ""
}

// list reads a list of texts, or one text.
func (p *serverParser) list(key string, n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		return []string{p.value(key, n.Value)}
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) > maxServerList {
		p.wrong(fmt.Errorf("%s takes a list of at most %d texts", key, maxServerList))
		return nil
	}
	out := make([]string, 0, len(n.Content))
	for _, c := range n.Content {
		if c.Kind != yaml.ScalarNode {
			p.wrong(fmt.Errorf("%s takes a list of texts", key))
			return nil
		}
		out = append(out, p.value(key, c.Value))
	}
	return out
}

func (p *serverParser) pairs(key string, n *yaml.Node) []Pair {
	if n.Kind != yaml.MappingNode || len(n.Content) > 2*maxServerList {
		p.wrong(fmt.Errorf("%s takes a map of at most %d names to texts", key, maxServerList))
		return nil
	}
	var out []Pair
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		name := p.value(key, k.Value)
		if v.Kind != yaml.ScalarNode || name == "" || strings.ContainsAny(name, "= \t\r\n:") {
			p.wrong(fmt.Errorf("%s.%s: it takes names without blanks, = and :, and texts", key, k.Value))
			continue
		}
		out = append(out, Pair{name, p.value(key+"."+name, v.Value)})
	}
	return out
}

func (p *serverParser) truth(key string, n *yaml.Node) bool {
	v, err := strconv.ParseBool(n.Value)
	if err != nil || n.Kind != yaml.ScalarNode {
		p.wrong(fmt.Errorf("%s takes true or false", key))
	}
	return v
}

func (p *serverParser) timeout(key string, n *yaml.Node) {
	d, err := time.ParseDuration(n.Value)
	if number, bad := strconv.ParseFloat(n.Value, 64); bad == nil {
		d, err = time.Duration(number*float64(p.unit)), nil
	}
	if err != nil || n.Kind != yaml.ScalarNode || d <= 0 || d > 24*time.Hour {
		p.wrong(fmt.Errorf("%s takes a time with its unit, such as 90s", key))
		return
	}
	p.Timeout = d
}

// fits checks what belongs together.
func (p *serverParser) fits() {
	if p.off || len(p.errs) > 0 {
		return
	}
	switch {
	case p.Command == "" && p.URL == "":
		p.wrong(errors.New("a server has a command or a url, and this has neither"))
	case p.Command != "" && p.URL != "":
		p.wrong(errors.New("a server has a command or a url, and this has both"))
	case p.URL != "" && len(p.Env) > 0:
		p.wrong(errors.New("env is for a server with a command; one with a url gets headers"))
	case p.Command != "" && len(p.Headers) > 0:
		p.wrong(errors.New("headers are for a server with a url; one with a command gets env"))
	case p.URL != "":
		p.wrong(ServerURL(p.URL))
	}
}

// ServerURL says what is wrong with the address of a server; nil: nothing, as far
// as can be told before its variables are filled in.
func ServerURL(text string) error {
	if strings.HasPrefix(text, "${") {
		return nil
	}
	u, err := url.Parse(strings.NewReplacer("${", "", "}", "").Replace(text))
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("url takes an http or https address")
	case u.User != nil:
		return errors.New("url holds a user name or password: put it into headers, as ${VARIABLE}")
	}
	return nil
}
