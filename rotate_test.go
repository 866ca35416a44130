package roster_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/clock"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// TestRotateAfter: a prompt for a session that has rested longer than its profile
// lets it goes to a new one, and so do all that come after it, whether they know
// of that or not.
func TestRotateAfter(t *testing.T) {
	var asked []string
	app := parrot(t, memory.New(memory.Options{}), &asked)
	write(t, app.Dir(), "profiles/forgets.md", "---\ndescription: Speaks.\nmodel: bench/text\nsession: {rotate-after: 1h}\n---\nSpeak.\n")
	at := func(hours time.Duration) context.Context {
		return clock.With(t.Context(), fixed{time.Now().Add(hours * time.Hour)})
	}
	ask := func(ctx context.Context, k session.Key, words, idem string) roster.Submitted {
		t.Helper()
		profile := ""
		if k.Stream == "" {
			profile = "forgets"
		}
		sub, err := app.Submit(ctx, roster.Ask{Key: k, Profile: profile, Parts: text(words), Idem: idem, OnBusy: "queue"})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, app, sub)
		return sub
	}
	last := func(want string) {
		t.Helper()
		if got := asked[len(asked)-1]; got != want {
			t.Errorf("asked %q, want %q", got, want)
		}
	}
	k := ask(t.Context(), session.Key{Tenant: roster.LocalTenant}, "1", "").Key
	if _, err := app.Configure(t.Context(), k, map[string]string{"temperature": "0.5"}); err != nil {
		t.Fatal(err)
	}
	if same := ask(t.Context(), k, "2", "").Key; same != k {
		t.Errorf("one that has not rested goes on in %v", same)
	}
	last("user 1; assistant a; user 2")

	first := ask(at(2), k, "3", "once")
	last("user 3")
	if first.Key == k || first.Key != first.Asked {
		t.Errorf("it goes on in %+v", first)
	}
	if st := fold(t, app, first.Key); st.Root.Settings.Temperature != "0.5" || st.Root.Profile != "forgets" {
		t.Errorf("%+v", st.Root)
	}
	if again := ask(at(2), k, "3", "once"); !again.Duplicate || again.Key != first.Key {
		t.Errorf("the same prompt once more: %+v", again)
	}
	if next := ask(at(2), k, "4", "").Key; next != first.Key {
		t.Errorf("who names the old one gets to %v", next)
	}
	last("user 3; assistant a; user 4")

	var both sync.WaitGroup
	var keys [2]session.Key
	for i := range keys {
		both.Go(func() {
			sub, err := app.Submit(at(4), roster.Ask{Key: k, Parts: text("5"), OnBusy: "queue"})
			if err != nil {
				t.Error(err)
				return
			}
			wait(t, app, sub)
			keys[i] = sub.Key
		})
	}
	both.Wait()
	if keys[0] != keys[1] || keys[0] == first.Key || keys[0] == k {
		t.Errorf("two at once went to %v", keys)
	}
	if st := fold(t, app, keys[0]); len(st.Root.Messages) != 4 {
		t.Errorf("it has %s", texts(st.Root.Messages))
	}
}
