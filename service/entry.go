// Package service reads what a user says of a service that agents call by its
// OpenAPI document: where the document is, to which hosts requests may go, and which
// variables hold what the service is shown. It reads no variable and no document.
package service

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/source"
)

// Key is the key under which profiles and roster.yaml have services by their names.
const Key = "openapi"

// Entry is a service as a file has it. It holds no secret.
type Entry struct {
	Name string `json:"name"`
	// Spec is where the document is: a path, from the workspace's root, or a URL.
	Spec string `json:"spec"`
	// Server is where the operations are; empty: where the document says, if its
	// host is named under Hosts or is the one that the document is from.
	Server string `json:"server,omitempty"`
	// Hosts are further hosts that requests and credentials may go to ("HOST" or
	// "HOST:PORT"), also where they are private.
	Hosts []string     `json:"hosts,omitempty"`
	Auth  []Credential `json:"auth,omitempty"`
	// Headers are sent with each request; their values may name variables.
	Headers []Header `json:"headers,omitempty"`
	// Operations, Tags, Paths and Methods choose operations. Those of one list are
	// alternatives, and each list that is there has to have one that fits.
	Operations []string      `json:"operations,omitempty"`
	Tags       []string      `json:"tags,omitempty"`
	Paths      []string      `json:"paths,omitempty"`
	Methods    []string      `json:"methods,omitempty"`
	Timeout    time.Duration `json:"timeout_ns,omitempty"` // of a call; 0: DefaultTimeout
	// IdempotencyHeader is sent with what changes something; empty: the usual one,
	// and "none": no such header.
	IdempotencyHeader string `json:"idempotency_header,omitempty"`

	At source.Origin `json:"at"`
	// Profile, Item and Digest are what a person has trusted: the profile that says
	// it (empty: none does), the key in its file, and of what it says.
	Profile string `json:"profile,omitempty"`
	Item    string `json:"key"`
	Digest  string `json:"digest"`
}

// Kind is how a credential is shown.
type Kind string

// The kinds.
const (
	Bearer Kind = "bearer"
	Basic  Kind = "basic" // the variable holds USER:PASSWORD
	APIKey Kind = "api-key"
)

// Credential says which variable holds what a service is shown, and how.
type Credential struct {
	Kind     Kind   `json:"kind"`
	Variable string `json:"variable"`
	// Scheme is the security scheme of the document that it is for; empty: it is sent
	// with every operation that asks for any.
	Scheme string `json:"scheme,omitempty"`
	// In and Name are where an API key goes: header, query or cookie; empty: where
	// the document says.
	In   string `json:"in,omitempty"`
	Name string `json:"name,omitempty"`
}

// Header is a header and its value, in which ${NAME} stands for a variable.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

const (
	// DefaultTimeout and MaxTimeout are of one call.
	DefaultTimeout = 30 * time.Second
	MaxTimeout     = 10 * time.Minute

	maxName = 32
	maxList = 256
	maxText = 8 << 10
)

// NameError says what is wrong with the name of a service; nil: nothing.
func NameError(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	if name == "" || len(name) > maxName || strings.Trim(name, letters) != "" || strings.Trim(name, "_-") == "" {
		return fmt.Errorf("%q is no name of a service: letters, digits, _ and -, at most %d", name, maxName)
	}
	return nil
}

// Remote says that the document has to be fetched.
func (e *Entry) Remote() bool {
	return strings.HasPrefix(e.Spec, "http://") || strings.HasPrefix(e.Spec, "https://")
}

// Variables lists the variables that hold secrets of the service, each once.
func (e *Entry) Variables() []string {
	var names []string
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, c := range e.Auth {
		add(c.Variable)
	}
	for _, h := range e.Headers {
		_, _ = h.Expand(func(name string) (string, bool) { add(name); return "", true })
	}
	return names
}

// Does says what the service is, without what may be a secret in an address.
func (e *Entry) Does() string {
	if !e.Remote() {
		return e.Spec
	}
	u, err := url.Parse(e.Spec)
	if err != nil {
		return "an address"
	}
	if u.RawQuery != "" {
		u.RawQuery = ""
		return u.String() + "?…"
	}
	return u.String()
}

// Off says that a value takes the service of its name away.
func Off(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!null" || n.Value == "false")
}

// Parse reads the entry of a name. The error joins all that is wrong.
func Parse(name string, n *yaml.Node) (Entry, error) {
	p := parser{e: Entry{Name: name}}
	p.wrong(NameError(name))
	if n.Kind != yaml.MappingNode {
		p.wrong(errors.New("a service takes a map with spec, or false"))
		return p.e, errors.Join(p.errs...)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := strings.ReplaceAll(deref(n.Content[i]).Value, "_", "-")
		if v := deref(n.Content[i+1]); v.Tag != "!!null" {
			if seen[key] {
				p.wrong(fmt.Errorf("%s stands twice", key))
			}
			seen[key] = true
			p.key(key, v)
		}
	}
	if len(p.errs) == 0 {
		p.fits()
	}
	return p.e, errors.Join(p.errs...)
}

func deref(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}
