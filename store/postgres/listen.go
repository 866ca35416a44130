package postgres

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// channel carries the id of a store that has posted something or set it free.
const channel = "roster"

// tell lets other stores know of the transaction, once it is committed.
func (s *Store) tell(t *tx) error { return t.exec(`SELECT pg_notify($1, $2)`, channel, s.id) }

// Version is a number that changes whenever another process may have posted
// something, and not by this store's own writes. It asks nobody.
func (s *Store) Version(ctx context.Context) (int64, error) { return s.changes.Load(), ctx.Err() }

// The pauses after which a listener connects again.
const (
	firstPause = 100 * time.Millisecond
	maxPause   = 5 * time.Second
)

// hear listens to what other stores tell until the context ends.
func (s *Store) hear(ctx context.Context, cfg *pgx.ConnConfig) {
	defer close(s.deaf)
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, maxPause) {
		began := time.Now()
		s.hearOn(ctx, cfg)
		if time.Since(began) > maxPause {
			pause = firstPause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause/2 + rand.N(pause/2)):
		}
	}
}

// hearOn listens on one connection until it breaks.
func (s *Store) hearOn(ctx context.Context, cfg *pgx.ConnConfig) {
	defer s.changes.Add(1) // while nobody hears, there may be something new
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, `LISTEN `+channel); err != nil {
		return
	}
	s.changes.Add(1)
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return
		}
		if n.Payload != s.id {
			s.changes.Add(1)
		}
	}
}
