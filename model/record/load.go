package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Error is a fault of a recording's file.
type Error struct {
	Path    string
	Line    int // from 1; 0 for the file as a whole
	Message string
	Err     error
}

func (e *Error) Error() string {
	s := e.Path
	if e.Line > 0 {
		s = fmt.Sprintf("%s:%d", s, e.Line)
	}
	s += ": " + e.Message
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// recording is a file that was read.
type recording struct {
	path  string
	calls []*call // by line
	size  int64   // bytes of whole lines
	cut   string  // says that the last line is cut off; empty if it is whole
}

// load reads a recording. A last line without an end is what a crash leaves; it
// is left out and noted. Any other line must be whole and of this version.
func load(path string, from io.Reader) (*recording, error) {
	rec := &recording{path: path}
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := readLine(in)
		n := len(rec.calls) + 1
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return rec, nil
		case errors.Is(err, io.EOF):
			rec.cut = fmt.Sprintf("%s:%d: the last line is cut off after %d bytes", path, n, len(line))
			return rec, nil
		case err != nil:
			return nil, &Error{path, n, "cannot be read", err}
		}
		rec.size += int64(len(line))
		if rec.size > maxFile {
			return nil, &Error{path, n, fmt.Sprintf("the recording is larger than %d MiB", maxFile>>20), nil}
		}
		c, err := rec.parse(line, n)
		if err != nil {
			return nil, err
		}
		rec.calls = append(rec.calls, c)
	}
}

// readLine returns a line with its end, or what there is of it and an error.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		line = append(line, piece...)
		if len(line) > maxLine {
			return nil, fmt.Errorf("the line is longer than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (rec *recording) parse(line []byte, n int) (*call, error) {
	c := &call{}
	if err := json.Unmarshal(line, c); err != nil {
		return nil, &Error{rec.path, n, "this is no line of a recording", err}
	}
	if c.V != version {
		return nil, &Error{rec.path, n, fmt.Sprintf("version %d is not known, only %d", c.V, version), nil}
	}
	if c.N != n {
		return nil, &Error{rec.path, n, fmt.Sprintf("the line says that it is line %d; lines were added or removed", c.N), nil}
	}
	if c.After < 0 || c.After >= n || c.Keep < 0 || (c.After == 0) != (c.Keep == 0) || c.PrefixOf < 0 || c.PrefixOf >= n {
		return nil, &Error{rec.path, n, "it goes on from a line that does not stand before it", nil}
	}
	if c.After > 0 && c.Keep > rec.calls[c.After-1].length() {
		return nil, &Error{rec.path, n, fmt.Sprintf("it keeps %d messages of line %d, which has %d", c.Keep, c.After, rec.calls[c.After-1].length()), nil}
	}
	for i, m := range c.Messages {
		var b bytes.Buffer
		if err := json.Compact(&b, m); err != nil {
			return nil, &Error{rec.path, n, "a message is not JSON", err}
		}
		c.Messages[i] = b.Bytes()
	}
	return c, nil
}

// length is the number of messages of the request.
func (c *call) length() int { return c.Keep + len(c.Messages) }

// conversation returns all messages of the request.
func (rec *recording) conversation(c *call) []json.RawMessage {
	out := make([]json.RawMessage, c.length())
	end := len(out)
	for {
		if end > c.Keep {
			copy(out[c.Keep:end], c.Messages)
			end = c.Keep
		}
		if c.After == 0 {
			return out
		}
		c = rec.calls[c.After-1]
	}
}
