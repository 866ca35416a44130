package postgres_test

import (
	"testing"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/session/storetest"
	"github.com/rosterrun/roster/store/postgres"
)

func TestAnOlderDatabaseIsCounted(t *testing.T) {
	schema := newSchema()
	storetest.Recounts(t, func() session.Backend { return open(t, postgres.Options{Schema: schema}) }, func(b session.Backend) {
		c := connect(t, schema)
		for _, query := range []string{
			`DROP TABLE usage`, `DROP TABLE keys`, `DROP TABLE audit`, `DROP TABLE jobs, job_costs, strands, written, rigs`, `ALTER TABLE streams DROP COLUMN payers`, `DELETE FROM goose_db_version WHERE version_id > 3`,
		} {
			if _, err := c.Exec(t.Context(), query); err != nil {
				t.Fatal(query, err)
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
