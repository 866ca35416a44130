package wire

import (
	"context"
	"errors"
	"iter"

	"github.com/rosterrun/roster/model"
)

// Yield takes one chunk and says whether more are wanted.
type Yield func(model.Chunk) bool

// ErrLeft is what a reading function returns when a Yield has said no.
var ErrLeft = errors.New("the reader left")

// Stream makes one call with body. read yields the pieces of the answer and
// returns the last chunk. An err in place of a body is what is yielded instead.
func (e *Endpoint) Stream(ctx context.Context, body *Body, err error, read func(*Answer, Yield) (model.Chunk, error)) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		answer, err := e.Call(ctx, body)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		defer answer.Close()
		last, err := read(answer, func(c model.Chunk) bool { return yield(c, nil) })
		switch {
		case errors.Is(err, ErrLeft):
		case err != nil:
			yield(model.Chunk{}, err)
		case yield(last, nil) && answer.Streamed():
			answer.Drain()
		}
	}
}
