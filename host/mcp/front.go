package mcp

import (
	"net/http"
	"sync"

	"github.com/rosterrun/roster/identity"
)

// maxCallers bounds how many callers are served at a time.
const maxCallers = 256

// Front serves each caller over HTTP from a Server of his own: nobody reaches what
// was begun by another, even if he knows its connection's id. It is safe for
// concurrent use.
type Front struct {
	open func(identity.Caller) (*Server, error)

	mu      sync.Mutex
	servers map[identity.Caller]*served
	closed  bool
}

// served is the Server of a caller.
type served struct {
	server   *Server
	requests int // that are in it now
}

// NewFront returns a Front. open makes the Server of a caller, which the Front
// closes; its errors are answered as 503.
func NewFront(open func(identity.Caller) (*Server, error)) *Front {
	return &Front{open: open, servers: map[identity.Caller]*served{}}
}

// ServeHTTP implements http.Handler. Who asks stands in the context of the request.
func (f *Front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s, why := f.enter(identity.From(r.Context()))
	if s == nil {
		w.Header().Set("Retry-After", "60")
		http.Error(w, why, http.StatusServiceUnavailable)
		return
	}
	defer f.leave(s)
	s.server.ServeHTTP(w, r)
}

// enter returns the caller's Server, or says why there is none.
func (f *Front) enter(c identity.Caller) (s *served, why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, errClosed.Error()
	}
	if s = f.servers[c]; s == nil {
		if len(f.servers) >= maxCallers && !f.makeRoom() {
			return nil, "too many clients are connected"
		}
		server, err := f.open(c)
		if err != nil {
			return nil, err.Error()
		}
		s = &served{server: server}
		f.servers[c] = s
	}
	s.requests++
	return s, ""
}

// makeRoom ends the Server of a caller who is not there any more. f.mu is held.
func (f *Front) makeRoom() bool {
	for c, s := range f.servers {
		if s.requests == 0 && s.server.connected() == 0 {
			delete(f.servers, c)
			s.server.Close()
			return true
		}
	}
	return false
}

func (f *Front) leave(s *served) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.requests--
}

// Close ends all connections and waits for what was started. The runs go on.
func (f *Front) Close() {
	f.mu.Lock()
	all := f.servers
	f.servers, f.closed = nil, true
	f.mu.Unlock()
	var closing sync.WaitGroup
	for _, s := range all {
		closing.Go(s.server.Close)
	}
	closing.Wait()
}
