package sqlite

import (
	"context"
	"database/sql/driver"
	"iter"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/page"
	"github.com/rosterrun/roster/store/internal/recent"
)

const (
	// feedQuery goes along the feed: CROSS JOIN keeps SQLite from another order.
	feedQuery = `SELECT e.seq, e.v, e.session, e.loop, e.turn, e.agent, e.depth, e.chain, e.time, e.type, e.data, e.refs, f.pos, s.stream
		FROM feed f CROSS JOIN streams s ON s.id = f.stream CROSS JOIN events e ON e.stream = f.stream AND e.seq BETWEEN f.first AND f.last
		WHERE f.tenant = ? AND f.pos >= ? AND (f.pos > ? OR e.seq > ?)
		ORDER BY f.pos, e.seq`

	feedEndQuery = `SELECT pos, last FROM feed WHERE tenant = ? ORDER BY pos DESC LIMIT 1`
)

// ReadFeed implements session.Feed. Events that are committed while it goes on
// are yielded too.
func (s *Store) ReadFeed(ctx context.Context, tenant string, after session.Position) iter.Seq2[session.Fed, error] {
	return page.Feed(ctx, after, func(after session.Position) ([]session.Fed, bool, error) { return s.feedPage(ctx, tenant, after) })
}

func (s *Store) feedPage(ctx context.Context, tenant string, after session.Position) (fed []session.Fed, more bool, err error) {
	size := 0
	err = s.read(ctx, func(c *conn) error {
		return c.query(feedQuery, func(row []driver.Value) bool {
			e := scanEvent(row)
			fed = append(fed, session.Fed{
				Key: session.Key{Tenant: tenant, Stream: str(row[13])}, At: session.Position{Commit: integer(row[12]), Seq: e.Seq}, Event: e,
			})
			size += len(e.Data)
			more = len(fed) == page.Events || size >= page.Bytes
			return !more
		}, tenant, after.Commit, after.Commit, after.Seq)
	})
	return fed, more && err == nil, err
}

// FeedEnd implements session.Feed.
func (s *Store) FeedEnd(ctx context.Context, tenant string) (end session.Position, err error) {
	err = s.read(ctx, func(c *conn) error {
		end, err = feedEnd(c, tenant)
		return err
	})
	return end, err
}

func feedEnd(c *conn, tenant string) (end session.Position, err error) {
	err = c.query(feedEndQuery, func(row []driver.Value) bool {
		end = session.Position{Commit: integer(row[0]), Seq: integer(row[1])}
		return false
	}, tenant)
	return end, err
}

// feed puts events that are being added at the end of the tenant's feed.
func (w *writer) feed(st *stream, first int64) error {
	tenant := st.sum.Key.Tenant
	pos, ok := w.known.feeds[tenant]
	if !ok {
		end, err := feedEnd(w.conn, tenant)
		if err != nil {
			return &fault{err}
		}
		pos = end.Commit
	}
	pos++
	if err := w.exec(`INSERT INTO feed (tenant, pos, stream, first, last) VALUES (?,?,?,?,?)`, tenant, pos, st.id, first, st.sum.Last); err != nil {
		return err
	}
	recent.Add(w.known.feeds, tenant, pos, maxFeeds)
	return nil
}
