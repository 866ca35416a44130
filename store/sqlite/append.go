package sqlite

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"strings"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
	"github.com/rosterrun/roster/store/internal/recent"
)

// Append implements session.Store.
func (s *Store) Append(ctx context.Context, k session.Key, l session.Lease, after int64, evs []session.Event) (int64, error) {
	if err := admit.Append(k, evs, s.now); err != nil {
		return 0, err
	}
	last := after
	err := s.do(ctx, func(w *writer) error { return w.append(k, l, after, evs) })
	if err != nil {
		return 0, err
	}
	for i := range evs {
		last++
		evs[i].Seq = last
	}
	return last, nil
}

func (w *writer) append(k session.Key, l session.Lease, after int64, evs []session.Event) error {
	st, err := w.stream(k)
	if err != nil {
		return err
	}
	switch {
	case st == nil:
		return session.ErrNoStream
	case !st.holds(l):
		return &session.Fenced{Key: k, Held: l.Epoch, Epoch: st.epoch}
	case after != st.sum.Last:
		return w.behind(st, after)
	}
	sum, tally, err := w.check(st, evs)
	if err != nil {
		return err
	}
	if err := w.add(st, sum, evs); err != nil {
		return err
	}
	return w.count(tally)
}

// behind tells an owner, whose number is not the last one, what it has missed.
func (w *writer) behind(st *stream, after int64) error {
	k := st.sum.Key
	if after < 0 || after > st.sum.Last {
		return admit.Stale(k, after, st.sum.Last)
	}
	var missed []session.Event
	inbound := true
	err := w.conn.query(eventsQuery, func(row []driver.Value) bool {
		e := scanEvent(row)
		inbound = inbound && session.Inbound(e.Type)
		missed = append(missed, e)
		return inbound
	}, k.Tenant, k.Stream, after)
	if err != nil {
		return &fault{err}
	}
	if !inbound {
		return admit.Stale(k, after, st.sum.Last)
	}
	return &session.Behind{Key: k, Events: missed}
}

// Post implements session.Store.
func (s *Store) Post(ctx context.Context, k session.Key, p session.Post) (session.Posted, error) {
	if err := admit.Post(k, &p, s.now); err != nil {
		return session.Posted{}, err
	}
	var digest [sha256.Size]byte
	if p.Idem != "" {
		digest = admit.Digest(p.Events)
	}
	var done session.Posted
	err := s.do(ctx, func(w *writer) (err error) {
		done, err = w.postOnce(k, &p, digest[:])
		return err
	})
	if err != nil {
		return session.Posted{}, err
	}
	for i := range p.Events {
		p.Events[i].Seq = done.First + int64(i)
	}
	return done, nil
}

// postOnce posts unless the idempotency key was used before.
func (w *writer) postOnce(k session.Key, p *session.Post, digest []byte) (session.Posted, error) {
	if p.Idem == "" {
		_, done, err := w.post(k, p)
		return done, err
	}
	now := w.now()
	old, same, err := w.posted(k.Tenant, p.Idem, digest, now.UnixMicro())
	if err != nil {
		return old, err
	}
	if old.Duplicate {
		if !same {
			return session.Posted{}, &session.Conflict{Idem: p.Idem}
		}
		return old, nil
	}
	st, done, err := w.post(k, p)
	if err != nil {
		return done, err
	}
	err = w.exec(`DELETE FROM posts WHERE (tenant, idem) IN
		(SELECT tenant, idem FROM posts WHERE until <= ? ORDER BY until LIMIT ?)`, now.UnixMicro(), int64(admit.IdemPurge))
	if err != nil {
		return done, err
	}
	return done, w.exec(`INSERT OR REPLACE INTO posts (tenant, idem, digest, stream, first, last, until) VALUES (?,?,?,?,?,?,?)`,
		k.Tenant, p.Idem, digest, st.id, done.First, done.Last, now.Add(admit.IdemTime).UnixMicro())
}

// posted looks for an earlier post with the key; it is there if Duplicate is
// set.
func (w *writer) posted(tenant, idem string, digest []byte, now int64) (old session.Posted, same bool, err error) {
	err = w.conn.query(`SELECT s.stream, p.first, p.last, p.digest FROM posts p JOIN streams s ON s.id = p.stream
		WHERE p.tenant = ? AND p.idem = ? AND p.until > ?`, func(row []driver.Value) bool {
		old = session.Posted{
			Key:   session.Key{Tenant: tenant, Stream: str(row[0])},
			First: integer(row[1]), Last: integer(row[2]), Duplicate: true,
		}
		before, _ := row[3].([]byte)
		same = string(before) == string(digest)
		return false
	}, tenant, idem, now)
	if err != nil {
		return old, false, &fault{err}
	}
	return old, same, nil
}

