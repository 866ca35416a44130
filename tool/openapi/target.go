package openapi

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/rosterrun/roster/internal/address"
	"github.com/rosterrun/roster/internal/reach"
	"github.com/rosterrun/roster/service"
)

// bounds are the hosts that the user named for a service: requests go there, and so
// does what the service is shown, and to no other.
type bounds struct {
	name    string
	exact   map[string]bool // host:port
	any     map[string]bool // host, on any port
	private []string        // may be private
	spec    *url.URL        // of a document that is fetched; nil: it is a file
	server  *url.URL        // that the user named; nil: none
}

func newBounds(e *service.Entry) (*bounds, error) {
	b := &bounds{name: e.Name, exact: map[string]bool{}, any: map[string]bool{}}
	var err error
	if e.Remote() {
		if b.spec, err = b.named(e.Spec); err != nil {
			return nil, fmt.Errorf("spec: %w", err)
		}
	}
	if e.Server != "" {
		if b.server, err = b.named(e.Server); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
	}
	for _, h := range e.Hosts {
		host, port, err := splitHost(h)
		if err != nil {
			return nil, err
		}
		b.private = append(b.private, h)
		if port == "" {
			b.any[host] = true
		} else {
			b.exact[host+" "+port] = true
		}
	}
	return b, nil
}

// named takes the host of an address that the user wrote. One that is an address or
// this machine may be private: that was to be seen. A name may not: who answers for it
// could have it lead anywhere.
func (b *bounds) named(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it is no address")
	}
	if u, err = normal(u); err != nil {
		return nil, err
	}
	b.exact[u.Hostname()+" "+portOf(u)] = true
	if _, err := netip.ParseAddr(u.Hostname()); err == nil || u.Hostname() == "localhost" {
		b.private = append(b.private, address.Join(u.Hostname(), portOf(u)))
	}
	return u, nil
}

func splitHost(entry string) (host, port string, err error) {
	if a, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		host, _ := address.Host(a.String())
		return host, "", nil
	}
	u, err := url.Parse("//" + entry)
	if err != nil {
		return "", "", fmt.Errorf("hosts: %q is no host", entry)
	}
	host, ok := address.Host(u.Hostname())
	if !ok {
		return "", "", fmt.Errorf("hosts: %q is no host", entry)
	}
	return host, u.Port(), nil
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "http" {
		return "80"
	}
	return "443"
}

// normal gives an address in the one form in which it is judged, shown and called.
func normal(u *url.URL) (*url.URL, error) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		return nil, errors.New("only http and https addresses are called")
	case u.User != nil:
		return nil, errors.New("the address holds a user name or password")
	}
	host, ok := address.Host(u.Hostname())
	if !ok || strings.HasSuffix(u.Host, ":") {
		return nil, fmt.Errorf("%q is no host that can be understood", u.Host)
	}
	clean := *u
	port := u.Port()
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		port = ""
	}
	clean.Host, clean.Fragment, clean.RawFragment = address.Join(host, port), "", ""
	return &clean, nil
}

// holds says whether the user named the host of an address.
func (b *bounds) holds(u *url.URL) bool {
	return b.any[u.Hostname()] || b.exact[u.Hostname()+" "+portOf(u)]
}

// HostError is a host that the user did not name for a service. Nothing is sent there.
type HostError struct{ Service, Host string }

func (e *HostError) Error() string {
	return fmt.Sprintf("the operation is at %s, which nobody named for the service %s; nothing was sent. Only the user can: hosts: [%q] in its entry, or server", e.Host, e.Service, e.Host)
}

// serverOf is where an operation is: where the user says, or the first of the
// document's addresses that is at a host which the user named.
func (b *bounds) serverOf(o *Operation) (*url.URL, error) {
	if b.server != nil {
		return b.server, nil
	}
	servers := o.Servers
	if len(servers) == 0 {
		servers = []ServerURL{{URL: "/"}}
	}
	var first error
	for _, s := range servers {
		u, err := b.resolve(s)
		if err == nil && !b.holds(u) {
			err = &HostError{b.name, u.Host}
		}
		if err == nil {
			return u, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// resolve fills the variables of an address in, by their defaults, and takes one that
// is relative from where the document is.
func (b *bounds) resolve(s ServerURL) (*url.URL, error) {
	text := s.URL
	for _, v := range s.Variables {
		if len(v.Enum) > 0 && !slices.Contains(v.Enum, v.Default) {
			return nil, fmt.Errorf("the server %s of the document has a variable %s whose default is none of its values: name the address under server", s.URL, v.Name)
		}
		text = strings.ReplaceAll(text, "{"+v.Name+"}", v.Default)
	}
	if strings.ContainsAny(text, "{}") {
		return nil, fmt.Errorf("the server %s of the document has a variable without a value: name the address under server", s.URL)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("the server %q of the document is no address: name it under server", short(text))
	}
	if !u.IsAbs() || u.Host == "" {
		if b.spec == nil {
			return nil, fmt.Errorf("the document does not say at which host its operations are (%q): name the address under server", short(text))
		}
		u = b.spec.ResolveReference(u)
	}
	u.RawQuery, u.ForceQuery = "", false
	if strings.Contains(u.Path, "\\") || slices.ContainsFunc(strings.Split(u.Path, "/"), dots) {
		return nil, fmt.Errorf("the server %q of the document has a path that leads out of itself", short(text))
	}
	if u, err = normal(u); err != nil {
		return nil, fmt.Errorf("the server %q of the document: %w", short(text), err)
	}
	return u, nil
}

// client connects to what the user named, and to nothing private that was not named as
// such.
func (b *bounds) client(proxy string, adjust func(*reach.Guard)) (*reach.Client, error) {
	g, err := reach.NewGuard(b.private...)
	if err != nil {
		return nil, err
	}
	g.LinkByAddress = true
	g.Remedy = func(host string) string {
		return fmt.Sprintf("in the entry of the service %s: hosts: [%q]", b.name, host)
	}
	if adjust != nil {
		adjust(g)
	}
	return reach.NewClient(g, proxy)
}
