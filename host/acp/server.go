// Package acp is the front door for editors: the Agent Client Protocol, which an
// editor that has started this program talks to it over standard input and output.
// It reads and writes through functions that it is given, as the HTTP interface does.
package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/rosterrun/roster/host"
	"github.com/rosterrun/roster/internal/jsonlines"
	"github.com/rosterrun/roster/session"
)

// Options configure a connection. All functions must be safe for concurrent use.
type Options struct {
	// Host is what the HTTP interface works with. Used of it are Profiles, Profile,
	// Commands, Call, Submit, Cancel, Follow, Backend, Approvals, Answer, Code and Log,
	// which must be set.
	Host host.Deps
	// Resume goes on with a session that waits no more, where nobody else does;
	// session.ErrNoWork: somebody is at it.
	Resume func(context.Context, session.Key) error
	// Dir is the workspace, as an absolute path.
	Dir string
	// Profile is the one that sessions begin with; empty: the first one.
	Profile string
	// Flags override profile keys in every prompt, as its user says himself, and
	// AllowAll lets the permission mode bypass have its effect. OnDeny is "stop" to
	// end runs at the first denied tool call.
	Flags    map[string]string
	AllowAll bool
	OnDeny   string
	// Version is that of the program.
	Version string
}

// Bounds on what a client makes the program hold.
const (
	maxLine     = 8 << 20 // bytes of one message; the library takes 10 MiB
	maxDue      = 64      // requests without an answer
	maxSessions = 1000    // that are open at a time
	maxReplay   = 8 << 20 // bytes of a conversation that is loaded

	storeTime = 10 * time.Second // to store what a client said last
	leaveTime = 5 * time.Second  // for what is under way when the client is gone
)

const tenant = "local"

// connection is what one client has. It is safe for concurrent use.
type connection struct {
	opts  Options
	log   *slog.Logger
	dir   string // the workspace, without links in its path
	lines *jsonlines.Lines
	conn  *sdk.Connection
	ctx   context.Context // ends with the connection
	quit  func()

	mu       sync.Mutex
	greeted  bool // initialize was answered
	client   string
	closed   bool
	sessions map[sdk.SessionId]*conversation
	unsaid   map[sdk.SessionId]bool // sessions whose id the client is just being told

	jobs sync.WaitGroup // not added to once it is closed
}

// Serve talks to one client until in ends or ctx does. Runs that still go on then
// are left to their owner.
func Serve(ctx context.Context, o Options, in io.ReadCloser, out io.Writer) error {
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil {
		return err
	}
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	c := &connection{
		opts: o, log: o.Host.Log, ctx: ctx, quit: quit, dir: dir,
		sessions: map[sdk.SessionId]*conversation{}, unsaid: map[sdk.SessionId]bool{},
	}
	c.lines = jsonlines.New(in, out, jsonlines.Options{Max: maxLine, MaxDue: maxDue, Message: messageOf})
	begun := make(chan struct{})
	c.conn = sdk.NewConnection(c.handle, writer{c}, &begins{c.lines, begun})
	c.conn.SetLogger(slog.New(slog.DiscardHandler)) // it would log what users write
	close(begun)
	select {
	case <-c.conn.Done():
	case <-ctx.Done():
	}
	quit()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.leave()
	_ = c.lines.Close()
	return nil
}

// leave waits for what is under way. A client that does not read its answers is not
// waited for longer than leaveTime.
func (c *connection) leave() {
	ended := make(chan struct{})
	go func() {
		c.jobs.Wait()
		close(ended)
	}()
	late := time.NewTimer(leaveTime)
	defer late.Stop()
	select {
	case <-ended:
	case <-late.C:
		c.log.Warn("the editor does not take its answers")
	}
}

// work counts what the caller does among what Serve waits for, until it calls done.
func (c *connection) work() (done func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	c.jobs.Add(1)
	return c.jobs.Done, true
}

// job does something in the background.
func (c *connection) job(f func()) {
	if done, ok := c.work(); ok {
		go func() {
			defer done()
			f()
		}()
	}
}

// begins reads nothing before the connection is set up: the library starts to read
// at once.
type begins struct {
	io.Reader
	begun chan struct{}
}

func (b *begins) Read(p []byte) (int, error) {
	<-b.begun
	return b.Reader.Read(p)
}

// gone says whether the client is there no more. No answer of its is to be had then,
// and none that it has not given counts as one.
func (c *connection) gone() bool {
	select {
	case <-c.conn.Done():
		return true
	case <-c.ctx.Done():
		return true
	default:
		return false
	}
}

// writer writes the messages of the library, and then what has to come after them.
type writer struct{ c *connection }

func (w writer) Write(p []byte) (int, error) {
	n, err := w.c.lines.Write(p)
	if err != nil {
		w.c.quit()
	}
	if id := w.c.told(p); id != "" {
		w.c.job(func() { w.c.sayCommands(id) })
	}
	return n, err
}

