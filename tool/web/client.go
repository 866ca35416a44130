package web

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"github.com/rosterrun/roster/internal/reach"
)

const (
	maxRedirects = 10
	userAgent    = "roster (an agent that fetches what its user asks for)"
)

// Reach says what besides public addresses may be reached.
type Reach struct {
	// Allow names hosts, addresses and blocks of addresses that may be reached
	// though they are private: "wiki.internal", "localhost:3000", "10.1.0.0/16".
	Allow []string
	// Proxy is "environment" for the proxies that the environment names, or the
	// URL of one; empty: there is none.
	Proxy string

	names *net.Resolver // nil: the machine's
}

func (r Reach) guard() (*reach.Guard, error) {
	g, err := reach.NewGuard(r.Allow...)
	if err == nil {
		g.Names = r.names
		g.Remedy = func(host string) string { return fmt.Sprintf("in roster.yaml: web: {allow: [%q]}", host) }
	}
	return g, err
}

func (r Reach) client() (*reach.Client, error) {
	g, err := r.guard()
	if err != nil {
		return nil, err
	}
	return reach.NewClient(g, r.Proxy)
}

// get sends one request. The caller closes the body.
func get(ctx context.Context, c *reach.Client, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5")
	return c.Do(req)
}

// redirect is where a response leads; nil: it is a page.
func redirect(from *url.URL, res *http.Response) (*url.URL, error) {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	where := res.Header.Get("Location")
	if where == "" {
		return nil, nil
	}
	to, err := from.Parse(where)
	if err == nil {
		to, err = normal(to)
	}
	if err == nil && len(to.String()) > maxURL {
		err = errLong
	}
	if err != nil {
		return nil, fmt.Errorf("%s leads to an address that is not followed: %w", from, err)
	}
	return to, nil
}
