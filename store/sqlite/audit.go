package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/rosterrun/roster/identity/audit"
)

var _ audit.Store = (*Store)(nil)

const auditColumns = `time, tenant, user, key, action, target, status, code, address, request, chain, times`

// Record implements audit.Store.
func (s *Store) Record(ctx context.Context, entries []audit.Entry) error {
	return s.do(ctx, func(w *writer) error {
		for i := range entries {
			e := &entries[i]
			if err := w.exec(`INSERT INTO audit (`+auditColumns+`) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`,
				micros(e.Time), e.Tenant, e.User, e.Key, e.Action, e.Target, int64(e.Status), e.Code, e.Address, e.Request, e.Chain, int64(e.Times)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Recorded implements audit.Store.
func (s *Store) Recorded(ctx context.Context, tenant string, q audit.Query) (list []audit.Entry, err error) {
	query, args := `SELECT `+auditColumns+`, id FROM audit WHERE time >= ?`, []any{micros(q.Since)}
	where := func(clause string, arg any) {
		query += clause
		args = append(args, arg)
	}
	if tenant != audit.AllTenants {
		where(` AND tenant = ?`, tenant)
	}
	if q.Before > 0 {
		where(` AND id < ?`, q.Before)
	}
	for _, f := range []struct{ clause, value string }{{` AND user = ?`, q.User}, {` AND key = ?`, q.Key}, {` AND action = ?`, q.Action}} {
		if f.value != "" {
			where(f.clause, f.value)
		}
	}
	if q.Refused {
		query += ` AND status IN (401, 403, 429)`
	}
	where(` ORDER BY id DESC LIMIT ?`, int64(q.Page()))
	err = s.read(ctx, func(c *conn) error {
		return c.query(query, func(row []driver.Value) bool {
			list = append(list, audit.Entry{
				Time: instant(row[0]), Tenant: str(row[1]), User: str(row[2]), Key: str(row[3]), Action: str(row[4]), Target: str(row[5]),
				Status: int(integer(row[6])), Code: str(row[7]), Address: str(row[8]), Request: str(row[9]), Chain: str(row[10]),
				Times: int(integer(row[11])), ID: integer(row[12]),
			})
			return true
		}, args...)
	})
	return list, err
}

// ForgetRecorded implements audit.Store.
func (s *Store) ForgetRecorded(ctx context.Context, before time.Time) error {
	return s.do(ctx, func(w *writer) error { return w.exec(`DELETE FROM audit WHERE time < ?`, micros(before)) })
}
