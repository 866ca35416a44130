package runner_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rosterrun/roster/message"
	"github.com/rosterrun/roster/rig/ledger"
	"github.com/rosterrun/roster/rig/runner"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// agents answer at once, and note when tasks begin.
type agents struct {
	never bool // no task can begin
	begun chan runner.Task
	cost  float64 // of a run
}

func (a *agents) Begin(_ context.Context, t runner.Task) error {
	if a.never {
		return &runner.NotBegun{Code: "ProfileNotFound", Err: os.ErrNotExist}
	}
	if a.begun != nil {
		a.begun <- t
	}
	return nil
}

func (a *agents) Await(context.Context, string, runner.Watch) (runner.End, error) {
	return runner.End{Reason: session.ReasonDone, Text: "Done.", Usage: message.Usage{Cost: a.cost}, Done: time.Now()}, nil
}

func (a *agents) Cancel(context.Context, string, string) error { return nil }

// site is a rig on a disk, with its ledger.
type site struct {
	tb    testing.TB
	dir   string
	store *sqlite.Store
	key   ledger.Rig
	most  int // Options.Pending

	perDay float64 // Options.PerDay
}

func newSite(tb testing.TB, knots map[string]string) *site {
	tb.Helper()
	dir, err := filepath.EvalSymlinks(tb.TempDir())
	if err != nil {
		tb.Fatal(err)
	}
	store, err := sqlite.Open(tb.Context(), filepath.Join(tb.TempDir(), "roster.db"), sqlite.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	if err := store.Beat(tb.Context(), "w"); err != nil {
		tb.Fatal(err)
	}
	s := &site{tb, dir, store, ledger.Rig{Tenant: "local", Name: "rig"}, 0, 0}
	for name, text := range knots {
		s.write("rig/docs-loom/"+name+".md", text)
	}
	return s
}

func (s *site) write(name, text string) {
	s.tb.Helper()
	path := filepath.Join(s.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.tb.Fatal(err)
	}
}

// run runs the rig until stop is called.
func (s *site) run(a *agents) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	r := runner.New(runner.Options{Dir: s.dir, Tenant: "local", Ledger: s.store, Worker: "w", Agents: a, Pending: s.most, PerDay: s.perDay})
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			s.tb.Error(err)
		}
	}
}

func (s *site) until(what string, is func() bool) {
	s.tb.Helper()
	for late := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			s.tb.Fatal(what, "does not come about")
		}
	}
}

// jobs counts those of the rig, in all states.
func (s *site) jobs() (n int) {
	counts, err := s.store.Counts(s.tb.Context(), s.key)
	if err != nil {
		s.tb.Fatal(err)
	}
	for _, c := range counts {
		n += c.Jobs
	}
	return n
}

// TestOverflow: with room for three changed files alone, folders are looked at as a whole,
// and nothing is lost or worked on twice.
func TestOverflow(t *testing.T) {
	s := newSite(t, map[string]string{"k": knot("concurrency: 4\n")})
	s.most = 3
	defer s.run(&agents{})()
	const files, rounds = 60, 5
	last := map[string]string{}
	for round := range rounds {
		for i := range files {
			name, text := fmt.Sprintf("strands/%d/%d.md", i%7, i), fmt.Sprintf("file %d, round %d\n", i, round)
			s.write(name, text)
			sum := sha256.Sum256([]byte(text))
			last[name] = hex.EncodeToString(sum[:])
		}
	}
	s.until("the last of all", func() bool {
		jobs, err := s.store.Jobs(t.Context(), s.key, ledger.Query{States: []ledger.State{ledger.Done}, Limit: ledger.MaxPage})
		done := map[string]string{}
		for _, j := range jobs { // the newest first
			if _, newer := done[j.Path]; !newer {
				done[j.Path] = j.Digest
			}
		}
		return err == nil && maps.Equal(done, last)
	})
	jobs, err := s.store.Jobs(t.Context(), s.key, ledger.Query{Limit: ledger.MaxPage})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, j := range jobs {
		if seen[j.Path+j.Digest] || j.State != ledger.Done {
			t.Errorf("%s %.8s is there twice, or has not ended: %s", j.Path, j.Digest, j.State)
		}
		seen[j.Path+j.Digest] = true
	}
}

func knot(more string) string {
	return "---\nagent-profile-ref: fast\nstrand-dir: strands\nprompt-template: {instructions: Look.}\n" + more + "---\n"
}

// BenchmarkQueue queues 10,000 strands that are found at start.
func BenchmarkQueue(b *testing.B) {
	const files = 10_000
	for b.Loop() {
		b.StopTimer()
		s := newSite(b, map[string]string{"k": knot("")})
		for i := range files {
			s.write(fmt.Sprintf("strands/%d/%d.md", i/100, i), fmt.Sprintf("the content of %d\n", i))
		}
		time.Sleep(150 * time.Millisecond) // what has changed just now is left to the watcher
		b.StartTimer()
		stop := s.run(&agents{never: true})
		s.until("the queue", func() bool { return s.jobs() == files })
		b.StopTimer()
		stop()
		b.StartTimer()
	}
}

// BenchmarkReconcile compares 100,000 files that have not changed with the ledger.
func BenchmarkReconcile(b *testing.B) {
	const files = 100_000
	s := newSite(b, map[string]string{"k": knot("on: [deleted]\n")})
	for i := range files {
		s.write(fmt.Sprintf("strands/%d/%d.md", i/1000, i), fmt.Sprintf("the content of %d\n", i))
	}
	past := time.Now().Add(-time.Hour)
	for i := range files {
		if err := os.Chtimes(filepath.Join(s.dir, fmt.Sprintf("strands/%d/%d.md", i/1000, i)), past, past); err != nil {
			b.Fatal(err)
		}
	}
	known := func() int {
		all, err := s.store.Strands(b.Context(), s.key, "docs-loom/k")
		if err != nil {
			b.Fatal(err)
		}
		return len(all)
	}
	stop := s.run(&agents{})
	s.until("the first look", func() bool { return known() == files })
	stop()
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprintf("strands/new-%d.md", i)
		b.StopTimer()
		s.write(name, "new\n")
		if err := os.Chtimes(filepath.Join(s.dir, name), past, past); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		stop := s.run(&agents{})
		s.until("the look", func() bool { // at the one that is new, with all others
			list, err := s.store.Strands(b.Context(), s.key, "docs-loom/k", name)
			if err != nil {
				b.Fatal(err)
			}
			return len(list) == 1
		})
		b.StopTimer()
		stop()
		b.StartTimer()
	}
}

// BenchmarkLatency is the time from the close of a file until its run begins, without
// the 100 ms for which it has to be still.
func BenchmarkLatency(b *testing.B) {
	s := newSite(b, map[string]string{"k": knot("")})
	a := &agents{begun: make(chan runner.Task, 1)}
	defer s.run(a)()
	s.write("strands/first.md", "first\n")
	<-a.begun
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		s.write(fmt.Sprintf("strands/%d.md", i), fmt.Sprintf("content %d\n", i))
		closed := time.Now()
		<-a.begun
		took = append(took, time.Since(closed)-100*time.Millisecond)
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
