// The newest version of the protocol has no roots and no log messages any more, and
// the library will serve those who speak an older one for a year at least: nearly all
// do.
//
//lint:file-ignore SA1019 what older servers speak is spoken

package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// proven is the version of the protocol that a server is first spoken to in: nearly
// all know it. One that refuses is spoken to in the newest.
const proven = "2025-11-25"

// session is one connection, from its beginning to its end.
type session struct {
	client  *Client
	server  *Server
	log     *logger
	sdk     *sdk.ClientSession
	conn    sdk.Connection
	proc    *process // nil: it is not ours
	web     *web     // nil: it is not spoken to by HTTP
	info    Info
	catalog catalog
	began   time.Time

	ctx    context.Context // ends with the session
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when the connection is no more
	err    error         // why; to be read after ended
	gone   chan struct{} // closed when all of it has ended
	stale  chan struct{} // the list of tools has changed; one word waits at most

	doubted atomic.Bool // it is being asked whether it is still there

	mu       sync.Mutex
	tokens   int64
	progress map[int64]*follower
}

// open makes a connection.
func (c *Client) open(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, c.pool.opts.Start)
	defer cancel()
	s, err := c.dial(ctx, proven)
	if answered(err) != nil {
		s, err = c.dial(ctx, "")
	}
	if answered(err) != nil {
		err = plainly(err)
	}
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		err = fmt.Errorf("it was not ready after %v", c.pool.opts.Start)
	}
	return s, err
}

// dial makes a connection in which a version of the protocol is spoken. What the
// server has answered instead is the error as it is.
func (c *Client) dial(ctx context.Context, version string) (*session, error) {
	s := &session{
		client: c, server: &c.server, log: c.log, began: time.Now(),
		ended: make(chan struct{}), gone: make(chan struct{}), stale: make(chan struct{}, 1),
		progress: map[int64]*follower{},
	}
	s.ctx, s.cancel = context.WithCancelCause(c.pool.ctx)
	if err := s.begin(ctx, version); err != nil {
		if answered(err) == nil {
			err = s.explain(err)
		}
		close(s.ended)
		s.close(err)
		return nil, err
	}
	go func() {
		s.err = s.sdk.Wait()
		close(s.ended)
	}()
	if err := s.ask(ctx); err != nil {
		if answered(err) == nil {
			err = s.explain(err)
		}
		s.close(err)
		return nil, err
	}
	return s, nil
}

// begin connects and exchanges greetings.
func (s *session) begin(ctx context.Context, version string) error {
	client := sdk.NewClient(&sdk.Implementation{Name: "roster", Version: s.client.pool.opts.Version}, s.options())
	for _, root := range s.server.Roots {
		u := url.URL{Scheme: "file", Path: filepath.ToSlash(root)}
		client.AddRoots(&sdk.Root{URI: u.String(), Name: filepath.Base(root)})
	}
	// Whoever does not answer is cut off: the library would wait until what it
	// writes has been taken.
	stop := context.AfterFunc(ctx, func() { s.sever() })
	defer stop()
	var err error
	s.sdk, err = client.Connect(ctx, s, &sdk.ClientSessionOptions{ProtocolVersion: version})
	return err
}

// Connect implements sdk.Transport: it keeps the connection, which the library only
// closes when all that is under way has ended.
func (s *session) Connect(ctx context.Context) (sdk.Connection, error) {
	var conn sdk.Connection
	var err error
	if s.server.URL != "" {
		s.web, conn, err = dialWeb(ctx, s.server, s.doubt)
	} else {
		s.proc, conn, err = s.startProgram()
	}
	s.mu.Lock()
	s.conn = conn
	s.mu.Unlock()
	return conn, err
}

func (s *session) options() *sdk.ClientOptions {
	changed := func(context.Context, *sdk.ToolListChangedRequest) { signal(s.stale) }
	o := &sdk.ClientOptions{
		Logger:                 discard,
		Capabilities:           &sdk.ClientCapabilities{},
		ToolListChangedHandler: changed,
		ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) {
			s.progressed(r.Params)
		},
		LoggingMessageHandler: func(_ context.Context, r *sdk.LoggingMessageRequest) {
			s.logged(logMessage{string(r.Params.Level), r.Params.Data})
		},
	}
	if len(s.server.Roots) > 0 {
		o.Capabilities.RootsV2 = &sdk.RootCapabilities{}
	}
	return o
}

// ask finds out what the server is and which tools it has.
func (s *session) ask(ctx context.Context) error {
	about := s.sdk.InitializeResult()
	s.info = Info{Protocol: about.ProtocolVersion, Instructions: clean(about.Instructions, maxDescription)}
	if i := about.ServerInfo; i != nil {
		s.info.Name, s.info.Version, s.info.Title = line(i.Name, maxTitle), line(i.Version, maxTitle), line(i.Title, maxTitle)
	}
	var err error
	s.catalog, err = s.list(ctx)
	return err
}

// sever ends the connection at once, and with it whatever waits for an answer.
func (s *session) sever() {
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}

// close ends all of the session, for a reason, and waits until it has ended.
func (s *session) close(why error) {
	s.cancel(why)
	s.sever()
	if s.sdk != nil {
		_ = s.sdk.Close()
	}
	if s.proc != nil {
		s.proc.stop()
	}
	if s.web != nil {
		s.web.close()
	}
	<-s.ended
}

// lasted is for how long the session has been there; it may be nil.
func (s *session) lasted() time.Duration {
	if s == nil {
		return 0
	}
	return time.Since(s.began)
}

// why says why the connection has ended.
func (s *session) why() error {
	<-s.ended
	err := s.err
	if err == nil {
		err = errors.New("it has closed the connection")
	}
	return s.explain(err)
}

// explain puts what happened into the words of who has to mend it.
func (s *session) explain(err error) error {
	if s.proc != nil && !errors.Is(err, errAsks) && !errors.Is(err, errDeaf) {
		if end := s.proc.ended(s.log); end != nil {
			return end
		}
	}
	return s.plainly(err)
}

// plainly is explain for what does not end the connection.
func (s *session) plainly(err error) error {
	if s.web != nil {
		return s.web.explain(err)
	}
	return plainly(err)
}
