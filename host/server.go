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
	return fmt.Sprintf("cannot listen on %q: %s; use an address like 127.0.0.1:7788 or localhost:7788", e.Addr, e.Why)
}

// CheckAddr refuses, with an *AddrError, an address (host:port) that other
// machines can reach: there is no authentication.
func CheckAddr(addr string) error {
	name, port, err := net.SplitHostPort(addr)
	if err != nil {
		return &AddrError{addr, "it is not host:port"}
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return &AddrError{addr, fmt.Sprintf("%q is not a port", port)}
	}
	if !loopbackName(name) {
		return &AddrError{addr, "other machines could reach it, and nobody is asked who they are"}
	}
	return nil
}

// Listen opens a listener on an address that CheckAddr accepts. Port 0 picks a
// free one.
func Listen(ctx context.Context, addr string) (net.Listener, error) {
	if err := CheckAddr(addr); err != nil {
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
		l.Close()
		return nil, &AddrError{addr, fmt.Sprintf("it is %s here, which other machines could reach", l.Addr())}
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
