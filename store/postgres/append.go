package postgres

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

// local is the clock for events that come without a time.
func (s *Store) local() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// Append implements session.Store.
func (s *Store) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	if err := admit.Append(k, evs, s.local); err != nil {
		return 0, err
	}
	err := s.do(ctx, func(t *tx) error {
		st, err := t.stream(k)
		switch {
		case err != nil:
			return err
		case st == nil:
			return session.ErrNoStream
		case !st.holds(l):
			return &session.Fenced{Key: k, Held: l.Epoch, Epoch: st.epoch}
		case after != st.sum.Last:
			return t.behind(st, after)
		}
		return t.add(st, evs, true)
	})
	if err != nil {
		return 0, err
	}
	for i := range evs {
		after++
		evs[i].Seq = after
	}
	return after, nil
}

// behind tells an owner, whose number is not the last one, what it has missed.
func (t *tx) behind(st *stream, after int64) error {
	k := st.sum.Key
	if after < 0 || after > st.sum.Last {
		return &refused{admit.Stale(k, after, st.sum.Last)}
	}
	rows, err := t.Query(t.ctx, eventsQuery, k.Tenant, k.Stream, after, st.sum.Last-after)
	if err != nil {
		return err
	}
	missed, err := pgx.CollectRows(rows, scanEvent)
	if err != nil {
		return err
	}
	for i := range missed {
		if !session.Inbound(missed[i].Type) {
			return &refused{admit.Stale(k, after, st.sum.Last)}
		}
	}
	return &session.Behind{Key: k, Events: missed}
}

// add writes the events and the stream that holds them, and counts their use or
// does not.
func (t *tx) add(st *stream, evs []session.Event, counts bool) error {
	first := st.sum.Last + 1
	sum, tally, err := follow(st.sum, evs)
	if err != nil {
		return err
	}
	blobs, err := t.refs(st, evs)
	if err != nil {
		return err
	}
	st.sum = sum
	if err := t.save(st); err != nil {
		return err
	}
	b := &pgx.Batch{}
	for i := range evs {
		e := &evs[i]
		b.Queue(`INSERT INTO events (stream, seq, v, session, loop, turn, agent, depth, chain, time, type, data, refs)
			VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13)`,
			st.id, first+int64(i), int32(e.V), e.Session, e.Loop, e.Turn, e.Agent, e.Depth, e.Chain, e.Time, e.Type, e.Data, e.Refs)
	}
	if len(evs) > 0 {
		b.Queue(feedInsert, sum.Key.Tenant, st.id, first, sum.Last)
	}
	if len(blobs) > 0 {
		b.Queue(`INSERT INTO blob_refs (blob, stream) SELECT unnest($1::bigint[]), $2 ON CONFLICT DO NOTHING`, blobs, st.id)
		b.Queue(`UPDATE blobs SET needed = true WHERE id = ANY ($1) AND NOT needed`, blobs)
	}
	if counts {
		count(b, st.id, tally)
	}
	return t.SendBatch(t.ctx, b).Close()
}

// follow returns the summary with the events that come after it, and what they use.
func follow(sum session.Summary, evs []session.Event) (session.Summary, session.Tally, error) {
	var tally session.Tally
	for i := range evs {
		e := evs[i] // its number is set when it is stored
		e.Seq = sum.Last + 1
		if err := cmp.Or(tally.Add(&sum, &e), sum.Apply(&e)); err != nil {
			return sum, nil, &refused{err}
		}
	}
	return sum, tally, nil
}

// refs finds the blobs that the events name, and keeps them from being removed.
func (t *tx) refs(st *stream, evs []session.Event) (ids []int64, err error) {
	var digests []string
	for i := range evs {
		digests = append(digests, evs[i].Refs...)
	}
	if len(digests) == 0 {
		return nil, nil
	}
	rows, err := t.Query(t.ctx, `SELECT id, digest FROM blobs WHERE tenant = $1 AND digest = ANY ($2) ORDER BY id FOR NO KEY UPDATE`,
		st.sum.Key.Tenant, digests)
	if err != nil {
		return nil, err
	}
	there := map[string]bool{}
	var id int64
	var digest string
	_, err = pgx.ForEachRow(rows, []any{&id, &digest}, func() error {
		ids, there[digest] = append(ids, id), true
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range evs {
		for _, d := range evs[i].Refs {
			if !there[d] {
				return nil, admit.MissingBlob(st.sum.Key, &evs[i], d)
			}
		}
	}
	return ids, nil
}
