// Package address reads the names of hosts, and the list of those that may be
// reached though they are private. It looks nothing up.
package address

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// Host gives the name of a host as it is in a URL in one form: an address, or a
// name in lower case and in ASCII, without the dot at its end. What a resolver
// might take for an address in another notation (127.1, 0x7f.1) is none.
func Host(host string) (string, bool) {
	if strings.ContainsAny(host, ":%") {
		a, err := netip.ParseAddr(host)
		if err != nil || a.Zone() != "" { // no public address has a zone
			return "", false
		}
		return a.Unmap().String(), true
	}
	ascii := strings.ToLower(strings.TrimSuffix(host, "."))
	if strings.ContainsFunc(ascii, func(r rune) bool { return r > '~' }) {
		var err error
		if ascii, err = idna.Lookup.ToASCII(ascii); err != nil {
			return "", false
		}
	}
	if ascii == "" || len(ascii) > 253 || strings.Contains("."+ascii+".", "..") || strings.ContainsFunc(ascii, notInName) {
		return "", false
	}
	if _, err := netip.ParseAddr(ascii); err != nil && numeric(ascii[strings.LastIndexByte(ascii, '.')+1:]) {
		return "", false
	}
	return ascii, true
}

func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '.' && r != '_'
}

// numeric says whether the last label of a name makes it a number to some
// resolvers, in decimal, octal or hexadecimal notation.
func numeric(label string) bool {
	if rest, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}

// Join writes a host and a port as URLs have them.
func Join(host, port string) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return host
}

// Allowed are hosts and blocks of addresses that may be reached though they are
// private. It is immutable. The zero Allowed has none.
type Allowed struct {
	hosts map[string]bool // by name, or name:port
	nets  []netip.Prefix
}

// EntryError is an entry that cannot be read.
type EntryError struct{ Entry string }

func (e *EntryError) Error() string {
	return fmt.Sprintf("%q is no host, host:port, address or block of addresses such as 10.1.0.0/16", e.Entry)
}

// Allow reads the entries: hosts ("wiki.internal", "localhost:3000"), addresses
// and blocks of them ("10.1.0.0/16"). An error is an *EntryError.
func Allow(entries ...string) (Allowed, error) {
	l := Allowed{hosts: map[string]bool{}}
	for _, e := range entries {
		if !l.add(e) {
			return Allowed{}, &EntryError{e}
		}
	}
	return l, nil
}

func (l *Allowed) add(entry string) bool {
	if p, err := netip.ParsePrefix(entry); err == nil {
		l.nets = append(l.nets, p.Masked())
		return true
	}
	bare, bracketed := strings.CutPrefix(entry, "[")
	host, port := entry, ""
	if bracketed {
		var ok bool
		if host, port, ok = strings.Cut(bare, "]"); !ok {
			return false
		}
		if port, ok = strings.CutPrefix(port, ":"); ok != (port != "") {
			return false
		}
	} else if strings.Count(entry, ":") == 1 {
		if host, port, _ = strings.Cut(entry, ":"); port == "" {
			return false
		}
	}
	name, ok := Host(host)
	if n, err := strconv.ParseUint(port, 10, 16); !ok || port != "" && (err != nil || n == 0) {
		return false
	}
	if a, err := netip.ParseAddr(name); err == nil && port == "" {
		l.nets = append(l.nets, netip.PrefixFrom(a, a.BitLen()))
		return true
	}
	l.hosts[Join(name, port)] = true
	return true
}

// Holds says whether an address may be reached for a host and port, as Host and
// Join write them.
func (l Allowed) Holds(host, port string, a netip.Addr) bool {
	if l.hosts[Join(host, "")] || l.hosts[Join(host, port)] {
		return true
	}
	for _, n := range l.nets {
		if n.Contains(a.Unmap().WithZone("")) {
			return true
		}
	}
	return false
}
