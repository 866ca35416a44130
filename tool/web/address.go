package web

import (
	"errors"
	"net/url"
	"strings"

	"github.com/rosterrun/roster/internal/address"
)

const maxURL = 8 << 10 // bytes

var (
	errScheme    = errors.New("only http and https addresses can be fetched")
	errUserinfo  = errors.New("the address holds a user name or password; write it without")
	errHost      = errors.New("the address has no host that can be understood")
	errNoResults = errors.New("it has no list of results")
	errLong      = errors.New("the address is longer than 8192 bytes")
)

// parseURL reads an address in the one form in which it is judged, shown and
// fetched: without a fragment, the host in lower case and in ASCII, without the
// port that goes without saying.
func parseURL(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, errLong
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("the address is no URL; write it as https://HOST/PATH")
	}
	return normal(u)
}

func normal(u *url.URL) (*url.URL, error) {
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "":
		return nil, errScheme
	case u.User != nil:
		return nil, errUserinfo
	}
	host, ok := address.Host(u.Hostname())
	port := u.Port()
	if !ok || strings.HasSuffix(u.Host, ":") {
		return nil, errHost
	}
	if u.Scheme == "http" && port == "80" || u.Scheme == "https" && port == "443" {
		port = ""
	}
	clean := *u
	clean.Fragment, clean.RawFragment = "", ""
	clean.Host = address.Join(host, port)
	if clean.Path == "" {
		clean.Path = "/"
	}
	return &clean, nil
}
