package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

const (
	maxRedirects   = 10
	maxHeaderBytes = 256 << 10
	userAgent      = "roster (an agent that fetches what its user asks for)"
)

// client sends requests to public addresses, each over a connection of its own.
// It follows no redirect and keeps no cookie.
type client struct {
	guard *guard
	proxy func(*url.URL) (*url.URL, error) // nil: there is none
	http  *http.Client
}

func proxyConfig(proxy string) (*httpproxy.Config, error) {
	switch proxy {
	case "":
		return nil, nil
	case "environment":
		return httpproxy.FromEnvironment(), nil
	}
	u, err := url.Parse(proxy)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("a proxy is an http or https URL, or the word environment")
	}
	return &httpproxy.Config{HTTPProxy: proxy, HTTPSProxy: proxy}, nil
}

func newClient(r Reach) (*client, error) {
	g, err := newGuard(r.Allow)
	if err != nil {
		return nil, err
	}
	conf, err := proxyConfig(r.Proxy)
	if err != nil {
		return nil, err
	}
	c := &client{guard: g}
	t := &http.Transport{
		DialContext:            g.dial,
		TLSHandshakeTimeout:    connectTimeout,
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if conf != nil {
		c.proxy = conf.ProxyFunc()
		t.Proxy = func(r *http.Request) (*url.URL, error) { return c.proxy(r.URL) }
		t.DialContext = c.dialProxy(conf)
	}
	c.http = &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c, nil
}

// dialProxy lets the proxies be anywhere: the user named them.
func (c *client) dialProxy(conf *httpproxy.Config) func(context.Context, string, string) (net.Conn, error) {
	proxies := map[string]bool{}
	for _, p := range []string{conf.HTTPProxy, conf.HTTPSProxy} {
		if !strings.Contains(p, "://") {
			p = "http://" + p
		}
		if u, err := url.Parse(p); err == nil && u.Hostname() != "" {
			port := u.Port()
			if port == "" {
				port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
			}
			proxies[net.JoinHostPort(u.Hostname(), port)] = true
		}
	}
	return func(ctx context.Context, network, hostport string) (net.Conn, error) {
		if proxies[hostport] {
			d := net.Dialer{Timeout: connectTimeout}
			return d.DialContext(ctx, network, hostport)
		}
		return c.guard.dial(ctx, network, hostport)
	}
}

// proxied judges an address that a proxy is to connect to: as it is written, and
// where this machine knows the name, by where it leads.
func (c *client) proxied(ctx context.Context, u *url.URL) error {
	if c.proxy == nil {
		return nil
	}
	if to, err := c.proxy(u); err != nil || to == nil {
		return err
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return c.guard.check(host, u.Port(), netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	names := c.guard.names
	if names == nil {
		names = net.DefaultResolver
	}
	list, err := names.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil // the proxy may know it
	}
	for _, a := range list {
		if err := c.guard.check(host, u.Port(), a); err != nil {
			return err
		}
	}
	return nil
}

// get sends one request. The caller closes the body.
func (c *client) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	if err := c.proxied(ctx, u); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5")
	return c.do(req)
}

// do sends a request and says in plain words what went wrong.
func (c *client) do(req *http.Request) (*http.Response, error) {
	res, err := c.http.Do(req)
	if err == nil {
		return res, nil
	}
	if refused := (*AddressError)(nil); errors.As(err, &refused) {
		return nil, refused
	}
	if dns := (*net.DNSError)(nil); errors.As(err, &dns) && dns.IsNotFound {
		return nil, fmt.Errorf("there is no host %s", req.URL.Hostname())
	}
	if inner := (*url.Error)(nil); errors.As(err, &inner) {
		err = inner.Err
	}
	return nil, fmt.Errorf("%s cannot be reached: %w", req.URL.Host, err)
}

// body is what came, at most max bytes of it.
type body struct {
	data []byte
	more bool // there is more
}

// read reads at most max bytes of a body as they are after decompression.
func read(res *http.Response, max int) (body, error) {
	if e := res.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return body{}, fmt.Errorf("the page comes compressed as %q, which was not asked for", e)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, int64(max)+1))
	if len(data) > max {
		return body{data[:max], true}, nil
	}
	return body{data, false}, err
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
