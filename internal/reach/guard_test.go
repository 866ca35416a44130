package reach_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/reach"
)

// TestLinkByAddress: where names do not lead to the local link, one that is allowed
// leads to private addresses, and not to where clouds keep their credentials.
func TestLinkByAddress(t *testing.T) {
	for _, c := range []struct {
		name, allow, host, addr string
		off, ok                 bool
	}{
		{"a name on a private network", "api.internal", "api.internal", "10.0.0.7", true, true},
		{"a name on the machine", "localhost", "localhost", "127.0.0.1", true, true},
		{"a name on the link", "api.internal", "api.internal", "169.254.169.254", true, false},
		{"a name on the link, mapped", "api.internal", "api.internal", "::ffff:169.254.169.254", true, false},
		{"a name on the link of IPv6", "api.internal", "api.internal", "fe80::1", true, false},
		{"the address", "169.254.169.254", "169.254.169.254", "169.254.169.254", true, true},
		{"a name on the link where names do", "api.internal", "api.internal", "169.254.169.254", false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := reach.NewGuard(c.allow)
			if err != nil {
				t.Fatal(err)
			}
			g.LinkByAddress = c.off
			g.Remedy = func(host string) string { return "by a note to " + host }
			err = g.Check(c.host, "80", netip.MustParseAddr(c.addr))
			if (err == nil) != c.ok {
				t.Fatal(err)
			}
			if refused := (*reach.AddressError)(nil); err != nil && (!errors.As(err, &refused) || !strings.HasSuffix(err.Error(), "by a note to "+c.host)) {
				t.Error(err)
			}
		})
	}
}
