package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
)

const eventsQuery = `SELECT seq, v, session, loop, turn, agent, depth, chain, time, type, data, refs
	FROM events WHERE stream = (SELECT id FROM streams WHERE tenant = $1 AND stream = $2) AND seq > $3
	ORDER BY seq LIMIT $4`

// The size of a page that a read takes at once. Between pages it holds no
// connection.
const (
	pageEvents = 256
	pageBytes  = 1 << 20
	pageList   = 100
)

func scanEvent(row pgx.CollectableRow) (e session.Event, err error) {
	var v int32
	err = row.Scan(&e.Seq, &v, &e.Session, &e.Loop, &e.Turn, &e.Agent, &e.Depth, &e.Chain, &e.Time, &e.Type, &e.Data, &e.Refs)
	e.V, e.Time = uint16(v), e.Time.UTC()
	return e, err
}

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
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, eventsQuery, k.Tenant, k.Stream, after, pageEvents)
		if err != nil {
			return err
		}
		defer rows.Close()
		for size := 0; !more && rows.Next(); {
			e, err := scanEvent(rows)
			if err != nil {
				return err
			}
			evs = append(evs, e)
			size += len(e.Data)
			more = len(evs) == pageEvents || size >= pageBytes
		}
		rows.Close()
		return rows.Err()
	})
	return evs, more && err == nil, err
}

// Summary implements session.Store.
func (s *Store) Summary(ctx context.Context, k session.Key) (session.Summary, error) {
	sum := summary{Summary: session.Summary{Key: k}}
	err := s.read(ctx, func(t pgx.Tx) error {
		err := t.QueryRow(ctx, `SELECT `+columns+` FROM streams WHERE tenant = $1 AND stream = $2`, k.Tenant, k.Stream).Scan(sum.targets()...)
		if errors.Is(err, pgx.ErrNoRows) {
			return session.ErrNoStream
		}
		return err
	})
	return sum.scanned(), err
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
	query := `SELECT ` + columns + `, stream FROM streams WHERE tenant = $1`
	args := []any{tenant}
	where := func(clause string, arg any) {
		args = append(args, arg)
		query += fmt.Sprintf(clause, len(args))
	}
	if q.Before != "" {
		where(` AND stream < $%d`, q.Before)
	}
	if q.Status != "" {
		where(` AND status = $%d`, string(q.Status))
	}
	if q.Asking {
		query += ` AND asking`
	}
	where(` ORDER BY stream DESC LIMIT $%d`, limit)
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		page, err = pgx.AppendRows(page, rows, func(row pgx.CollectableRow) (session.Summary, error) {
			sum := summary{Summary: session.Summary{Key: session.Key{Tenant: tenant}}}
			err := row.Scan(append(sum.targets(), &sum.Key.Stream)...)
			return sum.scanned(), err
		})
		return err
	})
	return page, err
}
