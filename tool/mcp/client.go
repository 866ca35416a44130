package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// soonest is how long at least it is waited after a failure until it is tried
	// again, also when somebody asks for it.
	soonest = 500 * time.Millisecond
	// latest is how long at most.
	latest = 30 * time.Second
	// stable is how long a connection must have lasted for its end to be no failure.
	stable = 5 * time.Second
	// between is how long at least it is waited between two readings of the list of
	// tools, however often the server says that it has changed.
	between = time.Second
)

var errClosed = errors.New("the connections of this program have been closed")

// DownError says that a server cannot be used now, and why.
type DownError struct {
	Server string
	Err    error
}

func (e *DownError) Error() string {
	return fmt.Sprintf("the MCP server %s is down: %v; it is tried again", e.Server, e.Err)
}

func (e *DownError) Unwrap() error { return e.Err }

// Info is what a server says of itself. Its texts are bounded.
type Info struct {
	Name, Version, Title string
	Protocol             string // the version of the protocol that is spoken
	Instructions         string // how it wants to be used, for models
}

// State is that of a connection.
type State struct {
	Up    bool
	Err   error // why it is not up; nil: nobody has used it, or not for long
	Since time.Time
	Info  Info
	// Generation grows when the tools change.
	Generation uint64
}

// Client is the connection to one server: it is made when somebody uses it, and made
// anew when it breaks. It is safe for concurrent use.
type Client struct {
	pool   *Pool
	server Server
	log    *logger

	wake    chan struct{} // asks for an attempt at once; one waits at most
	restart chan error    // asks for a new connection, and says why; one waits at most

	mu       sync.Mutex
	running  bool     // a goroutine looks after the connection
	session  *session // nil: down
	attempt  chan struct{}
	state    State
	catalog  catalog
	recalled []*Tool
	changed  chan struct{}
	used     time.Time
	calls    int // that are under way
}

func newClient(p *Pool, s Server) *Client {
	c := &Client{
		pool: p, server: s, wake: make(chan struct{}, 1), restart: make(chan error, 1),
		attempt: make(chan struct{}), changed: make(chan struct{}), state: State{Since: time.Now()},
	}
	c.log = newLogger(func(line string) { p.opts.Log(s.Name, line) }, s.secrets())
	return c
}

// Name is the name of the server.
func (c *Client) Name() string { return c.server.Name }

// State says how the connection is.
func (c *Client) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Changed is closed when Generation grows; then there is a new one.
func (c *Client) Changed() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.changed
}

// Log is what was last noticed about the server, and what it wrote to its standard
// error.
func (c *Client) Log() []string { return c.log.lines() }

// Tools are the tools that the server had when it was last asked, in its order; nil:
// it never was. They can be called whenever somebody likes: a call waits for the
// connection, or says why there is none.
func (c *Client) Tools() []*Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.catalog.tools
}

// Problems are those with the tools: which are left out, and why.
func (c *Client) Problems() []Problem {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.catalog.problems
}

// Connect waits until the server can be used, or has just shown that it cannot, or ctx
// ends. In the background it is tried on and on, until nobody uses the client for a
// while.
func (c *Client) Connect(ctx context.Context) error {
	_, err := c.connected(ctx)
	return err
}

// Restart ends the connection, and what was started, and makes a new one.
func (c *Client) Restart(ctx context.Context) error {
	c.mu.Lock()
	s := c.session
	c.mu.Unlock()
	if s != nil {
		if err := c.renew(ctx, s, errRestart); err != nil {
			return err
		}
	}
	return c.Connect(ctx)
}

// connected is the connection, which is made if there is none.
func (c *Client) connected(ctx context.Context) (*session, error) {
	c.mu.Lock()
	c.used = time.Now()
	if s := c.session; s != nil && !s.over() {
		c.mu.Unlock()
		return s, nil
	}
	if !c.running {
		if !c.pool.begin(c.run) {
			c.mu.Unlock()
			return nil, &DownError{c.server.Name, errClosed}
		}
		c.running = true
	}
	ended := c.attempt
	c.mu.Unlock()
	signal(c.wake)
	select {
	case <-ended:
	case <-ctx.Done():
		err := context.Cause(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			err = errors.New("it has not come up in time")
		}
		return nil, &DownError{c.server.Name, err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session != nil {
		return c.session, nil
	}
	err := c.state.Err
	if err == nil {
		err = errClosed
	}
	return nil, &DownError{c.server.Name, err}
}

// signal puts a word into a channel that holds one.
func signal(to chan<- struct{}) { tell(to, struct{}{}) }

func tell[T any](to chan<- T, word T) {
	select {
	case to <- word:
	default:
	}
}

// touch says that somebody uses the client.
func (c *Client) touch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = time.Now()
}

// hold is touch for as long as a call runs.
func (c *Client) hold() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.calls--
		c.used = time.Now()
	}
}

// idle says for how long the client may still go unused.
func (c *Client) idle() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls > 0 {
		return c.pool.opts.Idle
	}
	return time.Until(c.used.Add(c.pool.opts.Idle))
}

