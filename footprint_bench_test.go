package roster_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
)

// openBench opens a workspace with one profile, whose model is a script, on a
// durable store.
func openBench(b testing.TB) *roster.App {
	s := script.New(script.Reply{Text: "Hello there, what can I do for you?"})
	s.Loop = true
	dir := b.TempDir()
	write(b, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\n")
	write(b, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: bench/text\n---\nWork.\n")
	app, _, err := roster.Open(dir, roster.Options{
		State: b.TempDir(), Getenv: env{"ROSTER_HOME": b.TempDir()}.get,
		Models: map[string]model.Model{"bench/text": s.Model("bench/text")},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// env is an environment.
type env map[string]string

func (e env) get(name string) string { return e[name] }

func write(b testing.TB, dir, name, text string) {
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func listed(b testing.TB, dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		b.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// turns runs one prompt in each of n new sessions.
func turns(b testing.TB, app *roster.App, n int) []session.Key {
	keys := make([]session.Key, n)
	for i := range keys {
		s, err := app.Submit(b.Context(), roster.Ask{
			Profile: "worker", Parts: []message.Part{message.Text{Text: "Hello"}}, Headless: true,
		})
		if err != nil {
			b.Fatal(err)
		}
		keys[i] = s.Key
		wait(b, app, s)
	}
	return keys
}

func wait(b testing.TB, app *roster.App, s roster.Submitted) *session.LoopEnd {
	w := roster.Watch{Post: s.Post}
	for batch, err := range app.Follow(b.Context(), s.Key, s.After()) {
		if err != nil {
			b.Fatal(err)
		}
		for i := range batch {
			if end := w.See(&batch[i]); end != nil {
				return end
			}
		}
	}
	b.Fatal("the stream ended before the loop")
	return nil
}

func heap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// BenchmarkIdleSession measures what a session that has just been used keeps in
// memory until it is cold.
func BenchmarkIdleSession(b *testing.B) {
	const n = 1000
	for b.Loop() {
		app := openBench(b)
		turns(b, app, 10)
		before := heap()
		turns(b, app, n)
		b.ReportMetric((heap()-before)/n, "B/session")
	}
}

// BenchmarkOpenStream measures what a reader of an idle session's events over
// HTTP costs the server. The client is a bare connection.
func BenchmarkOpenStream(b *testing.B) {
	const n = 500
	for b.Loop() {
		app := openBench(b)
		keys := turns(b, app, n)
		server := httptest.NewServer(app.Handler())
		buf := make([]byte, 64<<10)
		before := heap()
		conns := make([]net.Conn, n)
		for i, k := range keys {
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			conns[i] = conn
			fmt.Fprintf(conn, "GET /sessions/%s/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n", k.Stream)
			for got := 0; !bytes.Contains(buf[:got], []byte("event: loop.end")); {
				m, err := conn.Read(buf[got:])
				if err != nil {
					b.Fatal(err)
				}
				got += m
			}
		}
		b.ReportMetric((heap()-before)/n, "B/stream")
		for _, c := range conns {
			c.Close()
		}
		server.CloseClientConnections()
		server.Close()
	}
}

// BenchmarkLiveSession measures what a session keeps in memory whose model is
// being waited for, with all that runs for it.
func BenchmarkLiveSession(b *testing.B) {
	const n = 1000
	for b.Loop() {
		m := newGated()
		m.asked = make(chan string, n)
		app := agents(b, m, "")
		before := heap()
		for range n {
			if _, err := app.Submit(b.Context(), roster.Ask{Profile: "worker", Parts: text("Hello"), Headless: true}); err != nil {
				b.Fatal(err)
			}
		}
		for range n {
			<-m.asked
		}
		b.ReportMetric((heap()-before)/n, "B/session")
		closed, cancel := context.WithCancel(context.Background())
		cancel()
		app.Close(closed)
	}
}

// BenchmarkCreateSessions stores the first prompt of new sessions, durably, from
// several writers. The answers come beside it.
func BenchmarkCreateSessions(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			app := openBench(b)
			var left atomic.Int64
			left.Store(int64(b.N))
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for left.Add(-1) >= 0 {
						if _, err := app.Submit(b.Context(), roster.Ask{Profile: "worker", Parts: text("Hello"), Headless: true}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sessions/s")
		})
	}
}

// BenchmarkNewAgent makes an agent of a profile.
func BenchmarkNewAgent(b *testing.B) {
	app := openBench(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := app.NewAgent("worker", roster.AgentOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
