package roster_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/sqlite"
)

// TestPruneLeavesForks: what was forked off a session goes on when that is gone,
// and what was said is found where it still stands.
func TestPruneLeavesForks(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "roster.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	var asked []string
	app := parrot(t, store, &asked)
	k := say(t, app, session.Key{}, "the parent's words").Key
	fork, err := app.Fork(t.Context(), k, k.Stream, "")
	if err != nil {
		t.Fatal(err)
	}
	found := func(want ...string) {
		t.Helper()
		list, err := app.Search(t.Context(), "", "parent WORDS", 0)
		if err != nil || len(list) != len(want) {
			t.Fatalf("found %+v, %v", list, err)
		}
		for i, id := range want {
			if f := list[i]; f.ID != id || f.Seq != 1 || f.Match != "the parent's words" {
				t.Errorf("found %+v, want %s", f, id)
			}
		}
	}
	found(fork.Stream, k.Stream)
	old, err := app.Outdated(t.Context(), "", time.Now().Add(time.Minute))
	if err != nil || len(old) != 2 {
		t.Fatalf("%+v, %v", old, err)
	}
	pruned, err := app.PruneAll(t.Context(), old[1:])
	if err != nil || len(pruned) != 1 || pruned[0].Stream != k.Stream {
		t.Fatalf("%+v, %v", pruned, err)
	}
	found(fork.Stream)
	if _, err := app.Submit(t.Context(), roster.Ask{Key: k, Parts: text("more")}); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("a prompt to it: %v", err)
	}
	say(t, app, fork, "2")
	if want := "user the parent's words; assistant a; user 2"; asked[len(asked)-1] != want {
		t.Errorf("the fork asked %s", asked[len(asked)-1])
	}
	if err := app.Prune(t.Context(), k); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("pruned twice: %v", err)
	}
}
