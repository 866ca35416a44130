package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rosterrun/roster/sandbox"
)

const (
	// maxMessage bounds a message of a server, in bytes.
	maxMessage = 16 << 20
	// maxRequests bounds how many requests of a server wait for an answer of ours.
	maxRequests = 16
	// maxWrite bounds how long a server may take to read a message of ours.
	maxWrite = 30 * time.Second
	// byItself is how long a program has to end when its standard input ends.
	byItself = 500 * time.Millisecond
	// settle is how long it is waited for the end of a program whose output has ended.
	settle = time.Second
)

// What a server does that ends the connection.
var (
	errDeaf = errors.New("it does not read what is sent to it")
	errAsks = fmt.Errorf("it has more than %d requests and does not wait for answers", maxRequests)
)

// process is a program that is a server.
type process struct {
	cancel context.CancelFunc
	done   chan struct{}
	code   int // what it ended with; to be read after done
	err    error
}

// startProgram starts the program of a server.
func (s *session) startProgram() (*process, sdk.Connection, error) {
	if s.server.Command == "" {
		return nil, nil, errors.New("it has neither a command nor a URL")
	}
	if dir, err := os.Stat(s.server.Dir); s.server.Dir != "" && (err != nil || !dir.IsDir()) {
		return nil, nil, fmt.Errorf("its working directory %s is not there", s.server.Dir)
	}
	stdin, toServer, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	fromServer, stdout, err := os.Pipe()
	if err != nil {
		return nil, nil, errors.Join(err, stdin.Close(), toServer.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{cancel: cancel, done: make(chan struct{})}
	cmd := sandbox.Command{
		Helper: s.server.Exec,
		Argv:   append([]string{s.server.Command}, s.server.Args...),
		Box:    s.server.Box,
		Dir:    s.server.Dir,
		Env:    s.server.Env,
		Stdin:  stdin,
		Stdout: stdout,
		Stderr: s.log,
		Hold:   s.server.Hold,
	}
	go func() {
		defer close(p.done)
		p.code, p.err = cmd.Run(ctx)
		s.log.flush()
		_ = errors.Join(stdin.Close(), stdout.Close())
	}()
	return p, &pipes{to: toServer, from: fromServer, in: newFrames(fromServer, maxMessage), s: s, turn: make(chan struct{}, 1)}, nil
}

// stop ends the program and all that it has started. Its standard input has ended.
func (p *process) stop() {
	wait := time.NewTimer(byItself)
	defer wait.Stop()
	select {
	case <-p.done:
	case <-wait.C:
	}
	p.cancel()
	<-p.done
}

// ended says how the program has ended; nil: it has not.
func (p *process) ended(log *logger) error {
	wait := time.NewTimer(settle)
	defer wait.Stop()
	select {
	case <-p.done:
	case <-wait.C:
		return nil
	}
	if p.err != nil {
		return p.err
	}
	last := log.last()
	if why, ours := strings.CutPrefix(last, "roster exec helper: "); ours && p.code == sandbox.NotStarted {
		return fmt.Errorf("its program could not be started: %s", why)
	}
	how := fmt.Sprintf("its program ended with exit code %d", p.code)
	if p.code > 128 && p.code < 128+65 {
		how = fmt.Sprintf("its program was ended by signal %d", p.code-128)
	}
	if last != "" {
		how += ": " + last
	}
	return errors.New(how)
}

// pipes is the connection to a program: one message a line.
type pipes struct {
	to, from *os.File
	in       *frames
	s        *session
	turn     chan struct{} // whose turn it is to write
	once     sync.Once

	mu       sync.Mutex
	requests int // of the server that wait for an answer
	queue    []json.RawMessage
}

func (c *pipes) SessionID() string { return "" }

// Close implements sdk.Connection. The program is told by the end of its input.
func (c *pipes) Close() error {
	c.once.Do(func() { _ = errors.Join(c.to.Close(), c.from.Close()) })
	return nil
}

// Read gives the next message that the library is to see: answers, and requests.
// Notifications are dealt with here, one after the other, so that none can pile up.
func (c *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		raw, err := c.next()
		if err != nil {
			return nil, err
		}
		if m, err := c.message(raw); m != nil || err != nil {
			return m, err
		}
	}
}

// next is the next line, or what was in one line with others.
func (c *pipes) next() (json.RawMessage, error) {
	if len(c.queue) == 0 {
		line, tooLong, err := c.in.next()
		switch {
		case errors.Is(err, os.ErrClosed):
			return nil, io.EOF
		case err != nil:
			return nil, err
		case tooLong != nil:
			c.s.log.note(tooLong.Error())
			return tooLong.answer(), nil
		}
		var values counter
		if !values.feed(line) {
			var id idFinder
			id.feed(line)
			c.s.log.note(errValues.Error() + " was left out")
			return answer(id.answers(), errValues.Error()+" was left out"), nil
		}
		if len(line) > 0 && line[0] == '[' {
			c.queue = batch(line)
		}
		if len(c.queue) > 0 {
			return c.take(), nil
		}
		return line, nil
	}
	return c.take(), nil
}

// maxBatch bounds how many messages there may be in one line.
const maxBatch = 1000

// batch reads the messages of a line that holds a list of them.
func batch(line []byte) (list []json.RawMessage) {
	in := json.NewDecoder(bytes.NewReader(line))
	_, _ = in.Token()
	for in.More() && len(list) < maxBatch {
		var m json.RawMessage
		if in.Decode(&m) != nil {
			return nil
		}
		list = append(list, m)
	}
	return list
}

func (c *pipes) take() json.RawMessage {
	first := c.queue[0]
	c.queue = c.queue[1:]
	return first
}

// message reads a message; nil: it is none for the library.
func (c *pipes) message(raw json.RawMessage) (jsonrpc.Message, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	m, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		c.s.log.note("it wrote what is no message to its standard output: " + line(string(raw[:min(len(raw), maxLine)]), maxLine))
		return garbled(raw), nil
	}
	r, ok := m.(*jsonrpc.Request)
	switch {
	case !ok || r.Method == "notifications/cancelled":
		return m, nil
	case !r.IsCall():
		c.s.notified(r.Method, r.Params)
		return nil, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests++; c.requests > maxRequests {
		return nil, errAsks
	}
	return m, nil
}

// garbled is the answer to who waits for a message that cannot be read; nil: nobody
// does.
func garbled(raw json.RawMessage) jsonrpc.Message {
	var f idFinder
	f.feed(raw)
	id := f.answers()
	if id == nil {
		return nil
	}
	m, err := jsonrpc.DecodeMessage(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"its answer cannot be read"}}`, id, jsonrpc.CodeParseError))
	if err != nil {
		return nil
	}
	return m
}

// Write sends a message. It gives up when ctx ends or the server does not read; what
// was half written is the end of the connection.
func (c *pipes) Write(ctx context.Context, m jsonrpc.Message) error {
	if _, ok := m.(*jsonrpc.Response); ok {
		c.mu.Lock()
		c.requests--
		c.mu.Unlock()
	}
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxWrite, errDeaf)
	defer cancel()
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := c.to.SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		_ = c.to.SetWriteDeadline(time.Unix(1, 0))
	})
	n, err := c.to.Write(append(data, '\n'))
	if !stop() { // or it would stop the next one who writes
		<-fired
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil && n > 0 {
		_ = c.Close()
	}
	return err
}
