// Package jsonlines stands between a peer that talks JSON-RPC in lines, as over
// standard input and output, and a protocol's library. It lets through the lines
// that are messages and answers the others with an error: the libraries would end
// the connection, or take any number of them.
package jsonlines

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Message is what a line is.
type Message struct {
	Requests int // how many of its requests ask for an answer
	// ID is that of a single request, for the answer to one that is refused.
	ID json.RawMessage
	// Held says that no further line is read before Release was called for this
	// one: the library hands messages on in no order of its own.
	Held bool
}

// Options say what is let through.
type Options struct {
	// Message says what a line is, which is valid JSON; false: no message.
	Message func(line []byte) (Message, bool)
	// Max bounds a line in bytes.
	Max int
	// MaxDue bounds the requests that wait for their answers; 0: they are not
	// bounded.
	MaxDue int
}

// The codes of JSON-RPC for lines that are refused.
const (
	codeParse   = -32700
	codeInvalid = -32600
	codeBusy    = -32000
)

// settleTime is for answers that are due when nothing more comes in.
const settleTime = time.Second

// Lines is a connection. One goroutine reads; writing is safe for concurrent use.
type Lines struct {
	opts Options
	in   io.ReadCloser
	from *bufio.Reader
	rest []byte // of the line that is being read
	held bool   // it has to be released before the next one
	free chan struct{}

	writing sync.Mutex // a message is written as a whole
	out     io.Writer

	mu       sync.Mutex    // not held while a peer is waited for
	due      int           // requests that came in and have no answer
	answered chan struct{} // has one when due has become less
	closing  func()
	closed   chan struct{}
}

// New returns the connection of a peer that writes to in and reads from out.
func New(in io.ReadCloser, out io.Writer, o Options) *Lines {
	l := &Lines{
		opts: o, in: in, from: bufio.NewReaderSize(in, 64<<10), out: out,
		free: make(chan struct{}, 1), answered: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	l.closing = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Read implements io.Reader. It gives at most one line.
func (l *Lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		if err := l.wait(); err != nil {
			return 0, err
		}
		line, err := l.next()
		if err != nil {
			l.settle()
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// wait waits until the line before is released.
func (l *Lines) wait() error {
	if !l.held {
		return nil
	}
	l.held = false
	select {
	case <-l.free:
		return nil
	case <-l.closed:
		return io.EOF
	}
}

// Release lets the line after a held one be read. It is called once for each.
func (l *Lines) Release() {
	select {
	case l.free <- struct{}{}:
	default:
	}
}

// next is the next line that is a message. A blank one is none, and asks for no
// answer.
func (l *Lines) next() ([]byte, error) {
	line, long, err := l.line()
	m, ok := Message{}, false
	if !long && json.Valid(line) {
		m, ok = l.opts.Message(line)
	}
	switch {
	case long:
		return nil, l.refuse(nil, codeInvalid, fmt.Sprintf("the message has more than %d bytes", l.opts.Max))
	case len(bytes.TrimSpace(line)) == 0:
		return nil, err
	case !json.Valid(line):
		return nil, l.refuse(nil, codeParse, "the line is not JSON: send each message as one line")
	case !ok:
		return nil, l.refuse(nil, codeInvalid, "the line is not a JSON-RPC 2.0 message")
	}
	if !l.owe(m.Requests) {
		return nil, l.refuse(m.ID, codeBusy, fmt.Sprintf("%d requests wait for their answers, and no more are taken before one has it", l.opts.MaxDue))
	}
	l.held = m.Held
	return append(bytes.TrimSpace(line), '\n'), nil
}

// owe counts n requests that want an answer; false: they are too many.
func (l *Lines) owe(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most := l.opts.MaxDue; most > 0 && n > 0 && l.due+n > most {
		return false
	}
	l.due += n
	return true
}

// settle gives what is due its time, when no more comes in: the end of the input
// ends the connection, and with it what was asked last.
func (l *Lines) settle() {
	late := time.NewTimer(settleTime)
	defer late.Stop()
	for {
		l.mu.Lock()
		due := l.due
		l.mu.Unlock()
		if due <= 0 {
			return
		}
		select {
		case <-l.answered:
		case <-late.C:
			return
		case <-l.closed:
			return
		}
	}
}

// line reads up to the end of a line; of one that is too long it keeps nothing.
// The last one may lack its end.
func (l *Lines) line() (line []byte, long bool, err error) {
	for {
		piece, err := l.from.ReadSlice('\n')
		if long = long || len(line)+len(piece) > l.opts.Max; long {
			line = nil
		} else {
			line = append(line, piece...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && (len(line) > 0 || long) {
			err = nil // it comes again with the next read
		}
		return line, long, err
	}
}

// isAnswer says whether a message that goes out is one, by the first of its members
// that tells.
func isAnswer(text []byte) bool {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return false
		}
		switch name {
		case "method":
			return false
		case "result", "error":
			return true
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return false
		}
	}
	return false
}

func (l *Lines) refuse(id json.RawMessage, code int, why string) error {
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": why},
	})
	if err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	_, err = l.out.Write(append(text, '\n'))
	return err
}

// Write implements io.Writer, for one whole message.
func (l *Lines) Write(p []byte) (int, error) {
	l.writing.Lock()
	n, err := l.out.Write(p)
	l.writing.Unlock()
	if isAnswer(p) {
		l.paid()
	}
	return n, err
}

// paid counts off a request that has its answer.
func (l *Lines) paid() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.due == 0 {
		return
	}
	l.due--
	select {
	case l.answered <- struct{}{}:
	default:
	}
}

// Close implements io.Closer. Of standard input it may not end a read that is
// under way.
func (l *Lines) Close() error {
	l.closing()
	return l.in.Close()
}
