package postgres

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/pressly/goose/v3"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/ledger"
)

// shards is over how many rows the use of one account on one day is spread.
const shards = 16

const usageUpsert = `INSERT INTO usage (` + ledger.Columns + `, shard) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16)
	ON CONFLICT (tenant, day, profile, model, who, key_id, shard)` + ledger.Upsert

// count has a batch add what a commit of a stream has used. Rows are locked in one
// order, so that commits wait for each other, and never in a circle.
func count(b *pgx.Batch, stream int64, t session.Tally) {
	slices.SortFunc(t, func(x, y session.Used) int { return strings.Compare(place(&x), place(&y)) })
	for i := range t {
		b.Queue(usageUpsert, values16(&t[i], stream%shards)...)
	}
}

// place is where a row stands among others.
func place(u *session.Used) string {
	return strings.Join([]string{u.Day.String(), u.Profile, u.Model, u.User, u.KeyID}, "\x00")
}

func values16(u *session.Used, shard int64) []any {
	row := *u
	for _, text := range []*string{&row.Profile, &row.Model, &row.User, &row.KeyID} {
		*text = storable(*text)
	}
	return append(ledger.Values(&row), shard)
}

// Usage implements session.Store.
func (s *Store) Usage(ctx context.Context, tenant string, q session.UsageQuery) (sums []session.Used, err error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	query, args := ledger.Select(tenant, &q, func(n int) string { return "$" + strconv.Itoa(n) })
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		sums, err = pgx.AppendRows(sums, rows, scanUsed)
		return err
	})
	return q.Order(sums), err
}

func scanUsed(row pgx.CollectableRow) (u session.Used, err error) {
	var estimated int64
	err = row.Scan(&u.Tenant, &u.Day, &u.Profile, &u.Model, &u.User, &u.KeyID, &u.Loops, &u.Turns, &u.Errors,
		&u.Usage.Input, &u.Usage.Output, &u.Usage.CacheRead, &u.Usage.CacheWrite, &u.Usage.Cost, &estimated)
	u.Usage.Estimated = estimated != 0
	return u, err
}

// countLog is the step of the migrations that counts what older versions have
// stored.
func countLog() *goose.Migration {
	return goose.NewGoMigration(5, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		tally, payers, err := ledger.Fold(ctx, tx, "(extract(epoch FROM e.time) * 1000000)::bigint")
		if err != nil {
			return err
		}
		for i := range tally {
			if _, err := tx.ExecContext(ctx, usageUpsert, values16(&tally[i], 0)...); err != nil {
				return err
			}
		}
		for id, p := range payers {
			if _, err := tx.ExecContext(ctx, `UPDATE streams SET payers = $1 WHERE id = $2`, storable(session.PayersText(p)), id); err != nil {
				return err
			}
		}
		return nil
	}}, nil)
}
