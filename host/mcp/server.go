// Package mcp is the front door for clients of the Model Context Protocol: each
// profile is a tool, each session a resource. It reads and writes through
// functions that it is given, as the HTTP interface does.
package mcp

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/identity"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
)

// Options configure a Server. All functions must be safe for concurrent use.
type Options struct {
	// Host is what the HTTP interface works with. Used of it are Submit, Cancel,
	// Follow, Backend, Approvals and Answer.
	Host host.Deps
	// Profiles yields the profiles that there are, sorted by name, and again
	// whenever they have changed, until ctx ends.
	Profiles func(ctx context.Context) iter.Seq[[]*profile.Profile]
	// Resume goes on with a session that waits no more, where nobody else does;
	// session.ErrNoWork: somebody is at it.
	Resume func(context.Context, session.Key) error
	// Offer says which profiles are tools; nil: all that are not hidden.
	Offer func(*profile.Profile) bool
	// Prompts lists the prompts that are called by a name, sorted by it, and Prompt
	// gives one, with its arguments in their places.
	Prompts func(context.Context) []Prompt
	Prompt  func(ctx context.Context, name string, arguments map[string]string) ([]message.Part, error)
	// Caller is who is served; the zero Caller is identity.Local.
	Caller identity.Caller
	// Version is that of the program.
	Version string
	Log     *slog.Logger // nil: discarded
}

// Bounds on what clients make the server hold.
const (
	maxSessions      = 1000             // connections over HTTP at a time
	idleTime         = 30 * time.Minute // of one without a request
	maxBody          = 8 << 20          // bytes of a request
	maxReplay        = 16 << 20         // bytes kept for clients that lost their connection
	maxSubscriptions = 1000
)

// Server serves one workspace to any number of clients. It is safe for
// concurrent use, and starts nothing before the first client comes.
type Server struct {
	opts Options
	mcp  *sdk.Server
	http http.Handler

	begin   sync.Once
	offered chan struct{} // closed when the profiles were first seen
	tools   tools
	subs    subscriptions

	ctx    context.Context // ends with Close
	quit   context.CancelFunc
	mu     sync.Mutex
	closed bool
	jobs   sync.WaitGroup // not added to once it is closed
}

// New returns a server. Close ends it.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Caller == (identity.Caller{}) {
		o.Caller = identity.Local()
	}
	if o.Offer == nil {
		o.Offer = func(p *profile.Profile) bool { return !p.Hidden.V }
	}
	s := &Server{opts: o, offered: make(chan struct{})}
	s.ctx, s.quit = context.WithCancel(identity.With(context.Background(), o.Caller))
	s.mcp = sdk.NewServer(
		&sdk.Implementation{Name: "roster", Title: "Roster", Version: o.Version},
		&sdk.ServerOptions{
			Instructions:              instructions,
			CompletionHandler:         s.complete,
			SubscribeHandler:          s.subscribe,
			UnsubscribeHandler:        s.unsubscribe,
			SupportedProtocolVersions: versions(),
			SetCacheable:              private,
			Capabilities:              capabilities(),
		})
	s.addTemplates()
	s.mcp.AddReceivingMiddleware(s.identified, s.listSessions, s.prompts)
	replay := sdk.NewMemoryEventStore(nil)
	replay.SetMaxBytes(maxReplay)
	s.http = s.bounded(sdk.NewStreamableHTTPHandler(
		func(*http.Request) *sdk.Server { return s.mcp },
		&sdk.StreamableHTTPOptions{
			SessionTimeout: idleTime, MaxRequestBodyBytes: maxBody,
			EventStore: replay,
		}))
	return s
}

// identified has each request say who sends it.
func (s *Server) identified(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		return next(identity.With(ctx, s.opts.Caller), method, req)
	}
}

const instructions = `Each tool is an agent of this workspace: it takes a prompt, works on it with its own tools and permissions, and answers. ` +
	`To go on with a conversation, give the session of an answer with the next prompt. ` +
	`The resources are the sessions: all that was said in them.`

// stateless is the first version of the protocol in which nothing can be asked
// back over the connection that a call came by. It is left to clients to fall
// back to the ones before.
const stateless = "2026-07-28"

func versions() []string {
	return slices.DeleteFunc(sdk.SupportedProtocolVersions(), func(v string) bool { return v >= stateless })
}

// private keeps what is said here from those that serve several users out of one
// cache.
func private(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = cachePrivate }

const cachePrivate = "private"

// start begins to offer the profiles, once, and waits until they are.
func (s *Server) start(ctx context.Context) error {
	s.begin.Do(func() { s.job(s.watchProfiles) })
	if s.ctx.Err() != nil {
		return errClosed
	}
	select {
	case <-s.offered:
		return nil
	case <-s.ctx.Done():
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

var errClosed = errors.New("the server stops")

// Serve talks to one client by lines of JSON, as over standard input and output,
// until in ends or ctx does. Runs that still go on then are left to their owner.
func (s *Server) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	if err := s.start(ctx); err != nil {
		return err
	}
	ctx, stop := whichever(ctx, s.ctx)
	defer stop()
	l := newLines(in, out)
	err := s.mcp.Run(ctx, &sdk.IOTransport{Reader: l, Writer: open{l}, MaxLineLength: -1}) // lines bounds them
	for _, gone := range []error{io.EOF, io.ErrClosedPipe, syscall.EPIPE} {                // the client, that is
		if errors.Is(err, gone) {
			return nil
		}
	}
	if ctx.Err() != nil || s.ctx.Err() != nil {
		return nil
	}
	return err
}

// ServeHTTP implements http.Handler: the streamable transport. It leaves to its
// caller who may come.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := s.start(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	s.http.ServeHTTP(w, r)
}

// bounded refuses a new connection when there are too many.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") == "" && s.connected() >= maxSessions {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many clients are connected", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) connected() (n int) {
	for range s.mcp.Sessions() {
		n++
	}
	return n
}

// Close ends all connections and waits for what it has started. The runs go on.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.quit()
	var closing sync.WaitGroup
	for c := range s.mcp.Sessions() {
		closing.Go(func() { _ = c.Close() })
	}
	closing.Wait()
	s.jobs.Wait()
}

// work counts what the caller does among what Close waits for, until it calls
// done. A server that is closed begins nothing.
func (s *Server) work() (done func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, false
	}
	s.jobs.Add(1)
	return s.jobs.Done, true
}

// job does something in the background.
func (s *Server) job(f func()) {
	if done, ok := s.work(); ok {
		go func() {
			defer done()
			f()
		}()
	}
}

// whichever is a context that ends with either of two.
func whichever(a, b context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(a)
	stop := context.AfterFunc(b, cancel)
	return ctx, func() { stop(); cancel() }
}
