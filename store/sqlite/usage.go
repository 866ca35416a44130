package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"github.com/pressly/goose/v3"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/ledger"
)

const usageUpsert = `INSERT INTO usage (` + ledger.Columns + `) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
	ON CONFLICT (tenant, day, profile, model, who, key_id)` + ledger.Upsert

// count adds what a commit has used.
func (w *writer) count(t session.Tally) error {
	for i := range t {
		w.args = ledger.Append(w.args[:0], &t[i])
		if err := w.exec(usageUpsert, w.args...); err != nil {
			return err
		}
	}
	return nil
}

// Usage implements session.Store.
func (s *Store) Usage(ctx context.Context, tenant string, q session.UsageQuery) (sums []session.Used, err error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	query, args := ledger.Select(tenant, &q, func(int) string { return "?" })
	err = s.read(ctx, func(c *conn) error {
		return c.query(query, func(row []driver.Value) bool {
			sums = append(sums, scanUsed(row))
			return true
		}, args...)
	})
	return q.Order(sums), err
}

func scanUsed(row []driver.Value) session.Used {
	return session.Used{
		Tenant: str(row[0]), Day: session.Day(integer(row[1])),
		Account: session.Account{Profile: str(row[2]), Model: str(row[3]), User: str(row[4]), KeyID: str(row[5])},
		Loops:   integer(row[6]), Turns: integer(row[7]), Errors: integer(row[8]),
		Usage: message.Usage{
			Input: integer(row[9]), Output: integer(row[10]), CacheRead: integer(row[11]), CacheWrite: integer(row[12]),
			Cost: real(row[13]), Estimated: truth(row[14]),
		},
	}
}

// countLog is the step of the migrations that counts what older versions have
// stored.
func countLog() *goose.Migration {
	return goose.NewGoMigration(10, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		tally, payers, err := ledger.Fold(ctx, tx, "e.time")
		if err != nil {
			return err
		}
		for i := range tally {
			if _, err := tx.ExecContext(ctx, usageUpsert, ledger.Values(&tally[i])...); err != nil {
				return err
			}
		}
		for id, p := range payers {
			if _, err := tx.ExecContext(ctx, `UPDATE streams SET payers = ? WHERE id = ?`, session.PayersText(p), id); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `PRAGMA user_version = 10`)
		return err
	}}, nil)
}
