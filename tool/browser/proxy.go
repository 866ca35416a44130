package browser

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/rosterrun/roster/internal/reach"
)

const (
	proxyUser      = "roster"
	maxHeaderBytes = 256 << 10
	maxConnections = 256
	maxRefusals    = 32 // kept for one page
)

// proxy is the only way out of a browser. It connects to public addresses and to
// those that the user allows, and carries only so many bytes for one page. It
// serves only who has its password, for others of the machine reach it too.
type proxy struct {
	listener net.Listener
	server   *http.Server
	out      *http.Transport
	guard    *reach.Guard
	password string
	ctx      context.Context // of all that it does
	stop     context.CancelFunc
	done     sync.WaitGroup

	mu      sync.Mutex
	left    int64            // bytes that the page may still load
	max     int64            // that one page may load
	refused map[string]error // by HOST:PORT, since the page began
	open    int              // tunnels
}

func newProxy(g *reach.Guard, max int64) (*proxy, error) {
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		return nil, fmt.Errorf("the browser's way out: %w", err)
	}
	p := &proxy{listener: l, guard: g, password: rand.Text(), max: max, left: max, refused: map[string]error{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	p.out = &http.Transport{DialContext: g.Dial, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeaderBytes}
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute, MaxHeaderBytes: maxHeaderBytes}
	p.done.Go(func() { _ = p.server.Serve(l) })
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// close ends all connections and waits for them.
func (p *proxy) close() {
	p.stop()
	_ = p.server.Close()
	p.done.Wait()
	p.out.CloseIdleConnections()
}

// begin is called when another page begins.
func (p *proxy) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left = p.max
	clear(p.refused)
}

// take counts bytes for the page, and says whether it may have them.
func (p *proxy) take(n int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left -= int64(n)
	return p.left >= 0
}

func (p *proxy) spent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left < 0
}

// refuse notes why a host was not reached, for the model.
func (p *proxy) refuse(hostport string, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refused) < maxRefusals {
		p.refused[hostport] = err
	}
}

// reason is why a URL was not reached; nil: nothing was against it.
func (p *proxy) reason(u *url.URL) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refused[hostport(u)]
}

// refusals lists the hosts that were not reached because they must not be.
func (p *proxy) refusals() (hosts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for host, err := range p.refused {
		if address := (*reach.AddressError)(nil); errors.As(err, &address) {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// refusal is one of the errors of addresses; nil: there is none.
func (p *proxy) refusal() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, err := range p.refused {
		if address := (*reach.AddressError)(nil); errors.As(err, &address) {
			return address
		}
	}
	return nil
}

func hostport(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(proxyUser+":"+p.password))
	if subtle.ConstantTimeCompare([]byte(r.Header.Get("Proxy-Authorization")), []byte(want)) != 1 {
		w.Header().Set("Proxy-Authenticate", `Basic realm="roster"`)
		http.Error(w, "this is the way out of roster's browser, for nobody else", http.StatusProxyAuthRequired)
		return
	}
	switch {
	case p.spent():
		p.end(w, r)
	case r.Method == http.MethodConnect:
		p.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "":
		p.forward(w, r)
	default:
		http.Error(w, "only http and https are carried", http.StatusForbidden)
	}
}

// forward carries one request of plain http.
func (p *proxy) forward(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	out := r.Clone(ctx)
	out.RequestURI = ""
	if out.Header.Get("Upgrade") != "" {
		http.Error(w, "only requests are carried here", http.StatusForbidden)
		return
	}
	hopByHop(out.Header)
	res, err := p.out.RoundTrip(out)
	if err != nil {
		p.fail(w, r, hostport(r.URL), err)
		return
	}
	defer res.Body.Close()
	hopByHop(res.Header)
	for name, values := range res.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(res.StatusCode)
	_ = p.copy(flushed{w, http.NewResponseController(w)}, res.Body)
}

// hopByHop takes out what is between two who speak to each other, and no matter of
// the server's.
func hopByHop(h http.Header) {
	for _, name := range []string{"Proxy-Authorization", "Proxy-Authenticate", "Proxy-Connection", "Connection", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade"} {
		h.Del(name)
	}
}

// flushed sends on at once what it is given: a page may come in drops.
type flushed struct {
	io.Writer
	*http.ResponseController
}

func (f flushed) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	if err == nil {
		err = f.Flush()
	}
	return n, err
}

// errSpent ends what a page loads.
var errSpent = errors.New("the page has loaded more than it may")

// copy carries bytes of a page, as many as it may have.
func (p *proxy) copy(to io.Writer, from io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if !p.take(n) {
				return errSpent
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// fail notes for the model why a host was not reached. The page is told nothing.
func (p *proxy) fail(w http.ResponseWriter, r *http.Request, host string, err error) {
	if address := (*reach.AddressError)(nil); errors.As(err, &address) {
		err = address
	} else if dns := (*net.DNSError)(nil); errors.As(err, &dns) && dns.IsNotFound {
		err = fmt.Errorf("there is no host %s", dns.Name)
	}
	p.refuse(host, err)
	p.end(w, r)
}

// end ends a request without an answer of its own, which would be shown as a page.
func (p *proxy) end(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		panic(http.ErrAbortHandler)
	}
	http.Error(w, "not connected", http.StatusForbidden)
}

// tunnel carries bytes to and from a host: of https, and of WebSockets.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.open++
	full := p.open > maxConnections
	p.mu.Unlock()
	defer func() { p.mu.Lock(); p.open--; p.mu.Unlock() }()
	if full {
		http.Error(w, "too many connections", http.StatusForbidden)
		return
	}
	there, err := p.guard.Dial(p.ctx, "tcp", r.Host)
	if err != nil {
		p.fail(w, r, r.Host, err)
		return
	}
	defer there.Close()
	here, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer here.Close()
	if _, err := io.WriteString(here, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	over := func() { here.Close(); there.Close() }
	defer context.AfterFunc(p.ctx, over)()
	var up sync.WaitGroup
	up.Go(func() {
		defer over()
		_ = p.copy(there, buffered)
	})
	_ = p.copy(here, there)
	over()
	up.Wait()
}
