package postgres

import (
	"context"
	"crypto/sha256"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
)

// Post implements session.Store.
func (s *Store) Post(ctx context.Context, k session.Key, p session.Post) (session.Posted, error) {
	if err := admit.Post(k, &p, s.local); err != nil {
		return session.Posted{}, err
	}
	var digest [sha256.Size]byte
	if p.Idem != "" {
		digest = admit.Digest(p.Events)
	}
	var done session.Posted
	err := s.do(ctx, func(t *tx) (err error) {
		if done, err = t.postOnce(k, &p, digest[:]); err != nil || done.Duplicate {
			return err
		}
		return s.tell(t)
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
func (t *tx) postOnce(k session.Key, p *session.Post, digest []byte) (session.Posted, error) {
	if p.Idem == "" {
		_, done, err := t.post(k, p)
		return done, err
	}
	now, err := t.now()
	if err != nil {
		return session.Posted{}, err
	}
	if err := t.exec(`SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))`, k.Tenant, p.Idem); err != nil {
		return session.Posted{}, err
	}
	old := session.Posted{Key: session.Key{Tenant: k.Tenant}, Duplicate: true}
	var before []byte
	err = t.QueryRow(t.ctx, `SELECT s.stream, p.first, p.last, p.digest FROM posts p JOIN streams s ON s.id = p.stream
		WHERE p.tenant = $1 AND p.idem = $2 AND p.until > $3`, k.Tenant, p.Idem, now).Scan(&old.Key.Stream, &old.First, &old.Last, &before)
	switch {
	case err == nil && string(before) == string(digest):
		return old, nil
	case err == nil:
		return session.Posted{}, &session.Conflict{Idem: p.Idem}
	case !errors.Is(err, pgx.ErrNoRows):
		return session.Posted{}, err
	}
	st, done, err := t.post(k, p)
	if err != nil {
		return done, err
	}
	err = t.exec(`DELETE FROM posts WHERE (tenant, idem) IN
		(SELECT tenant, idem FROM posts WHERE until <= $1 ORDER BY until LIMIT $2 FOR UPDATE SKIP LOCKED)`, now, admit.IdemPurge)
	if err != nil {
		return done, err
	}
	return done, t.exec(`INSERT INTO posts (tenant, idem, digest, stream, first, last, until) VALUES ($1,$2,$3,$4,$5,$6,$7)
		ON CONFLICT (tenant, idem) DO UPDATE SET (digest, stream, first, last, until)
		= (excluded.digest, excluded.stream, excluded.first, excluded.last, excluded.until)`,
		k.Tenant, p.Idem, digest, st.id, done.First, done.Last, now.Add(admit.IdemTime))
}

func (t *tx) post(k session.Key, p *session.Post) (*stream, session.Posted, error) {
	st, err := t.stream(k)
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
	sum, _, err := follow(st.sum, p.Events)
	if err != nil {
		return nil, session.Posted{}, err
	}
	done := session.Posted{Key: k, First: st.sum.Last + 1, Last: sum.Last}
	if p.Worker != "" && st.owner == "" && sum.Runnable() {
		l, err := t.take(st, p.Worker, session.TakeoverNone)
		if err != nil {
			return nil, session.Posted{}, err
		}
		done.Lease = &l
	}
	return st, done, t.add(st, p.Events, false) // what is posted uses nothing
}
