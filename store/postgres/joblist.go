package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/rig/ledger"
)

// Job implements ledger.Store.
func (s *Store) Job(ctx context.Context, r ledger.Rig, id string) (ledger.Job, error) {
	var found ledger.Job
	err := s.read(ctx, func(t pgx.Tx) error {
		var content, section []byte
		j, err := scanJob(t.QueryRow(ctx, `SELECT `+jobColumns+`, content, section FROM jobs WHERE `+ofRig+` AND id = $3`, r.Tenant, r.Name, id),
			&content, &section)
		if errors.Is(err, pgx.ErrNoRows) {
			return &refused{ledger.ErrNoJob}
		}
		found = j.Job
		found.Content, found.Section = content, section
		return err
	})
	return found, err
}

// Jobs implements ledger.Store.
func (s *Store) Jobs(ctx context.Context, r ledger.Rig, q ledger.Query) (list []ledger.Job, err error) {
	query, args := `SELECT `+jobColumns+` FROM jobs WHERE `+ofRig, []any{r.Tenant, r.Name}
	where := func(clause string, arg any) {
		args = append(args, arg)
		query += fmt.Sprintf(clause, len(args))
	}
	if q.Knot != "" {
		where(` AND knot = $%d`, q.Knot)
	}
	if q.Path != "" {
		where(` AND path = $%d`, []byte(q.Path))
	}
	if q.Before > 0 {
		where(` AND seq < $%d`, q.Before)
	}
	if len(q.States) == 1 {
		where(` AND state = $%d`, string(q.States[0])) // an index has them in order
	} else if len(q.States) > 0 {
		where(` AND state = ANY ($%d::text[])`, q.States)
	}
	where(` ORDER BY seq DESC LIMIT $%d`, q.Page())
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (ledger.Job, error) {
			j, err := scanJob(row)
			return j.Job, err
		})
		return err
	})
	return list, err
}

// Counts implements ledger.Store.
func (s *Store) Counts(ctx context.Context, r ledger.Rig) (list []ledger.Count, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		rows, err := t.Query(ctx, `SELECT knot, state, count(*) FROM jobs WHERE `+ofRig+` GROUP BY state, knot ORDER BY knot, state`, r.Tenant, r.Name)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ledger.Count])
		return err
	})
	return list, err
}

// NextDue implements ledger.Store.
func (s *Store) NextDue(ctx context.Context, r ledger.Rig) (due time.Time, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		err := t.QueryRow(ctx, `SELECT coalesce(after, queued) FROM jobs WHERE `+ofRig+` AND ready ORDER BY after NULLS FIRST, seq LIMIT 1`, r.Tenant, r.Name).Scan(&due)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		due = due.UTC()
		return err
	})
	return due, err
}

// Spent implements ledger.Store.
func (s *Store) Spent(ctx context.Context, r ledger.Rig, knot string, since time.Time) (cost float64, tokens int64, err error) {
	err = s.read(ctx, func(t pgx.Tx) error {
		return t.QueryRow(ctx, `SELECT coalesce(sum(cost), 0), coalesce(sum(tokens), 0)::bigint FROM job_costs
			WHERE `+ofRig+` AND time >= $3 AND (knot = $4 OR $4 = '')`, r.Tenant, r.Name, since, knot).Scan(&cost, &tokens)
	})
	return cost, tokens, err
}
