package sqlite

import (
	"context"
	"database/sql/driver"
	"iter"

	"github.com/rosterrun/roster/session"
)

const eventsQuery = `SELECT seq, v, session, loop, turn, agent, depth, chain, time, type, data, refs
	FROM events WHERE stream = (SELECT id FROM streams WHERE tenant = ? AND stream = ?) AND seq > ?
	ORDER BY seq`

// The size of a page that a read takes at once. Between pages it holds no
// connection.
const (
	pageEvents = 256
	pageBytes  = 1 << 20
	pageList   = 100
)

// Read implements session.Store. Events that are committed while it goes on are
// yielded too.
func (s *Store) Read(ctx context.Context, k session.Key, after int64) iter.Seq2[session.Event, error] {
	return func(yield func(session.Event, error) bool) {
		for more := true; more; {
			var page []session.Event
			var err error
			page, more, err = s.page(ctx, k, after)
			for _, e := range page {
				if err := ctx.Err(); err != nil {
					yield(session.Event{}, err)
					return
				}
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
			if err != nil {
				yield(session.Event{}, err)
				return
			}
		}
	}
}

// page returns the next events, and whether there may be more.
func (s *Store) page(ctx context.Context, k session.Key, after int64) (evs []session.Event, more bool, err error) {
	size := 0
	err = s.read(ctx, func(c *conn) error {
		return c.query(eventsQuery, func(row []driver.Value) bool {
			e := scanEvent(row)
			evs = append(evs, e)
			size += len(e.Data)
			more = len(evs) == pageEvents || size >= pageBytes
			return !more
		}, k.Tenant, k.Stream, after)
	})
	return evs, more && err == nil, err
}

// Summary implements session.Store.
func (s *Store) Summary(ctx context.Context, k session.Key) (session.Summary, error) {
	var sum session.Summary
	err := s.read(ctx, func(c *conn) error {
		return c.query(`SELECT `+columns+` FROM streams WHERE tenant = ? AND stream = ?`, func(row []driver.Value) bool {
			sum = scanSummary(k, row)
			return false
		}, k.Tenant, k.Stream)
	})
	if err == nil && sum.Last == 0 {
		err = session.ErrNoStream
	}
	return sum, err
}

// List implements session.Store.
func (s *Store) List(ctx context.Context, tenant string, q session.Query) iter.Seq2[session.Summary, error] {
	return func(yield func(session.Summary, error) bool) {
		for left := q.Limit; ; {
			limit := pageList
			if q.Limit > 0 {
				limit = min(limit, left)
			}
			page, err := s.list(ctx, tenant, q, limit)
			for _, sum := range page {
				if !yield(sum, nil) {
					return
				}
				q.Before = sum.Key.Stream
			}
			if err != nil {
				yield(session.Summary{}, err)
				return
			}
			if left -= len(page); len(page) < limit || q.Limit > 0 && left == 0 {
				return
			}
		}
	}
}

func (s *Store) list(ctx context.Context, tenant string, q session.Query, limit int) (page []session.Summary, err error) {
	query := `SELECT ` + columns + `, stream FROM streams WHERE tenant = ?`
	args := []any{tenant}
	if q.Before != "" {
		query += ` AND stream < ?`
		args = append(args, q.Before)
	}
	if q.Status != "" {
		query += ` AND status = ?`
		args = append(args, string(q.Status))
	}
	if q.Asking {
		query += ` AND asking = 1`
	}
	query += ` ORDER BY stream DESC LIMIT ?`
	args = append(args, int64(limit))
	err = s.read(ctx, func(c *conn) error {
		return c.query(query, func(row []driver.Value) bool {
			page = append(page, scanSummary(session.Key{Tenant: tenant, Stream: str(row[summaryColumns])}, row))
			return true
		}, args...)
	})
	return page, err
}
