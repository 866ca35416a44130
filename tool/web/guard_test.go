package web

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/rosterrun/roster/internal/reach"
)

// TestNoWayIn: none of the ways to an address that is not public gets there. A
// server on loopback listens, and hears nothing.
func TestNoWayIn(t *testing.T) {
	port, heard := canary(t)
	names := map[string][]string{
		"loop.example": {"127.0.0.1"}, "six.example": {"::1"}, "mapped.example": {"::ffff:127.0.0.1"}, "both.example": {"::1", "127.0.0.1"},
		"ten.example": {"10.1.2.3"}, "meta.example": {"169.254.169.254"}, "nat64.example": {"64:ff9b::7f00:1"},
	}
	private := []string{ // each must be refused where it is connected to
		"http://127.0.0.1:PORT/", "http://127.1.2.3:PORT/", "http://0.0.0.0:PORT/", "http://[::1]:PORT/", "http://[::]:PORT/",
		"http://[::ffff:127.0.0.1]:PORT/", "http://[::ffff:7f00:1]:PORT/", "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/", "http://[::127.0.0.1]:PORT/",
		"http://localhost:PORT/", "http://LOCALHOST:PORT/", "http://localhost.:PORT/", "http://１２７.0.0.1:PORT/", "http://127。0。0。1:PORT/",
		"http://10.0.0.1/", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://100.64.0.1/", "http://100.127.255.254/",
		"http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/", "http://[fd00:ec2::254]/latest/", "http://[fec0::1]/", "http://[ff02::1]/",
		"http://224.0.0.1/", "http://239.255.255.250/", "http://255.255.255.255/", "http://240.0.0.1/", "http://192.0.0.8/", "http://198.18.0.1/",
		"http://192.0.2.1/", "http://203.0.113.9/", "http://192.88.99.1/", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b:1::1]/",
		"http://[2002:7f00:1::]/", "http://[2001::7f00:1]/", "http://[2001:db8::1]/", "http://[100::1]/", "http://[3fff::1]/", "http://[4000::1]/",
		"http://loop.example:PORT/", "http://six.example:PORT/", "http://mapped.example:PORT/", "http://both.example:PORT/",
		"http://ten.example/", "http://meta.example/", "http://nat64.example/", "https://loop.example:PORT/",
	}
	for _, url := range private {
		t.Run(url, func(t *testing.T) {
			r, err := fetch(t, setup{names: names, settings: `{"timeout": 5}`}, strings.Replace(url, "PORT", port, 1))
			if refused := (*reach.AddressError)(nil); !errors.As(err, &refused) {
				t.Errorf("%v, %q, not that the address is refused", err, textOf(r))
			}
		})
	}
	unreadable := map[string]string{ // each is refused as it is written
		"another scheme": "ftp://127.0.0.1/", "a file": "file:///etc/passwd", "no scheme": "127.0.0.1:PORT", "data": "data:text/plain,x", "gopher": "gopher://127.0.0.1:PORT/_x",
		"user name": "http://example.org@127.0.0.1:PORT/", "password": "http://a:b@127.0.0.1:PORT/", "empty user": "http://@127.0.0.1:PORT/",
		"decimal": "http://2130706433:PORT/", "octal": "http://0177.0.0.1:PORT/", "hexadecimal": "http://0x7f000001:PORT/", "hexadecimal parts": "http://0x7f.0.0.0x1:PORT/",
		"short": "http://127.1:PORT/", "zero": "http://0:PORT/", "leading zeros": "http://127.000.000.001:PORT/", "zone": "http://[fe80::1%25lo]:PORT/",
		"no host": "http:///", "only a port": "http://:PORT/", "blank in the host": "http://127.0.0.1 .example:PORT/", "backslash": `http://127.0.0.1\@example.org:PORT/`,
		"star": "http://*.example:PORT/", "empty label": "http://a..example/", "a new line": "http://127.0.0.1:PORT/\r\nHost: x", "opaque": "http:127.0.0.1:PORT",
		"a percent in the host": "http://127.0.0.1%2eexample/", "too long": "http://example.org/" + strings.Repeat("a", maxURL),
	}
	for name, url := range unreadable {
		t.Run(name, func(t *testing.T) {
			if r, err := fetch(t, setup{names: names}, strings.Replace(url, "PORT", port, 1)); err == nil {
				t.Errorf("%q, not an error", textOf(r))
			}
		})
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("the server on loopback heard %d requests", n)
	}
}

// TestNoWayInByRedirect: a page that may be fetched leads to one that may not.
func TestNoWayInByRedirect(t *testing.T) {
	port, heard := canary(t)
	var to string
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	own := strings.TrimPrefix(s.URL, "http://")
	for _, to = range []string{
		"http://127.0.0.1:" + port + "/", "http://localhost:" + port + "/", "//127.0.0.1:" + port + "/", "http://[::ffff:127.0.0.1]:" + port + "/",
		"http://169.254.169.254/", "file:///etc/passwd", "http://u:p@127.0.0.1:" + port + "/", "http://2130706433:" + port + "/", "gopher://127.0.0.1/",
	} {
		t.Run(to, func(t *testing.T) {
			if r, err := fetch(t, setup{reach: Reach{Allow: []string{own}}}, s.URL); err == nil {
				t.Errorf("%q, not an error", textOf(r))
			}
		})
	}
	if n := heard.Load(); n != 0 {
		t.Errorf("the server on loopback heard %d requests", n)
	}
}

// TestMachinesOwn: the public addresses of this machine lead to what listens on
// all of its addresses.
func TestMachinesOwn(t *testing.T) {
	g, err := Reach{}.guard()
	if err != nil {
		t.Fatal(err)
	}
	g.Own = func() ([]net.Addr, error) {
		return []net.Addr{&net.IPNet{IP: net.ParseIP("8.8.4.4"), Mask: net.CIDRMask(24, 32)}}, nil
	}
	if err := g.Check("dns.example", "53", netip.MustParseAddr("8.8.4.4")); err == nil {
		t.Error("the machine's own address may be reached")
	}
	for _, a := range []string{"8.8.8.8", "::ffff:8.8.8.8", "2606:4700::1111", "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.0.1.1"} {
		if err := g.Check("x.example", "443", netip.MustParseAddr(a)); err != nil {
			t.Error(err)
		}
	}
}
