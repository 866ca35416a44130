package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// frames reads the messages of a server, one a line, of bounded length.
type frames struct {
	r   *bufio.Reader
	max int
	buf []byte // of what did not fit into r
}

func newFrames(r io.Reader, max int) *frames {
	return &frames{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// tooLong is a message that was left out for its length.
type tooLong struct {
	size int
	max  int
	id   json.RawMessage // of the request that it answers; nil: it answers none
}

func (e *tooLong) Error() string {
	return fmt.Sprintf("a message of %d bytes was left out: at most %d are read", e.size, e.max)
}

// answer tells the one who waits for the message; nil: nobody does.
func (e *tooLong) answer() json.RawMessage { return answer(e.id, e.Error()) }

// answer is what the one hears who waits for a message that was left out; nil: nobody
// does.
func answer(id json.RawMessage, why string) json.RawMessage {
	if id == nil {
		return nil
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%s}}`, id, strconv.Quote(why))
}

// next gives the next line, without white space around it. What is too long is left
// out. At the end, what has no line end is left out too.
func (f *frames) next() ([]byte, *tooLong, error) {
	f.buf = nil // what was given belongs to who got it
	for {
		part, err := f.r.ReadSlice('\n')
		switch {
		case err == nil && f.buf == nil:
			return bytes.Clone(bytes.TrimSpace(part)), nil, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, nil, err
		case len(f.buf)+len(part) > f.max:
			over, err := f.skip(part, err == nil)
			return nil, over, err
		}
		if len(part) > cap(f.buf)-len(f.buf) { // append would copy it more often, and past what it may have
			f.buf = append(make([]byte, 0, min(2*(len(f.buf)+len(part)), f.max)), f.buf...)
		}
		f.buf = append(f.buf, part...)
		if err == nil {
			return bytes.TrimSpace(f.buf), nil, nil
		}
	}
}

// skip reads the rest of a line without keeping it.
func (f *frames) skip(part []byte, ended bool) (*tooLong, error) {
	var id idFinder
	id.feed(f.buf)
	size := len(f.buf)
	f.buf = nil
	for {
		id.feed(part)
		size += len(part)
		if ended {
			return &tooLong{size, f.max, id.answers()}, nil
		}
		var err error
		part, err = f.r.ReadSlice('\n')
		ended = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// idFinder finds the id of a message that is not kept.
type idFinder struct {
	depth         int
	quoted, after bool // in a string; after a backslash
	token         []byte
	key           string
	id            []byte
	request       bool
}

// maxID bounds an id, in bytes.
const maxID = 64

func (f *idFinder) feed(part []byte) {
	for _, b := range part {
		f.next(b)
	}
}

func (f *idFinder) next(b byte) {
	switch {
	case f.quoted:
		f.keep(b)
		f.quoted = f.after || b != '"'
		f.after = !f.after && b == '\\'
	case b == '"':
		f.quoted = true
		f.keep(b)
	case b == '{' || b == '[':
		f.depth++
	case b == '}' || b == ']':
		f.ended()
		f.depth--
	case b == ',':
		f.ended()
	case b == ':' && f.depth == 1:
		f.key, f.token = string(f.token), nil
	case b > ' ':
		f.keep(b)
	}
}

func (f *idFinder) keep(b byte) {
	if f.depth == 1 && len(f.token) <= maxID {
		f.token = append(f.token, b)
	}
}

// ended is called where a member may have ended.
func (f *idFinder) ended() {
	if f.depth != 1 {
		return
	}
	switch f.key {
	case `"id"`:
		f.id = f.token
	case `"method"`:
		f.request = true
	}
	f.key, f.token = "", nil
}

// answers is the id of the request that the message answers; nil: it answers none.
func (f *idFinder) answers() json.RawMessage {
	if f.request || len(f.id) > maxID || !json.Valid(f.id) {
		return nil
	}
	return f.id
}
