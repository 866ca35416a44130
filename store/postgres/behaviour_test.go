package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/rosterrun/roster/internal/pgtest"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/session/storetest"
	"github.com/rosterrun/roster/store/postgres"
)

func key(stream string) session.Key { return session.Key{Tenant: "local", Stream: stream} }

func event(b session.Body) session.Event { return session.Event{Session: "s", Body: b} }

func note() session.Event { return event(&session.ToolUpdate{Call: "c", Text: "x"}) }

func steer() session.Event { return event(&session.Steer{}) }

// start posts a prompt to a new stream and claims it for w.
func start(t testing.TB, s *postgres.Store, k session.Key) session.Lease {
	t.Helper()
	prompt := event(&session.Prompt{Parts: []message.Part{message.Text{Text: "hello"}}, Profile: "p", Shared: true})
	done, err := s.Post(t.Context(), k, session.Post{Events: []session.Event{prompt}, Worker: "w"})
	if err != nil || done.Lease == nil {
		t.Fatalf("post: %+v, %v", done, err)
	}
	return *done.Lease
}

func read(t testing.TB, s *postgres.Store, k session.Key) (evs []session.Event) {
	t.Helper()
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

// TestServerCrashes ends the server while many append, several times, and looks
// whether all that was acknowledged is there. The same store goes on with the
// server that is started anew.
func TestServerCrashes(t *testing.T) {
	own, err := pgtest.Start(t.Context(), "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := own.Stop(); err != nil {
			t.Error(err)
		}
	})
	s, err := postgres.Open(t.Context(), own.URL(), postgres.Options{Conns: 6})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const owners = 4
	leases, lasts := map[session.Key]session.Lease{}, map[session.Key]int64{}
	for i := range owners {
		k := key(fmt.Sprint("s", i))
		leases[k], lasts[k] = start(t, s, k), 1
	}
	for range 5 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		begun := make(chan struct{}, owners)
		for k, l := range leases {
			last := lasts[k]
			wg.Go(func() {
				for n := 0; ; n++ {
					next, err := s.Append(t.Context(), k, l, last, []session.Event{note(), note(), note()})
					if err != nil {
						break
					}
					last = next
					if n == 10 {
						begun <- struct{}{}
					}
				}
				mu.Lock()
				defer mu.Unlock()
				lasts[k] = last
			})
		}
		for range owners {
			<-begun
		}
		own.Crash()
		wg.Wait()
		if err := s.Beat(t.Context(), "w"); !errors.As(err, new(*postgres.Error)) {
			t.Errorf("without a server: %v", err)
		}
		if err := own.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for k, last := range lasts {
			n := int64(len(read(t, s, k)))
			// The last commit may have been made and not acknowledged.
			if n != last && n != last+3 {
				t.Errorf("%s: event %d was acknowledged, the last that is there is %d", k, last, n)
			}
			lasts[k] = n
		}
	}
}

func TestTwoStores(t *testing.T) {
	schema := newSchema()
	storetest.TwoStores(t, open(t, postgres.Options{Schema: schema}), open(t, postgres.Options{Schema: schema}))
}

// TestVersion: a store hears what another one posts, and not itself.
func TestVersion(t *testing.T) {
	schema := newSchema()
	s, other := open(t, postgres.Options{Schema: schema}), open(t, postgres.Options{Schema: schema})
	version := func(s *postgres.Store) int64 {
		v, err := s.Version(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	changes := func(s *postgres.Store, before int64) int64 {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); version(s) == before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the store has heard nothing")
			}
		}
		return version(s)
	}
	start(t, s, key("a"))
	mine, its := changes(s, 0), changes(other, 0) // both listen now
	for range 3 {
		if _, err := other.Post(t.Context(), key("a"), session.Post{Events: []session.Event{steer()}}); err != nil {
			t.Fatal(err)
		}
		mine = changes(s, mine)
	}
	if _, err := s.Post(t.Context(), key("a"), session.Post{Events: []session.Event{steer()}}); err != nil {
		t.Fatal(err)
	}
	changes(other, its)
	if v := version(s); v != mine {
		t.Errorf("version %d became %d by the store's own post", mine, v)
	}
}

// TestCancelledWhileItWaits: what waits for a connection can be cancelled; what
// has begun is done.
func TestCancelledWhileItWaits(t *testing.T) {
	schema := newSchema()
	s := open(t, postgres.Options{Schema: schema, Conns: 1})
	l := start(t, s, key("a"))
	free := hold(t, schema, "a")
	first := make(chan error)
	begun, stop := context.WithCancel(t.Context())
	go func() {
		_, err := s.Append(begun, key("a"), l, 1, []session.Event{note()})
		first <- err
	}()
	waits(t, schema)
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error)
	go func() {
		_, err := s.Append(ctx, key("a"), l, 2, []session.Event{note()})
		second <- err
	}()
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v, want context.Canceled", err)
	}
	stop()
	free()
	if err := <-first; err != nil {
		t.Errorf("what had begun: %v", err)
	}
	if n := len(read(t, s, key("a"))); n != 2 {
		t.Errorf("%d events, want 2", n)
	}
}

