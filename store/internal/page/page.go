// Package page reads what a session store holds piece by piece, so that no
// connection is held while somebody looks at a piece.
package page

import (
	"context"
	"iter"

	"github.com/rosterrun/roster/session"
)

// The size of a piece. One of events ends with the first that makes it full.
const (
	Events    = 256
	Bytes     = 1 << 20 // of their data
	Summaries = 100
)

// Log yields the events after a number. next gives those that come next, and
// whether there may be more.
func Log(ctx context.Context, after int64, next func(after int64) (evs []session.Event, more bool, err error)) iter.Seq2[session.Event, error] {
	return pages(ctx, after, next, func(e *session.Event) int64 { return e.Seq })
}

// Feed yields the events after a position of a tenant's feed, as Log does.
func Feed(ctx context.Context, after session.Position, next func(after session.Position) (fed []session.Fed, more bool, err error)) iter.Seq2[session.Fed, error] {
	return pages(ctx, after, next, func(f *session.Fed) session.Position { return f.At })
}

// pages yields what is after a place; place is that of one.
func pages[T, P any](ctx context.Context, after P, next func(after P) ([]T, bool, error), place func(*T) P) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for more := true; more; {
			var found []T
			var err error
			found, more, err = next(after)
			for i := range found {
				if err := ctx.Err(); err != nil {
					yield(none, err)
					return
				}
				if !yield(found[i], nil) {
					return
				}
				after = place(&found[i])
			}
			if err != nil {
				yield(none, err)
				return
			}
		}
	}
}

// List yields the summaries that q asks for. next gives up to limit of them.
func List(q session.Query, next func(q session.Query, limit int) ([]session.Summary, error)) iter.Seq2[session.Summary, error] {
	return func(yield func(session.Summary, error) bool) {
		q := q
		for left := q.Limit; ; {
			limit := Summaries
			if q.Limit > 0 {
				limit = min(limit, left)
			}
			sums, err := next(q, limit)
			for _, sum := range sums {
				if !yield(sum, nil) {
					return
				}
				q.Before = sum.Key.Stream
			}
			if err != nil {
				yield(session.Summary{}, err)
				return
			}
			if left -= len(sums); len(sums) < limit || q.Limit > 0 && left == 0 {
				return
			}
		}
	}
}
