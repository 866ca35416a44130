package sqlite

import (
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/recent"
)

// writer is the state of the goroutine that writes. What it remembers of rows
// is what the open transaction would read; it is forgotten when a transaction
// fails or another process has written.
type writer struct {
	conn  *conn
	turns turns
	now   func() time.Time
	known known
	args  []any         // of the last insert, to be used again
	tally session.Tally // of the last commit, likewise
	// version is SQLite's data_version of this connection: it changes when
	// another connection commits.
	version int64
}

// known is the memory of rows. It is bounded: entries are dropped at random.
type known struct {
	streams map[session.Key]*stream
	workers map[string]struct{} // alive
	blobs   map[recent.Blob]*blob
	feeds   map[string]int64 // the newest position of tenants
}

const (
	maxStreams = 2048
	maxBlobs   = 1024
	maxWorkers = 64
	maxFeeds   = 1024
)

func newWriter(c *conn, path string, now func() time.Time) *writer {
	w := &writer{conn: c, turns: openTurns(path), now: now}
	w.forget()
	return w
}

func (w *writer) forget() {
	w.known = known{map[session.Key]*stream{}, map[string]struct{}{}, map[recent.Blob]*blob{}, map[string]int64{}}
}

// commit runs the ops in one transaction. If that fails, each gets its own, so
// that one which cannot be stored does not take others with it. Where another
// process holds the database, all have waited for it, and none waits again.
func (w *writer) commit(batch []*op) {
	err := w.transact(batch)
	if err == nil {
		return
	}
	again := len(batch) > 1 && !isBusy(err)
	for _, o := range batch {
		o.err = err
		if again {
			o.err = nil
			if err := w.transact([]*op{o}); err != nil {
				o.err = err
			}
		}
	}
}

// transact runs the ops in one transaction, unless none of them needs it. It
// returns an error if nothing was committed.
func (w *writer) transact(batch []*op) (err error) {
	if !slices.ContainsFunc(batch, func(o *op) bool { return !o.peek }) {
		return w.run(batch)
	}
	if err := w.begin(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.forget()
			w.conn.exec("ROLLBACK") // after some errors SQLite has done so itself
		}
	}()
	if err := w.run(batch); err != nil {
		return err
	}
	return w.exec("COMMIT")
}

// begin waits for other processes. SQLite's own waiting asks too seldom: beside
// a process that writes all the time, whose pauses are short, it waits in vain.
// Who waits has his turn first. For how long this process was stopped meanwhile
// does not count: it would give up as soon as it goes on.
func (w *writer) begin() error {
	w.turns.makeRoom()
	err := w.exec("BEGIN IMMEDIATE")
	if !isBusy(err) {
		return err
	}
	w.turns.wait()
	defer w.turns.leave()
	for left := busyTime; ; {
		asked := time.Now()
		err := w.exec("BEGIN IMMEDIATE")
		if !isBusy(err) || left <= 0 {
			return err
		}
		time.Sleep(busyPause + rand.N(busyPause))
		left -= min(time.Since(asked), busyStep)
	}
}

func (w *writer) run(batch []*op) error {
	if err := w.look(); err != nil {
		return err
	}
	for _, o := range batch {
		o.err = o.run(w)
		if errors.As(o.err, new(*fault)) {
			return o.err
		}
	}
	return nil
}

// look finds out whether another process has written.
func (w *writer) look() error {
	v, err := w.number("PRAGMA data_version")
	if err != nil {
		return err
	}
	if v != w.version {
		w.version = v
		w.forget()
	}
	return nil
}

func (w *writer) exec(query string, args ...any) error {
	if _, err := w.conn.exec(query, args...); err != nil {
		return &fault{err}
	}
	return nil
}

func (w *writer) number(query string, args ...any) (int64, error) {
	n, err := w.conn.number(query, args...)
	if err != nil {
		return 0, &fault{err}
	}
	return n, nil
}
