package permission

import (
	"net/url"
	"path"
	"strings"
)

// address is a URL as rules see it: without a fragment, the host in lower case
// and without the port that goes without saying.
type address struct {
	text         string // all of it
	scheme, host string
	// path with the query, as written and without what servers see through:
	// escaped letters and dots.
	path, plain    string
	ends, textEnds ends // of the host, and of all of it
}

// parseAddress reads a URL. Whatever another reader might take for another host
// is refused.
func parseAddress(s string) (address, bool) {
	if a, ok := plainAddress(s); ok {
		return a, true
	}
	return parsedAddress(s)
}

func parsedAddress(s string) (address, bool) {
	u, err := url.Parse(s)
	if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" {
		return address{}, false
	}
	a := address{scheme: u.Scheme, host: strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")}
	if a.host == "" || strings.ContainsFunc(a.host, func(r rune) bool { return r <= ' ' || r > '~' || r == '*' || r == '\\' }) {
		return address{}, false
	}
	if strings.Contains(a.host, ":") {
		a.host = "[" + a.host + "]"
	}
	if p := u.Port(); p != "" && !usual(u.Scheme, p) {
		a.host += ":" + p
	}
	query := ""
	if u.ForceQuery || u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	a.path = u.EscapedPath() + query
	if u.Path == "" {
		a.path = "/" + query
	}
	a.plain = path.Clean("/" + u.Path)
	if strings.HasSuffix(u.Path, "/") && a.plain != "/" {
		a.plain += "/"
	}
	a.plain += query
	a.text = a.scheme + "://" + a.host + a.path
	a.ends, a.textEnds = endsOf(a.host), endsOf(a.text)
	return a, true
}

// plainAddress reads what needs no reading: the usual form of most addresses.
func plainAddress(s string) (address, bool) {
	scheme, rest, ok := strings.Cut(s, "://")
	slash := strings.IndexByte(rest, '/')
	if !ok || scheme != "http" && scheme != "https" || slash <= 0 {
		return address{}, false
	}
	host, path := rest[:slash], rest[slash:]
	for i := range len(host) {
		if c := host[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && (c != '.' || i == 0 || i == len(host)-1) {
			return address{}, false
		}
	}
	for i := range len(path) {
		c := path[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && (c != '/' && c != '.' || i > 0 && path[i-1] == '/') {
			return address{}, false
		}
	}
	return address{s, scheme, host, path, path, endsOf(host), endsOf(s)}, true
}

func usual(scheme, port string) bool {
	return scheme == "https" && port == "443" || scheme == "http" && port == "80"
}

// urlPattern is a pattern of URLs in its pieces, so that a star in the host
// ends where the host does. A pattern without "://" is for both schemes.
type urlPattern struct {
	any                bool
	scheme, host, path Pattern
}

func parseURLPattern(s string) (*urlPattern, error) {
	whole, err := ParsePattern(s)
	if err != nil || whole.Any() {
		return &urlPattern{any: true}, err
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "*", s
	}
	host, tail := rest, "/" // a URL that ends with its host means its first page
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, tail = rest[:i], rest[i:]
	}
	host = strings.ToLower(host)
	if i := strings.LastIndexByte(host, ':'); i >= 0 && usual(scheme, host[i+1:]) {
		host = host[:i]
	}
	p := &urlPattern{}
	for _, piece := range []struct {
		to   *Pattern
		text string
	}{{&p.scheme, strings.ToLower(scheme)}, {&p.host, host}, {&p.path, tail}} {
		if *piece.to, err = ParsePattern(piece.text); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// matchURL holds a rule against an address. An allow must match every way to
// read it; a denial or question also matches the whole as plain text.
func (c *compiled) matchURL(t *target) matched {
	a, p := t.url, c.url
	hit := p.any
	if !hit && p.scheme.Match(a.scheme) && p.host.Match(a.host) {
		if c.effect == Allow {
			hit = p.path.Match(a.path) && p.path.Match(a.plain)
		} else {
			hit = p.path.Match(a.path) || p.path.Match(a.plain)
		}
	}
	if hit || c.effect != Allow && (c.subject.Match(a.text) || c.subject.Match(t.s)) {
		return always
	}
	return never
}
