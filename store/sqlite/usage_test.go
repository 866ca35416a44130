package sqlite_test

import (
	"testing"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/session/storetest"
	"github.com/rosterrun/roster/store/sqlite"
)

func TestAnOlderDatabaseIsCounted(t *testing.T) {
	path := file(t)
	storetest.Recounts(t, func() session.Backend { return open(t, path, sqlite.Options{}) }, func(b session.Backend) {
		s := b.(*sqlite.Store)
		for _, query := range []string{
			`DROP TABLE usage`, `DROP TABLE keys`, `DROP TABLE audit`, `DROP TABLE job_bytes`, `DROP TABLE jobs`, `DROP TABLE job_costs`, `DROP TABLE strands`, `DROP TABLE written`, `DROP TABLE rigs`, `ALTER TABLE streams DROP COLUMN payers`,
			`DELETE FROM goose_db_version WHERE version_id > 8`, `PRAGMA user_version = 8`,
		} {
			if err := s.Exec(t.Context(), query); err != nil {
				t.Fatal(query, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
