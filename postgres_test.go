package roster_test

import (
	"context"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/internal/pgtest"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
)

// TestPostgres has two programs, each with its own files, work on one database:
// one takes up a session that the other has begun, and sees all of it.
func TestPostgres(t *testing.T) {
	server, err := pgtest.Start(t.Context(), "fsync=off")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	open := func() *roster.App {
		dir := t.TempDir()
		write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: bench/text\n---\nWork.\n")
		home := t.TempDir()
		write(t, home, "roster.yaml", "store: "+server.URL()+"&search_path=team\nproviders:\n  bench: {api: script, base-url: none.yaml}\n")
		s := script.New(script.Reply{Text: "answer"})
		s.Loop = true
		app, diags, err := roster.Open(dir, roster.Options{
			State: t.TempDir(), Getenv: env{"ROSTER_HOME": home}.get, Models: map[string]model.Model{"bench/text": s.Model("bench/text")},
		})
		if err != nil {
			t.Fatal(err, diags)
		}
		t.Cleanup(func() { app.Close(context.Background()) })
		return app
	}
	one, other := open(), open()
	k := turns(t, one, 2)[0]
	sub, err := other.Submit(t.Context(), roster.Ask{Key: k, Profile: "worker", Parts: text("again"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, other, sub)
	if n := loopStart(t, one, k).Number; n != 2 {
		t.Errorf("the session has %d loops", n)
	}
}
