package roster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rosterrun/roster"
	"github.com/rosterrun/roster/model"
	"github.com/rosterrun/roster/model/script"
	"github.com/rosterrun/roster/session"
	"github.com/rosterrun/roster/store/memory"
)

// askingApp opens a workspace whose profile worker may read secrets when it is
// asked for, and what its model says.
func askingApp(t *testing.T, dir, state string, store session.Backend, m model.Model, more string) *roster.App {
	t.Helper()
	write(t, dir, "roster.yaml", "providers:\n  bench: {api: script, base-url: none.yaml}\n"+more)
	write(t, dir, "profiles/worker.md", "---\nname: worker\ndescription: Works.\nmodel: bench/text\ntools: [read]\n---\nWork.\n")
	write(t, dir, "a.env", "A=1\n")
	app, _, err := roster.Open(dir, roster.Options{
		State: state, Getenv: env{"ROSTER_HOME": t.TempDir()}.get, Backend: store, Models: map[string]model.Model{"bench/text": m},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { app.Close(context.Background()) })
	return app
}

func reads(times int) model.Model {
	var replies []script.Reply
	for range times {
		replies = append(replies, script.Reply{Tools: []script.Call{{Name: "read", Input: `{"path":"a.env"}`}}})
	}
	return script.New(append(replies, script.Reply{Text: "done"})...).Model("bench/text")
}

// rests waits until the session has ended its loop or waits, and gives how the
// calls have ended since seq after.
func rests(t *testing.T, app *roster.App, k session.Key, after int64) (outcomes []session.Outcome, waits bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for batch, err := range app.Follow(ctx, k, after) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch {
			body, err := batch[i].Decode()
			if err != nil {
				t.Fatal(err)
			}
			switch b := body.(type) {
			case *session.ToolAfter:
				outcomes = append(outcomes, b.Outcome)
			case *session.LoopWaiting, *session.LoopEnd:
				return outcomes, batch[i].Type == "loop.waiting"
			}
		}
	}
	t.Fatal("the session does not come to rest")
	return nil, false
}

// askOnce submits a prompt and waits for the question.
func askOnce(t *testing.T, app *roster.App) (session.Key, roster.Approval, int64) {
	t.Helper()
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("go")})
	if err != nil {
		t.Fatal(err)
	}
	if _, waits := rests(t, app, sub.Key, sub.After()); !waits {
		t.Fatal("nothing is asked")
	}
	list, err := app.Approvals(t.Context(), sub.Key)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	b, err := app.Backend(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sum, err := b.Summary(t.Context(), sub.Key)
	if err != nil {
		t.Fatal(err)
	}
	return sub.Key, list[0], sum.Last
}

func answer(t *testing.T, app *roster.App, k session.Key, id string, a roster.Answer) {
	t.Helper()
	if _, err := app.Answer(t.Context(), "", id, a); err != nil {
		t.Fatal(err)
	}
	if err := app.Resume(t.Context(), k); err != nil {
		t.Fatal(err)
	}
}

// TestPolicyOfNowHoldsForARunThatWaited: a yes does not lift what the host has
// forbidden since.
func TestPolicyOfNowHoldsForARunThatWaited(t *testing.T) {
	dir, store := t.TempDir(), memory.New(memory.Options{})
	first := askingApp(t, dir, t.TempDir(), store, reads(1), "")
	k, q, last := askOnce(t, first)
	if err := first.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	app := askingApp(t, dir, t.TempDir(), store, script.New(script.Reply{Text: "done"}).Model("bench/text"),
		"policy: {permission: [{tool: read, subject: \"*.env\", effect: deny}]}\n")
	answer(t, app, k, q.ID, roster.Answer{Answer: session.AnswerOnce})
	if got, waits := rests(t, app, k, last); waits || !slices.Equal(got, []session.Outcome{session.Denied}) {
		t.Errorf("the call ended %v", got)
	}
}

// TestAlwaysHoldsUntilItIsRevoked, in all sessions of the profile, at once.
func TestAlwaysHoldsUntilItIsRevoked(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	app := askingApp(t, dir, state, memory.New(memory.Options{}), reads(3), "")
	k, q, last := askOnce(t, app)
	answer(t, app, k, q.ID, roster.Answer{Answer: session.AnswerAlways, By: "ann"})
	if got, waits := rests(t, app, k, last); waits || len(got) != 3 || got[2] != session.OK {
		t.Fatalf("the calls ended %v", got)
	}
	app.Close(t.Context())

	app = askingApp(t, dir, state, memory.New(memory.Options{}), reads(1), "")
	sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("go"), Headless: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := rests(t, app, sub.Key, sub.After()); !slices.Equal(got, []session.Outcome{session.OK}) {
		t.Errorf("with nobody there the granted call ended %v", got)
	}
	list, err := app.Grants()
	if err != nil || len(list) != 1 || list[0].Profile != "worker" || list[0].Subject != "a.env" || list[0].By != "ann" || list[0].Ask != q.ID {
		t.Fatalf("%+v, %v", list, err)
	}
	if _, err := app.RevokeGrant(t.Context(), list[0].ID[:6]); err != nil {
		t.Fatal(err)
	}
	if list, err := app.Grants(); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	app.Close(t.Context())
	app = askingApp(t, dir, state, memory.New(memory.Options{}), reads(1), "")
	askOnce(t, app)
}

// TestAGrantIsOfItsUser: what one user allowed holds for no other.
func TestAGrantIsOfItsUser(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	app := askingApp(t, dir, state, memory.New(memory.Options{}), reads(1), "")
	k, q, last := askOnce(t, app)
	answer(t, app, k, q.ID, roster.Answer{Answer: session.AnswerAlways})
	rests(t, app, k, last)
	app.Close(t.Context())
	for user, want := range map[string]session.Outcome{"": session.OK, "local": session.OK, "ann": session.Denied} {
		app := askingApp(t, dir, state, memory.New(memory.Options{}), reads(1), "")
		sub, err := app.Submit(t.Context(), roster.Ask{Profile: "worker", Parts: text("go"), Headless: true, User: user})
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := rests(t, app, sub.Key, sub.After()); !slices.Equal(got, []session.Outcome{want}) {
			t.Errorf("user %q: the call ended %v, want %s", user, got, want)
		}
		app.Close(t.Context())
	}
}

// TestALateAnswerIsNone: what expired is refused, also where nobody watches.
func TestALateAnswerIsNone(t *testing.T) {
	app := askingApp(t, t.TempDir(), t.TempDir(), memory.New(memory.Options{}), reads(1), "approvals: {timeout: 1ms}\n")
	k, q, last := askOnce(t, app)
	<-time.After(time.Until(q.Expires))
	_, err := app.Answer(t.Context(), "", q.ID, roster.Answer{Answer: session.AnswerAlways})
	var answered *roster.AnsweredError
	if !errors.As(err, &answered) || answered.Answer != session.AnswerTimeout || !strings.Contains(err.Error(), "expired") {
		t.Errorf("%v", err)
	}
	if err := app.Resume(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if got, waits := rests(t, app, k, last); waits || !slices.Equal(got, []session.Outcome{session.Denied}) {
		t.Errorf("the call ended %v", got)
	}
	if list, err := app.Grants(); err != nil || len(list) != 0 {
		t.Errorf("granted: %+v, %v", list, err)
	}
}