// told finds the session whose id the client has just been told.
func (c *connection) told(message []byte) sdk.SessionId {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.unsaid {
		if bytes.Contains(message, []byte(id)) {
			delete(c.unsaid, id)
			return id
		}
	}
	return ""
}

// cancelRequest is a method that the library answers itself.
const cancelRequest = "$/cancel_request"

// messageOf says what a line is, as the library sees it.
func messageOf(line []byte) (m jsonlines.Message, ok bool) {
	var text struct {
		JSONRPC string           `json:"jsonrpc"`
		ID      *json.RawMessage `json:"id"`
		Method  string           `json:"method"`
		Params  json.RawMessage  `json:"params"`
		Result  json.RawMessage  `json:"result"`
		Error   *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(line, &text) != nil || text.JSONRPC != "2.0" {
		return m, false
	}
	if text.ID != nil && !plainID(*text.ID) {
		return m, false
	}
	if text.Method == "" {
		return m, text.ID != nil && (text.Result != nil || text.Error != nil)
	}
	if text.ID != nil {
		m.Requests, m.ID = 1, *text.ID
	}
	m.Held = text.ID != nil || text.Method != cancelRequest
	return m, true
}

const maxID = 256 // bytes of the id of a request

// plainID says whether the id of a request is a text or a whole number.
func plainID(id json.RawMessage) bool {
	if len(id) > maxID {
		return false
	}
	var number int64
	var text string
	return json.Unmarshal(id, &number) == nil || json.Unmarshal(id, &text) == nil
}

// handle answers a message of the client. The next one is read when it has: only a
// prompt, which may take long, lets others come before.
func (c *connection) handle(ctx context.Context, method string, params json.RawMessage) (any, *sdk.RequestError) {
	release := sync.OnceFunc(c.lines.Release)
	defer release()
	done, ok := c.work()
	if !ok {
		return nil, fault(c, errClosed)
	}
	defer done()
	answer, ok := methods[method]
	switch {
	case !ok:
		return nil, sdk.NewMethodNotFound(method)
	case method != sdk.AgentMethodInitialize && !c.isGreeted():
		return nil, invalidRequest("the connection has to begin with initialize")
	}
	res, err := answer(&call{c, ctx, release}, params)
	if err != nil {
		return nil, fault(c, err)
	}
	return res, nil
}

var errClosed = errors.New("the connection is closed")

func (c *connection) isGreeted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.greeted
}

// call is one request. Its context ends when the client cancels it, or leaves.
type call struct {
	*connection
	ctx     context.Context
	release func() // lets what the client sends next come before the answer
}

// methods are what a client can ask for.
var methods = map[string]func(*call, json.RawMessage) (any, error){
	sdk.AgentMethodInitialize:             method((*call).initialize),
	sdk.AgentMethodAuthenticate:           method((*call).authenticate),
	sdk.AgentMethodSessionNew:             method((*call).newSession),
	sdk.AgentMethodSessionLoad:            method((*call).load),
	sdk.AgentMethodSessionResume:          method((*call).resume),
	sdk.AgentMethodSessionList:            method((*call).list),
	sdk.AgentMethodSessionClose:           method((*call).closeSession),
	sdk.AgentMethodSessionPrompt:          method((*call).prompt),
	sdk.AgentMethodSessionCancel:          method((*call).cancel),
	sdk.AgentMethodSessionSetMode:         method((*call).setMode),
	sdk.AgentMethodSessionSetConfigOption: method((*call).setOption),
}

// method reads the parameters of a request and checks them.
func method[P any, R any](f func(*call, *P) (R, error)) func(*call, json.RawMessage) (any, error) {
	return func(c *call, params json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, invalidParams("the parameters cannot be read: " + err.Error())
		}
		if v, ok := any(&p).(interface{ Validate() error }); ok {
			if err := v.Validate(); err != nil {
				return nil, invalidParams(err.Error())
			}
		}
		return f(c, &p)
	}
}

// The codes of JSON-RPC.
const (
	codeInvalidRequest = -32600
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

func invalidRequest(why string) *sdk.RequestError {
	return &sdk.RequestError{Code: codeInvalidRequest, Message: why}
}

func invalidParams(why string) *sdk.RequestError {
	return &sdk.RequestError{Code: codeInvalidParams, Message: why}
}

// fault makes the answer of an error. Its data has the name of it, for programs.
func fault(c *connection, err error) *sdk.RequestError {
	var own *sdk.RequestError
	if errors.As(err, &own) {
		return own
	}
	return &sdk.RequestError{Code: codeInternal, Message: err.Error(), Data: map[string]string{"code": c.opts.Host.Code(err)}}
}

// tell sends the client an update of a session. What does not arrive is not missed:
// the client is gone.
func (c *connection) tell(id sdk.SessionId, u sdk.SessionUpdate) {
	_ = c.conn.SendNotification(c.ctx, sdk.ClientMethodSessionUpdate, sdk.SessionNotification{SessionId: id, Update: u})
}
