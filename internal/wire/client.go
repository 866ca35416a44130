package wire

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	connectTimeout = 10 * time.Second
	// idleConns lets as many calls as run at once on one machine keep their
	// connections to one provider.
	idleConns = 512
)

// NewClient returns an HTTP client for model calls: 10 s to connect, the
// proxies of the environment, no bound on a whole answer. Models that share
// one share its connections; CloseIdleConnections gives those up.
func NewClient() *http.Client {
	dialer := net.Dialer{Timeout: connectTimeout, KeepAlive: 30 * time.Second}
	return &http.Client{Transport: &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: connectTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        2 * idleConns,
		MaxIdleConnsPerHost: idleConns,
		IdleConnTimeout:     90 * time.Second,
	}}
}

// withoutRedirects returns a copy of c that follows no redirect: net/http
// would carry a key in a header of its own to the other host.
func withoutRedirects(c *http.Client) *http.Client {
	if c == nil {
		c = NewClient()
	}
	own := *c
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// Reach says whether a server answers at an address, with whatever status. It
// sends no key and follows no redirect; the error does not hold the address. A nil
// client means NewClient().
func Reach(ctx context.Context, c *http.Client, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return errors.New("it is no URL")
	}
	req.Header.Set("User-Agent", "roster")
	res, err := withoutRedirects(c).Do(req)
	if err == nil {
		return res.Body.Close()
	}
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	return err
}
