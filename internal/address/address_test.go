package address_test

import (
	"net"
	"net/netip"
	"testing"

	"github.com/rosterrun/roster/internal/address"
)

func TestAllowed(t *testing.T) {
	for _, c := range []struct {
		name, entry, host, addr string
		ok                      bool
	}{
		{"host", "wiki.internal", "wiki.internal:80", "10.0.0.1", true},
		{"host, any case", "Wiki.Internal.", "wiki.internal:80", "10.0.0.1", true},
		{"host and port", "localhost:3000", "localhost:3000", "127.0.0.1", true},
		{"host and another port", "localhost:3000", "localhost:22", "127.0.0.1", false},
		{"another host", "wiki.internal", "evil.example:80", "10.0.0.1", false},
		{"block", "10.1.0.0/16", "a.example:80", "10.1.2.3", true},
		{"beside the block", "10.1.0.0/16", "a.example:80", "10.2.2.3", false},
		{"block, mapped", "10.1.0.0/16", "a.example:80", "::ffff:10.1.2.3", true},
		{"address", "192.168.1.7", "192.168.1.7:80", "192.168.1.7", true},
		{"address of IPv6", "[fd00::7]", "[fd00::7]:80", "fd00::7", true},
		{"address of IPv6 and port", "[fd00::7]:80", "[fd00::7]:80", "fd00::7", true},
		{"address of IPv6 and another port", "[fd00::7]:80", "[fd00::7]:81", "fd00::7", false},
		{"address of IPv6, bare", "fd00::7", "x.example:80", "fd00::7", true},
		{"address and port", "127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1", true},
		{"address and another port", "127.0.0.1:8080", "127.0.0.1:22", "127.0.0.1", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := address.Allow(c.entry)
			if err != nil {
				t.Fatal(err)
			}
			host, port, err := net.SplitHostPort(c.host)
			if err != nil {
				t.Fatal(err)
			}
			if ok := list.Holds(host, port, netip.MustParseAddr(c.addr)); ok != c.ok {
				t.Error(ok)
			}
		})
	}
	for _, bad := range []string{"", "*", "*.internal", "http://localhost", "localhost:", "a b", "10.0.0.0/33", "0x7f.1", "[::1", "[::1]x", "[::1]:", "localhost:0", "localhost:70000", "fe80::1%lo"} {
		if _, err := address.Allow(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
