package sqlite_test

import (
	"testing"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

// TestFeedOfAnOldDatabase opens a database from before there were feeds: what is
// in it stands at their beginning.
func TestFeedOfAnOldDatabase(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlite.Options{})
	a := start(t, s, key("a"))
	start(t, s, key("b"))
	if _, err := s.Append(t.Context(), key("a"), a, 1, []session.Event{note(), note()}); err != nil {
		t.Fatal(err)
	}
	for _, undo := range []string{"DROP TABLE feed", "DROP TABLE usage", "DROP TABLE keys", "DROP TABLE audit", "DROP TABLE job_bytes", "DROP TABLE jobs", "DROP TABLE job_costs", "DROP TABLE strands", "DROP TABLE written", "DROP TABLE rigs", "ALTER TABLE streams DROP COLUMN payers", "DELETE FROM goose_db_version WHERE version_id >= 8", "PRAGMA user_version = 7"} {
		if err := s.Exec(t.Context(), undo); err != nil {
			t.Fatal(err)
		}
	}
	s.Close()
	s = open(t, path, sqlite.Options{})
	if _, err := s.Append(t.Context(), key("a"), a, 3, []session.Event{note()}); err != nil {
		t.Fatal(err)
	}
	wantFeed(t, s, "a1 a2 a3 b1 a4")
}

// TestFeedOfTwoStores has two stores of one file append in turn.
func TestFeedOfTwoStores(t *testing.T) {
	path := file(t)
	one, other := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	a, b := start(t, one, key("a")), start(t, other, key("b"))
	for n := int64(1); n < 3; n++ {
		if _, err := one.Append(t.Context(), key("a"), a, n, []session.Event{note()}); err != nil {
			t.Fatal(err)
		}
		if _, err := other.Append(t.Context(), key("b"), b, n, []session.Event{note()}); err != nil {
			t.Fatal(err)
		}
	}
	wantFeed(t, one, "a1 b1 a2 b2 a3 b3")
	wantFeed(t, other, "a1 b1 a2 b2 a3 b3")
}

func wantFeed(t *testing.T, s session.Backend, want string) {
	t.Helper()
	got := ""
	for fed, err := range s.ReadFeed(t.Context(), "local", session.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		got += " " + fed.Key.Stream + string(rune('0'+fed.Event.Seq))
	}
	if got != " "+want {
		t.Errorf("the feed is%s, want %s", got, want)
	}
}
