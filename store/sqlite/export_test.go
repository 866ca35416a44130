package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/rosterrun/roster/session"
)

// Exec runs a statement in a transaction of the writer.
func (s *Store) Exec(ctx context.Context, query string) error {
	return s.do(ctx, func(w *writer) error { return w.exec(query) })
}

// Number asks the writer's connection.
func (s *Store) Number(ctx context.Context, query string) (n int64, err error) {
	err = s.do(ctx, func(w *writer) (err error) {
		n, err = w.number(query)
		return err
	})
	return n, err
}

// Text asks the writer's connection.
func (s *Store) Text(ctx context.Context, query string) (text string, err error) {
	err = s.do(ctx, func(w *writer) error {
		return w.conn.query(query, func(row []driver.Value) bool {
			text = str(row[0])
			return false
		})
	})
	return text, err
}

// Hold keeps the writer busy until it is let go, and returns when the writer
// has begun.
func (s *Store) Hold(ctx context.Context) (letGo func()) {
	begun, end, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		s.wait(ctx, &op{peek: true, run: func(*writer) error {
			close(begun)
			<-end
			return nil
		}})
	}()
	<-begun
	return func() { close(end); <-ended }
}

// Waiting is the number of writes that the writer has not begun.
func (s *Store) Waiting() int {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return len(s.queue.ops)
}

// Break lets the next write of a stream fail as a failing disk would.
func (s *Store) Break(ctx context.Context, k session.Key) error {
	return s.do(ctx, func(w *writer) error {
		return w.exec(`CREATE TEMP TRIGGER broken BEFORE INSERT ON main.events
			WHEN new.stream = (SELECT id FROM main.streams WHERE stream = '` + k.Stream + `')
			BEGIN SELECT raise(ABORT, 'broken'); END`)
	})
}

// Pragma sets something of the writer's connection, outside of a transaction.
func (s *Store) Pragma(ctx context.Context, query string) error {
	return s.wait(ctx, &op{peek: true, run: func(w *writer) error { return w.exec(query) }})
}
