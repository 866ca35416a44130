// Package sqlite keeps session logs in one SQLite file. Writes that come at the
// same time share a commit. Several processes may use the file at once.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
	"github.com/rosterrun/roster/store/internal/recent"
)

// Options of a store. The zero value is good.
type Options struct {
	// Sync is "full" (the default: what was acknowledged survives a loss of
	// power) or "normal" (it survives the death of the process; a loss of power
	// may take the last commits).
	Sync string
	// Readers is how many reads run at the same time at most; 0 is 4.
	Readers int
	// Now is the store's clock; nil is time.Now.
	Now func() time.Time
}

// Store is a session.Backend in a file, safe for concurrent use.
type Store struct {
	path  string
	dsn   string
	now   func() time.Time
	queue queue
	blobs recent.Blobs

	readers chan *conn // idle; nil stands for one that is not open yet
	reading sync.RWMutex
	closed  bool // guarded by reading

	writer  *writer
	stopped chan struct{} // closed when the writer's goroutine has ended
}

var _ session.Backend = (*Store)(nil)

// busyTime is how long a call waits for other processes at most, busyPause the
// time after which the writer asks again, and up to twice that; busyStep is as
// much as that counts at most.
const (
	busyTime  = 5 * time.Second
	busyPause = 300 * time.Microsecond
	busyStep  = 100 * time.Millisecond
)

// Open opens the database, and makes it (0600, in a directory of mode 0700) if
// it is not there. Its errors are *NewerError, *ForeignError and *Error. The
// store must be closed.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	if o.Sync == "" {
		o.Sync = "full"
	}
	if o.Sync != "full" && o.Sync != "normal" {
		return nil, fmt.Errorf("session store %s: sync %q: write full or normal", path, o.Sync)
	}
	if o.Readers <= 0 {
		o.Readers = 4
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("session store: %w", err)
	}
	fresh, err := touch(path)
	if err != nil {
		return nil, &Error{path, err}
	}
	s := &Store{path: path, dsn: dsn(path, o.Sync, fresh), now: o.Now, stopped: make(chan struct{})}
	c, err := s.connect(ctx)
	if err != nil {
		return nil, err
	}
	s.readers = make(chan *conn, o.Readers)
	for range o.Readers {
		s.readers <- nil
	}
	s.writer = newWriter(c, path, o.Now)
	s.queue.wake = make(chan struct{}, 1)
	go s.write()
	return s, nil
}

// connect gives the writer's connection to a database with the newest schema.
// SQLite does not wait when several at once make a new file a write-ahead one:
// all of them would wait for each other. So this asks again.
func (s *Store) connect(ctx context.Context) (*conn, error) {
	for end := time.Now().Add(busyTime); ; {
		c, err := s.dialed(ctx)
		if !isBusy(err) || time.Now().After(end) || ctx.Err() != nil {
			return c, err
		}
		time.Sleep(busyPause + rand.N(busyPause))
	}
}

func (s *Store) dialed(ctx context.Context) (*conn, error) {
	c, err := dial(s.dsn)
	if err != nil {
		return nil, &Error{s.path, err}
	}
	err = migrate(ctx, c, s.path, s.dsn)
	if err == nil {
		_, err = c.number("PRAGMA busy_timeout = 0") // begin waits
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// touch makes the file, so that it and what SQLite puts beside it is the
// user's alone, and says whether it is empty.
func touch(path string) (fresh bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && info.Size() == 0, err
}

// The write-ahead log is copied into the database from walPages pages of 4 KiB
// on; if it was longer for once, it is cut to walBytes.
const (
	walPages = 2000
	walBytes = 16 << 20
)

func dsn(path, sync string, fresh bool) string {
	u := url.URL{Scheme: "file", OmitHost: true, Path: path}
	q := url.Values{
		"_busy_timeout": {fmt.Sprint(busyTime.Milliseconds())},
		"_journal_mode": {"WAL"},
		"_synchronous":  {sync},
		"_foreign_keys": {"1"},
		"_txlock":       {"immediate"},
		"_pragma": {
			fmt.Sprintf("wal_autocheckpoint(%d)", walPages),
			fmt.Sprintf("journal_size_limit(%d)", walBytes),
		},
	}
	if fresh { // later it would have no effect, but wait for the write lock
		q.Set("_auto_vacuum", "INCREMENTAL")
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// Close waits for the calls that have begun and closes the database. Later
// calls fail.
func (s *Store) Close() error {
	s.queue.close()
	<-s.stopped
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for range cap(s.readers) {
		if c := <-s.readers; c != nil {
			errs = append(errs, c.close())
		}
	}
	return errors.Join(append(errs, s.writer.conn.close(), s.writer.turns.close())...)
}

// open returns an error if the store is closed or the context has ended.
func (s *Store) open(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	if s.queue.closed {
		return admit.ErrClosed
	}
	return nil
}

// read runs f with a connection that sees what is committed.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.closed {
		return admit.ErrClosed
	}
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { s.readers <- c }()
	if c == nil {
		opened, err := dial(s.dsn + "&_query_only=1")
		if err != nil {
			return &Error{s.path, err}
		}
		c = opened
	}
	if err := f(c); err != nil {
		return &Error{s.path, err}
	}
	return nil
}

// Version is a number that changes whenever another process has changed the
// database, and not by this store's own writes. It is cheap enough to be asked
// for many times a second.
func (s *Store) Version(ctx context.Context) (version int64, err error) {
	err = s.wait(ctx, &op{peek: true, run: func(w *writer) error {
		version = w.version
		return nil
	}})
	return version, err
}
