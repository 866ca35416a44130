package postgres_test

import (
	"testing"

	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/postgres"
)

// TestFeedOfALateCommit has a transaction end after others that began later have
// been read: who goes on from there does not miss it.
func TestFeedOfALateCommit(t *testing.T) {
	schema := newSchema()
	s := open(t, postgres.Options{Schema: schema})
	start(t, s, key("late"))
	l := start(t, s, key("a"))
	tx, err := connect(t, schema).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range []string{
		`UPDATE streams SET last = 2 WHERE stream = 'late'`,
		`INSERT INTO feed (tenant, stream, first, last) SELECT tenant, id, 2, 2 FROM streams WHERE stream = 'late'`,
		`INSERT INTO events SELECT e.stream, 2, v, session, loop, turn, agent, depth, chain, time, type, data, refs
			FROM events e JOIN streams s ON s.id = e.stream WHERE s.stream = 'late'`,
	} {
		if _, err := tx.Exec(t.Context(), write); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Append(t.Context(), key("a"), l, 1, []session.Event{note()}); err != nil {
		t.Fatal(err)
	}
	at := wantFeed(t, s, session.Position{}, "late1 a1 a2")
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantFeed(t, s, at, "late2")
	other := open(t, postgres.Options{Schema: schema})
	wantFeed(t, other, session.Position{}, "late1 a1 a2 late2")
}

// TestFeedThatNobodyRead is longer than what gets its places at once.
func TestFeedThatNobodyRead(t *testing.T) {
	schema := newSchema()
	s := open(t, postgres.Options{Schema: schema})
	start(t, s, key("a"))
	_, err := connect(t, schema).Exec(t.Context(), `INSERT INTO feed (tenant, stream, first, last)
		SELECT tenant, id, 1, 1 FROM streams, generate_series(1, 4999)`)
	if err != nil {
		t.Fatal(err)
	}
	end, err := s.FeedEnd(t.Context(), "local")
	if want := (session.Position{Commit: 5000, Seq: 1}); err != nil || end != want {
		t.Errorf("end %v, %v, want %v", end, err, want)
	}
}

// TestFeedOfAnOldDatabase opens a database from before there were feeds: what is
// in it stands at their beginning.
func TestFeedOfAnOldDatabase(t *testing.T) {
	schema := newSchema()
	s := open(t, postgres.Options{Schema: schema})
	a := start(t, s, key("a"))
	start(t, s, key("b"))
	if _, err := s.Append(t.Context(), key("a"), a, 1, []session.Event{note()}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	for _, undo := range []string{`DROP TABLE feed`, `DROP TABLE usage`, `DROP TABLE keys`, `DROP TABLE audit`, `DROP TABLE jobs, job_costs, strands, written, rigs`, `ALTER TABLE streams DROP COLUMN payers`, `DELETE FROM goose_db_version WHERE version_id >= 3`} {
		if _, err := connect(t, schema).Exec(t.Context(), undo); err != nil {
			t.Fatal(err)
		}
	}
	s = open(t, postgres.Options{Schema: schema})
	if _, err := s.Append(t.Context(), key("a"), a, 2, []session.Event{note()}); err != nil {
		t.Fatal(err)
	}
	wantFeed(t, s, session.Position{}, "a1 a2 b1 a3")
}

func wantFeed(t *testing.T, s session.Backend, at session.Position, want string) session.Position {
	t.Helper()
	got := ""
	for fed, err := range s.ReadFeed(t.Context(), "local", at) {
		if err != nil {
			t.Fatal(err)
		}
		got += " " + fed.Key.Stream + string(rune('0'+fed.Event.Seq))
		at = fed.At
	}
	if got != " "+want {
		t.Errorf("the feed is%s, want %s", got, want)
	}
	return at
}
