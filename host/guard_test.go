package host_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/model/script"
)

func TestForeignPages(t *testing.T) {
	s := newSite(t, script.Reply{Text: "hi"})
	own := s.url
	for _, c := range []struct {
		name   string
		header []string
		code   string
	}{
		{"no browser", nil, ""},
		{"own page", []string{"Origin", own, "Sec-Fetch-Site", "same-origin"}, ""},
		{"address typed in", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, ""},
		{"localhost", []string{"Host", "localhost:7788"}, ""},
		{"IPv6", []string{"Host", "[::1]:7788"}, ""},
		{"no port", []string{"Host", "127.0.0.1"}, ""},
		{"other origin", []string{"Origin", "https://evil.example"}, "ForbiddenOrigin"},
		{"other port", []string{"Origin", "http://127.0.0.1:1"}, "ForbiddenOrigin"},
		{"other scheme", []string{"Origin", "https" + own[4:]}, "ForbiddenOrigin"},
		{"no origin", []string{"Origin", "null"}, "ForbiddenOrigin"},
		{"other site", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, "ForbiddenOrigin"},
		{"other port, no origin", []string{"Sec-Fetch-Site", "same-site"}, "ForbiddenOrigin"},
		{"rebound name", []string{"Host", "evil.example:7788"}, "ForbiddenHost"},
		{"name that begins well", []string{"Host", "127.0.0.1.evil.example"}, "ForbiddenHost"},
		{"localhost of a domain", []string{"Host", "localhost.evil.example"}, "ForbiddenHost"},
		{"any address", []string{"Host", "0.0.0.0:7788"}, "ForbiddenHost"},
		{"rebound with its origin", []string{"Host", "evil.example", "Origin", "http://evil.example"}, "ForbiddenHost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			get, post := s.get("/profiles", c.header...), s.post("/chat", hello, append([]string{"Content-Type", "application/json"}, c.header...)...)
			for _, a := range []answer{get, post} {
				if c.code != "" {
					a.wantError(t, 403, c.code)
				} else if a.status != 200 {
					t.Errorf("%d %s", a.status, a.body)
				}
				for name := range a.header {
					if len(name) > 20 && name[:21] == "Access-Control-Allow-" {
						t.Errorf("header %s", name)
					}
				}
			}
		})
	}
	if a := s.do("OPTIONS", "/chat", "", "Origin", "https://evil.example", "Access-Control-Request-Method", "POST"); a.status != 403 {
		t.Errorf("preflight: %d", a.status)
	}
	link := s.get("/profiles", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate")
	if link.status != 200 {
		t.Errorf("a link from elsewhere: %d", link.status)
	}
	if a := s.post("/chat", hello, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"); a.status != 403 {
		t.Errorf("a form from elsewhere: %d", a.status)
	}
}

func TestCheckAddr(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:7788": true, "localhost:0": true, "[::1]:7788": true, "127.9.9.9:1": true, "[::ffff:127.0.0.1]:1": true,
		":7788": false, "0.0.0.0:7788": false, "[::]:7788": false, "192.168.1.2:7788": false, "example.com:80": false,
		"127.0.0.1": false, "7788": false, "": false, "127.0.0.1:x": false, "127.0.0.1:70000": false, "[::1%lo]:1": false,
	} {
		err := host.CheckAddr(addr, host.Access{})
		var refused *host.AddrError
		if ok != (err == nil) || err != nil && (!errors.As(err, &refused) || refused.Addr != addr) {
			t.Errorf("CheckAddr(%q) = %v", addr, err)
		}
	}
	for _, c := range []struct {
		access host.Access
		want   string
	}{
		{host.Access{}, "roster keys add me --role admin\n  roster serve --addr 0.0.0.0:7788 --auth keys --tls-cert"},
		{host.Access{TLS: true}, "nobody is asked who they are"},
		{host.Access{Insecure: true}, "nobody is asked who they are"},
		{host.Access{Auth: true}, "--insecure-http"},
		{host.Access{Auth: true, TLS: true}, ""},
		{host.Access{Auth: true, Insecure: true}, ""},
	} {
		err := host.CheckAddr("0.0.0.0:7788", c.access)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.access, err, c.want)
		}
	}
	if _, err := host.Listen(t.Context(), "0.0.0.0:0", host.Access{}); err == nil {
		t.Error("Listen took 0.0.0.0")
	}
	l, err := host.Listen(t.Context(), "127.0.0.1:0", host.Access{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := host.Listen(t.Context(), l.Addr().String(), host.Access{}); err == nil || !strings.Contains(err.Error(), "port 0 picks a free one") {
		t.Errorf("an address in use: %v", err)
	}
}
