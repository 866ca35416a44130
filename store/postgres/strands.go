package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/store/internal/jobs"
)

var _ ledger.Store = (*Store)(nil)

// ofRig narrows a statement, whose first two arguments name the rig.
const ofRig = `rig = (SELECT id FROM rigs WHERE tenant = $1 AND name = $2)`

// rig is a row of rigs.
type rig struct{ id, last int64 }

// lockRig returns the row of a rig, or is pgx.ErrNoRows. Until the transaction
// ends nobody else queues, claims or settles jobs of the rig: so they are seen in the
// order of their places, and limits are kept.
func (t *tx) lockRig(r ledger.Rig) (row rig, err error) {
	err = t.QueryRow(t.ctx, `SELECT id, last FROM rigs WHERE tenant = $1 AND name = $2 FOR NO KEY UPDATE`, r.Tenant, r.Name).Scan(&row.id, &row.last)
	return row, err
}

// makeRig is lockRig for a rig that may be new.
func (t *tx) makeRig(r ledger.Rig) (rig, error) {
	row, err := t.lockRig(r)
	if !errors.Is(err, pgx.ErrNoRows) {
		return row, err
	}
	if err := t.exec(`INSERT INTO rigs (tenant, name, last) VALUES ($1,$2,0) ON CONFLICT DO NOTHING`, r.Tenant, r.Name); err != nil {
		return row, err
	}
	return t.lockRig(r)
}

// Strands implements ledger.Store.
func (s *Store) Strands(ctx context.Context, r ledger.Rig, knot string, paths ...string) (list []ledger.Strand, err error) {
	query, args := `SELECT path, digest, size, modified, checked, skipped, rev FROM strands WHERE `+ofRig+` AND knot = $3`, []any{r.Tenant, r.Name, knot}
	if len(paths) > 0 {
		query, args = query+` AND path = ANY ($4::bytea[])`, append(args, manyBytes(paths))
	}
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		var path []byte
		var modified, checked *int64
		st := ledger.Strand{Knot: knot}
		_, err = pgx.ForEachRow(rows, []any{&path, &st.Digest, &st.Size, &modified, &checked, &st.Skipped, &st.Rev}, func() error {
			st.Path, st.ModTime, st.Checked = string(path), fine(modified), fine(checked)
			list = append(list, st)
			return nil
		})
		return err
	})
	return list, err
}

func manyBytes(list []string) [][]byte {
	many := make([][]byte, len(list))
	for i, text := range list {
		many[i] = []byte(text)
	}
	return many
}

// fine is a time that is kept to the nanosecond.
func fine(ns *int64) time.Time {
	if ns == nil {
		return time.Time{}
	}
	return time.Unix(0, *ns).UTC()
}

func nanos(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ns := t.UnixNano()
	return &ns
}

// Note implements ledger.Store.
func (s *Store) Note(ctx context.Context, r ledger.Rig, changes []ledger.Change) (stale []int, err error) {
	if err := jobs.CheckChanges(changes); err != nil {
		return nil, err
	}
	err = s.do(ctx, func(t *tx) error {
		row, err := t.makeRig(r)
		if err != nil {
			return err
		}
		revs, err := t.revs(row.id, changes)
		if err != nil {
			return err
		}
		stale = jobs.Stale(changes, revs)
		strands, list := jobs.Accept(changes, stale)
		if err := t.strands(row.id, strands); err != nil {
			return err
		}
		return t.enqueue(&row, list)
	})
	return stale, err
}

// revs reads the Rev of each row that changes are about.
func (t *tx) revs(rig int64, changes []ledger.Change) (map[jobs.Place]int64, error) {
	knots, paths := make([]string, len(changes)), make([][]byte, len(changes))
	for i := range changes {
		knots[i], paths[i] = changes[i].Knot, []byte(changes[i].Path)
	}
	rows, err := t.Query(t.ctx, `SELECT s.knot, s.path, s.rev FROM unnest($2::text[], $3::bytea[]) AS c (knot, path)
		JOIN strands s ON s.rig = $1 AND s.knot = c.knot AND s.path = c.path`, rig, knots, paths)
	if err != nil {
		return nil, err
	}
	revs := make(map[jobs.Place]int64, len(changes))
	var knot string
	var path []byte
	var rev int64
	_, err = pgx.ForEachRow(rows, []any{&knot, &path, &rev}, func() error {
		revs[jobs.Place{Knot: knot, Path: string(path)}] = rev
		return nil
	})
	return revs, err
}

// strands stores what is known of files. The rig is locked.
func (t *tx) strands(rig int64, list []*ledger.Strand) error {
	var b pgx.Batch
	for _, st := range list {
		b.Queue(`INSERT INTO strands (rig, knot, path, digest, size, modified, checked, skipped, rev) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,1)
			ON CONFLICT (rig, knot, path) DO UPDATE SET (digest, size, modified, checked, skipped, rev)
			= (excluded.digest, excluded.size, excluded.modified, excluded.checked, excluded.skipped, strands.rev + 1)`,
			rig, st.Knot, []byte(st.Path), st.Digest, st.Size, nanos(st.ModTime), nanos(st.Checked), storable(st.Skipped))
	}
	return t.SendBatch(t.ctx, &b).Close()
}

// Wrote implements ledger.Store.
func (s *Store) Wrote(ctx context.Context, r ledger.Rig, files []ledger.Written) error {
	return s.do(ctx, func(t *tx) error {
		row, err := t.makeRig(r)
		if err != nil {
			return err
		}
		now, err := t.now()
		if err != nil {
			return err
		}
		var b pgx.Batch
		for i := range files {
			f := &files[i]
			b.Queue(`INSERT INTO written (rig, path, digest, job, knot, hops, time) VALUES ($1,$2,$3,$4,$5,$6,$7)
				ON CONFLICT (rig, path, digest) DO UPDATE SET (job, knot, hops, time) = (excluded.job, excluded.knot, excluded.hops, excluded.time)`,
				row.id, []byte(f.Path), f.Digest, f.Job, f.Knot, f.Hops, now)
		}
		return t.SendBatch(t.ctx, &b).Close()
	})
}

// Writer implements ledger.Store.
func (s *Store) Writer(ctx context.Context, r ledger.Rig, path, digest string) (f ledger.Written, ok bool, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		found := ledger.Written{Path: path, Digest: digest}
		err := t.QueryRow(ctx, `SELECT job, knot, hops FROM written WHERE `+ofRig+` AND path = $3 AND digest = $4`, r.Tenant, r.Name, []byte(path), digest).
			Scan(&found.Job, &found.Knot, &found.Hops)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		f, ok = found, err == nil
		return err
	})
	return f, ok, err
}

// Forget implements ledger.Store.
func (s *Store) Forget(ctx context.Context, r ledger.Rig, before time.Time) error {
	return s.do(ctx, func(t *tx) error {
		gone := `DELETE FROM strands WHERE ` + ofRig + ` AND digest = '' AND skipped = '' AND modified IS NULL AND checked < $3`
		if err := t.exec(gone, r.Tenant, r.Name, nanos(before)); err != nil {
			return err
		}
		for _, query := range []string{
			`DELETE FROM jobs WHERE ` + ofRig + ` AND state = 'done' AND ended < $3`,
			`DELETE FROM job_costs WHERE ` + ofRig + ` AND time < $3`,
			`DELETE FROM written WHERE ` + ofRig + ` AND time < $3`,
		} {
			if err := t.exec(query, r.Tenant, r.Name, before); err != nil {
				return err
			}
		}
		return nil
	})
}
