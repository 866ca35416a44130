package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/page"
)

const (
	feedInsert = `INSERT INTO feed (tenant, stream, first, last) VALUES ($1,$2,$3,$4)`

	feedQuery = `SELECT f.pos, s.stream, e.seq, e.v, e.session, e.loop, e.turn, e.agent, e.depth, e.chain, e.time, e.type, e.data, e.refs
		FROM (SELECT pos, stream, first, last FROM feed WHERE tenant = $1 AND pos >= $2 AND stream IS NOT NULL ORDER BY pos LIMIT $4 + 1) f
		JOIN streams s ON s.id = f.stream JOIN events e ON e.stream = f.stream AND e.seq BETWEEN f.first AND f.last
		WHERE f.pos > $2 OR e.seq > $3
		ORDER BY f.pos, e.seq LIMIT $4`

	feedEndQuery = `SELECT pos, last FROM feed WHERE tenant = $1 AND pos IS NOT NULL ORDER BY pos DESC LIMIT 1`

	feedNewQuery = `SELECT EXISTS (SELECT 1 FROM feed WHERE tenant = $1 AND pos IS NULL)`

	// feedLock keeps two from giving places in one feed at the same time. It is a
	// statement of its own: the next one sees what the other has done.
	feedLock = `SELECT pg_advisory_xact_lock(hashtextextended('feed/' || $1, 0))`

	// feedPlace keeps the order of each stream: of its commits, a later one has a
	// higher id.
	feedPlace = `UPDATE feed SET pos = n.pos FROM (
			SELECT id, (SELECT coalesce(max(pos), 0) FROM feed WHERE tenant = $1 AND pos IS NOT NULL) + row_number() OVER (ORDER BY id) AS pos
			FROM (SELECT id FROM feed WHERE tenant = $1 AND pos IS NULL ORDER BY id LIMIT $2) one
		) n WHERE feed.id = n.id`
)

// placeAtOnce bounds how many commits get their places in one transaction.
const placeAtOnce = 2000

// ReadFeed implements session.Feed. Events that are committed while it goes on
// are yielded too.
func (s *Store) ReadFeed(ctx context.Context, tenant string, after session.Position) iter.Seq2[session.Fed, error] {
	return page.Feed(ctx, after, func(after session.Position) ([]session.Fed, bool, error) {
		if _, err := s.place(ctx, tenant); err != nil {
			return nil, false, err
		}
		return s.feedPage(ctx, tenant, after)
	})
}

// place gives places to commits that have none, and says whether there may be
// more of them.
func (s *Store) place(ctx context.Context, tenant string) (more bool, err error) {
	err = s.read(ctx, func(t pgx.Tx) error { return t.QueryRow(ctx, feedNewQuery, tenant).Scan(&more) })
	if err != nil || !more {
		return false, err
	}
	err = s.do(ctx, func(t *tx) error {
		if err := t.exec(feedLock, tenant); err != nil {
			return err
		}
		placed, err := t.Exec(t.ctx, feedPlace, tenant, placeAtOnce)
		more = placed.RowsAffected() == placeAtOnce
		return err
	})
	return more, err
}

// feedPage returns the next events, and whether there may be more.
func (s *Store) feedPage(ctx context.Context, tenant string, after session.Position) (fed []session.Fed, more bool, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, feedQuery, tenant, after.Commit, after.Seq, page.Events)
		if err != nil {
			return err
		}
		defer rows.Close()
		for size := 0; !more && rows.Next(); {
			f := session.Fed{Key: session.Key{Tenant: tenant}}
			e := &f.Event
			var v int32
			err := rows.Scan(&f.At.Commit, &f.Key.Stream,
				&e.Seq, &v, &e.Session, &e.Loop, &e.Turn, &e.Agent, &e.Depth, &e.Chain, &e.Time, &e.Type, &e.Data, &e.Refs)
			if err != nil {
				return err
			}
			e.V, e.Time, f.At.Seq = uint16(v), e.Time.UTC(), e.Seq
			fed = append(fed, f)
			size += len(e.Data)
			more = len(fed) == page.Events || size >= page.Bytes
		}
		rows.Close()
		return rows.Err()
	})
	return fed, more && err == nil, err
}

// FeedEnd implements session.Feed.
func (s *Store) FeedEnd(ctx context.Context, tenant string) (end session.Position, err error) {
	for more := true; more; {
		if more, err = s.place(ctx, tenant); err != nil {
			return end, err
		}
	}
	err = s.read(ctx, func(t pgx.Tx) error {
		err := t.QueryRow(ctx, feedEndQuery, tenant).Scan(&end.Commit, &end.Seq)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	return end, err
}
