// Package reach opens connections for tools that are told by a model, or by what a
// stranger wrote, where to connect to: to public addresses, and to what the user
// names.
package reach

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

// Guard keeps connections to public addresses, and those that the user allows. It is
// safe for concurrent use; its fields are set before the first.
type Guard struct {
	Own   func() ([]net.Addr, error) // the addresses of this machine
	Names *net.Resolver              // nil: the machine's
	// Remedy says how the user allows a host; nil: nobody can.
	Remedy func(host string) string
	// LinkByAddress says that what is allowed by its name does not lead to the local
	// link, where clouds keep their credentials: only an address that is allowed does.
	LinkByAddress bool

	allowed address.Allowed
	special []network
}

type network struct {
	netip.Prefix
	name string
}

// NewGuard returns a Guard that also lets through what allow names: hosts, addresses
// and blocks of addresses ("wiki.internal", "localhost:3000", "10.1.0.0/16"). The
// error is an *address.EntryError.
func NewGuard(allow ...string) (*Guard, error) {
	allowed, err := address.Allow(allow...)
	return &Guard{allowed: allowed, special: special(), Own: net.InterfaceAddrs}, err
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
	Host   string // as the URL has it
	Addr   netip.Addr
	What   string // what the address is
	Remedy string // what the user can do; empty: nothing
}

func (e *AddressError) Error() string {
	at := e.Host
	if at != e.Addr.String() {
		at += " is at " + e.Addr.String() + ", which"
	}
	text := fmt.Sprintf("%s is no public address (%s); nothing was sent there", at, e.What)
	if e.Remedy != "" {
		text += ". Only the user can allow it, " + e.Remedy
	}
	return text
}

func (g *Guard) refuse(host string, a netip.Addr, what string) error {
	e := &AddressError{Host: host, Addr: a, What: what}
	if g.Remedy != nil {
		e.Remedy = g.Remedy(host)
	}
	return e
}

// Check says whether an address may be reached for a host and port. The error is an
// *AddressError, or says that the addresses of this machine are not known.
func (g *Guard) Check(host, port string, a netip.Addr) error {
	if g.allowed.Holds(host, port, a) && !(g.LinkByAddress && a.Unmap().IsLinkLocalUnicast() && !literal(host)) {
		return nil
	}
	a = a.Unmap().WithZone("")
	for _, n := range g.special {
		if n.Contains(a) {
			return g.refuse(host, a, n.name)
		}
	}
	if !a.Is4() && (!a.IsValid() || a.As16()[0]>>5 != 1) { // public ones are in 2000::/3
		return g.refuse(host, a, "not in use for public hosts")
	}
	list, err := g.Own()
	if err != nil {
		return fmt.Errorf("the addresses of this machine are not known: %w", err)
	}
	for _, o := range list {
		if p, err := netip.ParsePrefix(o.String()); err == nil && p.Addr().Unmap().WithZone("") == a {
			return g.refuse(host, a, "the machine itself")
		}
	}
	return nil
}

func literal(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// Dial connects to a host. The address is checked when it is connected to, so a
// name that leads somewhere else the second time it is looked up gains nothing.
func (g *Guard) Dial(ctx context.Context, network, hostport string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: connectTimeout, Resolver: g.Names, ControlContext: func(_ context.Context, _, at string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(at)
		if err != nil {
			return err
		}
		return g.Check(host, port, to.Addr())
	}}
	return d.DialContext(ctx, network, hostport)
}
