package postgres_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/internal/pgtest"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/session/storetest"
	"github.com/rosterrun/roster/store/postgres"
)

// server is that of all tests of the package, each of which has a schema.
var server *pgtest.Server

func TestMain(m *testing.M) {
	var err error
	if server, err = pgtest.Start(context.Background(), "fsync=off", "max_connections=200"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}))
}

var schemas atomic.Int64

func newSchema() string { return fmt.Sprintf("test_%d", schemas.Add(1)) }

func open(t testing.TB, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), server.URL(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) session.Backend {
		return open(t, postgres.Options{Schema: newSchema(), Conns: 10, Now: now})
	})
}

func TestNoStatementChangesEvents(t *testing.T) { storetest.KeepsEvents(t, os.DirFS(".")) }
