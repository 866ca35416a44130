package service

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/rosterrun/roster/internal/address"
)

type parser struct {
	e    Entry
	errs []error
}

func (p *parser) wrong(err error) {
	if err != nil {
		p.errs = append(p.errs, err)
	}
}

func (p *parser) wrongf(format string, args ...any) { p.wrong(fmt.Errorf(format, args...)) }

// Keys lists the keys of an entry.
func Keys() []string {
	return []string{"spec", "server", "hosts", "auth", "headers", "operations", "tags", "paths", "methods", "timeout", "idempotency-header"}
}

func (p *parser) key(key string, n *yaml.Node) {
	e := &p.e
	switch key {
	case "spec":
		e.Spec = strings.TrimSpace(p.text(key, n))
		p.wrong(specError(e.Spec))
	case "server":
		if e.Server = strings.TrimSuffix(p.text(key, n), "/"); e.Server != "" {
			p.wrong(serverError(e.Server))
		}
	case "hosts":
		e.Hosts = p.list(key, n)
		p.hosts()
	case "auth":
		p.auth(n)
	case "headers":
		p.headers(n)
	case "operations":
		e.Operations = p.list(key, n)
	case "tags":
		e.Tags = p.list(key, n)
	case "paths":
		e.Paths = p.list(key, n)
	case "methods":
		e.Methods = p.list(key, n)
		p.methods()
	case "timeout":
		d, err := time.ParseDuration(n.Value)
		if err != nil || d <= 0 || d > MaxTimeout || n.Kind != yaml.ScalarNode {
			p.wrongf("timeout takes a time such as 30s, of at most %s, not %q", MaxTimeout, n.Value)
		}
		e.Timeout = d
	case "idempotency-header":
		if e.IdempotencyHeader = p.text(key, n); !token(e.IdempotencyHeader) || reserved(e.IdempotencyHeader) {
			p.wrongf("idempotency-header takes the name of a header, or none, not %q", e.IdempotencyHeader)
		}
	default:
		p.wrongf("%q is no key of a service: there are %s", key, strings.Join(Keys(), ", "))
	}
}

func (p *parser) text(key string, n *yaml.Node) string {
	switch {
	case n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) == "":
		p.wrongf("%s takes text", key)
	case len(n.Value) > maxText || strings.ContainsFunc(n.Value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		p.wrongf("%s holds a control character, or has more than %d bytes", key, maxText)
	default:
		return n.Value
	}
	return ""
}

// list reads a list of texts, or one text.
func (p *parser) list(key string, n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}}
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 || len(n.Content) > maxList {
		p.wrongf("%s takes a list of 1 to %d texts", key, maxList)
		return nil
	}
	out := make([]string, 0, len(n.Content))
	for _, c := range n.Content {
		out = append(out, p.text(key, deref(c)))
	}
	return out
}

// specError says what is wrong with the place of a document.
func specError(spec string) error {
	if scheme, _, ok := strings.Cut(spec, "://"); ok {
		u, err := url.Parse(spec)
		switch {
		case err != nil || scheme != "http" && scheme != "https" || u.Host == "":
			return errors.New("spec takes a path or an http or https address")
		case u.User != nil:
			return errors.New("spec holds a user name or password: name a file")
		}
		if _, ok := address.Host(u.Hostname()); !ok {
			return fmt.Errorf("spec: %q is no host that can be understood", u.Host)
		}
		return nil
	}
	if spec == "" || path.Clean(spec) == "." || strings.HasPrefix(spec, "~") {
		return errors.New("spec takes the path of a document, or its address")
	}
	return nil
}

// serverError says what is wrong with the address that operations are at.
func serverError(server string) error {
	u, err := url.Parse(server)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("server takes an http or https address")
	case u.User != nil:
		return errors.New("server holds a user name or password: name a variable under auth")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return errors.New("server takes an address without ? and #")
	case strings.ContainsAny(server, "{}$"):
		return errors.New("server takes an address as it is: nothing in it is filled in")
	}
	if _, ok := address.Host(u.Hostname()); !ok || strings.HasSuffix(u.Host, ":") {
		return fmt.Errorf("server: %q is no host that can be understood", u.Host)
	}
	return nil
}

func (p *parser) hosts() {
	for _, h := range p.e.Hosts {
		_, err := address.Allow(h)
		_, block := netip.ParsePrefix(h)
		if err != nil || block == nil {
			p.wrongf("hosts takes hosts such as api.example.org or localhost:8080, not %q", h)
		}
	}
}

func (p *parser) methods() {
	known := []string{"GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "QUERY"}
	for i, m := range p.e.Methods {
		p.e.Methods[i] = strings.ToUpper(m)
		if !slices.Contains(known, p.e.Methods[i]) {
			p.wrongf("methods takes methods such as get, not %q", m)
		}
	}
}

// fits checks what belongs together.
func (p *parser) fits() {
	e := &p.e
	if e.Spec == "" {
		p.wrong(errors.New("a service needs its spec: the path of its OpenAPI document, or the address"))
	}
	if secret := len(e.Variables()) > 0; secret && e.Server != "" && open(e.Server) {
		p.wrong(errors.New("server would be sent a secret over http, where others can read it; use https"))
	}
}

// open says that others can read what is sent to an address.
func open(server string) bool {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "https" {
		return err != nil
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() != "localhost" && (err != nil || !ip.IsLoopback())
}

// Open says that others can read what is sent to an address: it is http, and not on
// this machine.
func Open(u *url.URL) bool { return open(u.String()) }

// Check says what is wrong with the addresses of an entry that no file has.
func (e *Entry) Check() error {
	p := parser{e: *e}
	p.wrong(specError(e.Spec))
	if e.Server != "" {
		p.wrong(serverError(e.Server))
	}
	p.hosts()
	return errors.Join(p.errs...)
}