// wanted says that somebody uses the client, or has just done so. The lock is held.
func (c *Client) wanted() bool { return c.calls > 0 || time.Since(c.used) < c.pool.opts.Idle }

// run looks after the connection until nobody uses it any more or the pool is closed.
func (c *Client) run() {
	again := &backoff.ExponentialBackOff{InitialInterval: soonest, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: latest}
	again.Reset()
	for {
		s, err := c.open(c.pool.ctx)
		if err == nil {
			c.up(s)
			err = c.serve(s)
			s.close(err)
			if s.lasted() >= stable {
				again.Reset()
			}
		}
		if !c.down(s, err) {
			return
		}
		if s != nil && (err == errIdle || err == errRestart || err == errForgotten || s.lasted() >= stable) {
			continue
		}
		if !c.rest(again.NextBackOff()) && c.leave() {
			return
		}
	}
}

// up makes a connection known.
func (c *Client) up(s *session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	select { // what was asked for before is done with this connection
	case <-c.restart:
	default:
	}
	c.session = s
	generation := c.state.Generation
	c.state = State{Up: true, Since: time.Now(), Info: s.info, Generation: generation}
	c.learn(s.catalog)
	close(c.attempt)
	c.attempt = make(chan struct{})
}

// down makes known that there is no connection, and says whether it is to be made
// again.
func (c *Client) down(s *session, err error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	on := c.pool.ctx.Err() == nil && (err != errIdle || c.wanted())
	if err == errIdle {
		err = nil
	}
	if c.pool.ctx.Err() != nil {
		err = errClosed
	}
	c.session = nil
	c.state = State{Err: err, Since: time.Now(), Info: c.state.Info, Generation: c.state.Generation}
	if s != nil {
		close(s.gone)
	}
	if s == nil || !on {
		close(c.attempt)
		c.attempt = make(chan struct{})
	}
	if !on {
		c.running = false
	} else if err != nil && err != errRestart {
		c.log.note("the server is down: " + err.Error())
	}
	return on
}

// leave ends the looking after, unless somebody has just begun to use the client.
func (c *Client) leave() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pool.ctx.Err() == nil && c.wanted() {
		return false
	}
	c.running = false
	close(c.attempt)
	c.attempt = make(chan struct{})
	return true
}

// rest waits until it is to be tried again; false: nobody uses the client any more.
func (c *Client) rest(wait time.Duration) bool {
	select { // what was asked for before the failure has been tried
	case <-c.wake:
	default:
	}
	least := time.NewTimer(soonest)
	defer least.Stop()
	select {
	case <-least.C:
	case <-c.pool.ctx.Done():
		return false
	}
	most := time.NewTimer(wait - soonest)
	defer most.Stop()
	select {
	case <-most.C:
	case <-c.wake:
	case <-c.restart:
	case <-c.pool.ctx.Done():
	}
	return c.pool.ctx.Err() == nil && c.idle() > 0
}

var (
	errIdle      = errors.New("nobody uses it")
	errForgotten = errors.New("it does not know the session any more")
	errRestart   = errors.New("it was to be started again")
)

// serve keeps the list of tools fresh until the connection is to end, and says why.
func (c *Client) serve(s *session) error {
	idle := time.NewTimer(c.idle())
	defer idle.Stop()
	for {
		select {
		case <-c.pool.ctx.Done():
			return errClosed
		case <-s.ended:
			return s.why()
		case why := <-c.restart:
			return why
		case <-idle.C:
			left := c.idle()
			if left <= 0 {
				return errIdle
			}
			idle.Reset(left)
		case <-s.stale:
			if err := c.refresh(s); err != nil {
				return err
			}
		}
	}
}

// refresh reads the list of tools again. A server that says all the time that it has
// changed is asked now and then.
func (c *Client) refresh(s *session) error {
	ctx, cancel := context.WithTimeout(s.ctx, c.pool.opts.Start)
	defer cancel()
	list, err := s.list(ctx)
	if err != nil && s.ctx.Err() == nil {
		c.log.note("its list of tools could not be read again: " + err.Error())
	}
	if err == nil {
		c.mu.Lock()
		c.learn(list)
		c.mu.Unlock()
	}
	select {
	case <-time.After(between):
	case <-s.ended:
		return s.why()
	case <-c.pool.ctx.Done():
		return errClosed
	}
	return nil
}

// learn takes over a list of tools. Tools that are as they were stay the same. The
// caller holds the lock.
func (c *Client) learn(list catalog) {
	old := map[string]int{}
	for i, t := range c.catalog.tools {
		old[t.Name] = i
	}
	same := c.catalog.tools != nil && len(c.catalog.tools) == len(list.tools)
	for i, t := range list.tools {
		j, found := old[t.Name]
		if !found || !c.catalog.tools[j].Definition.same(t.Definition) {
			same = false
			continue
		}
		list.tools[i] = c.catalog.tools[j]
		same = same && i == j
	}
	c.catalog = list
	if same {
		return
	}
	c.state.Generation++
	close(c.changed)
	c.changed = make(chan struct{})
}
