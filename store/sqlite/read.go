package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"iter"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/page"
)

const eventsQuery = `SELECT seq, v, session, loop, turn, agent, depth, chain, time, type, data, refs
	FROM events WHERE stream = (SELECT id FROM streams WHERE tenant = ? AND stream = ?) AND seq > ?
	ORDER BY seq`

// Read implements session.Store. Events that are committed while it goes on are
// yielded too.
func (s *Store) Read(ctx context.Context, k session.Key, after int64) iter.Seq2[session.Event, error] {
	return page.Log(ctx, after, func(after int64) ([]session.Event, bool, error) { return s.page(ctx, k, after) })
}

// page returns the next events, and whether there may be more.
func (s *Store) page(ctx context.Context, k session.Key, after int64) (evs []session.Event, more bool, err error) {
	size := 0
	err = s.read(ctx, func(c *conn) error {
		return c.query(eventsQuery, func(row []driver.Value) bool {
			e := scanEvent(row)
			evs = append(evs, e)
			size += len(e.Data)
			more = len(evs) == page.Events || size >= page.Bytes
			return !more
		}, k.Tenant, k.Stream, after)
	})
	return evs, more && err == nil, err
}

// Summary implements session.Store.
func (s *Store) Summary(ctx context.Context, k session.Key) (session.Summary, error) {
	var sum session.Summary
	err := s.read(ctx, func(c *conn) error {
		var unread error
		err := c.query(`SELECT `+columns+` FROM streams WHERE tenant = ? AND stream = ?`, func(row []driver.Value) bool {
			sum, unread = scanSummary(k, row)
			return false
		}, k.Tenant, k.Stream)
		return errors.Join(err, unread)
	})
	if err == nil && sum.Last == 0 {
		err = session.ErrNoStream
	}
	return sum, err
}

// List implements session.Store.
func (s *Store) List(ctx context.Context, tenant string, q session.Query) iter.Seq2[session.Summary, error] {
	first := q.Before // of later pages it is another one
	return page.List(q, func(q session.Query, limit int) ([]session.Summary, error) {
		if q.Search != nil && q.Before == first {
			if err := s.index(ctx, tenant); err != nil {
				return nil, err
			}
		}
		return s.list(ctx, tenant, q, limit)
	})
}

func (s *Store) list(ctx context.Context, tenant string, q session.Query, limit int) (sums []session.Summary, err error) {
	if q.Search != nil && len(q.Search) == 0 {
		return nil, nil
	}
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
	if q.Profile != "" {
		query += ` AND profile = ?`
		args = append(args, q.Profile)
	}
	if q.Asking {
		query += ` AND asking = 1`
	}
	if q.Search != nil {
		query += found
		args = append(args, match(q.Search))
	}
	query += ` ORDER BY stream DESC LIMIT ?`
	args = append(args, int64(limit))
	err = s.read(ctx, func(c *conn) error {
		var unread error
		err := c.query(query, func(row []driver.Value) bool {
			var sum session.Summary
			if sum, unread = scanSummary(session.Key{Tenant: tenant, Stream: str(row[summaryColumns])}, row); unread != nil {
				return false
			}
			sums = append(sums, sum)
			return true
		}, args...)
		return errors.Join(err, unread)
	})
	return sums, err
}
