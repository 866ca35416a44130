package sqlite_test

import (
	"os"
	"strings"
	"testing"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

// TestPruningGivesSpaceBack to the file system, while the store is in use, and
// leaves the index of what was said in order.
func TestPruningGivesSpaceBack(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlite.Options{})
	big := strings.Repeat("many words of no use ", 50_000)
	for _, id := range []string{"a", "b", "c"} {
		post(t, s, key(id), big)
	}
	post(t, s, key("d"), "small")
	for range s.List(t.Context(), "local", session.Query{Search: session.ParseSearch("words")}) { // they are indexed
	}
	before := size(t, path)
	for _, id := range []string{"a", "b", "c"} {
		if err := s.Prune(t.Context(), key(id), 2); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Reclaim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := size(t, path); after > before/4 {
		t.Errorf("%d bytes became %d", before, after)
	}
	if text, err := s.Text(t.Context(), "PRAGMA integrity_check"); err != nil || text != "ok" {
		t.Errorf("integrity: %s, %v", text, err)
	}
	if err := s.Exec(t.Context(), "INSERT INTO words (words) VALUES ('integrity-check')"); err != nil {
		t.Errorf("the index: %v", err)
	}
	if n := len(read(t, s, key("d"))); n != 2 {
		t.Errorf("%d events are left of the other session", n)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := info.Size()
	if wal, err := os.Stat(path + "-wal"); err == nil {
		sum += wal.Size()
	}
	return sum
}

// post makes a session that has a text and nothing to do.
func post(t *testing.T, s *sqlite.Store, k session.Key, text string) {
	t.Helper()
	branch := session.Event{Session: k.Stream, Body: &session.Branch{Why: session.BranchFork, Messages: []session.BranchMessage{
		{ID: "m", Role: message.User, Parts: message.Parts{message.Text{Text: text}}},
	}}}
	set := session.Event{Session: k.Stream, Body: &session.Set{Keys: map[string]string{"model": "x"}}}
	if _, err := s.Post(t.Context(), k, session.Post{Events: []session.Event{branch, set}}); err != nil {
		t.Fatal(err)
	}
}

func TestWritableTellsWhatCannotBeWritten(t *testing.T) {
	s := open(t, file(t), sqlite.Options{})
	if err := s.Writable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Pragma(t.Context(), "PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Writable(t.Context()); err == nil {
		t.Error("a database that is only read can be written")
	}
}
