// Package postgres keeps session logs in a PostgreSQL database, which any number
// of processes on any machines may use at once.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/internal/admit"
	"github.com/rosterrun/roster/store/internal/recent"
)

// Options of a store. The zero value is good.
type Options struct {
	// Schema holds the tables; "" is the search_path of the address, or
	// "roster". It is made if it is not there. All that is in one schema is of
	// one workspace: every worker takes up what is there to do.
	Schema string
	// Conns is how many connections are open at most; 0 is 16.
	Conns int
	// Now is the store's clock; nil is the database's own.
	Now func() time.Time
}

// Store is a session.Backend in a database, safe for concurrent use.
type Store struct {
	name  string // of the database, for errors
	id    string // of this store among all that use the database
	pool  *pgxpool.Pool
	now   func() time.Time
	blobs recent.Blobs

	calls  sync.RWMutex // held for reading by each call
	closed bool         // guarded by calls

	changes atomic.Int64 // of other processes
	listen  context.CancelFunc
	deaf    chan struct{} // closed when nobody listens any more
}

var _ session.Backend = (*Store)(nil)

const (
	defaultSchema = "roster"
	defaultConns  = 16
	// callTime bounds what has begun: a call whose context has ended still
	// finds out what became of it.
	callTime = 30 * time.Second
)

var schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)

// Open connects to the database that a URL (postgres://user@host/name) or a list
// of keywords names, and brings its schema up to date. Its errors are
// *NewerError and *Error. The store must be closed.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("session store: this is no address of a PostgreSQL database: write postgres://user:password@host:port/name") // the driver's error may hold the password
	}
	if o.Schema = cmp.Or(o.Schema, cfg.ConnConfig.RuntimeParams["search_path"], defaultSchema); !schemaName.MatchString(o.Schema) {
		return nil, fmt.Errorf("session store: schema %q: write lower-case letters, digits and _", o.Schema)
	}
	if o.Conns <= 0 {
		o.Conns = defaultConns
	}
	cfg.MaxConns = int32(o.Conns)
	cfg.ConnConfig.RuntimeParams["search_path"] = o.Schema
	cfg.ConnConfig.RuntimeParams["application_name"] = "roster"
	cfg.ConnConfig.RuntimeParams["statement_timeout"] = strconv.FormatInt(callTime.Milliseconds(), 10)
	s := &Store{name: nameOf(cfg.ConnConfig.Config) + ", schema " + o.Schema, id: strconv.FormatUint(rand.Uint64(), 36), now: o.Now, deaf: make(chan struct{})}
	if err := s.migrate(ctx, cfg.ConnConfig, o.Schema); err != nil {
		return nil, err
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, s.fail(err)
	}
	ears, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.listen = stop
	go s.hear(ears, cfg.ConnConfig)
	return s, nil
}

// nameOf names a database without what is secret in its address.
func nameOf(c pgconn.Config) string {
	return fmt.Sprintf("%s@%s:%d/%s", c.User, c.Host, c.Port, c.Database)
}

// Name names the database and the schema, without what is secret.
func (s *Store) Name() string { return s.name }

// Close waits for the calls that have begun and closes the connections. Later
// calls fail.
func (s *Store) Close() error {
	s.calls.Lock()
	defer s.calls.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.listen()
	<-s.deaf
	s.pool.Close()
	return nil
}

// with runs f with a connection.
func (s *Store) with(ctx context.Context, f func(*pgxpool.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.calls.RLock()
	defer s.calls.RUnlock()
	if s.closed {
		return admit.ErrClosed
	}
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return s.fail(err)
	}
	defer c.Release()
	return f(c)
}

// open returns an error if the store is closed or the context has ended.
func (s *Store) open(ctx context.Context) error {
	s.calls.RLock()
	defer s.calls.RUnlock()
	if s.closed {
		return admit.ErrClosed
	}
	return ctx.Err()
}

// read runs f with a connection that sees what is committed.
func (s *Store) read(ctx context.Context, f func(pgx.Tx) error) error {
	return s.with(ctx, func(c *pgxpool.Conn) error {
		err := pgx.BeginTxFunc(ctx, c, pgx.TxOptions{AccessMode: pgx.ReadOnly}, f)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return s.fail(err)
	})
}

// tries bounds how often a transaction is run that the database takes back.
const tries = 8

// do runs f in a transaction and waits for the commit, and again if others were
// in the way. If the context ends before f has begun, f is never run; afterwards
// do waits for its end, so that the caller knows what became of it.
func (s *Store) do(ctx context.Context, f func(*tx) error) error {
	return s.with(ctx, func(c *pgxpool.Conn) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
		defer cancel()
		var err error
		for range tries {
			err = pgx.BeginFunc(ctx, c, func(t pgx.Tx) error { return f(&tx{Tx: t, ctx: ctx, clock: s.now}) })
			if !again(err) {
				break
			}
		}
		return s.fail(err)
	})
}

// tx is an open transaction.
type tx struct {
	pgx.Tx
	ctx   context.Context
	clock func() time.Time
	at    time.Time
}

// now is the store's time, one for the whole transaction.
func (t *tx) now() (time.Time, error) {
	if t.clock != nil {
		return t.clock(), nil
	}
	if t.at.IsZero() {
		if err := t.QueryRow(t.ctx, `SELECT clock_timestamp()`).Scan(&t.at); err != nil {
			return t.at, err
		}
	}
	return t.at, nil
}

func (t *tx) exec(query string, args ...any) error {
	_, err := t.Exec(t.ctx, query, args...)
	return err
}
