package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
)

// Job implements ledger.Store.
func (s *Store) Job(ctx context.Context, r ledger.Rig, id string) (ledger.Job, error) {
	var j *job
	err := s.read(ctx, func(c *conn) error {
		return c.query(`SELECT `+jobColumns+`, content, section FROM jobs LEFT JOIN job_bytes ON job = number WHERE `+ofRig+` AND id = ?3`,
			func(row []driver.Value) bool {
				j = scanJob(row)
				j.Content, _ = row[25].([]byte)
				j.Section, _ = row[26].([]byte)
				return false
			}, r.Tenant, r.Name, id)
	})
	if err == nil && j == nil {
		err = ledger.ErrNoJob
	}
	if err != nil {
		return ledger.Job{}, err
	}
	return j.Job, nil
}

// Jobs implements ledger.Store.
func (s *Store) Jobs(ctx context.Context, r ledger.Rig, q ledger.Query) (list []ledger.Job, err error) {
	query, args := `SELECT `+jobColumns+` FROM jobs WHERE `+ofRig, []any{r.Tenant, r.Name}
	where := func(clause string, arg any) {
		query += clause
		args = append(args, arg)
	}
	if q.Knot != "" {
		where(` AND knot = ?`, q.Knot)
	}
	if q.Path != "" {
		where(` AND path = ?`, q.Path)
	}
	if q.Before > 0 {
		where(` AND seq < ?`, q.Before)
	}
	if len(q.States) == 1 {
		where(` AND state = ?`, string(q.States[0])) // an index has them in order
	} else if len(q.States) > 0 {
		query += ` AND state IN (''`
		for _, state := range q.States {
			where(`,?`, string(state))
		}
		query += `)`
	}
	where(` ORDER BY seq DESC LIMIT ?`, int64(q.Page()))
	err = s.read(ctx, func(c *conn) error {
		return c.query(query, func(row []driver.Value) bool {
			list = append(list, scanJob(row).Job)
			return true
		}, args...)
	})
	return list, err
}

// Counts implements ledger.Store.
func (s *Store) Counts(ctx context.Context, r ledger.Rig) (list []ledger.Count, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(`SELECT knot, state, count(*) FROM jobs WHERE `+ofRig+` GROUP BY state, knot ORDER BY knot, state`,
			func(row []driver.Value) bool {
				list = append(list, ledger.Count{Knot: str(row[0]), State: ledger.State(str(row[1])), Jobs: int(integer(row[2]))})
				return true
			}, r.Tenant, r.Name)
	})
	return list, err
}

// NextDue implements ledger.Store.
func (s *Store) NextDue(ctx context.Context, r ledger.Rig) (due time.Time, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(`SELECT after, queued FROM jobs WHERE `+ofRig+` AND ready = 1 ORDER BY after, seq LIMIT 1`, func(row []driver.Value) bool {
			if due = moment(row[0]); due.IsZero() {
				due = moment(row[1])
			}
			return false
		}, r.Tenant, r.Name)
	})
	return due, err
}

// Spent implements ledger.Store.
func (s *Store) Spent(ctx context.Context, r ledger.Rig, knot string, since time.Time) (cost float64, tokens int64, err error) {
	err = s.read(ctx, func(c *conn) error {
		return c.query(`SELECT total(cost), ifnull(sum(tokens), 0) FROM job_costs WHERE `+ofRig+` AND time >= ?3 AND (knot = ?4 OR ?4 = '')`,
			func(row []driver.Value) bool {
				cost, tokens = real(row[0]), integer(row[1])
				return false
			}, r.Tenant, r.Name, micros(since), knot)
	})
	return cost, tokens, err
}