func (w *writer) post(k session.Key, p *session.Post) (*stream, session.Posted, error) {
	st, err := w.stream(k)
	if err != nil {
		return nil, session.Posted{}, err
	}
	if st == nil {
		if !admit.Creates(p) {
			return nil, session.Posted{}, session.ErrNoStream
		}
		st = &stream{sum: session.Summary{Key: k}}
	}
	if p.OnlyIdle && !st.sum.AtRest() {
		return nil, session.Posted{}, &session.Busy{Key: k}
	}
	sum, _, err := w.check(st, p.Events) // what is posted uses nothing
	if err != nil {
		return nil, session.Posted{}, err
	}
	done := session.Posted{Key: k, First: st.sum.Last + 1, Last: sum.Last}
	if p.Worker != "" && st.owner == "" && sum.Runnable() {
		l, err := w.take(st, p.Worker, session.TakeoverNone)
		if err != nil {
			return nil, session.Posted{}, err
		}
		done.Lease = &l
	}
	return st, done, w.add(st, sum, p.Events)
}

// check finds out, without changing anything, whether the events can follow
// the stream's last, and returns the summary with them and what they use.
func (w *writer) check(st *stream, evs []session.Event) (session.Summary, session.Tally, error) {
	sum, tally := st.sum, w.tally[:0]
	defer func() { w.tally = tally }()
	for i := range evs {
		e := &evs[i]
		seq := e.Seq
		e.Seq = sum.Last + 1
		err := cmp.Or(tally.Add(&sum, e), sum.Apply(e))
		e.Seq = seq
		if err != nil {
			return sum, nil, err
		}
		for _, digest := range e.Refs {
			b, err := w.blob(recent.Blob{Tenant: st.sum.Key.Tenant, Digest: digest})
			if err != nil {
				return sum, nil, err
			}
			if b == nil {
				return sum, nil, admit.MissingBlob(st.sum.Key, e, digest)
			}
		}
	}
	return sum, tally, nil
}

// add writes the events and the stream that holds them.
func (w *writer) add(st *stream, sum session.Summary, evs []session.Event) error {
	first := st.sum.Last + 1
	st.sum = sum
	if err := w.save(st); err != nil {
		return err
	}
	if len(evs) > 0 {
		if err := w.feed(st, first); err != nil {
			return err
		}
	}
	for len(evs) > 0 {
		n := min(len(evs), maxRows)
		if err := w.insert(st, first, evs[:n]); err != nil {
			return err
		}
		first, evs = first+int64(n), evs[n:]
	}
	return nil
}

// maxRows is how many events one statement inserts at most. The statement for
// fewer is the beginning of the one for all.
const (
	maxRows    = 16
	insertHead = "INSERT INTO events (stream, seq, v, session, loop, turn, agent, depth, chain, time, type, data, refs) VALUES "
	insertRow  = "(?,?,?,?,?,?,?,?,?,?,?,?,?),"
	insertFour = insertRow + insertRow + insertRow + insertRow
	insertAll  = insertHead + insertFour + insertFour + insertFour + insertFour
)

func insertQuery(rows int) string { return insertAll[:len(insertHead)+rows*len(insertRow)-1] }

func (w *writer) insert(st *stream, first int64, evs []session.Event) error {
	args := w.args[:0]
	for i := range evs {
		e := &evs[i]
		var refs any
		if len(e.Refs) > 0 {
			refs = strings.Join(e.Refs, " ")
		}
		args = append(args, st.id, first+int64(i), int64(e.V), e.Session, e.Loop, int64(e.Turn), e.Agent,
			int64(e.Depth), e.Chain, e.Time.UnixMicro(), e.Type, e.Data, refs)
	}
	err := w.exec(insertQuery(len(evs)), args...)
	clear(args)
	w.args = args
	if err != nil {
		return err
	}
	for i := range evs {
		if err := w.refer(st, evs[i].Refs); err != nil {
			return err
		}
	}
	return nil
}
