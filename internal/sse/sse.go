// Package sse reads event streams (text/event-stream).
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Event is one event. Its slices are valid until the next call of Next.
type Event struct {
	Name []byte // the event field; empty if there was none
	ID   []byte // the id field of this event; empty if there was none
	Data []byte // the data fields, joined with \n
}

// TooLong is an event that passes the bound of its Reader.
type TooLong struct{ Max int }

func (e *TooLong) Error() string {
	return fmt.Sprintf("an event of the stream is longer than %d bytes", e.Max)
}

// Reader reads events from a stream. Lines end with \n or \r\n; a bare \r does
// not end one. It is not safe for concurrent use.
type Reader struct {
	r     *bufio.Reader
	max   int
	begun bool
	name  []byte
	id    []byte
	last  []byte // see LastID
	data  []byte
	long  []byte // a line that does not fit the buffer
	stray []byte
}

// strayLen bounds what is kept of a line that is no part of an event stream.
const strayLen = 120

// NewReader reads from r events of at most max bytes.
func NewReader(r io.Reader, max int) *Reader {
	return &Reader{r: bufio.NewReader(r), max: max}
}

// Stray returns the beginning of the first line that is no part of an event
// stream, or nil. It tells what came in place of one.
func (r *Reader) Stray() []byte { return r.stray }

// LastID is the id of the last event, which may be one without data that Next has
// passed by: where a client that comes back goes on. It is valid until the next call of
// Next, and empty if there was none.
func (r *Reader) LastID() []byte { return r.last }

// Next returns the next event that has data. At the end of the stream the
// error is io.EOF; what stands before it without a blank line is still an
// event, but a line without its end is dropped. Other errors are *TooLong and
// those of the stream.
func (r *Reader) Next() (Event, error) {
	r.name, r.id, r.data = r.name[:0], r.id[:0], r.data[:0]
	seen := false
	for {
		line, err := r.line()
		if errors.Is(err, io.EOF) && seen {
			return r.event(), nil
		}
		if err != nil {
			return Event{}, err
		}
		if len(line) == 0 {
			if seen {
				return r.event(), nil
			}
			r.keepID()
			r.name, r.id = r.name[:0], r.id[:0]
			continue
		}
		if r.field(line) {
			seen = true
		}
		if len(r.data) > r.max {
			return Event{}, &TooLong{r.max}
		}
	}
}

func (r *Reader) event() Event {
	r.keepID()
	return Event{Name: r.name, ID: r.id, Data: r.data[:len(r.data)-1]}
}

func (r *Reader) keepID() {
	if len(r.id) > 0 {
		r.last = append(r.last[:0], r.id...)
	}
}

// field takes one line up and says whether it was data.
func (r *Reader) field(line []byte) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		r.data = append(append(r.data, value...), '\n')
		return true
	case "event":
		r.name = append(r.name[:0], value...)
	case "id":
		r.id = append(r.id[:0], value...)
	case "", "retry":
	default:
		r.keepStray(line)
	}
	return false
}

// line returns the next line without its end.
func (r *Reader) line() ([]byte, error) {
	line, err := r.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = r.longLine(line)
	}
	if !r.begun {
		r.begun = true
		line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
	}
	if err != nil {
		r.keepStray(line)
		return nil, err
	}
	return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
}

func (r *Reader) longLine(start []byte) ([]byte, error) {
	r.long = append(r.long[:0], start...)
	for {
		more, err := r.r.ReadSlice('\n')
		r.long = append(r.long, more...)
		if len(r.long) > r.max {
			return r.long, &TooLong{r.max}
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return r.long, err
		}
	}
}

func (r *Reader) keepStray(line []byte) {
	if r.stray == nil && len(line) > 0 && !bytes.HasPrefix(line, []byte("data:")) {
		r.stray = bytes.Clone(line[:min(len(line), strayLen)])
	}
}
