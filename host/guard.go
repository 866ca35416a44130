package host

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// guard refuses what a page of another origin sends, directly or by a name that
// it made point here. Where nobody is asked who they are, this is what keeps web
// pages out.
func (h *Host) guard(r *http.Request) error {
	if !h.answersTo(r.Host) {
		return &Error{
			Status: http.StatusForbidden, Code: "ForbiddenHost",
			Message: "the Host header " + quote(r.Host) + " is not a name of this server: use localhost or 127.0.0.1, or name it in server.hosts",
		}
	}
	if h.deps.Identify == nil && !fromHere(r.RemoteAddr) {
		return &Error{
			Status: http.StatusForbidden, Code: "ForbiddenAddress",
			Message: "nobody is asked who they are, so that only this machine is answered: have callers show who they are, with server.auth in roster.yaml",
		}
	}
	origin := r.Header.Get("Origin")
	if origin != "" && sameOrigin(origin, r) || h.welcomes(origin) {
		return nil
	}
	if origin != "" {
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

// answersTo says whether a Host header, with or without port, names this server:
// by loopback, by a configured name, or by an address where callers are asked who
// they are. A page can make a name of its own point here, but no address.
func (h *Host) answersTo(name string) bool {
	name = bare(name)
	if loopbackName(name) || slices.ContainsFunc(h.deps.Hosts, func(own string) bool { return strings.EqualFold(own, name) }) {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil && h.deps.Identify != nil
}

// welcomes says whether pages of an origin may use the server.
func (h *Host) welcomes(origin string) bool {
	return origin != "" && h.deps.Identify != nil && slices.Contains(h.deps.Origins, origin)
}

// share tells the browser of a page of another origin that is welcome that it may
// see the answer, and says whether that was all it asked for. No cookie is ever
// taken, so credentials are what the page itself sends.
func (h *Host) share(w *response, r *http.Request) (done bool) {
	origin := r.Header.Get("Origin")
	if !h.welcomes(origin) {
		return false
	}
	head := w.Header()
	head.Set("Access-Control-Allow-Origin", origin)
	head.Set("Access-Control-Expose-Headers", "ETag, Location, Retry-After, X-Chain-Id, X-Request-Id, X-Session-Id")
	head.Add("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	head.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE")
	head.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Traceparent")
	head.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// fromHere says whether a connection comes from this machine. One that has no IP
// address does: it is a socket of it.
func fromHere(addr string) bool {
	if addr == "" || addr[0] == '@' || addr[0] == '/' {
		return true
	}
	ip, err := netip.ParseAddr(bare(addr))
	return err == nil && ip.Unmap().IsLoopback()
}

// bare is a host without its port and brackets.
func bare(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

func loopbackName(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Zone() == "" && ip.Unmap().IsLoopback()
}

// sameOrigin says whether an origin is that of the server itself. Behind a proxy
// that speaks TLS, it is https where the request is not.
func sameOrigin(origin string, r *http.Request) bool {
	u, err := url.Parse(origin)
	if err != nil || !strings.EqualFold(u.Host, r.Host) {
		return false
	}
	return u.Scheme == "https" && (r.TLS != nil || !loopbackName(bare(r.Host))) || u.Scheme == "http" && r.TLS == nil
}
