package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/identity/audit"
)

var _ audit.Store = (*Store)(nil)

const auditColumns = `time, tenant, "user", key, action, target, status, code, address, request, chain, times`

// Record implements audit.Store.
func (s *Store) Record(ctx context.Context, entries []audit.Entry) error {
	return s.do(ctx, func(t *tx) error {
		var b pgx.Batch
		for i := range entries {
			e := &entries[i]
			b.Queue(`INSERT INTO audit (`+auditColumns+`) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)`,
				e.Time, e.Tenant, e.User, e.Key, e.Action, e.Target, e.Status, e.Code, e.Address, e.Request, e.Chain, e.Times)
		}
		return t.SendBatch(t.ctx, &b).Close()
	})
}

// Recorded implements audit.Store.
func (s *Store) Recorded(ctx context.Context, tenant string, q audit.Query) (list []audit.Entry, err error) {
	query, args := `SELECT id, `+auditColumns+` FROM audit WHERE true`, []any(nil)
	where := func(clause string, arg any) {
		args = append(args, arg)
		query += fmt.Sprintf(clause, len(args))
	}
	if tenant != audit.AllTenants {
		where(` AND tenant = $%d`, tenant)
	}
	if !q.Since.IsZero() {
		where(` AND time >= $%d`, q.Since)
	}
	if q.Before > 0 {
		where(` AND id < $%d`, q.Before)
	}
	for _, f := range []struct{ clause, value string }{{` AND "user" = $%d`, q.User}, {` AND key = $%d`, q.Key}, {` AND action = $%d`, q.Action}} {
		if f.value != "" {
			where(f.clause, f.value)
		}
	}
	if q.Refused {
		query += ` AND status IN (401, 403, 429)`
	}
	where(` ORDER BY id DESC LIMIT $%d`, q.Page())
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e audit.Entry, err error) {
			err = row.Scan(&e.ID, &e.Time, &e.Tenant, &e.User, &e.Key, &e.Action, &e.Target, &e.Status, &e.Code, &e.Address, &e.Request, &e.Chain, &e.Times)
			e.Time = e.Time.UTC()
			return e, err
		})
		return err
	})
	return list, err
}

// ForgetRecorded implements audit.Store.
func (s *Store) ForgetRecorded(ctx context.Context, before time.Time) error {
	return s.do(ctx, func(t *tx) error { return t.exec(`DELETE FROM audit WHERE time < $1`, before) })
}
