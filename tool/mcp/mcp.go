// Package mcp reaches servers of the Model Context Protocol: their tools, their
// resources and their prompts. A server is a program that is started here and spoken
// to by its standard input and output, or an address that is spoken to by HTTP.
//
// What a server says is not trusted. Its messages, its lists, its descriptions, its
// schemas and what it writes to its standard error are bounded, and what of them is
// left out is said. It cannot make this program ask a person or a model something: such
// requests are answered with "not supported".
package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rosterrun/roster/internal/secret"
	"github.com/rosterrun/roster/sandbox"
)

// Server says how a server is reached: by Command or by URL. All values are as they
// are used: nothing in them is expanded here.
type Server struct {
	Name string // in one agent no two servers have the same

	// Command is a program that is started, with Args, in Dir. Env is all of its
	// environment ("K=V"); Exec is how it is started (sandbox.Self), and Box, where.
	Command string
	Args    []string
	Env     []string
	Dir     string
	Exec    []string
	Box     sandbox.Box
	Hold    *os.File // kept open as long as something of it runs; nil: nothing

	// URL is where a server listens (streamable HTTP). Headers are sent there, and
	// nowhere else; OAuth is how a token is had, if there is one.
	URL     string
	Headers map[string]string
	OAuth   *OAuth

	// Timeout bounds a call; 0: 60 s.
	Timeout time.Duration
	// TrustAnnotations says that what the server says of its tools, that they only
	// read or that they may be called twice, is to be believed.
	TrustAnnotations bool
	// Roots are the folders that the server is told of as those it is to work on.
	Roots []string
}

// The bounds that hold where an option is 0.
const (
	defaultTimeout = time.Minute
	defaultIdle    = 10 * time.Minute
	defaultStart   = time.Minute
)

func (s *Server) timeout() time.Duration {
	if s.Timeout > 0 {
		return s.Timeout
	}
	return defaultTimeout
}

// secrets are the values that only the server is to know: its headers, and what its
// environment holds by the name of a secret.
func (s *Server) secrets() []string {
	values := slices.Collect(maps.Values(s.Headers))
	for _, kv := range s.Env {
		if name, value, _ := strings.Cut(kv, "="); secret.Name(name) {
			values = append(values, value)
		}
	}
	if s.OAuth != nil {
		values = append(values, s.OAuth.ClientSecret)
	}
	if u, err := url.Parse(s.URL); err == nil {
		for _, list := range u.Query() {
			values = append(values, list...)
		}
	}
	return values
}

// key is the same for servers that are the same.
func (s *Server) key() [sha256.Size]byte {
	plain := *s
	plain.Hold = nil
	text, err := json.Marshal(plain)
	if err != nil {
		panic(err) // it is made of texts and numbers
	}
	return sha256.Sum256(fmt.Appendf(text, "%p", s.Hold))
}

// Options are those of a Pool.
type Options struct {
	// Log gets what servers write to their standard error, line by line, and what is
	// noticed about them. It may be called by several goroutines; nil: nobody gets it.
	Log func(server, line string)
	// Version is that of this program, which servers are told.
	Version string
	// Idle is how long a server is kept that nobody uses; 0: 10 minutes.
	Idle time.Duration
	// Start is how long a server may take until it can be used; 0: 1 minute.
	Start time.Duration
}

// Pool has the connections of a program to servers. It is safe for concurrent use.
type Pool struct {
	opts Options
	ctx  context.Context // ends with the pool
	stop context.CancelFunc
	work sync.WaitGroup // the goroutines of the clients

	mu      sync.Mutex
	closed  bool
	clients map[[sha256.Size]byte]*Client
}

// NewPool makes a pool. Nothing is started or connected until somebody uses a client.
func NewPool(o Options) *Pool {
	if o.Log == nil {
		o.Log = func(string, string) {}
	}
	if o.Idle <= 0 {
		o.Idle = defaultIdle
	}
	if o.Start <= 0 {
		o.Start = defaultStart
	}
	p := &Pool{opts: o, clients: map[[sha256.Size]byte]*Client{}}
	p.ctx, p.stop = context.WithCancel(context.Background())
	return p
}

// Get gives the client of a server: the same one for the same server. It starts
// nothing.
func (p *Pool) Get(s Server) *Client {
	k := s.key()
	p.mu.Lock()
	c := p.clients[k]
	if c == nil {
		c = newClient(p, s)
		p.clients[k] = c
	}
	p.mu.Unlock()
	c.touch()
	return c
}

// Close ends all connections and what was started, and waits until it has ended.
// Clients say afterwards that they are closed.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.stop()
	p.work.Wait()
	return nil
}

// begin runs one goroutine of a client, unless the pool is closed.
func (p *Pool) begin(f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.work.Go(f)
	return true
}