// connect opens a connection beside those of stores.
func connect(t *testing.T, schema string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), server.URL()+"&search_path="+schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// hold locks a stream until it is let go.
func hold(t *testing.T, schema, stream string) (free func()) {
	t.Helper()
	tx, err := connect(t, schema).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT 1 FROM streams WHERE stream = $1 FOR UPDATE`, stream); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// waits returns when somebody waits for a lock on a row.
func waits(t *testing.T, schema string) {
	t.Helper()
	c := connect(t, schema)
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		var n int
		if err := c.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM streams%'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n > 0 {
			return
		}
	}
	t.Fatal("nobody waits")
}

func TestManyOpenANewSchemaAtOnce(t *testing.T) {
	schema := newSchema()
	errs := make(chan error)
	const n = 6
	for range n {
		go func() {
			s, err := postgres.Open(t.Context(), server.URL(), postgres.Options{Schema: schema})
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

func TestOpenRefuses(t *testing.T) {
	schema := newSchema()
	open(t, postgres.Options{Schema: schema}).Close()
	if _, err := connect(t, schema).Exec(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, url, schema, said string
	}{
		{"a newer schema", server.URL(), schema, "use a newer roster"},
		{"a schema's name that is none", server.URL(), `x"; DROP`, "lower-case"},
		{"no address", "postgres://u:hunter2@h:port/x", "", "write postgres://"},
		{"no server", "postgres://u:hunter2@127.0.0.1:1/x", "", "is it running"},
		{"no database", strings.Replace(server.URL(), "/postgres?", "/none?", 1), "", "create it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := postgres.Open(t.Context(), c.url, postgres.Options{Schema: c.schema})
			if err == nil || !strings.Contains(err.Error(), c.said) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want %q", err, c.said)
			}
		})
	}
}

// TestTheDatabaseRefusesToChangeEvents: only retention may delete them.
func TestTheDatabaseRefusesToChangeEvents(t *testing.T) {
	schema := newSchema()
	s := open(t, postgres.Options{Schema: schema})
	start(t, s, key("a"))
	c := connect(t, schema)
	for _, query := range []string{
		"UPDATE events SET data = 'x'", "UPDATE events SET seq = 7", "DELETE FROM events", "TRUNCATE events CASCADE",
		"INSERT INTO events SELECT * FROM events ON CONFLICT (stream, seq) DO UPDATE SET data = 'x'",
	} {
		if _, err := c.Exec(t.Context(), query); err == nil {
			t.Errorf("%s was done", query)
		}
		if n := len(read(t, s, key("a"))); n != 1 {
			t.Fatalf("%d events after %s", n, query)
		}
	}
	for _, query := range []string{"INSERT INTO retention SELECT id FROM streams", "DELETE FROM events"} {
		if _, err := c.Exec(t.Context(), query); err != nil {
			t.Errorf("retention: %s: %v", query, err)
		}
	}
}

// TestTextForPeople: what the database cannot hold as text is replaced in the
// title, and kept as it is in the log.
func TestTextForPeople(t *testing.T) {
	s := open(t, postgres.Options{Schema: newSchema()})
	prompt := event(&session.Prompt{Parts: []message.Part{message.Text{Text: "a\x00b"}}, Profile: "p"})
	if _, err := s.Post(t.Context(), key("a"), session.Post{Events: []session.Event{prompt}}); err != nil {
		t.Fatal(err)
	}
	sum, err := s.Summary(t.Context(), key("a"))
	if err != nil || strings.ContainsRune(sum.Title, 0) || sum.Title == "" {
		t.Errorf("title %q, %v", sum.Title, err)
	}
	if data := string(read(t, s, key("a"))[0].Data); !strings.Contains(data, `a\u0000b`) {
		t.Errorf("the log has %s", data)
	}
}

// BenchmarkTurn is on a server that writes to disk as it should.
func BenchmarkTurn(b *testing.B) {
	own, err := pgtest.Start(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { own.Stop() })
	for _, clients := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(clients), func(b *testing.B) {
			s, err := postgres.Open(b.Context(), own.URL(), postgres.Options{Schema: newSchema(), Conns: 32})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { s.Close() })
			storetest.BenchTurn(b, s, clients)
		})
	}
}
