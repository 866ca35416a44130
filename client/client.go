// Package client talks to a Roster server (roster serve, or a program that serves
// the handler of an App) over HTTP: profiles, prompts and their streams, sessions,
// approvals, skills and what else the server offers.
//
//	c, err := client.New("http://127.0.0.1:7788", client.Options{})
//	answer, err := c.Chat(ctx, client.Prompt{Profile: "reviewer", Message: "Review the last commit"})
//	for event, err := range c.Stream(ctx, client.Prompt{Profile: "reviewer", Message: "And now the tests"}) { … }
//
// A refusal of the server is an *Error; errors.Is also knows the names of
// profile.ErrorName, and session.ErrNoStream. What is asked is asked again after a
// failure only where that is safe: reads, and prompts, each of which has an
// Idempotency-Key. Streams connect again where they were, so that no event is lost
// and none comes twice, also while the server is started anew.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Options say how a Client reaches its server. The zero value is for an open server
// on this machine.
type Options struct {
	// Key is the API key, or another bearer token; empty: none is sent. Over plain
	// HTTP it is only sent to this machine (see AllowHTTP).
	Key string
	// AllowHTTP sends the key over plain HTTP to other machines too, for networks
	// that nobody else can read.
	AllowHTTP bool
	// Tenant and User are who is meant where the server asks nobody who he is; a
	// server that does finds them in the key. Empty: "local".
	Tenant, User string
	// HTTPClient sends the requests; nil: one of its own. Its Timeout, which would
	// cut streams, is not used, and redirects are not followed.
	HTTPClient *http.Client
	// Timeout bounds a request, and of a stream the time to its head; 0: 30 s. The
	// answer of a prompt takes as long as it takes: its context bounds it.
	Timeout time.Duration
	// Silence is how long a stream may bring nothing, not even the server's ping,
	// until it is taken for broken; 0: 1 minute.
	Silence time.Duration
	// Retries are how often a request is sent again that is safe to repeat and got
	// no answer; 0: 2, negative: never.
	Retries int
	// Reconnects are how often in a row a stream that has begun is connected again
	// without getting an event; 0: 8, which are about 20 s, negative: never.
	Reconnects int
	// Waits is told of each pause of a second or more before something is asked for
	// again, and why, as where the server says when (Retry-After); nil: nobody is.
	Waits func(why error, pause time.Duration)
	// Backoff is the pause before the first repetition; it doubles up to 5 s. 0: 200 ms.
	Backoff time.Duration
}

const (
	defaultTimeout    = 30 * time.Second
	defaultSilence    = time.Minute
	defaultRetries    = 2
	defaultReconnects = 8
	defaultBackoff    = 200 * time.Millisecond
	maxBackoff        = 5 * time.Second
	maxRetryAfter     = 30 * time.Second
	maxAnswer         = 64 << 20 // bytes
	maxEvent          = 32 << 20 // bytes
)

// Client is the way to one server. It is safe for concurrent use.
type Client struct {
	base string // without a slash at its end
	opts Options
	http *http.Client
}

// New returns a client of the server at a URL such as https://roster.example.com;
// it may have a path, where a proxy puts the server below one. It contacts nobody.
func New(server string, o Options) (*Client, error) {
	u, err := url.Parse(server)
	if err == nil && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		err = errors.New("write http://HOST:PORT or https://HOST")
	}
	if err == nil && (u.User != nil || u.RawQuery != "" || u.Fragment != "") {
		err = errors.New("it takes no user, query or fragment")
	}
	if err != nil {
		var parse *url.Error // its text has the whole URL, and a password that may be in it
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return nil, fmt.Errorf("the server's URL is not valid: %w", err)
	}
	if strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the key holds spaces or other characters that no key has")
	}
	if o.Key != "" && u.Scheme == "http" && !o.AllowHTTP && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("the key would go to %s in the clear: use https", u.Host)
	}
	o.Timeout, o.Silence = cmp.Or(o.Timeout, defaultTimeout), cmp.Or(o.Silence, defaultSilence)
	o.Retries, o.Reconnects = cmp.Or(o.Retries, defaultRetries), cmp.Or(o.Reconnects, defaultReconnects)
	o.Backoff = cmp.Or(o.Backoff, defaultBackoff)
	h := http.Client{Transport: newTransport()}
	if o.HTTPClient != nil {
		h = *o.HTTPClient
	}
	h.Timeout = 0
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{base: strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/"), opts: o, http: &h}, nil
}

// newTransport keeps more connections than the default, for a program that has many
// streams of one server.
func newTransport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		IdleConnTimeout:     90 * time.Second,
		MaxIdleConnsPerHost: 16,
		ForceAttemptHTTP2:   true,
	}
}

// URL is the server's.
func (c *Client) URL() string { return c.base }

// Close closes the connections that are not in use. The client can be used on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func loopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(name)
	return err == nil && ip.Unmap().IsLoopback()
}

// pause waits before try n, from 1, or as long as the server says; it grows, and is
// not the same for all clients.
func (c *Client) pause(ctx context.Context, n int, after time.Duration, why error) error {
	d := min(c.opts.Backoff<<min(n-1, 16), maxBackoff)
	if d <= 0 {
		d = maxBackoff
	}
	d = max(spread(d), min(after, maxRetryAfter))
	if c.opts.Waits != nil && d >= time.Second {
		c.opts.Waits(why, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
