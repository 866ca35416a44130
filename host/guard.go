package host

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// guard refuses what a page of another origin sends, directly or by a name that
// it made point here. The server listens on loopback only and asks nobody who
// they are, so this is what keeps web pages out.
func guard(r *http.Request) error {
	if !loopbackHost(r.Host) {
		return &Error{
			Status: http.StatusForbidden, Code: "ForbiddenHost",
			Message: "the Host header " + quote(r.Host) + " is not a loopback name: use localhost or 127.0.0.1",
		}
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameOrigin(origin, r.Host) {
		return &Error{
			Status: http.StatusForbidden, Code: "ForbiddenOrigin",
			Message: "requests from pages of " + quote(origin) + " are not accepted",
		}
	}
	// Browsers leave Origin out of some GETs, but say this.
	switch site := r.Header.Get("Sec-Fetch-Site"); site {
	case "", "same-origin", "none":
	default:
		if r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
			break // a link to here: the other page does not see the answer
		}
		return &Error{
			Status: http.StatusForbidden, Code: "ForbiddenOrigin",
			Message: "requests from pages of another origin (" + quote(site) + ") are not accepted",
		}
	}
	return nil
}

// loopbackHost says whether a Host header, with or without port, names this
// machine's loopback.
func loopbackHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return loopbackName(host)
}

func loopbackName(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Scheme == "http" && strings.EqualFold(u.Host, host)
}
