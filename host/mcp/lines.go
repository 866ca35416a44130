package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	maxLine    = 16 << 20    // bytes of one message that comes in by lines
	settleTime = time.Second // for answers that are due when nothing more comes in
)

// lines lets through the lines that are messages, and answers the others with an
// error: the protocol's library would end the connection.
type lines struct {
	in   io.ReadCloser
	from *bufio.Reader
	rest []byte // of the line that is being read

	mu       sync.Mutex // a message is written as a whole
	out      io.Writer
	due      int           // requests that came in and have no answer
	answered chan struct{} // has one when due has become less
	closing  func()
	closed   chan struct{}
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	l := &lines{
		in: in, from: bufio.NewReaderSize(in, 64<<10), out: out,
		answered: make(chan struct{}, 1), closed: make(chan struct{}),
	}
	l.closing = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
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

// next is the next line that is a message. A blank one is none, and asks for no
// answer.
func (l *lines) next() ([]byte, error) {
	line, long, err := l.line()
	requests, ok := 0, false
	if !long && json.Valid(line) {
		requests, ok = messages(line)
	}
	switch {
	case long:
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message has more than %d bytes", maxLine))
	case len(bytes.TrimSpace(line)) == 0:
		return nil, err
	case !json.Valid(line):
		return nil, l.refuse(jsonrpc.CodeParseError, "the line is not JSON: send each message as one line")
	case !ok:
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message")
	}
	l.mu.Lock()
	l.due += requests
	l.mu.Unlock()
	return append(bytes.TrimSpace(line), '\n'), nil
}

// settle gives what is due its time, when no more comes in: the end of the input
// ends the connection, and with it what was asked last.
func (l *lines) settle() {
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
func (l *lines) line() (line []byte, long bool, err error) {
	for {
		piece, err := l.from.ReadSlice('\n')
		if long = long || len(line)+len(piece) > maxLine; long {
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

// messages says whether a line is a message or a batch of them, and how many ask
// for an answer.
func messages(line []byte) (requests int, ok bool) {
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		return request(line)
	}
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return 0, false
	}
	for _, m := range batch {
		n, ok := request(m)
		if !ok {
			return 0, false
		}
		requests += n
	}
	return requests, true
}

func request(text []byte) (n int, ok bool) {
	m, err := jsonrpc.DecodeMessage(text)
	if r, is := m.(*jsonrpc.Request); is && err == nil && r.IsCall() {
		return 1, true
	}
	return 0, err == nil
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

func (l *lines) refuse(code int, why string) error {
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why},
	})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(text, '\n'))
	return err
}

// Write implements io.Writer, for one whole message.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.out.Write(p)
	if l.due > 0 && isAnswer(p) {
		l.due--
		select {
		case l.answered <- struct{}{}:
		default:
		}
	}
	return n, err
}

// Close implements io.Closer. Of standard input it may not end a read that is
// under way.
func (l *lines) Close() error {
	l.closing()
	return l.in.Close()
}

// open is a writer that stays open.
type open struct{ io.Writer }

func (open) Close() error { return nil }
