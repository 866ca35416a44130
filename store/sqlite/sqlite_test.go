package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	lib "modernc.org/sqlite"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/session/storetest"
	"github.com/rosterrun/roster/store/sqlite"
)

func open(t *testing.T, path string, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func file(t *testing.T) string { return filepath.Join(t.TempDir(), "roster.db") }

func key(stream string) session.Key { return session.Key{Tenant: "local", Stream: stream} }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T, now func() time.Time) session.Backend {
		return open(t, file(t), sqlite.Options{Now: now})
	})
}

func TestOpenAgain(t *testing.T) {
	path := file(t)
	s := open(t, path, sqlite.Options{})
	start(t, s, key("a"))
	want, err := s.Summary(t.Context(), key("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, path, sqlite.Options{}).Summary(t.Context(), key("a"))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("summary after opening again: %+v, %v, want %+v", got, err, want)
	}
}

func TestSettings(t *testing.T) {
	cases := []struct {
		name  string
		sync  string
		level int64
	}{
		{"default", "", 2},
		{"full", "full", 2},
		{"normal", "normal", 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := file(t)
			open(t, path, sqlite.Options{}).Close()
			s := open(t, path, sqlite.Options{Sync: c.sync})
			for query, want := range map[string]int64{
				"PRAGMA synchronous":  c.level,
				"PRAGMA auto_vacuum":  2,
				"PRAGMA foreign_keys": 1,
			} {
				if got, err := s.Number(t.Context(), query); err != nil || got != want {
					t.Errorf("%s = %d, %v, want %d", query, got, err, want)
				}
			}
			if mode, err := s.Text(t.Context(), "PRAGMA journal_mode"); err != nil || mode != "wal" {
				t.Errorf("journal_mode = %q, %v", mode, err)
			}
		})
	}
	if _, err := sqlite.Open(t.Context(), file(t), sqlite.Options{Sync: "off"}); err == nil {
		t.Error("sync: off was accepted")
	}
}

func TestFilesAreTheUsersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "a b?c#d%41")
	s := open(t, filepath.Join(dir, "roster.db"), sqlite.Options{})
	start(t, s, key("a"))
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 3 {
		t.Errorf("%d files, want at least the database, -wal and -shm", len(files))
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", f.Name(), info.Mode())
		}
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(d); err != nil || info.Mode() != 0o700|fs.ModeDir {
			t.Errorf("%s has mode %v, want 0700", d, info.Mode())
		}
	}
}

func TestRelativePath(t *testing.T) {
	t.Chdir(t.TempDir())
	start(t, open(t, "roster.db", sqlite.Options{}), key("a"))
	if _, err := os.Stat("roster.db-wal"); err != nil {
		t.Error(err)
	}
}

func TestOpenRefuses(t *testing.T) {
	cases := []struct {
		name   string
		change string
		check  func(error) bool
		words  string
	}{
		{"a newer schema", "PRAGMA user_version = 99", func(err error) bool {
			e, ok := errors.AsType[*sqlite.NewerError](err)
			return ok && e.Have == 99 && e.Known > 0
		}, "use a newer roster"},
		{"another program's file", "PRAGMA application_id = 7", func(err error) bool {
			_, ok := errors.AsType[*sqlite.ForeignError](err)
			return ok
		}, "another program"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := file(t)
			s := open(t, path, sqlite.Options{})
			if err := s.Exec(t.Context(), c.change); err != nil {
				t.Fatal(err)
			}
			s.Close()
			_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if !c.check(err) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.words) {
				t.Errorf("err = %v", err)
			}
		})
	}
	t.Run("what is no database", func(t *testing.T) {
		path := file(t)
		if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || !strings.Contains(e.Error(), path) {
			t.Errorf("err = %v, want *Error", err)
		}
	})
	t.Run("a directory", func(t *testing.T) {
		if _, err := sqlite.Open(t.Context(), t.TempDir(), sqlite.Options{}); err == nil {
			t.Error("a directory was opened")
		}
	})
}

