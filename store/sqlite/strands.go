package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/store/internal/jobs"
)

var _ ledger.Store = (*Store)(nil)

// ofRig narrows a statement, whose first two arguments name the rig.
const ofRig = `rig = (SELECT id FROM rigs WHERE tenant = ?1 AND name = ?2)`

// rig is a row of rigs.
type rig struct{ id, last int64 }

// rig returns the row of a rig; its id is 0 if there is none.
func (w *writer) rig(r ledger.Rig) (rig, error) {
	var row rig
	err := w.conn.query(`SELECT id, last FROM rigs WHERE tenant = ? AND name = ?`, func(v []driver.Value) bool {
		row = rig{integer(v[0]), integer(v[1])}
		return false
	}, r.Tenant, r.Name)
	if err != nil {
		return row, &fault{err}
	}
	return row, nil
}

// makeRig returns the row of a rig, and makes it.
func (w *writer) makeRig(r ledger.Rig) (rig, error) {
	row, err := w.rig(r)
	if err != nil || row.id != 0 {
		return row, err
	}
	if err := w.exec(`INSERT INTO rigs (tenant, name, last) VALUES (?,?,0)`, r.Tenant, r.Name); err != nil {
		return row, err
	}
	return w.rig(r)
}

// Strands implements ledger.Store.
func (s *Store) Strands(ctx context.Context, r ledger.Rig, knot string, paths ...string) (list []ledger.Strand, err error) {
	const query = `SELECT path, digest, size, modified, checked, skipped, rev FROM strands WHERE ` + ofRig + ` AND knot = ?3`
	add := func(row []driver.Value) bool {
		list = append(list, ledger.Strand{
			Knot: knot, Path: str(row[0]), Digest: str(row[1]), Size: integer(row[2]),
			ModTime: fine(row[3]), Checked: fine(row[4]), Skipped: str(row[5]), Rev: integer(row[6]),
		})
		return true
	}
	err = s.read(ctx, func(c *conn) error {
		if len(paths) == 0 {
			return c.query(query, add, r.Tenant, r.Name, knot)
		}
		for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
			if err := c.query(query+` AND path = ?4`, add, r.Tenant, r.Name, knot, path); err != nil {
				return err
			}
		}
		return nil
	})
	return list, err
}

// fine reads a time that is kept to the nanosecond.
func fine(v driver.Value) time.Time {
	ns, ok := v.(int64)
	if !ok {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

func nanos(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixNano()
}

// Note implements ledger.Store.
func (s *Store) Note(ctx context.Context, r ledger.Rig, changes []ledger.Change) (stale []int, err error) {
	if err := jobs.CheckChanges(changes); err != nil {
		return nil, err
	}
	err = s.do(ctx, func(w *writer) error {
		row, err := w.makeRig(r)
		if err != nil {
			return err
		}
		revs, err := w.revs(row.id, changes)
		if err != nil {
			return err
		}
		stale = jobs.Stale(changes, revs)
		strands, list := jobs.Accept(changes, stale)
		for _, st := range strands {
			if err := w.strand(row.id, st); err != nil {
				return err
			}
		}
		return w.enqueue(&row, list)
	})
	return stale, err
}

// revs reads the Rev of each row that changes are about.
func (w *writer) revs(rig int64, changes []ledger.Change) (map[jobs.Place]int64, error) {
	revs := make(map[jobs.Place]int64, len(changes))
	for i := range changes {
		at := jobs.PlaceOf(&changes[i].Strand)
		rev, err := w.number(`SELECT rev FROM strands WHERE rig = ? AND knot = ? AND path = ?`, rig, at.Knot, at.Path)
		if err != nil {
			return nil, err
		}
		revs[at] = rev
	}
	return revs, nil
}

// strand stores what is known of a file.
func (w *writer) strand(rig int64, st *ledger.Strand) error {
	return w.exec(`INSERT INTO strands (rig, knot, path, digest, size, modified, checked, skipped, rev) VALUES (?,?,?,?,?,?,?,?,1)
		ON CONFLICT (rig, knot, path) DO UPDATE SET (digest, size, modified, checked, skipped, rev)
		= (excluded.digest, excluded.size, excluded.modified, excluded.checked, excluded.skipped, rev + 1)`,
		rig, st.Knot, st.Path, st.Digest, st.Size, nanos(st.ModTime), nanos(st.Checked), st.Skipped)
}

// Wrote implements ledger.Store.
func (s *Store) Wrote(ctx context.Context, r ledger.Rig, files []ledger.Written) error {
	return s.do(ctx, func(w *writer) error {
		row, err := w.makeRig(r)
		if err != nil {
			return err
		}
		now := w.now().UnixMicro()
		for i := range files {
			f := &files[i]
			if err := w.exec(`INSERT OR REPLACE INTO written (rig, path, digest, job, knot, hops, time) VALUES (?,?,?,?,?,?,?)`,
				row.id, f.Path, f.Digest, f.Job, f.Knot, int64(f.Hops), now); err != nil {
				return err
			}
		}
		return nil
	})
}

// Writer implements ledger.Store.
func (s *Store) Writer(ctx context.Context, r ledger.Rig, path, digest string) (f ledger.Written, ok bool, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(`SELECT job, knot, hops FROM written WHERE `+ofRig+` AND path = ?3 AND digest = ?4`, func(row []driver.Value) bool {
			f = ledger.Written{Path: path, Digest: digest, Job: str(row[0]), Knot: str(row[1]), Hops: int(integer(row[2]))}
			ok = true
			return false
		}, r.Tenant, r.Name, path, digest)
	})
	return f, ok, err
}

// Forget implements ledger.Store.
func (s *Store) Forget(ctx context.Context, r ledger.Rig, before time.Time) error {
	return s.do(ctx, func(w *writer) error {
		gone := `DELETE FROM strands WHERE ` + ofRig + ` AND digest = '' AND skipped = '' AND modified IS NULL AND checked < ?3`
		if err := w.exec(gone, r.Tenant, r.Name, nanos(before)); err != nil {
			return err
		}
		for _, query := range []string{
			`DELETE FROM jobs WHERE ` + ofRig + ` AND state = 'done' AND ended < ?3`,
			`DELETE FROM job_costs WHERE ` + ofRig + ` AND time < ?3`,
			`DELETE FROM written WHERE ` + ofRig + ` AND time < ?3`,
		} {
			if err := w.exec(query, r.Tenant, r.Name, micros(before)); err != nil {
				return err
			}
		}
		return nil
	})
}
