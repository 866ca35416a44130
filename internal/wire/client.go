package wire

import (
	"net"
	"net/http"
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
