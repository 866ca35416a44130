package service

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// auth reads one credential, or a list of them.
func (p *parser) auth(n *yaml.Node) {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	if len(list) == 0 || len(list) > maxList {
		p.wrongf("auth takes a credential, or a list of at most %d", maxList)
		return
	}
	for _, item := range list {
		c, err := parseCredential(deref(item))
		if err != nil {
			p.wrong(fmt.Errorf("auth: %w", err))
			continue
		}
		p.e.Auth = append(p.e.Auth, c)
	}
}

func parseCredential(n *yaml.Node) (c Credential, err error) {
	if n.Kind != yaml.MappingNode {
		return c, errors.New("a credential is a map with bearer-env, basic-env or key-env, which name the variable that holds it")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := strings.ReplaceAll(deref(n.Content[i]).Value, "_", "-"), deref(n.Content[i+1])
		if v.Kind != yaml.ScalarNode || strings.TrimSpace(v.Value) == "" {
			return c, fmt.Errorf("%s takes text", key)
		}
		if err := c.set(key, strings.TrimSpace(v.Value)); err != nil {
			return c, err
		}
	}
	return c, c.fits()
}

func (c *Credential) set(key, text string) error {
	switch key {
	case "bearer-env", "basic-env", "key-env":
		if c.Kind != "" {
			return errors.New("one of bearer-env, basic-env and key-env is enough; further credentials are further items of a list")
		}
		if !variable(text) {
			return fmt.Errorf("%s takes the name of a variable, such as API_TOKEN, and not what it holds", key)
		}
		c.Kind, c.Variable = map[string]Kind{"bearer-env": Bearer, "basic-env": Basic, "key-env": APIKey}[key], text
	case "scheme":
		c.Scheme = text
	case "in":
		if c.In = text; !slices.Contains([]string{"header", "query", "cookie"}, text) {
			return fmt.Errorf("in takes header, query or cookie, not %q", text)
		}
	case "name":
		c.Name = text
	default:
		return fmt.Errorf("%q is no key of a credential: there are bearer-env, basic-env, key-env, scheme, in and name", key)
	}
	return nil
}

func (c *Credential) fits() error {
	switch {
	case c.Kind == "":
		return errors.New("a credential needs bearer-env, basic-env or key-env: the variable that holds it")
	case c.Kind != APIKey && (c.In != "" || c.Name != ""):
		return errors.New("in and name are for key-env")
	case (c.In == "") != (c.Name == ""):
		return errors.New("in and name go together; without both, the document says where the key goes")
	case (c.In == "header" || c.In == "cookie") && !token(c.Name), c.In == "header" && reserved(c.Name) && !strings.EqualFold(c.Name, "authorization"):
		return fmt.Errorf("%q is no name for a %s", c.Name, c.In)
	}
	return nil
}

func variable(name string) bool {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 256
}

func (p *parser) headers(n *yaml.Node) {
	if n.Kind != yaml.MappingNode || len(n.Content) > 2*maxList {
		p.wrongf("headers takes a map of at most %d names to texts", maxList)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := deref(n.Content[i]).Value, deref(n.Content[i+1])
		h := Header{name, p.text("headers."+name, v)}
		if !token(name) || reserved(name) && !strings.EqualFold(name, "authorization") {
			p.wrongf("headers: %q is no header that can be set", name)
			continue
		}
		p.e.Headers = append(p.e.Headers, h)
	}
}

// token says whether a text may be the name of a header or of a cookie.
func token(name string) bool {
	if name == "" || len(name) > 256 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	})
}

// reserved says that a header follows from the request, and is not anybody's to set.
func reserved(name string) bool {
	switch strings.ToLower(name) {
	case "host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection", "keep-alive", "upgrade", "te", "trailer",
		"expect", "accept-encoding", "authorization", "cookie", "proxy-authorization", "proxy-connection":
		return true
	}
	return false
}

// Reserved says so of a header that a document lets a model set.
func Reserved(name string) bool { return reserved(name) || strings.EqualFold(name, "accept") }

// Expand fills ${NAME} in; $${ stands for ${ itself. The error names the variable
// that lookup does not find.
func (h Header) Expand(lookup func(string) (string, bool)) (string, error) {
	var b strings.Builder
	text := h.Value
	for {
		before, rest, found := strings.Cut(text, "${")
		if !found {
			b.WriteString(text)
			return b.String(), nil
		}
		name, after, closed := strings.Cut(rest, "}")
		switch {
		case strings.HasSuffix(before, "$"):
			b.WriteString(strings.TrimSuffix(before, "$") + "${")
			text = rest
		case !closed || !variable(name):
			b.WriteString(before + "${")
			text = rest
		default:
			value, ok := lookup(name)
			if !ok {
				return "", &Missing{h.Name, name}
			}
			b.WriteString(before + value)
			text = after
		}
	}
}

// Missing says that a variable is not set.
type Missing struct{ Of, Variable string }

func (e *Missing) Error() string {
	return fmt.Sprintf("%s needs the variable %s, which is not set; only the user can set it", e.Of, e.Variable)
}
