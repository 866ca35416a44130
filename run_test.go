package roster_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// hooked is a store that does something once, as soon as a prompt is stored.
type hooked struct {
	*memory.Store
	hook  atomic.Pointer[func(session.Key)]
	blobs atomic.Int64 // how many blobs cannot be read
}

func (s *hooked) Blob(ctx context.Context, tenant, digest string) ([]byte, error) {
	if s.blobs.Add(-1) >= 0 {
		return nil, errors.New("disk I/O error")
	}
	return s.Store.Blob(ctx, tenant, digest)
}

func (s *hooked) Post(ctx context.Context, k session.Key, p session.Post) (session.Posted, error) {
	posted, err := s.Store.Post(ctx, k, p)
	if f := s.hook.Swap(nil); f != nil && err == nil {
		(*f)(k)
	}
	return posted, err
}

func (s *hooked) once(f func(session.Key)) { s.hook.Store(&f) }

// openOn opens a workspace whose profile worker has the model m.
func openOn(t *testing.T, dir string, store session.Backend, m model.Model) *roster.App {
	t.Helper()
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\n")
	write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: bench/text\n---\nWork.\n")
	app, _, err := roster.Open(dir, roster.Options{
		State: t.TempDir(), Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Backend: store,
		Models: map[string]model.Model{"bench/text": m},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

// TestSubmitAndRunAgree edits the profile as soon as the prompt is stored: the
// run uses what the prompt was checked with, also in a session that is not in
// memory.
func TestSubmitAndRunAgree(t *testing.T) {
	store, dir := &hooked{Store: memory.New(memory.Options{})}, t.TempDir()
	s := script.New(script.Reply{Text: "answer"})
	s.Loop = true
	k := turns(t, openOn(t, dir, store, s.Model("bench/text")), 1)[0]
	app := openOn(t, dir, store, s.Model("bench/text"))
	first := loopStart(t, app, k)
	store.once(func(session.Key) {
		write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: bench/text\n---\nWork harder.\n")
	})
	sub, err := app.Submit(t.Context(), roster.Ask{Key: k, Parts: text("again"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	wait(t, app, sub)
	if second := loopStart(t, app, k); second.Number != 2 || second.Spec != first.Spec {
		t.Errorf("the prompt was checked with spec %s and run with %s", first.Spec, second.Spec)
	}
}

// TestUnreadableSpecDoesNotEndALoop: a read that fails once is no reason to give
// up work that was begun.
func TestUnreadableSpecDoesNotEndALoop(t *testing.T) {
	store, dir := &hooked{Store: memory.New(memory.Options{})}, t.TempDir()
	first := openOn(t, dir, store, silent{})
	sub, err := first.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("hi"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	for batch, err := range first.Follow(t.Context(), sub.Key, sub.After()) {
		if err != nil {
			t.Fatal(err)
		}
		if batch[len(batch)-1].Type == "turn.request" {
			break
		}
	}
	at, cancel := context.WithCancel(t.Context())
	cancel()
	if err := first.Close(at); err != nil {
		t.Fatal(err)
	}
	app := openOn(t, dir, store, script.New(script.Reply{Text: "answer"}).Model("bench/text"))
	store.blobs.Store(1)
	if err := app.Resume(t.Context(), sub.Key); err != nil {
		t.Fatal(err)
	}
	if end := wait(t, app, sub); end.Text != "answer" {
		t.Errorf("end: %+v %+v", end, end.Error)
	}
}

// silent is a model that says nothing until its call is aborted.
type silent struct{}

func (silent) Name() string { return "bench/text" }
func (silent) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		<-ctx.Done()
		yield(model.Chunk{}, ctx.Err())
	}
}

// TestCancelWhileARunBegins cancels between the prompt's commit and the start of
// its run.
func TestCancelWhileARunBegins(t *testing.T) {
	store := &hooked{Store: memory.New(memory.Options{})}
	app := openOn(t, t.TempDir(), store, silent{})
	store.once(func(k session.Key) {
		if err := app.Cancel(context.Background(), k, ""); err != nil {
			t.Error(err)
		}
	})
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("hi"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	w := roster.Watch{Post: sub.Post}
	for batch, err := range app.Follow(ctx, sub.Key, sub.After()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			if end := w.See(&batch[i]); end != nil {
				if end.Reason != session.ReasonCancelled {
					t.Errorf("end: %+v", end)
				}
				return
			}
		}
	}
}
