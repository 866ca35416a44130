package sqlite_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rosterrun/roster/store/sqlite"
)

// changesEvents finds statements that change or remove events, or the tables
// and triggers that keep them.
var changesEvents = regexp.MustCompile(`(?is)\bupdate\s+(or\s+\w+\s+)?(main\.)?["'\x60\[]?events\b` +
	`|\bdelete\s+from\s+(main\.)?["'\x60\[]?events\b` +
	`|\breplace\s+into\s+(main\.)?["'\x60\[]?events\b` +
	`|\bon\s+conflict\b[^;]*\bdo\s+update\b[^;]*\bevents\b` +
	`|\b(drop|alter)\s+table\s+(if\s+exists\s+)?(main\.)?["'\x60\[]?events\b` +
	`|\bdrop\s+trigger\s+(if\s+exists\s+)?(main\.)?["'\x60\[]?events`)

// The log is the truth: what is in it is never changed. Retention, which may
// delete whole streams, will be the only exception, by name.
func TestNoStatementChangesEvents(t *testing.T) {
	for _, bad := range []string{
		"UPDATE events SET data = ''", "update or ignore main.events set v = 2", "DELETE FROM events",
		"DELETE\n\tFROM \"events\" WHERE seq = 1", "INSERT OR REPLACE INTO events VALUES (1)",
		"DROP TABLE events", "ALTER TABLE events ADD x", "DROP TRIGGER IF EXISTS events_stay",
	} {
		if !changesEvents.MatchString(bad) {
			t.Errorf("the test would not find %q", bad)
		}
	}
	files := 0
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".sql") {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if found := changesEvents.Find(text); found != nil {
			t.Errorf("%s changes events: %q", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 5 {
		t.Errorf("only %d files were looked at", files)
	}
}

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
