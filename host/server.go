package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// Bounds on a connection. There is none on the time of an answer: streams stay
// open.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10 // bytes
)

// AddrError refuses an address to listen on.
type AddrError struct{ Addr, Why string }

func (e *AddrError) Error() string {
	return fmt.Sprintf("cannot listen on %q: %s", e.Addr, e.Why)
}

// Access says what protects a server that other machines can reach.
type Access struct {
	Auth     bool // callers are asked who they are
	TLS      bool
	Insecure bool // it may be reached without TLS: a proxy in front of it has that
}

const (
	badAddr = "; use an address like 127.0.0.1:7788 or localhost:7788"
	noAuth  = `other machines could reach it, and nobody is asked who they are. Make a key, and have callers show one:
  roster keys add me --role admin
  roster serve --addr %s --auth keys --tls-cert cert.pem --tls-key key.pem
or stay on this machine: roster serve --addr 127.0.0.1:7788`
	noTLS = `keys and all that is said would cross the network for everybody to read. Give it a certificate:
  roster serve --addr %s --auth keys --tls-cert cert.pem --tls-key key.pem
or say that a proxy in front of it speaks TLS, which alone can reach it: --insecure-http`
)

// CheckAddr refuses, with an *AddrError, an address (host:port) that other
// machines can reach, unless callers are asked who they are, over TLS or by way of
// a proxy that has it.
func CheckAddr(addr string, a Access) error {
	name, port, err := net.SplitHostPort(addr)
	if err != nil {
		return &AddrError{addr, "it is not host:port" + badAddr}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return &AddrError{addr, fmt.Sprintf("%q is not a port", port) + badAddr}
	}
	if loopbackName(name) {
		return nil
	}
	return a.open(addr)
}

// open refuses an address that other machines can reach.
func (a Access) open(addr string) error {
	switch {
	case !a.Auth:
		return &AddrError{addr, fmt.Sprintf(noAuth, addr)}
	case !a.TLS && !a.Insecure:
		return &AddrError{addr, fmt.Sprintf(noTLS, addr)}
	}
	return nil
}

// Listen opens a listener on an address that CheckAddr accepts. Port 0 picks a
// free one.
func Listen(ctx context.Context, addr string, access Access) (net.Listener, error) {
	if err := CheckAddr(addr, access); err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w: another server may be there; take another address with --addr, port 0 picks a free one", err)
	}
	if err != nil {
		return nil, err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() { // localhost may be defined otherwise
		if err := access.open(addr); err != nil {
			l.Close()
			return nil, err
		}
	}
	return l, nil
}

// Server returns a server for h with timeouts on headers and idle connections,
// and none on streams. Its Shutdown ends the streams.
func Server(addr string, h *Host) *http.Server {
	s := &http.Server{
		Addr: addr, Handler: h,
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(h.deps.Log.Handler(), slog.LevelDebug),
	}
	s.RegisterOnShutdown(h.Shutdown)
	return s
}
