package web

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/rosterrun/roster/internal/address"
)

const connectTimeout = 10 * time.Second

// Reach says what besides public addresses may be reached.
type Reach struct {
	// Allow names hosts, addresses and blocks of addresses that may be reached
	// though they are private: "wiki.internal", "localhost:3000", "10.1.0.0/16".
	Allow []string
	// Proxy is "environment" for the proxies that the environment names, or the
	// URL of one; empty: there is none.
	Proxy string
}

// guard keeps connections to public addresses. It is immutable and safe for
// concurrent use.
type guard struct {
	allowed address.Allowed
	special []network
	own     func() ([]net.Addr, error)
	names   *net.Resolver // nil: the machine's
}

type network struct {
	netip.Prefix
	name string
}

func newGuard(allow []string) (*guard, error) {
	allowed, err := address.Allow(allow...)
	return &guard{allowed: allowed, special: special(), own: net.InterfaceAddrs}, err
}

// special are the addresses that are not public, by the registries of special
// addresses (RFC 6890 and what updates it).
func special() []network {
	var out []network
	for _, n := range []struct{ name, prefixes string }{
		{"the machine itself", "0.0.0.0/8 127.0.0.0/8 ::/127"},
		{"a private network", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10"},
		{"the provider's own network (carrier-grade NAT)", "100.64.0.0/10"},
		{"the local link, where clouds keep their credentials", "169.254.0.0/16 fe80::/10"},
		{"multicast", "224.0.0.0/4 ff00::/8"},
		{"reserved", "192.0.0.0/24 192.0.2.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 240.0.0.0/4 " +
			"100::/64 2001:db8::/32 3fff::/20 5f00::/16"},
		{"a way to IPv4 addresses through IPv6", "::/96 64:ff9b::/96 64:ff9b:1::/48 2001::/23 2002::/16 192.88.99.0/24"},
	} {
		for prefix := range strings.FieldsSeq(n.prefixes) {
			out = append(out, network{netip.MustParsePrefix(prefix), n.name})
		}
	}
	return out
}

// AddressError is an address that must not be reached.
type AddressError struct {
	Host string // as the URL has it
	Addr netip.Addr
	What string // what the address is
}

func (e *AddressError) Error() string {
	at := e.Host
	if at != e.Addr.String() {
		at += " is at " + e.Addr.String() + ", which"
	}
	return fmt.Sprintf("%s is no public address (%s); nothing was sent there. Only the user can allow it, in roster.yaml: web: {allow: [%q]}", at, e.What, e.Host)
}

// check says whether an address may be reached for a host and port.
func (g *guard) check(host, port string, a netip.Addr) error {
	if g.allowed.Holds(host, port, a) {
		return nil
	}
	a = a.Unmap().WithZone("")
	for _, n := range g.special {
		if n.Contains(a) {
			return &AddressError{host, a, n.name}
		}
	}
	if !a.Is4() && (!a.IsValid() || a.As16()[0]>>5 != 1) { // public ones are in 2000::/3
		return &AddressError{host, a, "not in use for public hosts"}
	}
	list, err := g.own()
	if err != nil {
		return fmt.Errorf("the addresses of this machine are not known: %w", err)
	}
	for _, o := range list {
		if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr().Unmap().WithZone("") == a {
			return &AddressError{host, a, "the machine itself"}
		}
	}
	return nil
}

// dial connects to a host. The address is checked when it is connected to, so a
// name that leads somewhere else the second time it is looked up gains nothing.
func (g *guard) dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: connectTimeout, Resolver: g.names, ControlContext: func(_ context.Context, _, at string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(at)
		if err != nil {
			return err
		}
		return g.check(host, port, to.Addr())
	}}
	return d.DialContext(ctx, network, hostport)
}
