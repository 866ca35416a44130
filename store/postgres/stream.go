package postgres

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
)

// stream is a row of streams, locked until the transaction ends.
type stream struct {
	id      int64 // 0: there is no row yet
	sum     session.Summary
	epoch   int64
	owner   string // empty: free
	waiting time.Time
}

func (st *stream) holds(l session.Lease) bool {
	return st.owner != "" && st.owner == l.Worker && st.epoch == l.Epoch
}

const (
	// columns are those of a summary, in the order of scan and values.
	columns = `last, shared, profile, title, created, updated, last_active,
		turns, input, output, cache_read, cache_write, cost, estimated,
		open, suspended, failed, prompts, notes, held, until, children, asking, settings, origin, why, payers`

	streamQuery = `SELECT ` + columns + `, id, epoch, worker, waiting
		FROM streams WHERE tenant = $1 AND stream = $2 FOR NO KEY UPDATE`

	streamInsert = `INSERT INTO streams (` + columns + `, epoch, worker, waiting, runnable, status, tenant, stream)
		VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31,$32,$33,$34)
		ON CONFLICT DO NOTHING RETURNING id`

	streamUpdate = `UPDATE streams SET (` + columns + `, epoch, worker, waiting, runnable, status)
		= ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17,$18,$19,$20,$21,$22,$23,$24,$25,$26,$27,$28,$29,$30,$31,$32) WHERE id = $33`
)

// summary scans a summary; until may be null, and settings and payers are texts.
type summary struct {
	session.Summary
	until    *time.Time
	settings string
	payers   string
}

func (s *summary) targets() []any {
	return append(make([]any, 0, 28),
		&s.Last, &s.Shared, &s.Profile, &s.Title, &s.Created, &s.Updated, &s.LastActive,
		&s.Turns, &s.Usage.Input, &s.Usage.Output, &s.Usage.CacheRead, &s.Usage.CacheWrite, &s.Usage.Cost, &s.Usage.Estimated,
		&s.Open, &s.Suspended, &s.Failed, &s.Prompts, &s.Notes, &s.Held, &s.until, &s.Children, &s.Asking, &s.settings, &s.Origin, &s.Why, &s.payers)
}

func (s *summary) scanned() (session.Summary, error) {
	out := s.Summary
	out.Created, out.Updated, out.LastActive = out.Created.UTC(), out.Updated.UTC(), out.LastActive.UTC()
	if s.until != nil {
		out.Until = s.until.UTC()
	}
	var unread, unpaid error
	out.Settings, unread = session.ParseSettings(s.settings)
	out.Payers, unpaid = session.ParsePayers(s.payers)
	if err := errors.Join(unread, unpaid); err != nil {
		return out, fmt.Errorf("session %s: %w", s.Key.Stream, err)
	}
	return out, nil
}

func values(s *session.Summary) []any {
	return append(make([]any, 0, 32),
		s.Last, s.Shared, storable(s.Profile), storable(s.Title), s.Created, s.Updated, s.LastActive,
		s.Turns, s.Usage.Input, s.Usage.Output, s.Usage.CacheRead, s.Usage.CacheWrite, s.Usage.Cost, s.Usage.Estimated,
		s.Open, s.Suspended, s.Failed, s.Prompts, s.Notes, s.Held, orNull(s.Until), s.Children, s.Asking,
		storable(s.Settings.Text()), s.Origin, storable(s.Why), storable(session.PayersText(s.Payers)))
}

// storable is a text for people as the database can hold it.
func storable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func orNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// stream locks and returns the row of a stream, or nil.
func (t *tx) stream(k session.Key) (*stream, error) {
	st := &stream{}
	sum := summary{Summary: session.Summary{Key: k}}
	var owner *string
	var waiting *time.Time
	err := t.QueryRow(t.ctx, streamQuery, k.Tenant, k.Stream).Scan(append(sum.targets(), &st.id, &st.epoch, &owner, &waiting)...)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if st.sum, err = sum.scanned(); err != nil {
		return nil, err
	}
	if owner != nil {
		st.owner = *owner
	}
	if waiting != nil {
		st.waiting = waiting.UTC()
	}
	return st, nil
}

// save writes the row. Whether the stream is free, and since when it waits,
// follows from whether there is something to do.
func (t *tx) save(st *stream) error {
	runnable := st.sum.Runnable()
	if !runnable {
		st.owner, st.waiting = "", time.Time{}
	} else if st.waiting.IsZero() {
		var err error
		if st.waiting, err = t.now(); err != nil {
			return err
		}
	}
	var owner *string
	if st.owner != "" {
		owner = &st.owner
	}
	args := append(values(&st.sum), st.epoch, owner, orNull(st.waiting), runnable, string(st.sum.Status()))
	if st.id != 0 {
		return t.exec(streamUpdate, append(args, st.id)...)
	}
	err := t.QueryRow(t.ctx, streamInsert, append(args, st.sum.Key.Tenant, st.sum.Key.Stream)...).Scan(&st.id)
	if errors.Is(err, pgx.ErrNoRows) {
		return errAgain
	}
	return err
}
