package sqlite_test

import (
	"os"
	"testing"

	"github.com/rosterrun/roster/session/storetest"
	"github.com/rosterrun/roster/store/sqlite"
)

func TestNoStatementChangesEvents(t *testing.T) { storetest.KeepsEvents(t, os.DirFS(".")) }

func TestTheDatabaseRefusesToChangeEvents(t *testing.T) {
	s := open(t, file(t), sqlite.Options{})
	start(t, s, key("a"))
	for _, query := range []string{
		"UPDATE events SET data = 'x'",
		"UPDATE events SET seq = 7",
		"DELETE FROM events",
		"INSERT OR ROLLBACK INTO events SELECT * FROM events",
	} {
		if err := s.Exec(t.Context(), query); err == nil {
			t.Errorf("%s was done", query)
		}
		if n := len(read(t, s, key("a"))); n != 1 {
			t.Fatalf("%d events after %s", n, query)
		}
	}
	for _, query := range []string{
		"INSERT INTO retention SELECT id FROM streams",
		"DELETE FROM events",
	} {
		if err := s.Exec(t.Context(), query); err != nil {
			t.Errorf("retention: %s: %v", query, err)
		}
	}
	if n := len(read(t, s, key("a"))); n != 0 {
		t.Errorf("%d events after retention", n)
	}
}
