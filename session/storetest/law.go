package storetest

import (
	"bytes"
	"io/fs"
	"regexp"
	"strings"
	"testing"
)

// changesEvents finds statements that change or remove events, or the tables
// and triggers that keep them.
var changesEvents = regexp.MustCompile(`(?is)\bupdate\s+(or\s+\w+\s+)?(main\.)?["'\x60\[]?events\b` +
	`|\bdelete\s+from\s+(main\.)?["'\x60\[]?events\b` +
	`|\breplace\s+into\s+(main\.)?["'\x60\[]?events\b` +
	`|\binsert\s+into\s+(main\.)?["'\x60\[]?events\b[^;\x60]*\bon\s+conflict\b[^;\x60]*\bdo\s+update\b` +
	`|\btruncate\s+(table\s+)?["]?events\b` +
	`|\b(drop|alter)\s+table\s+(if\s+exists\s+)?(main\.)?["'\x60\[]?events\b` +
	`|\bdrop\s+trigger\s+(if\s+exists\s+)?(main\.)?["'\x60\[]?events`)

// KeepsEvents looks for statements that change events in the sources of a
// backend. The log is the truth: what is in it is never changed. Retention, which
// deletes whole streams, is the only exception, by name.
func KeepsEvents(t *testing.T, dir fs.FS) {
	for _, bad := range []string{
		"UPDATE events SET data = ''", "update or ignore main.events set v = 2", "DELETE FROM events",
		"DELETE\n\tFROM \"events\" WHERE seq = 1", "INSERT OR REPLACE INTO events VALUES (1)",
		"DROP TABLE events", "ALTER TABLE events ADD x", "DROP TRIGGER IF EXISTS events_stay",
		"INSERT INTO events (v) VALUES (1) ON CONFLICT DO UPDATE SET v = 1", "TRUNCATE events",
	} {
		if !changesEvents.MatchString(bad) {
			t.Errorf("the test would not find %q", bad)
		}
	}
	files := 0
	err := fs.WalkDir(dir, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".sql") {
			return nil
		}
		files++
		text, err := fs.ReadFile(dir, path)
		if path == "retention.go" {
			text = bytes.Replace(text, []byte("DELETE FROM events WHERE stream = "), nil, 1)
		}
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
