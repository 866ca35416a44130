// Package ledger keeps the table of what was used in databases of the session
// stores: one row for each tenant, day and account.
package ledger

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rosterrun/roster/session"
)

// Columns are those of the table usage that Values gives, in its order.
const Columns = `tenant, day, profile, model, who, key_id, loops, turns, errors, input, output, cache_read, cache_write, cost, estimated`

// Upsert is the end of a statement that adds a row to one that is there.
const Upsert = ` DO UPDATE SET loops = usage.loops + excluded.loops, turns = usage.turns + excluded.turns,
	errors = usage.errors + excluded.errors, input = usage.input + excluded.input, output = usage.output + excluded.output,
	cache_read = usage.cache_read + excluded.cache_read, cache_write = usage.cache_write + excluded.cache_write,
	cost = usage.cost + excluded.cost, estimated = usage.estimated | excluded.estimated`

// Values are the values of a row.
func Values(u *session.Used) []any { return Append(make([]any, 0, 16), u) }

// Append appends them to others.
func Append(dst []any, u *session.Used) []any {
	var estimated int64
	if u.Usage.Estimated {
		estimated = 1
	}
	return append(dst, u.Tenant, int64(u.Day), u.Profile, u.Model, u.User, u.KeyID, u.Loops, u.Turns, u.Errors,
		u.Usage.Input, u.Usage.Output, u.Usage.CacheRead, u.Usage.CacheWrite, u.Usage.Cost, estimated)
}

// columnOf is where something stands by which use is told apart, and what stands
// there if it is not.
var columnOf = map[session.UsageBy]string{
	session.ByTenant: "tenant", session.ByDay: "day", session.ByProfile: "profile",
	session.ByModel: "model", session.ByUser: "who", session.ByKey: "key_id",
}

// Select makes the statement that answers a query, whose rows have the columns of
// Values and are not in order. place writes the n-th placeholder, from 1. There are
// few such texts, so that prepared ones may be kept.
func Select(tenant string, q *session.UsageQuery, place func(n int) string) (query string, args []any) {
	var b strings.Builder
	b.WriteString("SELECT ")
	var group []string
	for _, by := range session.UsageBys {
		switch {
		case slices.Contains(q.By, by):
			group = append(group, columnOf[by])
			b.WriteString(columnOf[by] + ", ")
		case by == session.ByDay:
			b.WriteString("0, ")
		default:
			b.WriteString("'', ")
		}
	}
	for _, sum := range []string{"loops", "turns", "errors", "input", "output", "cache_read", "cache_write"} {
		b.WriteString("CAST(sum(" + sum + ") AS bigint), ")
	}
	b.WriteString("CAST(sum(cost) AS double precision), max(estimated) FROM usage WHERE ")
	next := func(value any) string {
		args = append(args, value)
		return place(len(args))
	}
	if !q.AllTenants {
		b.WriteString("tenant = " + next(tenant) + " AND ")
	}
	to := int64(q.To)
	if to == 0 {
		to = math.MaxInt32
	}
	b.WriteString("day >= " + next(int64(q.From)) + " AND day <= " + next(to))
	for _, is := range []struct{ column, value string }{
		{"profile", q.Profile}, {"model", q.Model}, {"who", q.User}, {"key_id", q.KeyID},
	} {
		b.WriteString(" AND (" + is.column + " = " + next(is.value) + " OR " + next(is.value) + " = '')")
	}
	if len(group) > 0 {
		b.WriteString(" GROUP BY " + strings.Join(group, ", "))
	}
	b.WriteString(" HAVING count(*) > 0")
	return b.String(), args
}

// counted are the events by which use is counted, or that say what for.
const counted = `'loop.start', 'turn.start', 'usage', 'loop.end', 'profile.switched', 'model.fallback', 'session.imported'`

// compactAt bounds the rows that Fold holds before it sums them up.
const compactAt = 4096

// Fold counts what was used by all streams of a database that has not counted it:
// the sums, and by the stream's number the payers of those that are at work. micros
// is the expression for an event's time in µs.
func Fold(ctx context.Context, tx *sql.Tx, micros string) (session.Tally, map[int64][]session.Payer, error) {
	rows, err := tx.QueryContext(ctx, `SELECT s.id, s.tenant, s.stream, e.seq, e.v, e.session, e.loop, e.depth, e.type, e.data, `+micros+`
		FROM events e JOIN streams s ON s.id = e.stream WHERE e.type IN (`+counted+`) ORDER BY s.id, e.seq`)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	var total session.Tally
	payers := map[int64][]session.Payer{}
	var f folding
	settle := func() error {
		if f.sum.Payers != nil {
			payers[f.id] = f.sum.Payers
		}
		if total = append(total, f.tally...); len(total) < compactAt {
			return nil
		}
		total, err = total.Sum("", session.UsageQuery{AllTenants: true, By: session.UsageBys})
		return err
	}
	for rows.Next() {
		var id, at int64
		var k session.Key
		var e session.Event
		if err := rows.Scan(&id, &k.Tenant, &k.Stream, &e.Seq, &e.V, &e.Session, &e.Loop, &e.Depth, &e.Type, &e.Data, &at); err != nil {
			return nil, nil, err
		}
		if id != f.id {
			if err := settle(); err != nil {
				return nil, nil, err
			}
			f = folding{id: id, sum: session.Summary{Key: k}}
		}
		e.Time = time.UnixMicro(at).UTC()
		if err := f.add(&e); err != nil {
			return nil, nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	if err := settle(); err != nil {
		return nil, nil, err
	}
	total, err = total.Sum("", session.UsageQuery{AllTenants: true, By: session.UsageBys})
	return total, payers, err
}

// folding is the stream whose events are being read.
type folding struct {
	id    int64
	sum   session.Summary
	tally session.Tally
}

func (f *folding) add(e *session.Event) error {
	if e.Type == "session.imported" { // what stands before was used elsewhere
		f.tally = nil
	}
	if err := f.tally.Add(&f.sum, e); err != nil {
		return err
	}
	return f.sum.Apply(e)
}
