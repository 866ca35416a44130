package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/recent"
)

// stream is a row of streams.
type stream struct {
	id      int64 // 0: there is no row yet
	sum     session.Summary
	epoch   int64
	owner   string // empty: free
	waiting time.Time
}

func (st *stream) holds(l session.Lease) bool {
	return st.owner != "" && st.owner == l.Worker && st.epoch == l.Epoch
}

const (
	// columns are those of a summary, in the order of scan and values.
	columns = `last, shared, profile, title, created, updated, last_active,
		turns, input, output, cache_read, cache_write, cost, estimated,
		open, suspended, failed, prompts, notes, held, until, children, asking, settings, origin, why, payers`
	summaryColumns = 27

	streamQuery = `SELECT ` + columns + `, id, epoch, worker, waiting
		FROM streams WHERE tenant = ? AND stream = ?`

	streamInsert = `INSERT INTO streams (` + columns + `,
		epoch, worker, waiting, runnable, status, tenant, stream)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

	streamUpdate = `UPDATE streams SET (` + columns + `,
		epoch, worker, waiting, runnable, status)
		= (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) WHERE id = ?`
)

// stream returns the row of a stream, or nil.
func (w *writer) stream(k session.Key) (*stream, error) {
	if st := w.known.streams[k]; st != nil {
		return st, nil
	}
	var st *stream
	var unread error
	err := w.conn.query(streamQuery, func(row []driver.Value) bool {
		st = &stream{}
		st.sum, unread = scanSummary(k, row)
		row = row[summaryColumns:]
		st.id, st.epoch = integer(row[0]), integer(row[1])
		st.owner = str(row[2])
		st.waiting = instant(row[3])
		return false
	}, k.Tenant, k.Stream)
	switch {
	case err != nil:
		return nil, &fault{err}
	case unread != nil:
		return nil, unread
	case st != nil:
		recent.Add(w.known.streams, k, st, maxStreams)
	}
	return st, nil
}

// save writes the row. Whether the stream is free, and since when it waits,
// follows from whether there is something to do.
func (w *writer) save(st *stream) error {
	runnable := st.sum.Runnable()
	if !runnable {
		st.owner, st.waiting = "", time.Time{}
	} else if st.waiting.IsZero() {
		st.waiting = w.now()
	}
	var owner any
	if st.owner != "" {
		owner = st.owner
	}
	var waiting int64
	if runnable {
		waiting = st.waiting.UnixMicro()
	}
	args := append(summaryValues(&st.sum),
		st.epoch, owner, waiting, runnable, string(st.sum.Status()))
	if st.id != 0 {
		return w.exec(streamUpdate, append(args, st.id)...)
	}
	r, err := w.conn.exec(streamInsert, append(args, st.sum.Key.Tenant, st.sum.Key.Stream)...)
	if err != nil {
		return &fault{err}
	}
	if st.id, err = r.LastInsertId(); err != nil {
		return &fault{err}
	}
	recent.Add(w.known.streams, st.sum.Key, st, maxStreams)
	return nil
}

func summaryValues(s *session.Summary) []any {
	return append(make([]any, 0, 32),
		s.Last, s.Shared, s.Profile, s.Title, s.Created.UnixMicro(), s.Updated.UnixMicro(), s.LastActive.UnixMicro(),
		int64(s.Turns), s.Usage.Input, s.Usage.Output, s.Usage.CacheRead, s.Usage.CacheWrite, s.Usage.Cost, s.Usage.Estimated,
		s.Open, s.Suspended, s.Failed, int64(s.Prompts), int64(s.Notes), int64(s.Held), micros(s.Until), int64(s.Children), s.Asking, s.Settings.Text(), s.Origin, s.Why, session.PayersText(s.Payers))
}

func scanSummary(k session.Key, row []driver.Value) (session.Summary, error) {
	var until time.Time
	if at := integer(row[20]); at != 0 {
		until = instant(row[20])
	}
	settings, unread := session.ParseSettings(str(row[23]))
	payers, unpaid := session.ParsePayers(str(row[26]))
	if err := errors.Join(unread, unpaid); err != nil {
		return session.Summary{Key: k}, fmt.Errorf("session %s: %w", k.Stream, err)
	}
	return session.Summary{
		Key:  k,
		Last: integer(row[0]), Shared: truth(row[1]),
		Profile: str(row[2]), Title: str(row[3]),
		Created: instant(row[4]), Updated: instant(row[5]), LastActive: instant(row[6]),
		Turns: int(integer(row[7])),
		Usage: message.Usage{
			Input: integer(row[8]), Output: integer(row[9]),
			CacheRead: integer(row[10]), CacheWrite: integer(row[11]),
			Cost: real(row[12]), Estimated: truth(row[13]),
		},
		Open: truth(row[14]), Suspended: truth(row[15]), Failed: truth(row[16]),
		Prompts: int(integer(row[17])), Notes: int(integer(row[18])), Held: int(integer(row[19])),
		Until: until, Children: int(integer(row[21])), Asking: truth(row[22]), Settings: settings,
		Origin: str(row[24]), Why: str(row[25]), Payers: payers,
	}, nil
}

// micros is a time as it is stored; none is 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

func scanEvent(row []driver.Value) session.Event {
	e := session.Event{
		Seq: integer(row[0]), V: uint16(integer(row[1])),
		Session: str(row[2]), Loop: str(row[3]), Turn: int(integer(row[4])),
		Agent: str(row[5]), Depth: int(integer(row[6])), Chain: str(row[7]),
		Time: instant(row[8]), Type: str(row[9]),
	}
	e.Data, _ = row[10].([]byte)
	if refs := str(row[11]); refs != "" {
		e.Refs = strings.Fields(refs)
	}
	return e
}

func integer(v driver.Value) int64 { n, _ := v.(int64); return n }

func truth(v driver.Value) bool { return integer(v) != 0 }

func real(v driver.Value) float64 { f, _ := v.(float64); return f }

func str(v driver.Value) string { s, _ := v.(string); return s }

func instant(v driver.Value) time.Time { return time.UnixMicro(integer(v)).UTC() }
