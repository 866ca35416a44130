package host_test

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
)

// pipes is a listener whose connections are in memory, so that their time can be that
// of a test.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return local{c}, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// local is a connection in memory that comes from this machine, as one over loopback.
type local struct{ net.Conn }

func (local) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

// TestSlowClients: whoever sends his request slowly, or not at all, holds a connection
// for a bounded time, also where he is refused before his body is read.
func TestSlowClients(t *testing.T) {
	const head = " HTTP/1.1\r\nHost: localhost\r\n"
	for _, c := range []struct {
		name   string
		sends  string
		drips  string // a piece of it each ten seconds
		known  bool
		within time.Duration
	}{
		{"nothing", "", "", false, 11 * time.Second},
		{"a header without an end", "GET /profiles" + head, "X: y\r\n", false, 11 * time.Second},
		{"no body, refused", "POST /chat" + head + "Content-Length: 100\r\n\r\n", "", false, 61 * time.Second},
		{"a body by drips, refused", "POST /chat" + head + "Content-Length: 100000\r\n\r\n", "x", false, 61 * time.Second},
		{"chunks without an end, refused", "POST /chat" + head + "Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", false, 61 * time.Second},
		{"a body where none is read", "GET /health" + head + "Content-Length: 100\r\n\r\n", "x", false, 61 * time.Second},
		{"a body by drips", "POST /profiles/-/check" + head + "Content-Length: 100000\r\n\r\n", "x", true, 61 * time.Second},
		{"no further request", "GET /health" + head + "\r\n", "", false, 121 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := host.New(host.Deps{Identify: func(*http.Request) (identity.Caller, error) {
					if c.known {
						return identity.Caller{Tenant: "acme", Roles: identity.Admin}, nil
					}
					return identity.Caller{}, &host.Error{Status: http.StatusUnauthorized, Code: "InvalidCredentials", Message: "no"}
				}})
				l := &pipes{make(chan net.Conn), make(chan struct{})}
				srv := host.Server("", h)
				served := make(chan error, 1)
				go func() { served <- srv.Serve(l) }()
				mine, theirs := net.Pipe()
				l.conns <- theirs
				begun := time.Now()
				var sending sync.WaitGroup
				sending.Go(func() {
					_, err := io.WriteString(mine, c.sends)
					for err == nil && c.drips != "" {
						time.Sleep(10 * time.Second)
						_, err = io.WriteString(mine, c.drips)
					}
				})
				_, _ = io.Copy(io.Discard, mine) // until the server has had enough
				if took := time.Since(begun); took > c.within {
					t.Errorf("the connection was held for %s, want at most %s", took, c.within)
				}
				mine.Close()
				sending.Wait()
				if err := srv.Close(); err != nil {
					t.Error(err)
				}
				<-served
			})
		})
	}
}

// TestSlowBodyEndsWithTheBody: a stream that was asked for with a body has no end
// because of the time for that.
func TestSlowBodyEndsWithTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lasted := make(chan time.Duration, 1)
		h := host.New(host.Deps{MCP: lastingMCP{lasted}})
		l := &pipes{make(chan net.Conn), make(chan struct{})}
		srv := host.Server("", h)
		served := make(chan error, 1)
		go func() { served <- srv.Serve(l) }()
		mine, theirs := net.Pipe()
		l.conns <- theirs
		go func() {
			_, _ = io.WriteString(mine, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}")
		}()
		go func() { _, _ = io.Copy(io.Discard, mine) }()
		select {
		case took := <-lasted:
			if took < time.Hour {
				t.Errorf("the stream ended after %s", took)
			}
		case <-time.After(2 * time.Hour):
			t.Error("the request never came through")
		}
		mine.Close()
		h.Shutdown()
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
}

// lastingMCP answers for an hour.
type lastingMCP struct{ lasted chan time.Duration }

func (m lastingMCP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	_, _ = io.Copy(io.Discard, r.Body)
	select {
	case <-r.Context().Done():
	case <-time.After(time.Hour):
	}
	m.lasted <- time.Since(begun)
}

func (lastingMCP) Close() {}

// TestLargeBodies: what is too large is refused on each way in.
func TestLargeBodies(t *testing.T) {
	s := openSite(t, siteOptions{change: func(d *host.Deps) { d.MaxBody = 1 << 10; d.MCP = lengthMCP{} }})
	large := `{"message":"` + strings.Repeat("x", 2<<10) + `","agentId":"echo"}`
	for _, path := range []string{"/chat", "/stream", "/profiles/new", "/sessions/-/import"} {
		s.post(path, large).wantError(t, http.StatusRequestEntityTooLarge, "BodyTooLarge")
	}
	if res := read(t, s.open(t.Context(), "POST", "/mcp", large)); res.status != http.StatusRequestEntityTooLarge {
		t.Errorf("/mcp: %d %s", res.status, res.body)
	}
	if res := read(t, s.open(t.Context(), "GET", "/health", "", "X-Large", strings.Repeat("x", 80<<10))); res.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("a large header: %d", res.status)
	}
}

// lengthMCP reads all that it is sent.
type lengthMCP struct{}

func (lengthMCP) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}
}

func (lengthMCP) Close() {}
