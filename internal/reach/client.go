package reach

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

const maxHeaderBytes = 256 << 10

// Client sends requests where a Guard lets it, each over a connection of its own.
// It follows no redirect and keeps no cookie. It is safe for concurrent use.
type Client struct {
	guard *Guard
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

// NewClient returns a client. proxy is "environment" for the proxies that the
// environment names, or the URL of one; empty: there is none.
func NewClient(g *Guard, proxy string) (*Client, error) {
	conf, err := proxyConfig(proxy)
	if err != nil {
		return nil, err
	}
	c := &Client{guard: g}
	t := &http.Transport{
		DialContext:            g.Dial,
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
func (c *Client) dialProxy(conf *httpproxy.Config) func(context.Context, string, string) (net.Conn, error) {
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
		return c.guard.Dial(ctx, network, hostport)
	}
}

// proxied judges an address that a proxy is to connect to: as it is written, and
// where this machine knows the name, by where it leads.
func (c *Client) proxied(ctx context.Context, u *url.URL) error {
	if c.proxy == nil {
		return nil
	}
	if to, err := c.proxy(u); err != nil || to == nil {
		return err
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return c.guard.Check(host, u.Port(), netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	names := c.guard.Names
	if names == nil {
		names = net.DefaultResolver
	}
	list, err := names.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil // the proxy may know it
	}
	for _, a := range list {
		if err := c.guard.Check(host, u.Port(), a); err != nil {
			return err
		}
	}
	return nil
}

// Do sends a request and says in plain words what went wrong. The caller closes the
// body.
func (c *Client) Do(req *http.Request) (*http.Response, error) {
	if err := c.proxied(req.Context(), req.URL); err != nil {
		return nil, err
	}
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

// Body is what came, at most as much of it as was asked for.
type Body struct {
	Data []byte
	More bool // there is more
}

// Read reads at most max bytes of a body as they are after decompression.
func Read(res *http.Response, max int) (Body, error) {
	if e := res.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return Body{}, fmt.Errorf("it comes compressed as %q, which was not asked for", e)
	}
	data, err := io.ReadAll(io.LimitReader(res.Body, int64(max)+1))
	if len(data) > max {
		return Body{data[:max], true}, nil
	}
	return Body{data, false}, err
}
