package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxLine bounds one message that comes in by lines, in bytes.
const maxLine = 16 << 20

// lines lets through the lines that are messages, and answers the others with an
// error: the protocol's library would end the connection.
type lines struct {
	in   io.ReadCloser
	from *bufio.Reader
	rest []byte // of the line that is being read

	mu  sync.Mutex // a message is written as a whole
	out io.Writer
}

func newLines(in io.ReadCloser, out io.Writer) *lines {
	return &lines{in: in, from: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
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
	switch {
	case long:
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message has more than %d bytes", maxLine))
	case len(bytes.TrimSpace(line)) == 0:
		return nil, err
	case !json.Valid(line):
		return nil, l.refuse(jsonrpc.CodeParseError, "the line is not JSON: send each message as one line")
	case !messages(line):
		return nil, l.refuse(jsonrpc.CodeInvalidRequest, "the line is not a JSON-RPC 2.0 message")
	}
	return append(bytes.TrimSpace(line), '\n'), nil
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

// messages says whether a line is a message or a batch of them.
func messages(line []byte) bool {
	if !bytes.HasPrefix(bytes.TrimSpace(line), []byte("[")) {
		_, err := jsonrpc.DecodeMessage(line)
		return err == nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return false
	}
	for _, m := range batch {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return false
		}
	}
	return true
}

func (l *lines) refuse(code int, why string) error {
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": why},
	})
	if err != nil {
		return err
	}
	_, err = l.Write(append(text, '\n'))
	return err
}

// Write implements io.Writer, for one whole message.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

// Close implements io.Closer. Of standard input it may not end a read that is
// under way.
func (l *lines) Close() error { return l.in.Close() }

// open is a writer that stays open.
type open struct{ io.Writer }

func (open) Close() error { return nil }
