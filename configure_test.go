package roster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/profile"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/source"
)

// TestConfigureIsDurable: what a session sets is in its log, is obeyed by a process
// that opens the store later, and has the session as its origin.
func TestConfigureIsDurable(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml, models: {text: {}, other: {}}}\n")
	write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: bench/text\ntemperature: 0.5\n---\nWork.\n")
	open := func() *roster.App {
		models := map[string]model.Model{}
		for _, name := range []string{"bench/text", "bench/other"} {
			s := script.New(script.Reply{Text: "answer"})
			s.Loop = true
			models[name] = s.Model(name)
		}
		app, _, err := roster.Open(dir, roster.Options{State: state, Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Models: models})
		if err != nil {
			t.Fatal(err)
		}
		return app
	}
	app := open()
	k := turns(t, app, 1)[0]
	ctx := context.Background()
	set, err := app.Configure(ctx, k, map[string]string{"model": "other", "temperature": "0.1"})
	if err != nil || set != (session.Settings{Model: "other", Temperature: "0.1"}) {
		t.Fatalf("Configure: %+v, %v", set, err)
	}
	if err := app.Close(ctx); err != nil {
		t.Fatal(err)
	}

	app = open()
	defer app.Close(ctx)
	if err := ask(t, app, k); err != nil {
		t.Fatal(err)
	}
	if start := loopStart(t, app, k); start.Model != "bench/other" {
		t.Errorf("the next loop asks %s", start.Model)
	}
	s, _, err := app.Resolve(ctx, "worker", session.Overrides{Session: set})
	if err != nil || s.Model.String() != "bench/other" {
		t.Fatalf("%s, %v", s.Model, err)
	}
	for _, key := range []string{"model", "temperature"} {
		trace := s.Origins[key]
		if trace.Origin.Layer != source.Session || len(trace.Overrode) != 1 || trace.Overrode[0].Line == 0 {
			t.Errorf("%s: %+v", key, trace)
		}
	}
	// A message that is left over begins a loop by the same settings.
	if _, err := app.Configure(ctx, k, map[string]string{"model": ""}); err != nil {
		t.Fatal(err)
	}
	if err := ask(t, app, k); err != nil {
		t.Fatal(err)
	}
	if start := loopStart(t, app, k); start.Model != "bench/text" {
		t.Errorf("after it was taken back the next loop asks %s", start.Model)
	}
	for _, set := range []map[string]string{nil, {"tools": "bash"}, {"temperature": "hot"}, {"model": "nobody/x"}} {
		if _, err := app.Configure(ctx, k, set); err == nil {
			t.Errorf("Configure(%v) works", set)
		}
	}
	if _, err := app.Configure(ctx, k, map[string]string{"tools": "bash"}); !errors.Is(err, profile.SchemaValidation) {
		t.Errorf("a key that a session cannot set: %v", err)
	}
	if _, err := app.Configure(ctx, session.Key{Stream: "nobody"}, map[string]string{"model": ""}); !errors.Is(err, session.ErrNoStream) {
		t.Errorf("no session: %v", err)
	}
}

// ask prompts a session once more.
func ask(t *testing.T, app *roster.App, k session.Key) error {
	t.Helper()
	sub, err := app.Submit(t.Context(), roster.Ask{Key: k, Parts: text("again"), Headless: true})
	if err == nil {
		wait(t, app, sub)
	}
	return err
}
