package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/page"
)

const eventsQuery = `SELECT seq, v, session, loop, turn, agent, depth, chain, time, type, data, refs
	FROM events WHERE stream = (SELECT id FROM streams WHERE tenant = $1 AND stream = $2) AND seq > $3
	ORDER BY seq LIMIT $4`

func scanEvent(row pgx.CollectableRow) (e session.Event, err error) {
	var v int32
	err = row.Scan(&e.Seq, &v, &e.Session, &e.Loop, &e.Turn, &e.Agent, &e.Depth, &e.Chain, &e.Time, &e.Type, &e.Data, &e.Refs)
	e.V, e.Time = uint16(v), e.Time.UTC()
	return e, err
}

// Read implements session.Store. Events that are committed while it goes on are
// yielded too.
func (s *Store) Read(ctx context.Context, k session.Key, after int64) iter.Seq2[session.Event, error] {
	return page.Log(ctx, after, func(after int64) ([]session.Event, bool, error) { return s.page(ctx, k, after) })
}

// page returns the next events, and whether there may be more.
func (s *Store) page(ctx context.Context, k session.Key, after int64) (evs []session.Event, more bool, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, eventsQuery, k.Tenant, k.Stream, after, page.Events)
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
			more = len(evs) == page.Events || size >= page.Bytes
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
	if err != nil {
		return session.Summary{Key: k}, err
	}
	return sum.scanned()
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
	if q.Profile != "" {
		where(` AND profile = $%d`, q.Profile)
	}
	if q.Asking {
		query += ` AND asking`
	}
	if q.Search != nil {
		where(found, match(q.Search))
	}
	where(` ORDER BY stream DESC LIMIT $%d`, limit)
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		sums, err = pgx.AppendRows(sums, rows, func(row pgx.CollectableRow) (session.Summary, error) {
			sum := summary{Summary: session.Summary{Key: session.Key{Tenant: tenant}}}
			if err := row.Scan(append(sum.targets(), &sum.Key.Stream)...); err != nil {
				return sum.Summary, err
			}
			return sum.scanned()
		})
		return err
	})
	return sums, err
}
