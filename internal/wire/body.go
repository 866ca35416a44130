// Package wire holds what the adapters of model providers share: request
// bodies made of kept pieces, the HTTP call with its timeouts, and the way from
// a provider's failure to a *model.Error.
package wire

import (
	"bytes"
	"io"

	"github.com/rosterrun/roster/message"
)

var comma = []byte(",") // never changed

// Body is a request body in pieces, so that what was encoded for an earlier
// turn is sent again without a copy. The pieces must not change any more.
type Body struct {
	pieces [][]byte
	size   int64
}

// NewBody returns an empty body with room for n pieces.
func NewBody(n int) *Body { return &Body{pieces: make([][]byte, 0, n)} }

// Add appends pieces; empty ones are left out.
func (b *Body) Add(pieces ...[]byte) {
	for _, p := range pieces {
		if len(p) > 0 {
			b.pieces = append(b.pieces, p)
			b.size += int64(len(p))
		}
	}
}

// AddMessages adds messages in the form that encode gives them, with commas
// between them and, if the list has begun, before the first. A message without
// a form is left out. tail, if any, stands behind them.
func (b *Body) AddMessages(begun bool, messages []*message.Message, encode func(*message.Message) ([]byte, error), tail []byte) error {
	add := func(form []byte) {
		if len(form) > 0 && begun {
			b.pieces = append(b.pieces, comma)
			b.size++
		}
		begun = begun || len(form) > 0
		b.Add(form)
	}
	for _, m := range messages {
		form, err := encode(m)
		if err != nil {
			return err
		}
		add(form)
	}
	add(tail)
	return nil
}

// Len returns the size in bytes.
func (b *Body) Len() int64 { return b.size }

// Bytes returns the whole body, newly allocated.
func (b *Body) Bytes() []byte { return bytes.Join(b.pieces, nil) }

// bodyReader reads a body; sent is called at each read, for that is progress.
type bodyReader struct {
	pieces [][]byte
	off    int // in the first piece
	sent   func()
}

func (r *bodyReader) Read(p []byte) (int, error) {
	r.sent()
	if len(r.pieces) == 0 {
		return 0, io.EOF
	}
	n := 0
	for n < len(p) && len(r.pieces) > 0 {
		c := copy(p[n:], r.pieces[0][r.off:])
		n, r.off = n+c, r.off+c
		if r.off == len(r.pieces[0]) {
			r.pieces, r.off = r.pieces[1:], 0
		}
	}
	return n, nil
}

func (r *bodyReader) Close() error { return nil }
