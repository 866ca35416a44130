package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/ledger/ledgertest"
	"github.com/rosterrun/roster/store/sqlite"
)

func TestLedger(t *testing.T) {
	ledgertest.Run(t, func(t *testing.T, now func() time.Time) ledgertest.Store {
		return open(t, file(t), sqlite.Options{Now: now})
	})
}

func TestLedgerRace(t *testing.T) {
	path := file(t)
	ledgertest.Race(t, open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{}))
}

// TestLedgerOfAnOldDatabase opens a database from before there were rigs.
func TestLedgerOfAnOldDatabase(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlite.Options{})
	for _, undo := range []string{
		"DROP TABLE job_bytes", "DROP TABLE jobs", "DROP TABLE job_costs", "DROP TABLE strands", "DROP TABLE written", "DROP TABLE rigs",
		"DELETE FROM goose_db_version WHERE version_id >= 12", "PRAGMA user_version = 11",
	} {
		if err := s.Exec(t.Context(), undo); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	s = open(t, path, sqlite.Options{})
	r := ledger.Rig{Tenant: "local", Name: "rig"}
	if err := s.Queue(t.Context(), r, []ledger.Job{{ID: "j1", Knot: "a/x"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Job(t.Context(), r, "j1"); err != nil {
		t.Error(err)
	}
}

func BenchmarkLedger(b *testing.B) {
	ledgertest.Bench(b, func(b *testing.B) ledgertest.Store { return openBench(b, filepath.Join(b.TempDir(), "roster.db")) })
}
