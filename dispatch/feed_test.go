package dispatch_test

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rosterrun/roster/dispatch"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
	"github.com/rosterrun/roster/store/sqlite"
)

// TestFeedOfAnotherProcess: what another process commits is shown soon.
func TestFeedOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "roster.db")
	open := func() *sqlite.Store {
		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	mine, others := open(), open()
	l := start(t, mine, runner(t, mine, &gated{}), dispatch.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	best := time.Hour // of a few, for the machine is shared
	n := 0
	var posted time.Time
	if _, err := others.Post(ctx, key(n), prompt(key(n), "hi")); err != nil {
		t.Fatal(err)
	}
	for batch, err := range l.FollowFeed(ctx, key(1).Tenant, session.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(batch) != 1 || batch[0].Key != key(n) {
			t.Fatalf("%d events, the first of %s", len(batch), batch[0].Key)
		}
		if n > 0 {
			best = min(best, time.Since(posted))
		}
		if n++; n == 6 {
			break
		}
		if _, err := others.Post(ctx, key(n), prompt(key(n), "hi")); err != nil {
			t.Fatal(err)
		}
		posted = time.Now()
	}
	if best > 100*time.Millisecond {
		t.Errorf("shown after %v", best)
	}
}

// TestFeedForManyReaders has readers come at any time while sessions are written
// to: each gets all, in the order of the store.
func TestFeedForManyReaders(t *testing.T) {
	store := memory.New(memory.Options{})
	l := start(t, store, runner(t, store, &gated{}), dispatch.Options{})
	const sessions, notes, readers = 4, 200, 12
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for i := range sessions {
		if _, err := store.Post(ctx, key(i), prompt(key(i), "hi")); err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range notes {
				if _, err := l.Submit(ctx, key(i), post(key(i), &session.Steer{Parts: text("x")})); err != nil {
					t.Error(err)
				}
			}
		})
	}
	seen := make([][]session.Position, readers)
	for i := range readers {
		all.Go(func() {
			var at session.Position
			for len(seen[i]) < sessions*(1+notes) && ctx.Err() == nil {
				left := 50 * (i % 3) // some leave and come back
				for batch, err := range l.FollowFeed(ctx, key(0).Tenant, at) {
					if behind := (*dispatch.FeedBehind)(nil); errors.As(err, &behind) && behind.From == at {
						break
					}
					if err != nil {
						t.Error(err)
						return
					}
					for _, f := range batch {
						seen[i], at = append(seen[i], f.At), f.At
					}
					if left--; left == 0 || len(seen[i]) == sessions*(1+notes) {
						break
					}
				}
			}
		})
	}
	all.Wait()
	var want []session.Position
	for f, err := range store.ReadFeed(t.Context(), key(0).Tenant, session.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, f.At)
	}
	for i := range seen {
		if len(seen[i]) != len(want) {
			t.Fatalf("reader %d: %d events of %d", i, len(seen[i]), len(want))
		}
		for n := range want {
			if seen[i][n] != want[n] {
				t.Fatalf("reader %d: %v where %v belongs", i, seen[i][n], want[n])
			}
		}
	}
}

// brokenFeed is a store whose feed cannot be read at some time.
type brokenFeed struct {
	*memory.Store
	broken atomic.Bool
}

func (s *brokenFeed) ReadFeed(ctx context.Context, tenant string, after session.Position) iter.Seq2[session.Fed, error] {
	if s.broken.Load() {
		return func(yield func(session.Fed, error) bool) { yield(session.Fed{}, fs.ErrClosed) }
	}
	return s.Store.ReadFeed(ctx, tenant, after)
}

// TestFeedOfABrokenStore ends with what is wrong.
func TestFeedOfABrokenStore(t *testing.T) {
	store := &brokenFeed{Store: memory.New(memory.Options{})}
	l := start(t, store, runner(t, store, &gated{}), dispatch.Options{})
	if _, err := store.Post(t.Context(), key(1), prompt(key(1), "hi")); err != nil {
		t.Fatal(err)
	}
	for batch, err := range l.FollowFeed(t.Context(), key(1).Tenant, session.Position{}) {
		if err != nil {
			if !errors.Is(err, fs.ErrClosed) {
				t.Error(err)
			}
			return
		}
		if len(batch) != 1 {
			t.Errorf("%d events", len(batch))
		}
		store.broken.Store(true)
	}
	t.Error("it ends without an error")
}