func TestManyOpenANewFileAtOnce(t *testing.T) {
	path := file(t)
	errs := make(chan error)
	const n = 6
	for range n {
		go func() {
			s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range n {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestVersionChangesWithOthersWrites(t *testing.T) {
	path := file(t)
	s, other := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	version := func() int64 {
		v, err := s.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	start(t, s, key("a"))
	before := version()
	if _, err := s.Post(t.Context(), key("a"), session.Post{Events: []session.Event{steer()}}); err != nil {
		t.Fatal(err)
	}
	if v := version(); v != before {
		t.Errorf("version %d became %d by the store's own write", before, v)
	}
	if _, err := other.Post(t.Context(), key("a"), session.Post{Events: []session.Event{steer()}}); err != nil {
		t.Fatal(err)
	}
	if v := version(); v == before {
		t.Error("version did not change by another's write")
	}
}

func TestTwoStores(t *testing.T) {
	path := file(t)
	storetest.TwoStores(t, open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{}))
}

// TestFullDatabase has the space run out and come back.
func TestFullDatabase(t *testing.T) {
	s := open(t, file(t), sqlite.Options{})
	ctx := t.Context()
	l := start(t, s, key("a"))
	pages, err := s.Number(ctx, "PRAGMA page_count")
	if err != nil {
		t.Fatal(err)
	}
	limit := func(n int64) {
		if _, err := s.Number(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	limit(pages + 5)
	big := []session.Event{event(&session.ToolUpdate{Call: "c", Text: strings.Repeat("x", 100_000)})}
	_, err = s.Append(ctx, key("a"), l, 1, big)
	var full *lib.Error
	if !errors.As(err, new(*sqlite.Error)) || !errors.As(err, &full) || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("err = %v, want *Error that says what to do", err)
	}
	if big[0].Seq != 0 {
		t.Errorf("the event that was not stored has number %d", big[0].Seq)
	}
	if n := len(read(t, s, key("a"))); n != 1 {
		t.Errorf("%d events are there, want 1", n)
	}
	if _, err := s.Append(ctx, key("a"), l, 1, []session.Event{note()}); err != nil {
		t.Errorf("a small event while there is little space: %v", err)
	}
	limit(1 << 30)
	if last, err := s.Append(ctx, key("a"), l, 2, big); err != nil || last != 3 {
		t.Errorf("with space again: %d, %v", last, err)
	}
}

func TestOneBadWriteDoesNotTakeOthersWithIt(t *testing.T) {
	s := open(t, file(t), sqlite.Options{})
	ctx := t.Context()
	good, bad := start(t, s, key("good")), start(t, s, key("bad"))
	if err := s.Break(ctx, key("bad")); err != nil {
		t.Fatal(err)
	}
	letGo := s.Hold(ctx)
	results := map[string]chan error{}
	call := func(name string, f func() error) {
		results[name] = make(chan error, 1)
		before := s.Waiting()
		go func() { results[name] <- f() }()
		for s.Waiting() == before {
			runtime.Gosched()
		}
	}
	call("first", func() error {
		_, err := s.Append(ctx, key("good"), good, 1, []session.Event{note()})
		return err
	})
	call("refused", func() error {
		_, err := s.Append(ctx, key("good"), session.Lease{}, 1, []session.Event{note()})
		return err
	})
	call("broken", func() error {
		_, err := s.Append(ctx, key("bad"), bad, 1, []session.Event{note()})
		return err
	})
	call("last", func() error {
		_, err := s.Append(ctx, key("good"), good, 2, []session.Event{note()})
		return err
	})
	letGo()
	for _, name := range []string{"first", "last"} {
		if err := <-results[name]; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := <-results["refused"]; !errors.As(err, new(*session.Fenced)) {
		t.Errorf("refused: %v, want *Fenced", err)
	}
	if err := <-results["broken"]; !errors.As(err, new(*sqlite.Error)) {
		t.Errorf("broken: %v, want *Error", err)
	}
	if g, b := len(read(t, s, key("good"))), len(read(t, s, key("bad"))); g != 3 || b != 1 {
		t.Errorf("%d and %d events, want 3 and 1", g, b)
	}
}

func TestCancelledWhileItWaits(t *testing.T) {
	s := open(t, file(t), sqlite.Options{})
	l := start(t, s, key("a"))
	letGo := s.Hold(t.Context())
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() {
		_, err := s.Append(ctx, key("a"), l, 1, []session.Event{note()})
		result <- err
	}()
	for s.Waiting() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
	letGo()
	if n := len(read(t, s, key("a"))); n != 1 {
		t.Errorf("%d events, want 1: what was cancelled in time is not stored", n)
	}
}

// start posts a prompt to a new stream and claims it for w.
func start(t *testing.T, s *sqlite.Store, k session.Key) session.Lease {
	t.Helper()
	prompt := event(&session.Prompt{Parts: []message.Part{message.Text{Text: "hello"}}, Profile: "p", Shared: true})
	done, err := s.Post(t.Context(), k, session.Post{Events: []session.Event{prompt}, Worker: "w"})
	if err != nil || done.Lease == nil {
		t.Fatalf("post: %+v, %v", done, err)
	}
	return *done.Lease
}

func read(t *testing.T, s *sqlite.Store, k session.Key) []session.Event {
	t.Helper()
	var evs []session.Event
	for e, err := range s.Read(t.Context(), k, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != int64(len(evs)+1) {
			t.Fatalf("%s: event %d stands at place %d", k, e.Seq, len(evs)+1)
		}
		evs = append(evs, e)
	}
	return evs
}

func event(b session.Body) session.Event { return session.Event{Session: "s", Body: b} }

func note() session.Event { return event(&session.ToolUpdate{Call: "c", Text: "x"}) }

func steer() session.Event { return event(&session.Steer{}) }

// TestAnotherProcessHoldsTheDatabase: all who wait are told so at the same time, and
// none of them has waited for the others.
func TestAnotherProcessHoldsTheDatabase(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, path, sqlite.Options{})
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	failed := make(chan error)
	for i := range 20 {
		go func() {
			_, err := s.Post(t.Context(), key(fmt.Sprint("s", i)), session.Post{Events: []session.Event{event(&session.Prompt{Profile: "p"})}})
			failed <- err
		}()
	}
	for range 20 {
		if err := <-failed; err == nil || !strings.Contains(err.Error(), "another process holds the database for long") {
			t.Errorf("%v", err)
		}
	}
	if waited := time.Since(began); waited > 30*time.Second {
		t.Errorf("they waited for %v", waited)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	start(t, s, key("s1"))
}

// TestUnreadableRow: a row that another program has broken is an error, with the file,
// and not a session without settings and payers.
func TestUnreadableRow(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, path, sqlite.Options{})
	start(t, s, key("s1"))
	for column, says := range map[string]string{"payers": "session s1: who pays for it cannot be read", "settings": "session s1: its settings cannot be read"} {
		if err := s.Exec(t.Context(), "UPDATE streams SET "+column+" = '{broken'"); err != nil {
			t.Fatal(err)
		}
		_, err := s.Summary(t.Context(), key("s1"))
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", column, err)
		}
		for _, err = range s.List(t.Context(), key("s1").Tenant, session.Query{}) {
			if err == nil {
				t.Errorf("%s: it is listed", column)
			}
		}
		if err := s.Exec(t.Context(), "UPDATE streams SET "+column+" = ''"); err != nil {
			t.Fatal(err)
		}
	}
}
